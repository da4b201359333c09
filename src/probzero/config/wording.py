"""A model's rules in words: for the reference of all settings and for the one line that refuses a value."""

from __future__ import annotations

import re
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from probzero.errors import ProbZeroError, bad

Schema = dict[str, Any]
M = TypeVar("M", bound=BaseModel)
UNKNOWN_KEY = ("extra_forbidden", "invalid_key")
MEMBER = re.compile(r"constrained-\w+|literal\[.*\]")  # pydantic's last step to a value that may be of several types


def validated(model: type[M], raw: Any, where: str, section: str = "") -> M:
    """Return plain data as a model, or refuse it by the first key that is wrong; unknown keys come first."""
    try:
        return model.model_validate(raw, context=where)
    except ValidationError as error:
        faults = sorted(error.errors(include_url=False), key=lambda fault: fault["type"] not in UNKNOWN_KEY)
        raise _refusal(model.model_json_schema(), faults[0], where, section) from None


def _refusal(schema: Schema, fault: Any, where: str, section: str) -> ProbZeroError:
    steps, found = fault["loc"], fault["input"]
    steps = steps[:-1] if steps and MEMBER.fullmatch(str(steps[-1])) else steps
    key = ".".join(str(step) for step in (section, *steps) if step not in ("", "[key]")) or "top level"
    key = key if key.isprintable() else repr(key)
    found = "nothing" if fault["type"] == "missing" else repr(list(found) if isinstance(found, tuple) else found)
    if fault["type"] in UNKNOWN_KEY:
        known = ", ".join(_part(schema, steps[:-1])["properties"])
        return bad("configuration", f"{where}: {key}", f"no such key (there are {known})", found)
    part = _part(schema, steps)
    if part.get("type") == "number" and re.fullmatch(r"'[-+]?[\d.]+e[-+]?\d+'", found, re.IGNORECASE):
        found += ", a text (YAML reads 1.0e-3 and 1.0e+3 as numbers, but not 1e-3)"
    return bad("configuration", f"{where}: {key}", allowed(part), found)


def _part(schema: Schema, steps: tuple[str | int, ...]) -> Schema:
    """Return the schema of what the steps into a document lead to; pydantic's last step to a key is "[key]"."""
    if steps[-1:] == ("[key]",):
        return _part(schema, steps[:-2]).get("propertyNames", {"type": "string"})
    part = schema
    for step in steps:
        if isinstance(step, int):
            part = part["prefixItems"][step] if "prefixItems" in part else part["items"]
        elif step in part.get("properties", {}):
            part = part["properties"][step]
        elif "patternProperties" in part:
            (part,) = part["patternProperties"].values()
        else:
            part = part["additionalProperties"]
        part = _or_none(part)
        if "$ref" in part:
            part = schema["$defs"][part["$ref"].removeprefix("#/$defs/")]
    return part


def _or_none(part: Schema) -> Schema:
    """Return what is allowed beside null."""
    return next((other for other in part.get("anyOf", ()) if other.get("type") != "null"), part)


def allowed(schema: Schema) -> str:
    """Return in words what a JSON schema, as pydantic writes it, lets through."""
    schema = {**schema, **_or_none(schema)}
    kind = schema.get("type")
    if "allowed" in schema:
        return schema["allowed"]
    if "enum" in schema:
        return f"one of {', '.join(map(str, schema['enum']))}"
    if kind in ("integer", "number"):
        return ("a whole number" if kind == "integer" else "a number") + _range(schema)
    if kind == "array" and "prefixItems" in schema:
        return f"a pair of {' and '.join(map(allowed, schema['prefixItems']))}"
    if kind == "array":
        least = f" of {schema['minItems']} or more" if "minItems" in schema else ""
        different = ", all different" if schema.get("uniqueItems") else ""
        return f"a list{least}{different}" + (f", each {allowed(schema['items'])}" if schema["items"] else "")
    if kind == "boolean":
        return "true or false"
    if kind == "string":
        return "a text"
    least = f" of {schema['minProperties']} or more" if "minProperties" in schema else ""
    return f"a mapping{least}"


def _range(schema: Schema) -> str:
    above, least, most = (schema.get(name) for name in ("exclusiveMinimum", "minimum", "maximum"))
    if least is not None and most is not None:
        return f" from {least:,} to {most:,}"
    bounds = (("above", above), ("of at least", least), ("at most", most))
    told = [f"{word} {bound:,}" for word, bound in bounds if bound is not None]
    return f" {' and '.join(told)}" if told else ""
