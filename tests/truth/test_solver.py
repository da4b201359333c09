"""The solver against known values and against a plain minimax without pruning that shares no code with it."""

from __future__ import annotations

import os
import subprocess
import sys
from functools import cache
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import probzero
from probzero import games, templates
from probzero.bits import pack
from probzero.errors import ProbZeroError
from probzero.games.base import Game
from probzero.truth.labels import (
    ILLEGAL,
    Labels,
    Solver,
    best_moves,
    check_solvable,
    decisive,
    keeps_margin,
    keeps_result,
)  # fmt: skip

Position = tuple[int, ...]


def othello(size: int) -> Game:
    return games.make("othello", size=size)


def connect_four(width: int, height: int) -> Game:
    return games.make("connect_four", width=width, height=height)


def start(game: Game) -> Position:
    return tuple(game.start().tolist())


def rows(positions: list[Position]) -> np.ndarray:
    return np.array(positions, dtype=np.int64)


def on_board(game: Game, states: np.ndarray) -> np.ndarray:
    """The value of finished games: the margin, or the outcome where there is none."""
    return game.margin(states) if game.has_margin else game.outcome(states)


def plain_minimax(game: Game, roots: list[Position]) -> dict[Position, dict[int, int]]:
    """Return for every position reachable from the roots the value of each legal action, by full enumeration."""
    children: dict[Position, dict[int, Position]] = {}
    frontier = set(roots)
    while frontier:
        batch = sorted(frontier)
        states = rows(batch)
        children.update({position: {} for position in batch})
        parents, actions = np.nonzero(game.legal(states))
        after = game.play(states[parents], actions)
        for parent, action, child in zip(parents.tolist(), actions.tolist(), after.tolist(), strict=True):
            children[batch[parent]][action] = tuple(child)
        frontier = {child for position in batch for child in children[position].values()} - children.keys()

    everything = list(children)
    states = rows(everything)
    final = dict(zip(everything, on_board(game, states).tolist(), strict=True))
    values: dict[Position, dict[int, int]] = {}
    for index in np.argsort(-game.rank(states, game.legal(states))):
        position = everything[index]
        values[position] = {
            action: -max(values[child].values(), default=final[child]) for action, child in children[position].items()
        }
    return values


def action_values(game: Game, values: dict[Position, dict[int, int]], positions: list[Position]) -> np.ndarray:
    table = np.full((len(positions), game.actions), ILLEGAL)
    for row, position in enumerate(positions):
        for action, value in values[position].items():
            table[row, action] = value
    return table


def random_positions(game: Game, discs: range, each: int, seed: int = 0) -> list[Position]:
    """Return at most `each` distinct positions per number of discs, passes and ends included, from random play."""
    rng = np.random.default_rng(seed)
    states = np.tile(game.start(), (20 * each, 1))
    found: dict[int, set[Position]] = {number: set() for number in discs}
    while len(states):
        for state, number in zip(states.tolist(), game.phase(states).tolist(), strict=True):
            if number in found and len(found[number]) < each:
                found[number].add(tuple(state))
        legal = game.legal(states)
        going = legal.any(-1)
        action = (rng.random(legal.shape) * legal).argmax(-1)
        states = game.play(states[going], action[going])
    return [position for number in discs for position in sorted(found[number])]


def solved(game: Game, positions: list[Position], **options: object) -> Labels:
    margins = bool(options.pop("margins", game.has_margin))
    return Solver(game, **{"threads": 1, **options}).label(rows(positions), margins=margins)  # type: ignore[arg-type]


@cache
def every_4x4_position() -> dict[Position, dict[int, int]]:
    return plain_minimax(othello(4), [start(othello(4))])


