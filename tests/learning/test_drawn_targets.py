"""Draws in self-play: games that nobody wins are counted as such, and their samples say so."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
import torch
import yaml
from alphazero_games import SMOKE
from drawn import BOARDS, ROW, drawn_positions, states_of
from oracles.slow_othello import SlowOthello
from sealed import wide
from searching import searching

from probzero.config import Config, Network, Targets, parse
from probzero.games.base import Game
from probzero.learning.selfplay import Shard, play_shard
from probzero.learning.targets import extract
from probzero.network.inference import Evaluator
from probzero.network.model import build

pytestmark = pytest.mark.usefixtures("one_thread")

DRAW = [0.0, 1.0, 0.0]
TARGETS = {
    "particle": {},
    "puct": {"nodes": "roots", "policy": "visits", "value": "outcome"},
}


@cache
def shard(algorithm: str, game: Game, games: int, batches: int) -> Shard:
    raw: dict[str, Any] = yaml.safe_load(SMOKE.read_text(encoding="utf-8"))
    raw["search"]["algorithm"], raw["targets"] = algorithm, TARGETS[algorithm]
    raw["selfplay"].update(games=games, particles=6, batches=batches, random_plies=0, exploration=0.0, capacity=60_000)
    config: Config = parse(raw)
    evaluator = Evaluator(build(game.shape, Network(blocks=1, channels=8), 1), game, "cpu")
    return play_shard(config, evaluator, seed=0, iteration=1, shard=0)


@pytest.mark.parametrize("algorithm", TARGETS)
def test_self_play_of_a_game_that_nobody_can_win_is_drawn_throughout(algorithm: str) -> None:
    found = shard(algorithm, ROW, 5, 20)
    assert found.games.result.tolist() == [0] * 5 and found.games.plies.tolist() == [4] * 5
    metrics = found.metrics
    assert (metrics["first_wins"], metrics["draws"], metrics["second_wins"]) == (0, 5, 0)
    np.testing.assert_allclose(found.samples.value, [DRAW] * len(found.samples), atol=1e-6)
    if algorithm == "particle":  # it has seen every end of the game
        assert found.samples.valid.all()
        np.testing.assert_allclose(found.samples.reward, [DRAW] * len(found.samples), atol=1e-6)


def test_drawn_games_of_othello_are_recorded_with_a_margin_of_nothing() -> None:
    game = BOARDS["othello 4"]
    games = shard("puct", game, 60, 2).games
    boards = []
    for row in games.itertuples():
        board = SlowOthello.start(4)
        for move in game.parse_moves(str(row.moves)):
            board = board.after(move)
        boards.append(board)
    drawn = [board.margin() == 0 for board in boards]
    assert 0 < sum(drawn) == (games.result == 0).sum() < 60
    assert (games.margin[drawn] == 0).all() and (games.margin[~np.array(drawn)] != 0).all()
    assert shard("puct", game, 60, 2).metrics["draws"] == sum(drawn)


@pytest.mark.parametrize("board", BOARDS)
def test_targets_of_drawn_positions_explored_to_the_end_are_draws_by_the_moves_that_keep_them(board: str) -> None:
    positions = drawn_positions(board)
    search = searching(rules=BOARDS[board], games=len(positions))
    games = torch.arange(len(positions))
    search.start(games, torch.from_numpy(states_of(positions)))
    search.run(games, 8, 200, 0)
    samples = extract(search.graph, 1.0, Targets(), search.graph.root)
    policy, _ = wide(samples, BOARDS[board])
    rows = {tuple(state): row for row, state in enumerate(samples.states.tolist())}
    for position in positions:
        row = rows[position.state]
        assert samples.valid[row] == 1
        for target in (samples.value[row], samples.reward[row]):
            assert target.tolist() == pytest.approx(DRAW, abs=1e-3)
        assert policy[row, list(position.losing)].sum() < 1e-6
        assert policy[row, list(position.keeping)].sum() == pytest.approx(1)
