"""Outcomes by arm, seed and position in one compact file: what anybody needs to analyse the comparison again.

An arm is a variant of a study, `factorial/default-tree-bootstrap-winner`. Its last network, with each seed and budget,
met every decisive position of one fixed set; a bit says whether its move gave the exact result away.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from probzero import origin, tensor_files
from probzero.errors import bad
from probzero.games.base import Game
from probzero.origin import Origin
from probzero.report.study.inputs import MEASURED, MEASURES
from probzero.report.truth_inputs import check_kept
from probzero.tables import read_table

KIND = "outcomes"


@dataclass(frozen=True)
class Outcomes:
    """What R networks with a budget did in P positions."""

    arms: tuple[str, ...]
    arm: np.ndarray  # [R] int32, which of `arms`
    seed: np.ndarray  # [R] int32
    budget: np.ndarray  # [R] int32 leaf evaluations a move, 0 for the raw policy
    phase: np.ndarray  # [P] int16, rising: positions of a phase lie together, in the order of the set
    lost: np.ndarray  # [R, P] bool: the move gave the exact result away

    def seeds(self, arm: str, budget: int) -> list[int]:
        """Return the seeds of an arm that was measured with a budget."""
        return sorted(self.seed[(self.arm == self._number(arm)) & (self.budget == budget)].tolist())

    def of(self, arm: str, budget: int, seeds: Iterable[int]) -> np.ndarray:
        """Return what was lost [seeds, P] by an arm with a budget."""
        mine = np.flatnonzero((self.arm == self._number(arm)) & (self.budget == budget))
        rows = dict(zip(self.seed[mine].tolist(), mine.tolist(), strict=True))
        return self.lost[[rows[seed] for seed in seeds]]

    def _number(self, arm: str) -> int:
        if arm not in self.arms:
            raise bad(KIND, "arm", f"one of {', '.join(self.arms)}", arm)
        return self.arms.index(arm)


def collect(paths: Iterable[tuple[str, Path]]) -> Outcomes:
    """Return the outcomes of the last checkpoints from measures, given with the name of their study."""
    rows: list[tuple[str, int, int, str]] = []
    phases: np.ndarray | None = None
    for study, path in paths:
        table = read_table(path, MEASURES, MEASURED)
        check_kept(path, table, MEASURED)
        last = table[table["iteration"] == table["iteration"].max()]
        for (variant, seed, budget), part in last.groupby(["variant", "seed", "particles"]):
            part = part.sort_values("phase")
            met = np.repeat(part["phase"].to_numpy(), part["positions"].to_numpy(int))
            phases = met if phases is None else phases
            if not np.array_equal(met, phases):
                raise bad(KIND, path, f"the {len(phases)} positions that all others met", f"{len(met)} others")
            rows.append((f"{study}/{variant}", int(seed), int(budget), "".join(part["outcomes"])))
    if phases is None:
        raise bad(KIND, "measures", "a file", "none")
    arms = tuple(dict.fromkeys(row[0] for row in rows))
    kept = np.array([np.frombuffer(row[3].encode(), np.uint8) == ord("1") for row in rows])
    found = Outcomes(
        arms,
        np.array([arms.index(row[0]) for row in rows], np.int32),
        np.array([row[1] for row in rows], np.int32),
        np.array([row[2] for row in rows], np.int32),
        phases.astype(np.int16),
        ~kept,
    )
    _refuse_twice(found, "measures")
    return found


def write_outcomes(path: Path, found: Outcomes, game: Game, made: Origin) -> None:
    """Write outcomes, eight positions to a byte."""
    arrays = {name: getattr(found, name) for name in ("arm", "seed", "budget", "phase")}
    tensor_files.save(path, KIND, {**arrays, "lost": np.packbits(found.lost, axis=1)}, game, made, {"arms": found.arms})


def read_outcomes(path: Path, game: Game | None = None, **wanted: Any) -> Outcomes:
    """Read a file of outcomes, verifying all of it; `wanted` is what its origin must be."""
    file = tensor_files.load(path, KIND, game)
    origin.expect(file.made, KIND, path, **wanted)
    arms = file.extra.get("arms")
    if not isinstance(arms, list) or not all(isinstance(arm, str) for arm in arms) or len(set(arms)) < len(arms):
        raise bad(KIND, f"{path}: arms", "different names", arms)
    runs, positions = (file.arrays[name].size if name in file.arrays else 0 for name in ("arm", "phase"))
    forms = {name: ((runs,), np.int32) for name in ("arm", "seed", "budget")}
    packed = ((runs, -(-positions // 8)), np.uint8)
    tensor_files.check_arrays(path, KIND, file.arrays, {**forms, "phase": ((positions,), np.int16), "lost": packed})
    bits = np.unpackbits(file.arrays["lost"], axis=1)
    stored = {name: file.arrays[name] for name in ("arm", "seed", "budget", "phase")}
    found = Outcomes(arms=tuple(arms), lost=bits[:, :positions] == 1, **stored)
    for name, wrong, expected in (
        ("arm", (found.arm < 0) | (found.arm >= len(arms)), "the number of an arm"),
        ("seed", found.seed < 0, "a seed"),
        ("budget", found.budget < 0, "a budget"),
        ("lost", bits[:, positions:].any(1), "nothing after the last position"),
        ("phase", np.diff(found.phase) < 0, "rising phases"),
    ):
        if wrong.any():
            raise bad(KIND, f"{path}: {name}", expected, f"another at {int(wrong.argmax())}")
    _refuse_twice(found, str(path))
    return found


def _refuse_twice(found: Outcomes, where: str) -> None:
    runs = pd.DataFrame({"arm": found.arm, "seed": found.seed, "budget": found.budget})
    if runs.duplicated().any():
        arm, seed, budget = runs[runs.duplicated()].iloc[0]
        raise bad(
            KIND, where, "every arm, seed and budget once", f"{found.arms[arm]}, seed {seed}, budget {budget} twice"
        )
