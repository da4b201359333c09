"""Configuration files as plain data: YAML or JSON, without the traps of either."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import yaml

from probzero.errors import bad

# Numbers as everybody writes them: YAML 1.1 also reads 010 as 8, 1:30 as 90 and 1_000 as 1000.
PLAIN_NUMBER = re.compile(r"[-+]?(((0|[1-9]\d*)(\.\d*)?|\.\d+)(e[-+]\d+)?|\.inf|\.nan)", re.ASCII | re.IGNORECASE)


def read(source: str | Path) -> tuple[Any, str]:
    """Return the plain data of a file, or of a JSON object as text, and what to call it in errors.

    Refused is what the text alone can show: a key given twice, and numbers that YAML reads otherwise than they look.
    Snakemake reads its configuration files without telling of either, so the workflow has them read here as well.
    """
    text, where = str(source), "--config"
    try:
        if not text.lstrip().startswith("{"):
            where = text
            if not Path(source).is_file():
                raise bad("configuration", where, "a YAML file", "nothing")
            text = Path(source).read_text(encoding="utf-8")
        # YAML takes JSON's 1e-05 for a text, so JSON is read as what it is.
        if text.lstrip().startswith("{"):
            return json.loads(text, object_pairs_hook=_unrepeated), where
        return yaml.load(text, _Loader), where
    except _Trap as trap:
        key, expected, found = trap.args
        raise bad("configuration", f"{where}: {key}", expected, found) from None
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise bad("configuration", where, "valid YAML or JSON", " ".join(str(error).split())) from None


class _Trap(Exception):
    """A key, what was expected there and what was found."""


def _unrepeated(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    keys = [key for key, _ in pairs]
    for key in keys:
        if keys.count(key) > 1:
            raise _Trap(key, "one such key", keys.count(key))
    return dict(pairs)


class _Loader(yaml.SafeLoader):
    """Refuses while nodes are composed: once merged, a repeated key looks like one that overrides another."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.path: list[str] = []  # keys and indices that lead to the node being composed

    def compose_node(self, parent: Any, index: Any) -> Any:
        self.path.append(str(index.value if isinstance(index, yaml.Node) else index))
        node: Any = super().compose_node(parent, index)
        is_number = isinstance(node, yaml.ScalarNode) and node.tag.endswith((":int", ":float"))
        if is_number and not PLAIN_NUMBER.fullmatch(node.value):
            raise _Trap(".".join(self.path[1:]), "a number in decimal digits", node.value)
        self.path.pop()
        return node

    def compose_mapping_node(self, anchor: Any) -> yaml.MappingNode:
        node = super().compose_mapping_node(anchor)
        keys = [str(key.value) for key, _ in node.value]
        for key in keys:
            if keys.count(key) > 1:
                raise _Trap(".".join([*self.path[1:], key]), "one such key", keys.count(key))
        return node
