"""The ceiling from all positions that can be reached, on 4×4."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from made_database import SMALL, opened

from probzero import config
from probzero.arena.players import raw_moves
from probzero.database import ceiling
from probzero.database.ceiling import Stage, population, stages
from probzero.database.position_sets import Rule, position_sets
from probzero.network.inference import Evaluator
from probzero.network.model import build
from probzero.truth.measures import kept_share
from probzero.truth.positions import move_masks, states_of

RULE = Rule(first=5, whole=8, last=14, validation=40, drawn=5)
SMOKE = config.load(Path(__file__).parents[2] / "config" / "smoke.yaml")
SETTINGS = SMOKE.changed(
    game={"name": "othello", "size": 4}, network={"blocks": 1, "channels": 8},
    training={"batch_size": 64, "learning_rate": 3e-3, "final_learning_rate": 1e-3},
)  # fmt: skip


@pytest.fixture(scope="module")
def sets(database4: Path) -> list[pd.DataFrame]:
    return list(position_sets(opened(database4), RULE, 1).values())


def test_no_position_of_the_sets_is_learned_from_and_each_offers_a_choice(
    database4: Path, sets: list[pd.DataFrame]
) -> None:
    states = population(opened(database4), 100, sets)
    held = {tuple(row) for table in sets for row in SMALL.canonical(states_of(SMALL, table)).tolist()}
    assert len(states) and not held & {tuple(row) for row in SMALL.canonical(states).tolist()}
    assert (SMALL.legal(states).sum(1) > 1).all()
    assert np.bincount(SMALL.phase(states)).max() <= 100
    assert set(SMALL.phase(states)) <= set(range(5, 15))


def test_draws_double_until_the_share_rises_no_more(
    database4: Path, sets: list[pd.DataFrame], monkeypatch: pytest.MonkeyPatch
) -> None:
    shares = iter([0.5, 0.6, 0.604])  # the second step brings less than half a point
    monkeypatch.setattr(ceiling, "kept_share", lambda *_: next(shares))
    states = population(opened(database4), 20, sets)
    found: list[Stage] = list(stages(opened(database4), SETTINGS, states, sets[0], 200, 3))
    assert [stage.metrics["samples"] for stage in found] == [200, 400, 800]
    assert [stage.share for stage in found] == [0.5, 0.6, 0.604]
    assert found[0].metrics["positions"] == len(states)


def test_the_share_counts_decisive_positions_alone(sets: list[pd.DataFrame]) -> None:
    evaluator = Evaluator(build(SMALL.shape, SETTINGS.network, 5).weights(), SMALL)
    table = sets[1].assign(decisive=[1, 0] * (len(sets[1]) // 2) + [1] * (len(sets[1]) % 2))
    rows = table[table.decisive == 1]
    moves = raw_moves(evaluator, SMALL, states_of(SMALL, rows))
    kept = [mask[move] for mask, move in zip(move_masks(SMALL, rows.keeping), moves, strict=True)]
    assert kept_share(evaluator, SMALL, table) == np.mean(kept)
