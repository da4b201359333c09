"""Self-play of a shard: games that follow the rules, openings as configured, samples that pass verification."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import yaml
from oracles.slow_othello import SlowOthello

from probzero import games
from probzero.config import Config, parse
from probzero.learning.dataset import read_samples, write_samples
from probzero.learning.selfplay import Shard, play_shard
from probzero.network.inference import Evaluator
from probzero.network.model import build

SMOKE = Path(__file__).parents[2] / "config" / "smoke.yaml"
RULES = games.make("othello", size=5)


def configured(**selfplay: object) -> Config:
    raw = yaml.safe_load(SMOKE.read_text())
    raw["selfplay"].update(games=6, particles=4, batches=2, **selfplay)
    return parse(raw)


def shard(config: Config, number: int = 0) -> Shard:
    evaluator = Evaluator(build(RULES.shape, config.network, 1), RULES, "cpu")
    return play_shard(config, evaluator, seed=0, iteration=1, shard=number)


@pytest.fixture(scope="module")
def played() -> Shard:
    return shard(configured(random_plies=5))


def test_recorded_games_replay_to_their_ends(played: Shard) -> None:
    for row in played.games.itertuples():
        board = SlowOthello.start(5)
        moves = RULES.parse_moves(f"{row.opening_moves} {row.moves}")
        for move in moves:
            assert move in board.legal_moves()
            board = board.after(move)
        assert not board.legal_moves()
        assert row.margin == (board.margin() if len(moves) % 2 == 0 else -board.margin())
        assert row.plies == len(row.moves.split())


def test_games_begin_after_as_many_random_plies_as_their_keys_say(played: Shard) -> None:
    plies = {len(row.split()) for row in played.games.opening_moves}
    assert len(plies) > 1 and max(plies) <= 5
    assert (shard(configured(random_plies=0)).games.opening_moves == "").all()


def test_samples_of_a_shard_pass_verification(played: Shard, tmp_path: Path) -> None:
    write_samples(tmp_path / "shard.bin", played.samples, RULES)
    again = read_samples(tmp_path / "shard.bin", RULES)
    assert np.array_equal(again.policy, played.samples.policy) and played.metrics["samples"] == len(again)
    assert 0 < again.valid.mean() <= 1


def test_metrics_add_up(played: Shard) -> None:
    metrics = played.metrics
    assert metrics["games"] == 6 == metrics["first_wins"] + metrics["draws"] + metrics["second_wins"]
    assert metrics["leaf_evaluations"] == metrics["network_evaluations"] + metrics["cache_hits"]
    assert metrics["nodes"] == metrics["leaf_evaluations"] + metrics["terminal_nodes"]
    assert 0 < metrics["network_seconds"] < metrics["seconds"]


def test_a_shard_repeats_to_the_bit_and_another_shard_differs(played: Shard) -> None:
    config = configured(random_plies=5)
    again, other = shard(config), shard(config, 1)
    assert again.games.equals(played.games) and not other.games.equals(played.games)
    assert again.samples.value.tobytes() == played.samples.value.tobytes()
