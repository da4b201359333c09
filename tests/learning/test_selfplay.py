"""Self-play of a shard: games that follow the rules, openings as configured, samples that pass verification."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import yaml
from oracles.slow_othello import SlowOthello
from sealed import MADE

from probzero import games
from probzero.config import Config, parse
from probzero.errors import ProbZeroError
from probzero.games.records import LEFT, check_results
from probzero.learning.dataset import read_samples, write_samples
from probzero.learning.openings import after_random_plies, openings
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
    write_samples(tmp_path / "shard.safetensors", played.samples, RULES, MADE)
    again = read_samples(tmp_path / "shard.safetensors", RULES)
    assert np.array_equal(again.policy, played.samples.widened(again.policy.shape[1]).policy) and played.metrics[
        "samples"
    ] == len(again)
    assert 0 < again.valid.mean() <= 1


def test_metrics_add_up(played: Shard) -> None:
    metrics = played.metrics
    assert metrics["games"] == 6 == metrics["first_wins"] + metrics["draws"] + metrics["second_wins"]
    assert metrics["nodes"] == metrics["leaf_evaluations"] + metrics["terminal_nodes"]


def test_what_it_cost_is_apart_and_adds_up(played: Shard) -> None:
    costs = played.costs
    assert set(costs) == {
        "iteration", "shard", "network_evaluations", "network_calls", "cache_hits", "seconds", "network_seconds",
    }  # fmt: skip
    assert set(costs) & set(played.metrics) == {"iteration", "shard"}
    assert (costs["iteration"], costs["shard"]) == (1, 0)
    assert played.metrics["leaf_evaluations"] == costs["network_evaluations"] + costs["cache_hits"]
    assert 0 < costs["network_calls"] < costs["network_evaluations"]
    assert 0 < costs["network_seconds"] < costs["seconds"]


def test_a_share_of_the_moves_is_drawn_evenly_as_exploration_says() -> None:
    # Greedy but for a share of 0.4, which is even over the four moves of the start: all have been tried, by a particle
    # each. So 0.6 + 0.1 of the games begin with the best move and 0.1 with each of the others. Standard error: 0.032.
    config = configured(random_plies=0, exploration=0.4, move_temperatures=[[0, 0.0]])
    games = shard(config.changed(selfplay={"games": 200, "batches": 1, "capacity": 200_000})).games
    counts = games.moves.str.split().str[0].value_counts().tolist()
    assert len(counts) == 4 and sum(counts) == 200
    assert counts[0] / 200 == pytest.approx(0.7, abs=0.1) and min(counts) >= 8
    greedy = shard(config.changed(selfplay={"exploration": 0.0, "batches": 1})).games
    assert greedy.moves.nunique() == 1


def test_a_shard_repeats_to_the_bit_and_another_shard_differs(played: Shard) -> None:
    config = configured(random_plies=5)
    again, other = shard(config), shard(config, 1)
    assert again.games.equals(played.games) and not other.games.equals(played.games)
    assert again.samples.value.tobytes() == played.samples.value.tobytes()


def test_a_budget_so_small_that_no_position_qualifies_is_refused() -> None:
    config = configured(random_plies=0).changed(targets={"least_moves": 20})
    expected = r"samples: expected positions of which targets.least_moves \(20\) .*found none with .* = 4 × 2"
    with pytest.raises(ProbZeroError, match=expected):
        shard(config)


def test_half_of_the_games_begin_one_ply_before_somebody_may_win() -> None:
    settings = configured(random_plies=4, near_end=0.5, near_end_plies=1).selfplay
    keys = np.arange(200) * 7919
    begun, found = after_random_plies(RULES, 4, keys), openings(RULES, settings, keys)
    near = (found.states != begun.states).any(1)
    assert 70 < near.sum() < 130
    for number, row in enumerate(found.moves):
        board, moves = SlowOthello.start(5), row[row >= 0].tolist()
        for move in moves:
            assert move in board.legal_moves()
            board = board.after(move)
        assert board.bitboards() == tuple(found.states[number].tolist()) and board.legal_moves()
        opening = begun.moves[number][begun.moves[number] >= 0].tolist()
        if near[number]:
            ends = [after for after in map(board.after, board.legal_moves()) if not after.legal_moves()]
            assert moves[: len(opening)] == opening and any(end.margin() != 0 for end in ends)
        else:
            assert moves == opening


def test_games_near_the_end_go_back_as_many_plies_as_asked_for_but_never_before_their_opening() -> None:
    keys = np.arange(60) * 7919
    begun = after_random_plies(RULES, 4, keys)
    wins, tens, all_back = (
        openings(RULES, configured(random_plies=4, near_end=1.0, near_end_plies=most).selfplay, keys)
        for most in (1, 10, 1000)
    )
    last, back = ((found.moves >= 0).sum(1) for found in (wins, tens))
    assert set(last - back) == set(range(10))  # 1 to 10 plies before the end, beside 1
    assert ((all_back.moves >= 0).sum(1) >= (begun.moves >= 0).sum(1)).all()
    assert (all_back.states == begun.states).all(1).sum() > 40  # hardly any game has 1000 plies to take back
    games_played = shard(configured(random_plies=4, near_end=1.0, near_end_plies=10)).games
    assert games_played.opening_moves.str.split().str.len().max() > 15 and games_played.plies.max() <= 12


@pytest.mark.parametrize("algorithm", ["particle", "puct"])
def test_games_left_unfinished_say_nothing_of_their_outcome(algorithm: str) -> None:
    raw = yaml.safe_load(SMOKE.read_text())
    raw["selfplay"].update(games=10, particles=4, batches=2, exploration=0.0, longest=3, near_end=0.5, near_end_plies=2)
    raw["search"].update(algorithm=algorithm, transpositions=False)
    raw["targets"] = {"value": "outcome", "nodes": "roots", "policy": "visits"}
    found = shard(parse(raw))
    check_results(RULES, found.games, "games", selfplay=True)
    left = found.games.resigned == LEFT
    assert 0 < left.sum() < 10 and (found.games[left].plies == 3).all() and (found.games[left].result == 0).all()
    told = {}
    for row in found.games.itertuples():
        state, mover = RULES.start(), 1  # the result is that of who began
        for number, move in enumerate(RULES.parse_moves(f"{row.opening_moves} {row.moves}")):
            if number >= len(row.opening_moves.split()):
                told[tuple(state.tolist())] = None if row.resigned == LEFT else row.result * mover
            state, mover = RULES.play(state[None], np.array([move]))[0], -mover
    for state, value in zip(found.samples.states.tolist(), found.samples.value, strict=True):
        if (outcome := told[tuple(state)]) is not None:
            assert value.sum() > 0
        if algorithm == "puct":
            expected = [0, 0, 0] if outcome is None else [[0, 0, 1], [0, 1, 0], [1, 0, 0]][outcome + 1]
            assert value.tolist() == expected
