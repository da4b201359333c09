"""The configuration of a run: read from YAML or JSON, checked, handed out as typed sections.

Imports nothing heavy: the Snakefile reads it too.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

from pydantic import Field, ValidatorFunctionWrapHandler, field_validator

from probzero.arms import EXPLORATIONS
from probzero.config.fields import ANCHORS, Distinct, Line, Name, Section, Seed
from probzero.config.reading import read
from probzero.config.sections import (
    Arena,
    Certify,
    Game,
    Network,
    Search,
    SelfPlay,
    Targets,
    Training,
    Truth,
)
from probzero.config.wording import validated
from probzero.errors import bad

__all__ = [
    "ANCHORS", "LEARNED", "OPTIONAL", "PARTS", "Arena", "Certify", "Config", "Game", "Network", "Search", "SelfPlay",
    "Targets", "Training", "Truth", "load", "parse", "parse_part", "parse_run", "read",
]  # fmt: skip


class _Absent:
    """Stands for a part that was not asked for; to use it is a mistake of the program, so no `ProbZeroError`."""

    def __init__(self, part: str) -> None:
        self._part = part

    def __getattr__(self, key: str) -> Any:
        raise AttributeError(
            f"configuration: {self._part}.{key} is used by a command that does not ask for {self._part}"
        )


class Config(Section):
    """A run: what it is called, its seeds, and the parts below. A command takes those parts that it needs."""

    name: Name = Field(description="scale; results go to `results/NAME/`")
    experiment: Line = Field(description="first part of every random key")
    seeds: Distinct[Seed] = Field(min_length=1, description="independent repetitions of the whole run")
    game: Game
    network: Network
    search: Search
    selfplay: SelfPlay
    targets: Targets = Targets()
    training: Training
    arena: Arena
    truth: Truth
    certify: Certify = Certify()

    @field_validator("*", mode="wrap")
    @classmethod
    def _let_absent_parts_through(cls, value: Any, handler: ValidatorFunctionWrapHandler) -> Any:
        return value if isinstance(value, _Absent) else handler(value)

    def has(self, *parts: str) -> bool:
        """Return whether all of these parts are there."""
        return not any(isinstance(getattr(self, part), _Absent) for part in parts)

    def changed(self, **parts: dict[str, Any]) -> Config:
        """Return a copy with other values, by part and key, unchecked."""
        return self.model_copy(update={name: getattr(self, name).model_copy(update=new) for name, new in parts.items()})

    def as_dict(self) -> dict[str, Any]:
        """Return plain lists, dictionaries and scalars, as they stand in a configuration file."""
        return self.model_dump(mode="json", include={part for part in PARTS if self.has(part)})

    def fingerprints(self, parts: Collection[str]) -> dict[str, str]:
        """Return a short hash of each part, of those settings alone that can change a result."""
        return fingerprints(self.as_dict(), parts)


def fingerprints(plain: dict[str, Any], parts: Collection[str]) -> dict[str, str]:
    """Return the same of a configuration as plain data."""
    chosen = {part: _telling(plain[part]) for part in parts if part not in ("name", "seeds")}
    texts = {part: json.dumps(value, sort_keys=True) for part, value in chosen.items()}
    return {part: hashlib.sha256(text.encode()).hexdigest()[:12] for part, text in texts.items()}


def _telling(part: Any) -> Any:
    if not isinstance(part, dict):
        return part
    return {key: value for key, value in part.items() if key not in SILENT and (key, value) not in LATER.items()}


KIND = "configuration"  # of the record of a run
SILENT = ("device", "threads", "capacity", "cache")  # say where and how to compute, not what
# Settings that came later, and the values at which all is as before: there they say nothing, so that older files hold.
LATER = {
    "first_play_reduction": 0.0,
    "virtual_loss": 0,
    "gumbel_moves": 16,
    "gumbel_visits": 50.0,
    "gumbel_scale": 1.0,
    "near_end": 0.0,
    "near_end_plies": 16,
    "longest": 0,
    "warm_up": 0,
}
PARTS = tuple(Config.model_fields)
LEARNED = ("experiment", "game", "network", "search", "selfplay", "targets", "training")  # what a checkpoint depends on
OPTIONAL = tuple(name for name, part in Config.model_fields.items() if not part.is_required())


def load(source: str | Path, needs: Collection[str] = PARTS) -> Config:
    """Read a configuration: the path of a YAML or JSON file, or a JSON object as text.

    `needs` names the top-level keys that must be there. The workflow hands each command only those, so that a change
    of the arena's settings does not play all games of self-play again; a person may give the whole file.
    """
    return parse(*read(source), needs)


def parse(raw: Any, where: str = "configuration", needs: Collection[str] = PARTS) -> Config:
    """Check plain data, key by key and for contradictions between keys; return the typed configuration."""
    absent = {part: _Absent(part) for part in PARTS if part not in needs and part not in OPTIONAL}
    settings = validated(Config, {**absent, **raw} if isinstance(raw, dict) else raw, where)
    for key, expected, found in _contradictions(settings):
        raise bad("configuration", f"{where}: {key}", expected, found)
    return settings


def parse_run(raw: Any, where: str) -> Config:
    """Return the configuration of a whole run, which has to learn; a variant of a study need not."""
    settings = parse(raw, where)
    if not settings.search.arm.learns:
        raise bad(
            "configuration", f"{where}: search.algorithm", "one that learns; others may be variants of a study",
            settings.search.algorithm,
        )  # fmt: skip
    return settings


def parse_part(name: str, raw: Any, where: str) -> Any:
    """Return plain data as the part `name` of a configuration, or refuse it."""
    part: Any = Config.model_fields[name].annotation
    return validated(part, raw, where, name)


TAKEN, FREE_NAME = ("bench", "packed", "reference"), "a name that no folder of results has"
CHANCE = (("selfplay", "random_plies"), ("arena", "opening_plies"), ("truth", "opening_plies"))
PLIES = (("selfplay", "random_plies"), ("targets", "steps"), ("arena", "opening_plies"), ("truth", "opening_plies"))


def _contradictions(settings: Config) -> Iterator[tuple[str, str, Any]]:
    """Yield key, what it should be and what it is, for settings that are right alone but not together."""
    if settings.has("name") and settings.name in TAKEN:
        yield "name", FREE_NAME, settings.name
    if settings.has("arena", "training"):
        last, iterations = settings.arena.checkpoints[-1], settings.training.iterations
        if last > iterations:
            yield "arena.checkpoints", f"at most {iterations}", last
    if settings.has("game"):
        longest = settings.game.entry.longest_game(**settings.game.options)
        for part, key in PLIES:
            if settings.has(part) and getattr(getattr(settings, part), key) > longest:
                yield (
                    f"{part}.{key}",
                    f"at most {longest} plies, the longest game",
                    getattr(getattr(settings, part), key),
                )
        for part, key in CHANCE:
            if settings.has(part) and getattr(getattr(settings, part), key) < settings.game.entry.set_up:
                yield (
                    f"{part}.{key}",
                    f"at least {settings.game.entry.set_up} plies, in which the pieces are set up",
                    getattr(getattr(settings, part), key),
                )
        if settings.has("arena"):
            yield from _anchors_without_their_game(settings)
    if not settings.has("selfplay"):
        return
    selfplay, targets = settings.selfplay, settings.targets
    plies = [ply for ply, _ in selfplay.move_temperatures]
    if plies[0] != 0 or plies != sorted(set(plies)):
        yield "selfplay.move_temperatures", "plies that rise from 0", plies
    if selfplay.longest and targets.value == "mixed":
        yield "targets.value", "another value than mixed, which needs all outcomes, with selfplay.longest", "mixed"
    if settings.has("search"):
        algorithm, arm = settings.search.algorithm, settings.search.arm
        for key in ("nodes", "policy", "value"):
            possible, chosen = getattr(arm, key), getattr(targets, key)
            if chosen not in possible:
                yield f"targets.{key}", f"{' or '.join(possible)} with search.algorithm {algorithm}", chosen
        for key in EXPLORATIONS:
            if key != arm.explores_by and getattr(selfplay, key) > 0:
                expected = f"0 with search.algorithm {algorithm}, which explores by selfplay.{arm.explores_by}"
                yield f"selfplay.{key}", expected, getattr(selfplay, key)
    if settings.has("network") and not settings.network.reward and targets.value == "bootstrap":
        yield "targets.value", "another value than bootstrap, which needs network.reward", targets.value


def _anchors_without_their_game(settings: Config) -> Iterator[tuple[str, str, Any]]:
    game = settings.game.entry
    able = {
        "greedy": (game.has_margin, "a game that is won by a margin"),
        "perfect": (game.solvable(**settings.game.options), "a game that can be solved"),
    }
    for anchor in settings.arena.anchors:
        possible, needed = able.get(anchor, (True, ""))
        if not possible:
            yield "arena.anchors", f"players that {settings.game.name} has; {anchor} needs {needed}", anchor
