"""Networks that people may play: any checkpoint, and the committed one of a game."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

from probzero import config, files, study
from probzero.config import Search
from probzero.devices import resolve_device
from probzero.errors import ProbZeroError, bad
from probzero.games.base import Game
from probzero.games.names import short_name
from probzero.network.checkpoint import CheckpointInfo, load_weights
from probzero.network.inference import Evaluator

REFERENCE = Path("results", "reference")
DEFAULT_RUN = "laptop"  # whose game is played if nobody names one
REPOSITORY = Path(__file__).parents[3]


def committed(game: Game | None = None) -> Path:
    """Return the last checkpoint of the committed run of a game; if none is given, of the default scale."""
    for run in _committed_runs():
        raw = files.read_json(run / "config.json", config.KIND)
        its_game = raw.get("game") if isinstance(raw, dict) else None
        if run.name == DEFAULT_RUN if game is None else its_game == game.described:
            return newest(run)
    whose = short_name(game) if game is not None else f"the run {DEFAULT_RUN}"
    raise bad("network", whose, f"a committed one in {REFERENCE}", "none; name a checkpoint, or another player")


def committed_of(name: str) -> Path:
    """Return the last checkpoint of the first committed run of a game, whatever its options."""
    for run in _committed_runs():
        raw = files.read_json(run / "config.json", config.KIND)
        if isinstance(raw, dict) and isinstance(raw.get("game"), dict) and raw["game"].get("name") == name:
            return newest(run)
    raise bad("network", name, f"a committed one in {REFERENCE}", "none; name a checkpoint, or another player")


def has_committed(game: Game) -> bool:
    try:
        return committed(game).is_file()
    except ProbZeroError:
        return False


def _committed_runs() -> list[Path]:
    """Return the folders of committed runs, of which one is the whole configuration; the default scale's is first."""
    roots = [root / REFERENCE for root in (Path(), REPOSITORY)]
    found = [path.parent for root in roots for path in sorted(root.glob("*/config.json"))]
    return sorted((run for run in found if any(run.glob("seed*/checkpoints"))), key=lambda run: run.name != DEFAULT_RUN)


def newest(run: Path) -> Path:
    """Return the last checkpoint of the first seed of a run."""
    for seed in sorted(run.glob("seed*")):
        numbered = [path for path in seed.glob("checkpoints/*.safetensors") if re.fullmatch(r"\d{4}", path.stem)]
        if numbered:
            return max(numbered)
    raise bad("network", run, "a run with checkpoints (seed*/checkpoints/NNNN.safetensors)", "none")


@cache
def load(path: Path) -> tuple[Evaluator, CheckpointInfo]:
    """Return a network ready to evaluate positions of its game, published networks among them."""
    weights, info = load_weights(path, imported=True)
    return Evaluator(weights, info.game, resolve_device("auto", 1)), info


def search_of(path: Path) -> tuple[Search, int]:
    """Return the search that a checkpoint's run was made with, and its particles a move in the tournament.

    Without the record of a run beside it, it is the default search."""
    raw = _record(path)
    if raw is None:
        return DEFAULT_SEARCH, DEFAULT_PARTICLES
    arena = config.parse_part("arena", raw.get("arena"), str(path))
    return config.parse_part("search", raw["search"], str(path)), arena.particles * arena.batches


DEFAULT_SEARCH = Search(splitting="middle", temperature=1.0, cache=True)
DEFAULT_PARTICLES = 96


def _record(path: Path) -> dict[str, Any] | None:
    """Return the configuration of the run RUN/seed<S>/checkpoints/NAME, or of the variant STUDY/VARIANT/seed<S>/…"""
    run = path.resolve().parent.parent.parent
    if (run / "config.json").is_file():
        settings = files.read_json(run / "config.json", config.KIND)
        return settings if isinstance(settings, dict) and "search" in settings else None
    if (record := run.parent / "config.json").is_file():
        settings = files.read_json(record, config.KIND)
        variants = settings.get("variants") if isinstance(settings, dict) else None
        if isinstance(variants, dict) and run.name in variants:
            return study.parse(settings, str(record)).variants[run.name].as_dict()
    return None
