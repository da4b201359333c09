"""What the paper reads, checked before typst sees it: every seal, and the columns of every table, by the file's name.

A cell that may be empty, or is shown as it stands, is a text. No table that is read of a run is called like one that is
read of a study; only those of costs are, which have other columns there.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from probzero import files
from probzero.errors import bad
from probzero.report.evidence.verdicts import COLUMNS as VERDICTS
from probzero.report.paper import ALONE, FOLDERS, Beside, committed_files, kind_of, run_files, study_files
from probzero.tables import parse_table

INTERVAL = dict.fromkeys(("share_low", "share_high"), float)
SHARES = {
    **dict.fromkeys(("player", "iteration", "source", "leaf_evaluations"), str),
    **dict.fromkeys(("particles", "positions", "kept"), int),
    "kept_share": float,
    **INTERVAL,
}
EFFECTS = [f"{kind}_effect{end}" for kind in ("raw", "searched", "elo") for end in ("", "_low", "_high")]
COLUMNS: dict[str, dict[str, type]] = {
    "ratings": {
        **dict.fromkeys(("player", "iteration", "bounded"), str),
        **dict.fromkeys(("rating", "low", "high", "standard_error", "games", "score"), float),
    },
    "differences": {
        **dict.fromkeys(("player", "opponent", "bounded"), str),
        **dict.fromkeys(("difference", "low", "high"), float),
    },
    "pairings": {
        **dict.fromkeys(("player", "opponent"), str),
        **dict.fromkeys(("games", "score", "score_low", "score_high"), float),
    },
    "model": {"parameter": str, **dict.fromkeys(("estimate", "lower", "upper"), float)},
    "truth": SHARES,
    "errors": {**SHARES, "phase": int},
    "calibration": {
        **dict.fromkeys(("player", "iteration", "head"), str), "positions": int, "brier": float, "log_loss": float,
    },
    "reliability": {"bin": int},
    "perfect": {
        **dict.fromkeys(("player", "iteration", "begins"), str), "games": int, "won": int, "won_share": float,
        **INTERVAL,
    },
    "certificates": {
        **dict.fromkeys(("player", "iteration", "source"), str),
        **dict.fromkeys(("particles", "draws", "agents", "certified", "positions", "holes"), int),
    },
    "blunders": {
        **dict.fromkeys(("iteration", "games", "games_without_blunder"), int),
        **dict.fromkeys(("blunders_per_game", "result_lost_per_game"), float),
    },
    "selfplay": {
        "iteration": int,
        **dict.fromkeys(("games", "moves", "leaf_evaluations", "samples", "exhausted_roots"), float),
    },
    "training": {"samples": float},
    "final": {
        **dict.fromkeys(("variant", "share_low", "share_high", "lead", "lead_low", "lead_high"), str),
        "particles": int,
        "share": float,
    },
    "elo": {
        **dict.fromkeys(("variant", "rating", "rating_low", "rating_high", "seed_sd", "game_sd"), str), "seeds": int,
    },
    "ablations": dict.fromkeys(("idea", "variant", *EFFECTS), str),
    "accounting": {
        "variant": str,
        **dict.fromkeys(("games", "samples_seen", "leaf_evaluations"), float),
        "leaf_evaluations_per_move": str,
        **dict.fromkeys(("games_ratio", "samples_seen_ratio", "leaf_evaluations_per_move_ratio"), str),
    },
    "efficiency": {
        **dict.fromkeys(("variant", "leaf_evaluations"), str),
        "threshold": float,
        **dict.fromkeys(("seeds_reaching", "seeds"), int),
    },
    "positions": dict.fromkeys(("source", "decisive", "keeping", "losing"), str),
    "verdicts": dict.fromkeys(VERDICTS, str),
    "growth": {"growing": str, "board": str, "games": int, "bytes_per_leaf": float},
}  # fmt: skip
MAY_BE_EMPTY = ("perfect", "ablations")  # nobody may have a won opening; a study need not ablate


COSTS: dict[str, type] = {"iteration": int, "cumulative_seconds": float}  # of a run
STUDY_COSTS: dict[str, type] = {"variant": str, **dict.fromkeys(("iteration", "seconds", "seeds"), float)}


def check(folder: Path, seed: int, beside: Beside = ALONE) -> None:
    """Refuse a file that is not what its name says, or a table that lacks a column which the paper reads."""
    for path in run_files(folder, seed):
        _check(path, COLUMNS, subject_of(path), seed=None if path.parent == folder else seed)
    for path in study_files(beside.study) if beside.study else []:
        _check(path, COLUMNS, subject_of(path))
    if beside.verdicts:
        if beside.verdicts.name != "verdicts.csv":
            raise bad("verdicts", beside.verdicts, "a file called verdicts.csv", beside.verdicts.name)
        _check(beside.verdicts, COLUMNS, "verdicts")
    for path in committed_files(beside.committed) if beside.committed else []:
        of_run = path.parent.parent.name.startswith("seed")
        _check(path, {**COLUMNS, "costs": COSTS if of_run else STUDY_COSTS})  # some are older than subjects


def subject_of(path: Path) -> str | None:
    return path.stem if path.parent.name in FOLDERS else None


def _check(path: Path, columns: Mapping[str, Mapping[str, type]], subject: str | None = None, **wanted: Any) -> None:
    kind = kind_of(path)
    data = files.read(path, kind, subject=subject, **wanted)
    if path.suffix == ".csv":
        parse_table(data, path, columns[path.stem], kind, path.stem in MAY_BE_EMPTY)