def check(game: Game, values: dict[Position, dict[int, int]], positions: list[Position]) -> Labels:
    """Assert that all labels of the positions agree with plain minimax values; return them."""
    expected = action_values(game, values, positions)
    legal = expected != ILLEGAL
    best = np.where(legal.any(-1), expected.max(-1), on_board(game, rows(positions)))

    found, cheap = solved(game, positions), solved(game, positions, margins=False)
    if game.has_margin:
        np.testing.assert_array_equal(found.action_margin, expected)
        np.testing.assert_array_equal(found.margin, best)
        np.testing.assert_array_equal(keeps_margin(found), legal & (expected == best[:, None]))
    assert cheap.margin is None and cheap.action_margin is None
    for labels in (found, cheap):
        np.testing.assert_array_equal(labels.action_result, np.where(legal, np.sign(expected), ILLEGAL))
        np.testing.assert_array_equal(labels.result, np.sign(best))
        kept = legal & (np.sign(expected) == np.sign(best)[:, None])
        np.testing.assert_array_equal(keeps_result(labels), kept)
        np.testing.assert_array_equal(decisive(labels), (legal & ~kept).any(-1))
    return found


def test_every_reachable_4x4_position_and_move_has_its_minimax_value() -> None:
    values = every_4x4_position()
    assert len(values) == 58_533
    positions = list(values)
    labels = check(othello(4), values, positions)
    passes = labels.action_result[:, -1] != ILLEGAL
    finished = (labels.action_result == ILLEGAL).all(-1)
    assert passes.sum() > 1000 and finished.sum() > 1000
    assert (labels.result == 0).any()


def test_the_4x4_start_is_lost_by_8() -> None:
    labels = solved(othello(4), [start(othello(4))])
    assert labels.margin is not None and labels.margin.tolist() == [-8]
    assert labels.result.tolist() == [-1]
    assert not decisive(labels).any()


def test_the_5x5_start_is_won_by_13_with_d3_and_c4_while_b1_and_a2_lose_everything() -> None:
    labels = solved(othello(5), [start(othello(5))])
    assert labels.margin is not None and labels.action_margin is not None
    assert labels.margin.tolist() == [13]
    name = othello(5).move_name
    found = {name(int(a)): int(labels.action_margin[0, a]) for a in np.nonzero(labels.action_result[0] > -2)[0]}
    assert found == {"d3": 13, "c4": 13, "b1": -25, "a2": -25}
    assert {name(int(action)) for action in np.nonzero(best_moves(labels)[0])[0]} == {"d3", "c4"}
    assert decisive(labels).tolist() == [True]


def test_the_5x5_start_with_colours_swapped_is_won_by_20() -> None:
    own, opp = start(othello(5))
    labels = solved(othello(5), [(opp, own)])
    assert labels.margin is not None and labels.margin.tolist() == [20]


@pytest.mark.parametrize(
    ("size", "discs", "each"),
    [(5, range(16, 26), 12), (6, range(27, 37), 8), (8, range(56, 65), 8)],
    ids=["5x5", "6x6", "8x8"],
)
def test_late_positions_have_their_minimax_values(size: int, discs: range, each: int) -> None:
    positions = random_positions(othello(size), discs, each)
    labels = check(othello(size), plain_minimax(othello(size), positions), positions)
    legal = labels.action_result != ILLEGAL
    assert legal[:, -1].any(), "some position must be a pass"
    assert not legal.any(-1).all(), "some game must be over"
    assert size < 8 or (labels.states[:, 0] < 0).any(), "some position must use the sign bit"


def test_a_pass_is_worth_what_the_other_side_loses() -> None:
    rng = np.random.default_rng(0)  # boards filled at random: in play the side that passes hardly ever wins
    squares = rng.choice(3, p=[0.4, 0.45, 0.15], size=(400, 25))
    states = np.stack([pack(squares == 1), pack(squares == 2)], axis=1)
    passing = othello(5).legal(states)[:, -1]
    positions = states[passing].tolist()[:60]
    found = []
    for own, opp in positions:  # each with an empty table: a full one could hide too narrow a window
        mine, theirs = solved(othello(5), [(own, opp)]), solved(othello(5), [(opp, own)])
        assert mine.margin is not None and mine.action_margin is not None and theirs.margin is not None
        assert (mine.action_margin != ILLEGAL).sum() == 1
        assert mine.margin[0] == mine.action_margin[0, -1] == -theirs.margin[0]
        found.append(int(mine.result[0]))
    assert min(found.count(1), found.count(-1)) >= 5


def test_games_that_end_early_count_no_empty_squares() -> None:
    wiped_out = (0b00111, 0)  # nobody can move, three discs on the board
    takes_all = (0b00001, 0b00010)  # a1 owned, b1 opposing: c1 turns it and ends the game 3-0
    labels = solved(othello(5), [wiped_out, takes_all, (0, 0)])
    assert labels.margin is not None and labels.margin.tolist() == [3, 3, 0]
    assert best_moves(labels).sum(-1).tolist() == [0, 1, 0]


