"""An agent against every opponent: exact best responses, holes, and certificates that a program apart can check."""

from __future__ import annotations

import gzip
import json
import runpy
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from oracles.slow_best_response import SlowBestResponse
from oracles.slow_connect_four import SlowConnectFour
from oracles.slow_othello import SlowOthello

from probzero.config import Network, Search
from probzero.games import make
from probzero.games.base import Game, list_moves
from probzero.games.records import replay
from probzero.network.inference import Evaluator
from probzero.network.model import build
from probzero.search.build import SearchFactory
from probzero.truth.best_response import NOBODY, Choose, Reach, explore
from probzero.truth.certificate import (
    NO_DRAWS,
    as_file,
    certificates,
    holes,
    keys_for,
    network_moves,
    reachable,
    won_positions,
)
from probzero.truth.labels import Solver, best_moves

FOUR, FIVE = make("othello", size=4), make("othello", size=5)
CONNECT_FOUR = make("connect_four", width=4, height=4)
SEARCH = Search(splitting="systematic", temperature=1.0, cache=True)
CHECKER = runpy.run_path(str(Path(__file__).parents[2] / "tools" / "check_certificate.py"))
Refused = CHECKER["Refused"]


@cache
def solver(game: Game) -> Solver:
    return Solver(game, threads=1, table_bits=16)


def perfectly(game: Game) -> Choose:
    return lambda states: best_moves(solver(game).label(states, margins=game.has_margin)).argmax(1)


def anyhow(game: Game, salt: int) -> Choose:
    """A player of no skill whose move is a function of the position."""

    def choose(states: np.ndarray) -> np.ndarray:
        legal = game.legal(states)
        pick = (states[:, 0] * 31 + states[:, 1] * 17 + salt) % legal.sum(1)
        return list_moves(legal, game.most_moves)[np.arange(len(states)), pick]

    return choose


def slowly(game: Game, salt: int) -> SlowBestResponse:
    """The same player on slow boards."""

    def words(board: Any) -> tuple[int, int]:
        if isinstance(board, SlowOthello):
            return board.bitboards()
        rows = board.text().replace("/", "")
        own, opp = (sum(1 << k for k, disc in enumerate(rows) if disc == side) for side in "xo")
        return own, opp

    def policy(board: Any) -> int:
        own, opp = words(board)
        moves = board.legal_moves()
        return moves[(own * 31 + opp * 17 + salt) % len(moves)]

    return SlowBestResponse(policy, lambda board: board.margin() if game.has_margin else board.outcome())


def from_start(game: Game, agent_first: bool, choose: Choose) -> Reach:
    return explore(game, game.start()[None], np.array([agent_first]), choose)


@pytest.mark.parametrize(("salt", "first"), [(1, True), (2, False), (7, True), (8, False)])
def test_the_best_response_to_any_player_is_that_of_trying_everything(salt: int, first: bool) -> None:
    slow, reach = slowly(FOUR, salt), from_start(FOUR, first, anyhow(FOUR, salt))
    assert reach.value[reach.roots[0]] == slow.value(SlowOthello.start(4), first)
    assert len(reach.states) == len(slow.worst)  # the same positions are met
    assert reach.chance[reach.roots[0], 0] == pytest.approx(float(slow.wins(SlowOthello.start(4), first)), abs=1e-12)
    for state, turn, value in list(zip(reach.states, reach.turn, reach.value, strict=True))[::7]:
        assert slow.worst[SlowOthello.from_bitboards(4, *map(int, state)), bool(turn)] == value


def test_the_best_response_in_a_game_without_margins_is_that_of_trying_everything() -> None:
    slow, reach = slowly(CONNECT_FOUR, 3), from_start(CONNECT_FOUR, True, anyhow(CONNECT_FOUR, 3))
    assert reach.value[reach.roots[0]] == slow.value(SlowConnectFour.start(4, 4), True)
    assert len(reach.states) == len(slow.worst)


def test_nobody_is_asked_for_a_move_twice_and_never_at_the_end() -> None:
    asked: list[np.ndarray] = []

    def choose(states: np.ndarray) -> np.ndarray:
        asked.append(states)
        return anyhow(FOUR, 1)(states)

    reach = from_start(FOUR, True, choose)
    together = np.concatenate(asked)
    assert len(np.unique(together, axis=0)) == len(together) == (reach.action != NOBODY).sum()
    assert not FOUR.finished(together).any()
    ranks = [np.unique(FOUR.rank(states, FOUR.legal(states))) for states in asked]
    assert all(len(rank) == 1 for rank in ranks)  # a layer is one batch


def test_the_perfect_player_is_certified_on_4x4_and_wins_by_8() -> None:
    table = certificates(from_start(FOUR, False, perfectly(FOUR)), solver(FOUR))
    row = table.iloc[0]
    assert (row.exact, row.result, row.margin, row.certified, row.holes, row.hole_plies) == (1, 1, 8, 1, 0, -1)
    assert (row.random_wins, row.random_draws, row.moves_first) == (pytest.approx(1.0, abs=1e-12), 0.0, 0)


