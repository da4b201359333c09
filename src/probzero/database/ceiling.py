"""A ceiling from all positions that can be reached: exact labels, and more of them until more do not help.

A network is trained from nothing with a number of draws, then another with twice as many, and so on, each with a whole
schedule of the learning rate. It stops when the share of validation positions whose exact result the policy keeps rises
by less than `ENOUGH`. None of the positions learned from is, turned or not, in one of the fixed sets.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from probzero.config import Config
from probzero.database.lookup import Database
from probzero.database.position_sets import ALL_ROWS, drawn_order
from probzero.devices import resolve_device
from probzero.games.base import Game
from probzero.network.inference import Evaluator
from probzero.network.model import ProbZeroNet
from probzero.truth.ceiling import exact_samples, train_on, without
from probzero.truth.measures import kept_share
from probzero.truth.positions import states_of

ENOUGH = 0.005  # of the validation positions
FEW_MOVES = 2  # a position has at least so many, or there is nothing to choose


class Stage(NamedTuple):
    """A network that was trained with some number of draws."""

    model: ProbZeroNet
    metrics: dict[str, Any]
    share: float  # of the validation positions whose result its policy keeps


def population(database: Database, per_phase: int, held_out: list[pd.DataFrame]) -> np.ndarray:
    """Return states [n, words] with a choice, up to `per_phase` of each phase that the held-out sets have."""
    form, phases = database.form, sorted({int(phase) for table in held_out for phase in table.phase})
    parts = []
    for phase in range(phases[0], phases[-1] + 1):
        keys = database.layer(phase)[0]
        states = form.states(keys[drawn_order("ceiling", len(keys), phase)[: min(ALL_ROWS, 2 * per_phase)]])
        parts.append(states[form.game.legal(states).sum(1) >= FEW_MOVES][:per_phase])
    held = np.concatenate([states_of(form.game, table) for table in held_out])
    return without(form.game, np.concatenate(parts), held)


def stages(
    database: Database, config: Config, states: np.ndarray, validation: pd.DataFrame, draws: int, seed_key: int
) -> Iterator[Stage]:
    """Yield networks trained with `draws`, twice, four times … as many, until that stops to help."""
    game: Game = database.form.game
    data = exact_samples(game, states, config.training.threads, database)
    before = -1.0
    while True:
        model, metrics = train_on(data, game, config, draws, seed_key)
        evaluator = Evaluator(model.weights(), game, resolve_device(config.truth.device, config.truth.threads))
        share = kept_share(evaluator, game, validation)
        yield Stage(model, metrics, share)
        if share < before + ENOUGH:
            return
        before, draws = share, 2 * draws