@pytest.mark.parametrize("margins", [True, False])
def test_perfect_players_reach_the_value_of_the_start(margins: bool) -> None:
    game, solver = othello(4), Solver(othello(4), threads=1)
    states = game.start()[None]
    colour = 1
    while not game.finished(states).any():
        labels = solver.label(states, margins=margins)
        states = game.play(states, best_moves(labels).argmax(-1))
        colour = -colour
    margin = colour * int(game.margin(states)[0])
    assert margin == -8 if margins else margin < 0


def test_labels_do_not_depend_on_batch_threads_table_or_what_was_solved_before() -> None:
    positions = random_positions(othello(5), range(10, 24), 10)
    states = rows(positions)
    expected = solved(othello(5), positions, threads=1)
    assert expected.action_margin is not None
    kept = Solver(othello(5), threads=2)
    kept.label(states[::-1], margins=False)
    singly = [solved(othello(5), [position], threads=1).action_margin for position in positions[::7]]
    np.testing.assert_array_equal(np.concatenate(singly), expected.action_margin[::7])  # type: ignore[arg-type]
    for other in (
        solved(othello(5), positions, threads=1),
        solved(othello(5), positions, threads=2),
        solved(othello(5), positions, threads=3, table_bits=4),
        kept.label(states),
    ):
        np.testing.assert_array_equal(other.action_margin, expected.action_margin)
        np.testing.assert_array_equal(other.result, expected.result)


def test_no_positions_give_no_labels() -> None:
    labels = Solver(othello(5)).label([])
    assert labels.action_result.shape == (0, 26) and labels.result.shape == (0,)


@pytest.mark.parametrize("size", [5, 6, 8])
@pytest.mark.parametrize("threads", [1, 2])
def test_a_budget_that_runs_out_is_an_error_naming_position_and_budget(size: int, threads: int) -> None:
    late = random_positions(othello(size), range(size * size - 2, size * size), 3)
    hard = [*late, start(othello(size))]
    with pytest.raises(
        ProbZeroError, match=rf"position {len(late)} \([xo./]*\): .* within the budget of 5000 nodes"
    ) as caught:
        solved(othello(size), hard, node_budget=5000, threads=threads)
    assert "\n" not in str(caught.value)


def test_nothing_wrong_is_remembered_after_a_budget_ran_out() -> None:
    positions = random_positions(othello(5), range(9, 20), 5)
    states = rows(positions)
    expected = solved(othello(5), positions).action_margin
    solver = Solver(othello(5), threads=1)
    for budget in (10, 100, 1000, 10_000):
        solver.node_budget = budget
        with pytest.raises(ProbZeroError, match="budget"):
            solver.label(states)
    solver.node_budget = 10**9
    np.testing.assert_array_equal(solver.label(states).action_margin, expected)


@pytest.mark.parametrize(
    ("states", "message"),
    [
        ([[1, 2], [3, 6]], "number 1: expected at most one disc per square, found 0x3 0x6"),
        ([[1 << 25, 1]], "number 0: expected discs on the 5×5 board only"),
        ([[1, -(1 << 63)]], "discs on the 5×5 board only, found 0x1 0x8000000000000000"),
        ([[1], [2]], "expected whole numbers [n, 2], found int64 of shape (2, 1)"),
        ([[0.5, 2]], "expected whole numbers [n, 2], found float64"),
        ([1, 2], "expected whole numbers [n, 2]"),
    ],
)
def test_illegal_positions_are_refused(states: object, message: str) -> None:
    with pytest.raises(ProbZeroError, match="position") as caught:
        Solver(othello(5)).label(states)  # type: ignore[arg-type]
    assert message in str(caught.value)


@pytest.mark.parametrize(
    "options", [{"threads": 0}, {"node_budget": 0}, {"table_bits": 0}, {"table_bits": 31}], ids=str
)
def test_settings_out_of_range_are_refused(options: dict[str, int]) -> None:
    with pytest.raises(ProbZeroError, match="expected"):
        Solver(othello(5), **options)  # type: ignore[arg-type]