def test_the_side_that_loses_cannot_do_better_than_lose_by_8_however_it_plays() -> None:
    reach = from_start(FOUR, True, perfectly(FOUR))
    assert certificates(reach, solver(FOUR)).loc[0, ["result", "margin"]].tolist() == [-1, -8]


@pytest.mark.parametrize("salt", [4, 5])
def test_holes_are_those_that_plain_minimax_finds(salt: int) -> None:
    begun = reachable(FOUR)
    starts = begun[FOUR.phase(begun) == 8][::8]
    reach = explore(FOUR, starts, np.arange(len(starts)) % 2 == 0, anyhow(FOUR, salt))
    slow = slowly(FOUR, salt)
    for number, state in enumerate(starts):
        slow.value(SlowOthello.from_bitboards(4, *map(int, state)), number % 2 == 0)
    found = {SlowOthello.from_bitboards(4, *map(int, state)) for state in reach.states[holes(reach, solver(FOUR))]}
    assert found == slow.holes() and len(found) > 10


def test_counts_and_plies_are_those_of_each_start_alone() -> None:
    begun = reachable(FOUR)
    starts, turn = begun[FOUR.phase(begun) == 8][:6], np.array([True, False] * 3)
    together = certificates(explore(FOUR, starts, turn, anyhow(FOUR, 6)), solver(FOUR))
    for number in range(len(starts)):
        one = slice(number, number + 1)
        alone = certificates(explore(FOUR, starts[one], turn[one], anyhow(FOUR, 6)), solver(FOUR))
        assert together.iloc[number].to_dict() == alone.iloc[0].to_dict()


@pytest.mark.parametrize(("salt", "first"), [(1, True), (2, False)])
def test_the_refuting_line_is_a_game_with_the_result_of_the_best_response(salt: int, first: bool) -> None:
    choose = anyhow(FOUR, salt)
    row = certificates(from_start(FOUR, first, choose), solver(FOUR)).iloc[0]
    line = FOUR.parse_moves(row.line)
    game = replay(FOUR, [line])
    assert FOUR.finished(game.final)[0]
    agents = (game.ply % 2 == 0) == first
    assert (choose(game.states[agents]) == game.action[agents]).all()  # it is the agent that plays
    seen = 1 if (len(line) % 2 == 0) == first else -1
    assert FOUR.margin(game.final)[0] * seen == row.margin and row.result == np.sign(row.margin)


def test_the_first_hole_of_a_line_lies_where_the_table_says() -> None:
    reach = from_start(FOUR, False, anyhow(FOUR, 2))
    row, wrong = certificates(reach, solver(FOUR)).iloc[0], holes(reach, solver(FOUR))
    nearest, frontier, plies = False, {int(reach.roots[0])}, -1
    while not nearest:  # breadth first, over the moves as they lie
        plies += 1
        nearest = any(wrong[place] for place in frontier)
        frontier = {
            int(child) for moves in reach.into for parent, child in zip(moves.parent, moves.child, strict=True)
            if int(parent) in frontier
        }  # fmt: skip
    assert row.hole_plies == plies


def test_there_are_as_many_positions_as_others_counted() -> None:
    assert len(reachable(FOUR)) == 12_351  # up to symmetry
    won = won_positions(solver(FIVE), 8)
    assert len(won) == 68 + 1  # 68, and one more that is reached by a pass
    assert (FIVE.phase(won) <= 8).all()


def certificate(reach: Reach) -> dict[str, Any]:
    return json.loads(as_file(reach, range(len(reach.roots)), {"player": "test"}))


def checked(folder: Path, told: Any) -> str:
    path = folder / "certificate.json.gz"
    path.write_bytes(gzip.compress(json.dumps(told).encode()))
    return CHECKER["check"](path)


@pytest.mark.parametrize("game", [FOUR, CONNECT_FOUR], ids=str)
def test_a_true_certificate_is_accepted_by_the_program_apart(game: Game, tmp_path: Path) -> None:
    reach = from_start(game, game is CONNECT_FOUR, perfectly(game))
    said = checked(tmp_path, certificate(reach))
    wins = "the agent wins (score +8 at the least)" if game is FOUR else "the agent draws (score +0 at the least)"
    assert said == f"holds: from one start {wins}; {len(reach.states):,} positions"


def test_a_beaten_agents_certificate_says_so(tmp_path: Path) -> None:
    begun = reachable(FOUR)[:50:5]
    reach = explore(FOUR, begun, np.zeros(len(begun), dtype=bool), anyhow(FOUR, 5))
    assert "from each of 10 starts the agent may lose" in checked(tmp_path, certificate(reach))


