"""Self-play and training know no game but by its protocol: whole iterations of Connect Four on a small board."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from learnable import SETTINGS
from oracles.connect_four_search import ConnectFourBoard
from oracles.slow_connect_four import SlowConnectFour
from sealed import MADE, checkpoint_info, wide

from probzero import games
from probzero.config import Config, Network, parse
from probzero.learning.dataset import read_samples, write_samples
from probzero.learning.selfplay import Shard, play_shard
from probzero.learning.training import train
from probzero.network.checkpoint import load_checkpoint, save_checkpoint
from probzero.network.inference import Evaluator
from probzero.network.model import build

pytestmark = pytest.mark.usefixtures("one_thread")

SMOKE = Path(__file__).parents[2] / "config" / "smoke.yaml"
BOARDS = {"4×4": (4, 4), "5×4": (5, 4)}
NETWORK = Network(blocks=1, channels=8)
TARGETS = {
    "particle": {},
    "puct": {"nodes": "roots", "policy": "visits", "value": "outcome"},
}

every_arm = pytest.mark.parametrize("algorithm", TARGETS)
every_board = pytest.mark.parametrize("board", BOARDS)


def configured(algorithm: str) -> Config:
    """The smoke scale with few games; the game itself is the evaluator's."""
    raw = yaml.safe_load(SMOKE.read_text(encoding="utf-8"))
    raw["search"]["algorithm"] = algorithm
    raw["targets"] = TARGETS[algorithm]
    sizes = {"games": 6, "particles": 4, "batches": 4, "random_plies": 3, "capacity": 20_000}
    raw["selfplay"].update({**sizes, "exploration": 0.1 if algorithm == "particle" else 0.0})
    return parse(raw)


@cache
def shard(algorithm: str, board: str, number: int = 0) -> Shard:
    width, height = BOARDS[board]
    game = games.make("connect_four", width=width, height=height)
    evaluator = Evaluator(build(game.shape, NETWORK, 1), game, "cpu")
    return play_shard(configured(algorithm), evaluator, seed=0, iteration=1, shard=number)


def rows_of(found: Shard) -> list[Any]:
    return list(found.games.itertuples())


@every_arm
@every_board
def test_recorded_games_replay_to_their_ends(algorithm: str, board: str) -> None:
    found = shard(algorithm, board)
    for row in rows_of(found):
        position = SlowConnectFour.start(*BOARDS[board])
        moves = [int(name) - 1 for name in f"{row.opening_moves} {row.moves}".split()]
        for move in moves:
            assert move in position.legal_moves()
            position = position.after(move)
        assert not position.legal_moves()
        assert row.result == position.outcome() * (1 if len(moves) % 2 == 0 else -1)
        assert row.plies == len(row.moves.split())
    assert "margin" not in found.games.columns, "nobody wins by a margin"
    metrics = found.metrics
    assert metrics["games"] == 6 == metrics["first_wins"] + metrics["draws"] + metrics["second_wins"]


@every_arm
@every_board
def test_samples_are_of_positions_that_go_on_with_targets_over_legal_moves(
    algorithm: str, board: str, tmp_path: Path
) -> None:
    width, height = BOARDS[board]
    game, samples = games.make("connect_four", width=width, height=height), shard(algorithm, board).samples
    for state, policy, mask in zip(samples.states, *wide(samples, game), strict=True):
        position = ConnectFourBoard.from_bitboards(width, height, *state.tolist())
        assert position.bitboards() == tuple(state), "no disc hangs in the air"
        assert position.legal_moves() and set(np.flatnonzero(mask)) <= set(position.legal_moves())
        assert policy.sum() == pytest.approx(1)
    write_samples(tmp_path / "shard.safetensors", samples, game, MADE)
    again = read_samples(tmp_path / "shard.safetensors", game)
    samples = samples.widened(again.policy.shape[1])
    for found, expected in zip(again.columns(), samples.columns(), strict=True):
        assert np.array_equal(found, expected)


@every_arm
def test_played_positions_are_samples_each_with_the_result_of_its_game(algorithm: str) -> None:
    found, (width, height) = shard(algorithm, "4×4"), BOARDS["4×4"]
    sampled = {tuple(state) for state in found.samples.states.tolist()}
    values = {}  # by state, of MCTS
    for row in rows_of(found):
        position = SlowConnectFour.start(width, height)
        for number, name in enumerate(f"{row.opening_moves} {row.moves}".split()):
            state = ConnectFourBoard(position).bitboards()
            if number >= len(row.opening_moves.split()):
                assert state in sampled
                values.setdefault(state, set()).add(row.result if number % 2 == 0 else -row.result)
            position = position.after(int(name) - 1)
    if algorithm == "puct":
        assert len(found.samples) == sum(row.plies for row in rows_of(found))
        for state, value in zip(found.samples.states.tolist(), found.samples.value.tolist(), strict=True):
            assert value in [{1: [1, 0, 0], 0: [0, 1, 0], -1: [0, 0, 1]}[result] for result in values[tuple(state)]]


@every_arm
@every_board
def test_a_network_learns_from_its_games_and_plays_on(algorithm: str, board: str, tmp_path: Path) -> None:
    width, height = BOARDS[board]
    game = games.make("connect_four", width=width, height=height)
    window = [shard(algorithm, board, number).samples for number in (0, 1)]
    model, state, losses = build(game.shape, NETWORK, 1), {}, []
    for iteration in range(1, 9):
        state, metrics = train(model, state, window, SETTINGS, game, iteration, iteration)
        losses.append(metrics["total_loss"])
        assert np.isfinite(losses[-1]) and metrics["window_positions"] == len(window[0]) + len(window[1])
    assert losses[-1] < 0.95 * losses[0]
    path = tmp_path / "0001.safetensors"
    save_checkpoint(path, model, checkpoint_info(game, NETWORK))
    evaluator = Evaluator(load_checkpoint(path, game)[0], game, "cpu")
    again = play_shard(configured(algorithm), evaluator, seed=0, iteration=2, shard=0)
    assert again.metrics["games"] == 6 and len(again.samples)


@every_arm
def test_a_shard_repeats_to_the_bit_and_another_differs(algorithm: str) -> None:
    first, other = shard(algorithm, "4×4"), shard(algorithm, "4×4", 1)
    again = shard.__wrapped__(algorithm, "4×4")
    assert again.games.equals(first.games) and not other.games.equals(first.games)
    for found, expected in zip(again.samples.columns(), first.samples.columns(), strict=True):
        assert found.tobytes() == expected.tobytes()
