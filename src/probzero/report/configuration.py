"""The reference of all settings, docs/configuration.md, made from the models."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from pydantic import BaseModel

from probzero.arms import ARMS
from probzero.config import Config
from probzero.config.wording import allowed
from probzero.games.registry import GAMES, listed
from probzero.study import StudyFile, Variant

BEGINNING = """\
# Configuration

Made from the models in `src/probzero/config/` and `src/probzero/study.py` by
`probzero config --document docs/configuration.md`; do not edit.

A configuration is a YAML or JSON file: a run (`config/laptop.yaml`) or a study (`config/study.yaml`).
`probzero config --config FILE --output JSON` checks one and writes it out in full. What this page does not allow is
refused with one line that names the key: unknown keys, wrong types (`5.0` and `true` are no whole numbers), numbers out
of range, NaN and infinities. So are settings that contradict each other, keys given twice, and numbers that YAML reads
otherwise than they look: `010` would be 8, `1:30` would be 90, and `1e-3` is a text to it (write `1.0e-3`).

Snakemake reads its configuration files by itself. Keys given twice and octal numbers are seen in the text alone, so
every file of the workflow has to be read by `probzero.config.read` as well.
"""
TARGETS_NOTE = "What each `algorithm` can give as `targets`, and the key of `selfplay` that makes it try other moves:\n"


def reference() -> str:
    """Return the whole page."""
    parts = [BEGINNING, *_described("A run", Config)]
    for name, field in Config.model_fields.items():
        if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel):
            parts += _described(f"`{name}`", field.annotation)
        if name == "game":
            parts.append(_table(("game", "option", "values"), _options()))
        if name == "search":
            parts += [TARGETS_NOTE, _table(("algorithm", "nodes", "policy", "value", "explores by"), _arms())]
    return "\n".join([*parts, *_described("A study", StudyFile), *_described("Each of `variants`", Variant)])


def _described(title: str, model: type[BaseModel]) -> Iterator[str]:
    """Yield heading, summary and table of a model's keys; a key that is a section has its own table elsewhere."""
    schema = model.model_json_schema()
    rows = [
        (
            f"`{key}`",
            allowed(part),
            f"`{json.dumps(part['default'])}`" if "default" in part else "required",
            part["description"],
        )
        for key, part in schema["properties"].items()
        if "$ref" not in part
    ]
    yield f"## {title}\n"
    yield f"{schema['description']}\n"
    yield _table(("key", "values", "default", "meaning"), rows)


def _options() -> Iterator[tuple[str, str, str]]:
    for game, entry in GAMES.items():
        for option, values in entry.options.items():
            yield f"`{game}`", f"`{option}`", listed(values)


def _arms() -> Iterator[tuple[str, ...]]:
    for name, arm in ARMS.items():
        yield f"`{name}`", *(", ".join(kinds) for kinds in (arm.nodes, arm.policy, arm.value)), f"`{arm.explores_by}`"


def _table(columns: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [columns, ("---",) * len(columns), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)
