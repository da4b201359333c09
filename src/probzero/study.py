"""The configuration of a study: one base, and variants that differ from it in the settings they name."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from pydantic import ConfigDict, Field, model_validator

from probzero import config
from probzero.config import ANCHORS, Config
from probzero.config.fields import Distinct, Name, Section, Seed, Words
from probzero.config.wording import validated
from probzero.errors import bad

Budget = Literal[
    "network.blocks", "network.channels", "network.policy_hidden", "selfplay.games", "selfplay.particles",
    "selfplay.batches", "selfplay.random_plies", "training.batch_size", "training.samples",
]  # fmt: skip
Role = Literal["reference", "rival", "baseline", "ablation"]
REFERENCE, RIVAL, BASELINE, ABLATION = ROLES = get_args(Role)
NO_VARIANTS = (*ANCHORS, "ceiling")  # names of other players
FOLDERS = ("tables", "figures", "logs", "benchmarks", "seals")  # beside those of variants and seeds


class Description(Section):
    """How figures, tables and the paper speak of a variant."""

    label: Words = Field(default="", description="what it is called; its name if left out")
    short: Words = Field(default="", description="the same where there is little room; its label if left out")
    role: Role = Field(
        default="ablation",
        description="the reference itself, another system that learns, one that does not, or the reference changed",
    )
    idea: Words = Field(default="", description="what an ablation takes away; those of one idea are shown together")
    change: Words = Field(default="", description="in a few words, what it does in the place of the reference")


class Variant(Description):
    """A variant: how it is spoken of, and beside that any part of a run, with the settings in which it differs."""

    model_config = ConfigDict(extra="allow")

    repetitions: int = Field(
        default=0, ge=0, le=10_000, description="how many of the study's seeds it has, from the first on; 0: all"
    )

    @model_validator(mode="before")
    @classmethod
    def _left_empty_is_the_base(cls, raw: Any) -> Any:
        return {} if raw is None else raw


class StudyFile(Section):
    """Variants of one run, compared with each other. Each, laid over the base, is a whole run."""

    name: Name = Field(description="results go to `results/NAME/`")
    reference: str = Field(
        description="the variant that the others are compared with",
        json_schema_extra={"allowed": "the name of a variant"},
    )
    seeds: Distinct[Seed] = Field(min_length=1, description="independent repetitions of every variant")
    budget_differs_in: Distinct[Budget] = Field(
        default=(), description="settings of the budget in which variants may differ all the same"
    )
    base: dict[Any, Any] = Field(description="a run's settings without name and seeds")
    variants: dict[Name, Variant] = Field(min_length=2, description="the variants by name")


@dataclass(frozen=True)
class Study:
    """Variants by name, each a whole configuration; budgets are equal but for what the file names."""

    name: str
    reference: str
    seeds: tuple[int, ...]
    variants: dict[str, Config]
    described: dict[str, Description]

    @property
    def fingerprint(self) -> str:
        """Return a short hash of all settings that can change a result, and of how variants are spoken of."""
        settings = {name: variant.fingerprints(config.PARTS) for name, variant in self.variants.items()}
        fewer = {name: len(found.seeds) for name, found in self.variants.items() if found.seeds != self.seeds}
        described = {name: found.model_dump() for name, found in self.described.items()}
        text = json.dumps([self.reference, settings, described, *([fewer] if fewer else [])], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:12]

    def seeds_of(self, player: str) -> tuple[int, ...]:
        """Return the seeds of a variant; any other player has all."""
        return self.variants[player].seeds if player in self.variants else self.seeds

    def learns(self, variant: str) -> bool:
        """Return whether a variant has a network to train."""
        return self.variants[variant].search.arm.learns


def load(path: str | Path) -> Study:
    """Read a study: the path of a YAML or JSON file, or a JSON object as text."""
    return parse(*config.read(path))


def descriptions(path: str | Path) -> dict[str, Description]:
    """Read how the variants of a study are spoken of, in the file's order; their settings are not looked at."""
    return _descriptions(*config.read(path))[1]


def _descriptions(raw: Any, where: str) -> tuple[StudyFile, dict[str, Description]]:
    file = validated(StudyFile, raw, where)
    if file.name in config.TAKEN:
        raise bad("configuration", f"{where}: name", config.FREE_NAME, file.name)
    if file.reference not in file.variants:
        raise bad("configuration", f"{where}: reference", f"one of {', '.join(file.variants)}", file.reference)
    return file, {name: _described(file, name, where) for name in file.variants}


def parse(raw: Any, where: str) -> Study:
    """Check plain data; return every variant's configuration and description."""
    file, described = _descriptions(raw, where)
    changes = {name: variant.model_extra or {} for name, variant in file.variants.items()}
    for place, section in {"base": file.base, **{f"variants.{name}": part for name, part in changes.items()}}.items():
        for key in {"name", "seeds"} & section.keys():
            raise bad("configuration", f"{where}: {place}.{key}", "none: it is the study's", section[key])
    variants = {}
    for name, part in changes.items():
        seeds = list(file.seeds)[: file.variants[name].repetitions or None]
        whole = {**overlaid(file.base, part), "name": name, "seeds": seeds}
        variants[name] = config.parse(whole, f"{where}: variants.{name}")
    if variants[file.reference].seeds != file.seeds:
        fewer = file.variants[file.reference].repetitions
        where = f"{where}: variants.{file.reference}.repetitions"
        raise bad("configuration", where, "0, as everybody is compared with it", fewer)
    _same_budgets(variants, file.reference, file.budget_differs_in, where)
    return Study(file.name, file.reference, file.seeds, variants, described)


def _described(file: StudyFile, name: str, where: str) -> Description:
    """Return the description of a variant with what may be left out filled in."""
    variant = file.variants[name]
    if name in NO_VARIANTS or re.fullmatch(r"iteration-\d+", name):
        raise bad("configuration", f"{where}: variants.{name}", "a name that no other player has", name)
    if name in FOLDERS or re.fullmatch(r"seed\d+", name):
        raise bad("configuration", f"{where}: variants.{name}", "a name that no folder of the study has", name)
    is_reference = name == file.reference
    role: Role = "reference" if is_reference and "role" not in variant.model_fields_set else variant.role
    if (role == "reference") != is_reference:
        expected = (
            "reference, as the study names it" if is_reference else f"another than reference, which is {file.reference}"
        )
        raise bad("configuration", f"{where}: variants.{name}.role", expected, role)
    label = variant.label or name
    return Description(label=label, short=variant.short or label, role=role, idea=variant.idea, change=variant.change)


def overlaid(base: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
    """Return `base` with the keys of `changes` in the place of its own, section by section."""
    merged = dict(base)
    for key, value in changes.items():
        both = isinstance(value, dict) and isinstance(merged.get(key), dict)
        merged[key] = {**merged[key], **value} if both else value
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