def test_results_without_margins_cannot_be_asked_for_margins() -> None:
    with pytest.raises(ProbZeroError, match="results only"):
        keeps_margin(solved(othello(5), [start(othello(5))], margins=False))


def test_margins_of_a_game_without_them_are_refused() -> None:
    with pytest.raises(ProbZeroError, match=r"connect_four-height4-width4: expected a game that is won by a margin"):
        Solver(connect_four(4, 4)).label(connect_four(4, 4).start()[None])


def test_a_game_too_large_to_be_solved_is_named() -> None:
    check_solvable(othello(5))
    with pytest.raises(ProbZeroError, match="solver: othello-size6: expected a game that can be solved"):
        check_solvable(othello(6))


@pytest.mark.parametrize(("width", "height"), [(4, 4), (5, 4), (5, 5)])
def test_connect_four_on_small_boards_is_a_draw(width: int, height: int) -> None:
    game = connect_four(width, height)
    assert solved(game, [start(game)]).result.tolist() == [0]


@pytest.mark.parametrize(("width", "height"), [(1, 1), (3, 3), (4, 3), (3, 5)])
def test_every_position_of_small_connect_four_has_its_minimax_value(width: int, height: int) -> None:
    game = connect_four(width, height)
    values = plain_minimax(game, [start(game)])
    check(game, values, list(values))


@pytest.mark.parametrize(("width", "height", "discs"), [(5, 5, range(14, 26)), (7, 6, range(31, 43))])
def test_late_positions_of_connect_four_have_their_minimax_values(width: int, height: int, discs: range) -> None:
    game = connect_four(width, height)
    positions = random_positions(game, discs, 12)
    labels = check(game, plain_minimax(game, positions), positions)
    assert set(labels.result.tolist()) == {-1, 0, 1}
    assert not (labels.action_result != ILLEGAL).any(-1).all(), "some game must be over"


def test_a_game_without_a_promise_is_searched_in_the_order_of_its_moves() -> None:
    """And its values are the same."""
    game = connect_four(4, 4)
    plain = ModuleType("plain")
    vars(plain).update({name: value for name, value in vars(game.rules).items() if name != "promise"})
    solver = Solver(game, threads=1)
    positions = rows(random_positions(game, range(0, 16), 10))
    expected = solver.label(positions, margins=False)
    solver.loops = templates.load("probzero.truth.solver", "connect_four_without_promise", rules=plain)
    assert solver.loops.promise.py_func(None, 3) > solver.loops.promise.py_func(None, 4)
    solver.workspaces[0].table[:] = 0
    found = solver.label(positions, margins=False)
    np.testing.assert_array_equal(found.action_result, expected.action_result)


def test_what_a_lookup_knows_is_not_solved_again() -> None:
    game = othello(5)

    class Database:
        def values(self, states: np.ndarray) -> np.ndarray | None:
            if len(states) > 1:
                return None
            values = np.full((1, game.actions), ILLEGAL, dtype=np.int8)
            values[0, [0, 1]] = 7, -3
            return values

    solver = Solver(game, node_budget=1, lookup=Database())
    labels = solver.label(game.start()[None])
    assert labels.margin is not None and labels.margin.tolist() == [7]
    assert labels.action_result[0, :3].tolist() == [1, -1, ILLEGAL]
    with pytest.raises(ProbZeroError, match="budget"):
        solver.label(np.stack([game.start()] * 2))


def test_a_second_process_loads_the_compiled_solver_and_agrees(tmp_path: Path) -> None:
    """A recursive function that is compiled for two signatures crashes when numba loads it from its cache."""
    program = (
        "from probzero import games\n"
        "from probzero.truth.labels import Solver\n"
        "game = games.make('othello', size=5)\n"
        "solver = Solver(game, threads=1)\n"
        "margin = solver.label(game.start()[None]).margin\n"
        "print(margin, len(solver.loops.label_positions.stats.cache_hits))\n"
    )
    source = str(Path(probzero.__file__).parents[1])
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path), "PYTHONPATH": source}
    for loaded in (0, 1):
        run = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True)
        assert (run.returncode, run.stdout) == (0, f"[13] {loaded}\n"), run.stderr
