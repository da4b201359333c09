"""What the paper reads, checked before typst sees it: every seal, and the columns of every table, by the file's name.

A cell that may be empty, or is shown as it stands, is a text. No table that is read of a run is called like one that is
read of a study.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from probzero import files
from probzero.report.paper import FOLDERS, kind_of, run_files, study_files
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
    "positions": dict.fromkeys(("decisive", "keeping", "losing"), str),
}  # fmt: skip
MAY_BE_EMPTY = ("perfect", "ablations")  # nobody may have a won opening; a study need not ablate


def check(folder: Path, seed: int, study: Path | None = None) -> None:
    """Refuse a file that is not what its name says, or a table that lacks a column which the paper reads."""
    for path in run_files(folder, seed):
        _check(path, seed=None if path.parent == folder else seed)
    for path in study_files(study) if study else []:
        _check(path)


def _check(path: Path, **wanted: Any) -> None:
    subject = path.stem if path.parent.name in FOLDERS else None
    data = files.read(path, kind_of(path), subject=subject, **wanted)
    if path.suffix == ".csv":
        parse_table(data, path, COLUMNS[path.stem], kind_of(path), path.stem in MAY_BE_EMPTY)
