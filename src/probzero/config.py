"""The configuration of a run: read from YAML or JSON, checked against the schema, handed out as typed sections.

Imports nothing heavy: the Snakefile reads it too.
"""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

import jsonschema
import yaml

from probzero.errors import ProbZeroError, bad

SCHEMA = Path(__file__).parent / "schemas" / "config.schema.yaml"


@dataclass(frozen=True)
class Game:
    size: int


@dataclass(frozen=True)
class Network:
    blocks: int
    channels: int


@dataclass(frozen=True)
class Search:
    splitting: str
    temperature: float
    cache: bool


@dataclass(frozen=True)
class SelfPlay:
    shards: int
    games: int
    particles: int
    batches: int
    random_plies: int
    exploration: float
    capacity: int
    device: str
    threads: int


@dataclass(frozen=True)
class Training:
    iterations: int
    batch_size: int
    samples: int
    learning_rate: float
    final_learning_rate: float
    weight_decay: float
    gradient_clip: float
    symmetries: bool
    replay_window: int
    visit_exponent: float
    device: str
    threads: int


@dataclass(frozen=True)
class Arena:
    checkpoints: tuple[int, ...]
    anchors: tuple[str, ...]
    openings: int
    opening_plies: int
    particles: int
    batches: int
    capacity: int
    device: str
    threads: int


@dataclass(frozen=True)
class Truth:
    per_stratum: int
    particles: int
    batches: tuple[int, ...]
    openings: int
    opening_plies: int
    games_from_start: int
    ceiling_per_stratum: int
    ceiling_samples: int
    capacity: int
    device: str
    threads: int


class _Absent:
    """Stands for a part that was not asked for; to use it is a mistake of the program, so no `ProbZeroError`."""

    def __init__(self, part: str) -> None:
        self._part = part

    def __getattr__(self, key: str) -> Any:
        raise AttributeError(
            f"configuration: {self._part}.{key} is used by a command that does not ask for {self._part}"
        )


@dataclass(frozen=True)
class Config:
    """A whole configuration, or the parts of one that a command needs (see `load`)."""

    name: str
    experiment: str
    seeds: tuple[int, ...]
    game: Game
    network: Network
    search: Search
    selfplay: SelfPlay
    training: Training
    arena: Arena
    truth: Truth

    def as_dict(self) -> dict[str, Any]:
        """Return plain lists, dictionaries and scalars, as they stand in a configuration file."""
        parts = {part.name: getattr(self, part.name) for part in fields(self)}
        given = {name: part for name, part in parts.items() if not isinstance(part, _Absent)}
        return json.loads(json.dumps({name: asdict(part) if name in _TYPES else part for name, part in given.items()}))


PARTS = tuple(part.name for part in fields(Config))
_TYPES = {
    "game": Game,
    "network": Network,
    "search": Search,
    "selfplay": SelfPlay,
    "training": Training,
    "arena": Arena,
    "truth": Truth,
}


def load(source: str | Path, needs: Collection[str] = PARTS) -> Config:
    """Read a configuration: the path of a YAML or JSON file, or a JSON object as text.

    `needs` names the top-level keys that must be there. The workflow hands each command only those, so that a change
    of the arena's settings does not play all games of self-play again; a person may give the whole file.
    """
    text, where = str(source), "--config"
    if not text.lstrip().startswith("{"):
        path = Path(source)
        if not path.is_file():
            raise bad("configuration", path, "a YAML file", "nothing")
        text, where = path.read_text(encoding="utf-8"), str(path)
    try:
        # YAML takes JSON's 1e-05 for a text, so JSON is read as what it is.
        raw = json.loads(text) if text.lstrip().startswith("{") else yaml.safe_load(text)
    except (yaml.YAMLError, json.JSONDecodeError) as error:
        raise bad("configuration", where, "valid YAML or JSON", " ".join(str(error).split())) from None
    return parse(raw, where, needs)


def parse(raw: Any, where: str = "configuration", needs: Collection[str] = PARTS) -> Config:
    """Check plain data against the schema and the rules that span keys; return the typed configuration."""
    schema = {**yaml.safe_load(SCHEMA.read_text(encoding="utf-8")), "required": list(needs)}
    error = jsonschema.exceptions.best_match(jsonschema.Draft202012Validator(schema).iter_errors(raw))
    if error is not None:
        key = ".".join(str(part) for part in error.absolute_path) or "top level"
        raise ProbZeroError(f"configuration: {where}: {key}: {error.message}")
    parts: dict[str, Any] = {name: _TYPES[name](**part) if name in _TYPES else part for name, part in raw.items()}
    if "seeds" in parts:
        parts["seeds"] = tuple(parts["seeds"])
    if "arena" in parts:
        arena = parts["arena"]
        parts["arena"] = replace(arena, checkpoints=tuple(sorted(arena.checkpoints)), anchors=tuple(arena.anchors))
    if "truth" in parts:
        parts["truth"] = replace(parts["truth"], batches=tuple(sorted(parts["truth"].batches)))
    if "arena" in parts and "training" in parts:
        last, iterations = max(parts["arena"].checkpoints), parts["training"].iterations
        if last > iterations:
            raise bad("configuration", f"{where}: arena.checkpoints", f"at most {iterations}", last)
    return Config(**{name: parts.get(name, _Absent(name)) for name in PARTS})
