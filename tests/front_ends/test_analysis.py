"""What is shown of a position is what the player plays, and what is called true is exact."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest
from sealed import checkpoint_info

from probzero import games
from probzero.config import Network
from probzero.errors import ProbZeroError
from probzero.front_ends import networks, positions
from probzero.front_ends.analysis import Judge, think, thoughts
from probzero.front_ends.players import game_of, taken_apart, thinker_of
from probzero.front_ends.thinkers import Thinker
from probzero.games.names import named, short_name
from probzero.network.checkpoint import save_checkpoint
from probzero.network.model import build

FIVE, FOUR = games.make("othello", size=5), games.make("othello", size=4)
CHECKPOINT = networks.committed()


def thinker(text: str) -> Thinker:
    return thinker_of(taken_apart(text), FIVE)


@pytest.mark.parametrize("player", ["network:0", "network:24", "network:20", "uct:40"])
@pytest.mark.parametrize("moves", ["start", "c4 d4", "c4 d4 d3 d2"])
def test_the_best_move_of_an_analysis_is_the_move_played(player: str, moves: str) -> None:
    state, who = positions.read(FIVE, moves).state, thinker(player)
    seen = think(who, state)
    assert seen.best == FIVE.move_name(int(who.choose(state[None])[0]))
    assert {move.action for move in seen.moves} == set(np.flatnonzero(FIVE.legal(state[None])[0]).tolist())
    assert seen.moves[0].move == seen.best


def test_after_a_search_policy_search_is_the_explored_mass_times_winner_prob() -> None:
    """docs/method.md: policy_search[C] ← m·w, and value_search ← m·Σ w·flip(child) + (1 − m)·value_net."""
    seen = think(thinker("network:96"), FIVE.start())
    assert sum(move.weight for move in seen.moves) == pytest.approx(1, abs=1e-5)
    explored = [move for move in seen.moves if move.winner_prob is not None]
    mass = sum(move.weight for move in explored)
    for move in explored:
        assert move.winner_prob is not None and move.weight == pytest.approx(mass * move.winner_prob, abs=1e-5)
    assert seen.wdl is not None and seen.network is not None
    for outcome in range(3):
        children = sum(move.winner_prob * move.wdl[outcome] for move in explored if move.winner_prob and move.wdl)
        assert seen.wdl[outcome] == pytest.approx(mass * children + (1 - mass) * seen.network[outcome], abs=1e-5)
    assert seen.particles == 96 and sum(move.share for move in seen.moves) == pytest.approx(1)
    assert sum(move.policy or 0 for move in seen.moves) == pytest.approx(1, abs=1e-5)


def test_a_search_seen_batch_by_batch_ends_where_a_whole_one_does() -> None:
    who, state = thinker("network:32"), positions.read(FIVE, "c4 d4").state
    search = who.begin(state)
    for batch in range(who.batches):
        who.advance(search, 1, batch)
    assert thoughts(who, state, search) == think(who, state)


def test_the_truth_of_positions_is_exact() -> None:
    """4×4: Black loses by 8 from the start (DESIGN); 5×5 with one square left, worked out by hand."""
    start = Judge(FOUR).truth(FOUR.start())
    assert start is not None
    assert (start.result, start.margin, start.decisive) == (-1, -8, False)
    assert [move.margin for move in start.moves] == [-8] * 4
    # a1 is free. x, who has 10 discs to 14, takes it and turns b1, a2 and b2: 14 to 11.
    last = Judge(FIVE).truth(positions.read(FIVE, ".oxxx/oooxx/xoxxx/oooox/ooooo").state)
    assert last is not None
    assert [(move.move, move.result, move.margin, move.keeps) for move in last.moves] == [("a1", 1, 3, True)]


def test_plain_data_is_json() -> None:
    state = positions.read(FIVE, "c4").state
    data = json.loads(json.dumps(asdict(think(thinker("network:8"), state))))
    assert data["position"] == FIVE.to_text(state) and data["moves"][0]["move"] == data["best"]


def test_a_position_is_read_from_moves_in_capitals_too_and_from_the_notation() -> None:
    line = positions.read(FIVE, "C4 D4")
    assert line.moves == "c4 d4" and line.turn == 0
    assert positions.read(FIVE, FIVE.to_text(line.state)).state.tolist() == line.state.tolist()
    line.take_back()
    assert line.moves == "c4"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("c4 a1", "move 2: expected one of d2 b4 d4, found a1"),
        ("c4 z9", "names of moves"),
        ("nonsense", "a position is start, moves such as"),
        ("...../.../...", "expected 5 rows"),
    ],
)
def test_what_is_no_position_is_refused(text: str, expected: str) -> None:
    with pytest.raises(ProbZeroError, match=expected):
        positions.read(FIVE, text)


def test_games_have_short_names() -> None:
    four = games.make("connect_four", width=7, height=6)
    assert named("connect_four-7x6") is four is named(four.identity) and short_name(four) == "connect_four-7x6"
    for wrong in ("chequers", "othello", "othello-7", "othello-5x5", "othello-"):
        with pytest.raises(ProbZeroError):
            named(wrong)


def test_without_a_name_the_game_is_that_of_the_first_network() -> None:
    assert game_of(None, ["random", "network"]) is FIVE
    assert game_of(None, [str(CHECKPOINT)]) is FIVE
    assert game_of("othello-4", [str(CHECKPOINT)]) is FOUR
    four = str(Path("results/reference/othello4"))
    if list(Path(four).glob("seed*/checkpoints/*.safetensors")):
        assert game_of(None, ["random", four]) is FOUR


@pytest.mark.parametrize(
    ("player", "expected"),
    [
        ("nobody", "expected a checkpoint"),
        ("random:8", "has no particles"),
        ("uct:0", "a number of particles"),
        ("perfect", "one that thinks"),
    ],
)
def test_players_that_cannot_be_are_refused(player: str, expected: str) -> None:
    with pytest.raises(ProbZeroError, match=expected):
        thinker(player)


def test_a_network_of_another_game_is_refused() -> None:
    with pytest.raises(ProbZeroError, match="expected othello-4, found othello-5"):
        thinker_of(taken_apart(str(CHECKPOINT)), FOUR)


def test_on_boards_with_many_moves_none_of_equal_ones_is_left_out(tmp_path: Path) -> None:
    """An untrained network holds all first moves of Go for almost equal, and a batch has eight particles for them."""
    game, sizes, path = games.make("go", size=5, komi=0, longest=60), Network(blocks=1, channels=8), tmp_path / "0"
    save_checkpoint(path, build(game.shape, sizes, 1), checkpoint_info(game, sizes))
    who = thinker_of(taken_apart(f"{path}:512"), game)
    seen = think(who, game.start())
    assert len(seen.moves) == 26 and min(move.particles for move in seen.moves) >= 5
    assert seen.best == game.move_name(int(who.choose(game.start()[None])[0]))