@pytest.mark.parametrize(
    ("spoil", "found"),
    [
        (lambda told: told["starts"][0].update(score=10), "the agent's score is 8, the claim is 10"),
        (lambda told: told["moves"].pop(5), "no move for position"),
        (lambda told: told["moves"][5].__setitem__(2, "pass"), "pass is not a legal move"),
        (lambda told: told["moves"].append(told["moves"][0]), "a position has two moves"),
        (lambda told: told["moves"].append([1, 2, "a1"]), "1 positions that no opponent can reach"),
        (lambda told: told.update(game_version=2), "rules"),
        (lambda told: told.update(game={"name": "go", "size": 4}), "not a certificate"),
        (lambda told: told.pop("starts"), "not a certificate"),
        (lambda told: told.update(starts=[]), "starts"),
    ],
)
def test_a_false_certificate_is_refused_in_one_line(spoil: Any, found: str, tmp_path: Path) -> None:
    told = certificate(from_start(FOUR, False, perfectly(FOUR)))
    spoil(told)
    with pytest.raises(Refused, match=found) as refused:
        checked(tmp_path, told)
    assert "\n" not in str(refused.value)


def test_a_certificate_with_a_changed_move_is_refused_unless_it_is_true_of_that_agent_too(tmp_path: Path) -> None:
    """Elsewhere the move leads where no move is known, or to another score, or leaves positions that nobody reaches."""
    told, rules = certificate(from_start(FOUR, False, perfectly(FOUR))), CHECKER["Othello"](4)
    refused = true = 0
    for entry in told["moves"][:: max(1, len(told["moves"]) // 60)]:
        own, opp, move = entry
        for other in rules.replies(own, opp).keys() - {move}:
            entry[2] = other
            try:
                checked(tmp_path, told)
            except Refused:
                refused += 1
            else:  # two moves with the same ends
                listed = {(own, opp): FOUR.parse_moves(move)[0] for own, opp, move in told["moves"]}
                reach = from_start(FOUR, False, lambda states: np.array([listed[own, opp] for own, opp in states]))  # noqa: B023
                assert reach.value[reach.roots[0]] == told["starts"][0]["score"]
                true += 1
        entry[2] = move
    assert refused > 20 and true < refused / 4
    checked(tmp_path, told)


def test_the_program_apart_knows_nothing_of_the_package(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    text = (Path(__file__).parents[2] / "tools" / "check_certificate.py").read_text(encoding="utf-8")
    assert "probzero" not in text and "numpy" not in text
    (tmp_path / "broken.json.gz").write_bytes(b"\x1f\x8bnothing")
    assert CHECKER["main"]([str(tmp_path / "broken.json.gz")]) == 1
    assert CHECKER["main"]([str(tmp_path / "none")]) == 1
    assert capsys.readouterr().out.count("refused") == 2


def factory(algorithm: str, capacity: int = 200_000) -> tuple[SearchFactory, Evaluator]:
    evaluator = Evaluator(build(FOUR.shape, Network(blocks=1, channels=8), 3), FOUR, torch.device("cpu"))
    settings = SEARCH.model_copy(update={"algorithm": algorithm})
    return SearchFactory(FOUR, evaluator, settings, capacity, "capacity"), evaluator


@pytest.mark.parametrize("algorithm", ["particle", "puct"])
def test_a_move_is_a_function_of_the_position_whatever_is_asked_beside_it(algorithm: str) -> None:
    states = reachable(FOUR)
    states = states[~FOUR.finished(states)][:300:6]
    for key in (NO_DRAWS, 0):
        one, evaluator = factory(algorithm)
        small, again = factory(algorithm, capacity=13 * 12 * 4)  # few positions at once
        together = network_moves(one, evaluator, 4, 12, key)(states)
        assert (network_moves(small, again, 4, 12, key)(states[::-1].copy()) == together[::-1]).all()
        assert (network_moves(one, evaluator, 4, 12, key)(states[7:8]) == together[7:8]).all()
        assert FOUR.legal(states)[np.arange(len(states)), together].all()


def test_keys_tell_agents_apart_only_where_something_is_random() -> None:
    states = reachable(FOUR)
    states = states[~FOUR.finished(states)][:2000]
    one, evaluator = factory("particle")
    zero, first, none = (network_moves(one, evaluator, 4, 12, key)(states) for key in (0, 1, NO_DRAWS))
    assert (zero != first).any() and (zero != none).any()
    assert keys_for(SEARCH, 0, 8) == [NO_DRAWS] == keys_for(SEARCH.model_copy(update={"algorithm": "puct"}), 96, 8)
    assert keys_for(SEARCH, 96, 2) == [NO_DRAWS, 0, 1]
    assert keys_for(SEARCH.model_copy(update={"algorithm": "ucb1"}), 96, 0) == [0]
