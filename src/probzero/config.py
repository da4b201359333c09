"""The configuration of a run: read from YAML or JSON, checked against the schema, handed out as typed sections.

Imports nothing heavy: the Snakefile reads it too.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from dataclasses import asdict, dataclass, fields, replace
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import yaml

from probzero.errors import ProbZeroError, bad

SCHEMA = Path(__file__).parent / "schemas" / "config.schema.yaml"


@dataclass(frozen=True)
class Game:
    name: str
    size: int

    @property
    def options(self) -> dict[str, int]:
        return {"size": self.size}


@dataclass(frozen=True)
class Network:
    blocks: int
    channels: int
    policy_hidden: int = 0
    value: str = "wdl"
    support: int = 21
    reward: bool = True


@dataclass(frozen=True)
class Search:
    splitting: str
    temperature: float
    cache: bool
    algorithm: str = "particle"
    transpositions: bool = True
    reuse: bool = True
    budget: str = "simulations"
    exploration: float = 1.25
    exploration_growth: str = "constant"
    q_scale: str = "plain"
    unvisited: str = "zero"


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
    lag: int = 0
    noise: float = 0.0
    noise_concentration: float = 1.0
    move_temperatures: tuple[tuple[int, float], ...] = ((0, 1.0),)
    resign_below: float = -1.0
    play_on: float = 0.1


@dataclass(frozen=True)
class Targets:
    nodes: str = "tree"
    policy: str = "winner"
    value: str = "bootstrap"
    least_moves: int = 1
    steps: int = 5
    root_share: float = 0.5


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
    recency: float = 1.0
    policy_moves: str = "explored"
    policy_sharpness: float = 1.0
    undecided_draw: float = 1.0
    phase_balance: float = 0.0
    policy_weight: float = 1.0


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
    targets: Targets
    training: Training
    arena: Arena
    truth: Truth

    def as_dict(self) -> dict[str, Any]:
        """Return plain lists, dictionaries and scalars, as they stand in a configuration file."""
        parts = {part.name: getattr(self, part.name) for part in fields(self)}
        given = {name: part for name, part in parts.items() if not isinstance(part, _Absent)}
        return json.loads(json.dumps({name: asdict(part) if name in _TYPES else part for name, part in given.items()}))


PARTS = tuple(part.name for part in fields(Config))
OPTIONAL = ("targets",)  # may be left out: every key has a default
_TYPES = {
    "game": Game,
    "network": Network,
    "search": Search,
    "selfplay": SelfPlay,
    "targets": Targets,
    "training": Training,
    "arena": Arena,
    "truth": Truth,
}


def load(source: str | Path, needs: Collection[str] = PARTS) -> Config:
    """Read a configuration: the path of a YAML or JSON file, or a JSON object as text.

    `needs` names the top-level keys that must be there. The workflow hands each command only those, so that a change
    of the arena's settings does not play all games of self-play again; a person may give the whole file.
    """
    return parse(*read(source), needs)


def read(source: str | Path) -> tuple[Any, str]:
    """Return the plain data of a file or a text, unchecked, and what to call it in errors."""
    text, where = str(source), "--config"
    if not text.lstrip().startswith("{"):
        path = Path(source)
        if not path.is_file():
            raise bad("configuration", path, "a YAML file", "nothing")
        text, where = path.read_text(encoding="utf-8"), str(path)
    try:
        # YAML takes JSON's 1e-05 for a text, so JSON is read as what it is.
        return json.loads(text) if text.lstrip().startswith("{") else yaml.safe_load(text), where
    except (yaml.YAMLError, json.JSONDecodeError) as error:
        raise bad("configuration", where, "valid YAML or JSON", " ".join(str(error).split())) from None


def parse(raw: Any, where: str = "configuration", needs: Collection[str] = PARTS) -> Config:
    """Check plain data against the schema and the rules that span keys; return the typed configuration."""
    required = [part for part in needs if part not in OPTIONAL]
    check(raw, {**_schema(), "required": required}, where)
    raw = {**{part: {} for part in OPTIONAL}, **raw}
    parts: dict[str, Any] = {
        name: _TYPES[name](**{key: _frozen(value) for key, value in part.items()}) if name in _TYPES else _frozen(part)
        for name, part in raw.items()
    }
    if "arena" in parts:
        parts["arena"] = replace(parts["arena"], checkpoints=tuple(sorted(parts["arena"].checkpoints)))
    if "truth" in parts:
        parts["truth"] = replace(parts["truth"], batches=tuple(sorted(parts["truth"].batches)))
    for key, expected, found in _contradictions(parts):
        raise bad("configuration", f"{where}: {key}", expected, found)
    return Config(**{name: parts.get(name, _Absent(name)) for name in PARTS})


def check_part(name: str, raw: Any) -> None:
    """Refuse plain data that cannot be the part `name` of a configuration."""
    check(raw, _schema()["properties"][name], name)


@cache
def _schema() -> dict[str, Any]:
    return yaml.safe_load(SCHEMA.read_text(encoding="utf-8"))


def check(raw: Any, schema: dict[str, Any], where: str) -> None:
    """Refuse plain data that a schema does not allow, naming the key."""
    error = jsonschema.exceptions.best_match(jsonschema.Draft202012Validator(schema).iter_errors(raw))
    if error is not None:
        key = ".".join(str(part) for part in error.absolute_path) or "top level"
        raise ProbZeroError(f"configuration: {where}: {key}: {error.message}")


def _frozen(value: Any) -> Any:
    return tuple(map(_frozen, value)) if isinstance(value, list) else value


def _contradictions(parts: dict[str, Any]) -> Iterator[tuple[str, str, Any]]:
    """Yield key, what it should be and what it is, for settings that are right alone but not together."""
    if "arena" in parts and "training" in parts:
        last, iterations = max(parts["arena"].checkpoints), parts["training"].iterations
        if last > iterations:
            yield "arena.checkpoints", f"at most {iterations}", last
    if "selfplay" in parts:
        plies = [ply for ply, _ in parts["selfplay"].move_temperatures]
        if plies[0] != 0 or plies != sorted(set(plies)):
            yield "selfplay.move_temperatures", "plies that rise from 0", plies
    targets = parts["targets"]
    if "selfplay" in parts and "search" in parts:
        particle = parts["search"].algorithm == "particle"
        for key, allowed in _TARGETS["particle" if particle else "mcts"].items():
            if getattr(targets, key) not in allowed:
                what = f"{' or '.join(allowed)} with search.algorithm {parts['search'].algorithm}"
                yield f"targets.{key}", what, getattr(targets, key)
        if not particle and parts["selfplay"].exploration > 0:
            yield "selfplay.exploration", "0 with MCTS, which explores by selfplay.noise", parts["selfplay"].exploration
        if particle and parts["selfplay"].noise > 0:
            yield (
                "selfplay.noise",
                "0 with particle search, which explores by selfplay.exploration",
                parts["selfplay"].noise,
            )
    if {"network", "selfplay"} <= parts.keys() and not parts["network"].reward and targets.value == "bootstrap":
        yield "targets.value", "another value than bootstrap, which needs network.reward", targets.value


# What each kind of search can give as targets.
_TARGETS = {
    "particle": {
        "nodes": ("tree", "roots"),
        "policy": ("winner", "visits"),
        "value": ("bootstrap", "search", "outcome"),
    },
    "mcts": {"nodes": ("roots",), "policy": ("visits",), "value": ("search", "outcome", "steps", "mixed")},
}
