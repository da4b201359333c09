"""The configuration of a comparison: one base, and variants that differ from it in the settings they name."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from probzero import config
from probzero.config import Config
from probzero.errors import bad

SCHEMA = Path(__file__).parent / "schemas" / "comparison.schema.yaml"


@dataclass(frozen=True)
class Comparison:
    """Variants by name, each a whole configuration; budgets are equal but for what the file names."""

    name: str
    reference: str
    seeds: tuple[int, ...]
    variants: dict[str, Config]

    def learns(self, variant: str) -> bool:
        """Return whether a variant has a network to train."""
        return self.variants[variant].search.algorithm != "ucb1"


def parse(raw: Any, where: str) -> Comparison:
    """Check plain data against the schemas; return every variant's configuration."""
    config.check(raw, yaml.safe_load(SCHEMA.read_text(encoding="utf-8")), where)
    reference, variants = raw["reference"], raw["variants"]
    if reference not in variants:
        raise bad("configuration", f"{where}: reference", f"one of {', '.join(variants)}", reference)
    parsed = {}
    for place, section in (
        ("base", raw["base"]),
        *((f"variants.{name}", part or {}) for name, part in variants.items()),
    ):
        for key in {"name", "seeds"} & section.keys():
            raise bad("configuration", f"{where}: {place}.{key}", "none: it is the comparison's", section[key])
    for name, changes in variants.items():
        whole = _overlaid(raw["base"], changes or {})
        parsed[name] = config.parse({**whole, "name": name, "seeds": raw["seeds"]}, f"{where}: variants.{name}")
    _same_budgets(parsed, reference, raw.get("budget_differs_in", ()), where)
    return Comparison(raw["name"], reference, tuple(raw["seeds"]), parsed)


def _overlaid(base: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
    """Return `base` with the keys of `changes` in the place of its own, section by section."""
    merged = dict(base)
    for key, value in changes.items():
        merged[key] = {**merged.get(key, {}), **value} if isinstance(value, dict) else value
    return merged


# What must not differ unless the file allows it: games, leaf evaluations a move, samples, and how they are measured.
_BUDGET = {
    "game": None,
    "network": ("blocks", "channels", "policy_hidden"),
    "search": ("budget",),
    "selfplay": ("shards", "games", "particles", "batches", "random_plies"),
    "training": ("iterations", "batch_size", "samples"),
    "arena": None,
    "truth": None,
}


def _same_budgets(variants: dict[str, Config], reference: str, free: Collection[str], where: str) -> None:
    """Refuse variants whose budget is not the reference's but for the `free` settings: they could not be compared."""
    wanted = variants[reference].as_dict()
    for name, variant in variants.items():
        found = variant.as_dict()
        for part, keys in _BUDGET.items():
            for key in keys or wanted[part]:
                if f"{part}.{key}" not in free and found[part][key] != wanted[part][key]:
                    raise bad(
                        "configuration", f"{where}: variants.{name}: {part}.{key}",
                        f"{wanted[part][key]}, as for {reference}", found[part][key],
                    )  # fmt: skip
