"""The solver against known values and against a plain minimax without pruning that shares no code with it."""

from __future__ import annotations

import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import probzero
from probzero.errors import ProbZeroError
from probzero.games.bits import pack, popcount
from probzero.games.othello import Othello, othello, square_name
from probzero.truth.labels import Labels, Solver, best_moves, decisive, keeps_margin, keeps_result, label
from probzero.truth.solver import ILLEGAL

Position = tuple[int, int]


def columns(positions: list[Position]) -> tuple[np.ndarray, np.ndarray]:
    own, opp = np.array(positions, dtype=np.int64).T
    return own, opp


def plain_minimax(game: Othello, roots: list[Position]) -> dict[Position, dict[int, int]]:
    """Return for every position reachable from the roots the margin of each legal action, by full enumeration."""
    children: dict[Position, dict[int, Position]] = {}
    frontier = set(roots)
    while frontier:
        batch = sorted(frontier)
        own, opp = columns(batch)
        children.update({position: {} for position in batch})
        rows, actions = np.nonzero(game.legal(own, opp))
        next_own, next_opp = game.place(own[rows], opp[rows], actions)
        for row, action, *child in zip(*map(np.ndarray.tolist, (rows, actions, next_own, next_opp)), strict=True):
            children[batch[row]][action] = (child[0], child[1])
        frontier = {child for position in batch for child in children[position].values()} - children.keys()

    everything = list(children)
    own, opp = columns(everything)
    on_board = dict(zip(everything, game.margin(own, opp).tolist(), strict=True))
    grows = 2 * popcount(own | opp) + (game.placements(own, opp) != 0)  # along every move, a pass included
    values: dict[Position, dict[int, int]] = {}
    for index in np.argsort(-grows):
        position = everything[index]
        values[position] = {
            action: -max(values[child].values(), default=on_board[child])
            for action, child in children[position].items()
        }
    return values


def action_margins(game: Othello, values: dict[Position, dict[int, int]], positions: list[Position]) -> np.ndarray:
    table = np.full((len(positions), game.actions), ILLEGAL)
    for row, position in enumerate(positions):
        for action, value in values[position].items():
            table[row, action] = value
    return table


def random_positions(size: int, discs: range, each: int, seed: int = 0) -> list[Position]:
    """Return at most `each` distinct positions per number of discs, passes and ends included, from random play."""
    game, rng = othello(size), np.random.default_rng(seed)
    own, opp = (np.full(20 * each, word, dtype=np.int64) for word in game.start())
    found: dict[int, set[Position]] = {number: set() for number in discs}
    while len(own):
        for mine, theirs, number in zip(own.tolist(), opp.tolist(), popcount(own | opp).tolist(), strict=True):
            if number in found and len(found[number]) < each:
                found[number].add((mine, theirs))
        legal = game.legal(own, opp)
        going = legal.any(-1)
        action = (rng.random(legal.shape) * legal).argmax(-1)
        own, opp = game.place(own[going], opp[going], action[going])
    return [position for number in discs for position in sorted(found[number])]


def quiet(size: int, positions: list[Position], **options: object) -> Labels:
    return label(size, *columns(positions), **{"threads": 1, "progress": False, **options})  # type: ignore[arg-type]


@cache
def every_4x4_position() -> dict[Position, dict[int, int]]:
    game = othello(4)
    return plain_minimax(game, [game.start()])


def check(size: int, values: dict[Position, dict[int, int]], positions: list[Position]) -> Labels:
    """Assert that all labels of the positions agree with plain minimax values; return them."""
    game = othello(size)
    expected = action_margins(game, values, positions)
    legal = expected != ILLEGAL
    on_board = game.margin(*columns(positions))
    best = np.where(legal.any(-1), expected.max(-1), on_board)

    found = quiet(size, positions)
    np.testing.assert_array_equal(found.action_margin, expected)
    np.testing.assert_array_equal(found.margin, best)
    cheap = quiet(size, positions, margins=False)
    assert cheap.margin is None and cheap.action_margin is None
    for labels in (found, cheap):
        np.testing.assert_array_equal(labels.action_result, np.where(legal, np.sign(expected), ILLEGAL))
        np.testing.assert_array_equal(labels.result, np.sign(best))
        kept = legal & (np.sign(expected) == np.sign(best)[:, None])
        np.testing.assert_array_equal(keeps_result(labels), kept)
        np.testing.assert_array_equal(decisive(labels), (legal & ~kept).any(-1))
    np.testing.assert_array_equal(keeps_margin(found), legal & (expected == best[:, None]))
    return found


def test_every_reachable_4x4_position_and_move_has_its_minimax_value() -> None:
    values = every_4x4_position()
    assert len(values) == 58_533
    positions = list(values)
    labels = check(4, values, positions)
    passes = labels.action_result[:, -1] != ILLEGAL
    finished = (labels.action_result == ILLEGAL).all(-1)
    assert passes.sum() > 1000 and finished.sum() > 1000
    assert (labels.result == 0).any()


def test_the_4x4_start_is_lost_by_8() -> None:
    labels = quiet(4, [othello(4).start()])
    assert labels.margin is not None and labels.margin.tolist() == [-8]
    assert labels.result.tolist() == [-1]
    assert not decisive(labels).any()


def test_the_5x5_start_is_won_by_13_with_d3_and_c4_while_b1_and_a2_lose_everything() -> None:
    labels = quiet(5, [othello(5).start()])
    assert labels.margin is not None and labels.action_margin is not None
    assert labels.margin.tolist() == [13]
    found = {
        square_name(5, int(a)): int(labels.action_margin[0, a]) for a in np.nonzero(labels.action_result[0] > -2)[0]
    }
    assert found == {"d3": 13, "c4": 13, "b1": -25, "a2": -25}
    assert {square_name(5, int(action)) for action in np.nonzero(best_moves(labels)[0])[0]} == {"d3", "c4"}
    assert decisive(labels).tolist() == [True]


def test_the_5x5_start_with_colours_swapped_is_won_by_20() -> None:
    own, opp = othello(5).start()
    labels = quiet(5, [(opp, own)])
    assert labels.margin is not None and labels.margin.tolist() == [20]


@pytest.mark.parametrize(
    ("size", "discs", "each"),
    [(5, range(16, 26), 12), (6, range(27, 37), 8), (8, range(56, 65), 8)],
    ids=["5x5", "6x6", "8x8"],
)
def test_late_positions_have_their_minimax_values(size: int, discs: range, each: int) -> None:
    positions = random_positions(size, discs, each)
    labels = check(size, plain_minimax(othello(size), positions), positions)
    legal = labels.action_result != ILLEGAL
    assert legal[:, -1].any(), "some position must be a pass"
    assert not legal.any(-1).all(), "some game must be over"
    assert size < 8 or (labels.own < 0).any(), "some position must use the sign bit"


def test_a_pass_is_worth_what_the_other_side_loses() -> None:
    rng = np.random.default_rng(0)  # boards filled at random: in play the side that passes hardly ever wins
    squares = rng.choice(3, p=[0.4, 0.45, 0.15], size=(400, 25))
    own, opp = pack(squares == 1), pack(squares == 2)
    passing = othello(5).legal(own, opp)[:, -1]
    positions = list(zip(own[passing].tolist(), opp[passing].tolist(), strict=True))[:60]
    found = []
    for own, opp in positions:  # each with an empty table: a full one could hide too narrow a window
        mine, theirs = quiet(5, [(own, opp)]), quiet(5, [(opp, own)])
        assert mine.margin is not None and mine.action_margin is not None and theirs.margin is not None
        assert (mine.action_margin != ILLEGAL).sum() == 1
        assert mine.margin[0] == mine.action_margin[0, -1] == -theirs.margin[0]
        found.append(int(mine.result[0]))
    assert min(found.count(1), found.count(-1)) >= 5


def test_games_that_end_early_count_no_empty_squares() -> None:
    wiped_out = (0b00111, 0)  # nobody can move, three discs on the board
    takes_all = (0b00001, 0b00010)  # a1 owned, b1 opposing: c1 turns it and ends the game 3-0
    labels = quiet(5, [wiped_out, takes_all, (0, 0)])
    assert labels.margin is not None and labels.margin.tolist() == [3, 3, 0]
    assert best_moves(labels).sum(-1).tolist() == [0, 1, 0]


@pytest.mark.parametrize("margins", [True, False])
def test_perfect_players_reach_the_value_of_the_start(margins: bool) -> None:
    game, solver = othello(4), Solver(4, threads=1)
    own, opp = (np.array([word]) for word in game.start())
    colour = 1
    while not game.terminal(own, opp).any():
        labels = solver.label(own, opp, margins=margins, progress=False)
        own, opp = game.place(own, opp, best_moves(labels).argmax(-1))
        colour = -colour
    margin = colour * int(game.margin(own, opp)[0])
    assert margin == -8 if margins else margin < 0


def test_labels_do_not_depend_on_batch_threads_table_or_what_was_solved_before() -> None:
    positions = random_positions(5, range(10, 24), 10)
    own, opp = columns(positions)
    expected = quiet(5, positions, threads=1)
    assert expected.action_margin is not None
    kept = Solver(5, threads=2)
    kept.label(own[::-1], opp[::-1], margins=False, progress=False)
    singly = [quiet(5, [position], threads=1).action_margin for position in positions[::7]]
    np.testing.assert_array_equal(np.concatenate(singly), expected.action_margin[::7])  # type: ignore[arg-type]
    for other in (
        quiet(5, positions, threads=1),
        quiet(5, positions, threads=2),
        quiet(5, positions, threads=3, table_bits=4),
        kept.label(own, opp, progress=False),
    ):
        np.testing.assert_array_equal(other.action_margin, expected.action_margin)
        np.testing.assert_array_equal(other.result, expected.result)


def test_no_positions_give_no_labels() -> None:
    labels = label(5, [], [], progress=False)
    assert labels.action_result.shape == (0, 26) and labels.result.shape == (0,)


@pytest.mark.parametrize("size", [5, 6, 8])
@pytest.mark.parametrize("threads", [1, 2])
def test_a_budget_that_runs_out_is_an_error_naming_position_and_budget(size: int, threads: int) -> None:
    late = random_positions(size, range(size * size - 2, size * size), 3)
    hard = [*late, othello(size).start()]
    with pytest.raises(
        ProbZeroError, match=rf"position {len(late)} \(own=0x.* within the budget of 5000 nodes"
    ) as caught:
        quiet(size, hard, node_budget=5000, threads=threads)
    assert "\n" not in str(caught.value)


def test_nothing_wrong_is_remembered_after_a_budget_ran_out() -> None:
    positions = random_positions(5, range(9, 20), 5)
    own, opp = columns(positions)
    expected = quiet(5, positions).action_margin
    solver = Solver(5, threads=1)
    for budget in (10, 100, 1000, 10_000):
        solver.node_budget = budget
        with pytest.raises(ProbZeroError, match="budget"):
            solver.label(own, opp, progress=False)
    solver.node_budget = 10**9
    np.testing.assert_array_equal(solver.label(own, opp, progress=False).action_margin, expected)


@pytest.mark.parametrize(
    ("own", "opp", "message"),
    [
        ([1, 3], [2, 6], "number 1: expected at most one disc per square, found own=0x3 opp=0x6"),
        ([1 << 25], [1], "number 0: expected discs on the 5×5 board only"),
        ([1], [-(1 << 63)], "discs on the 5×5 board only, found own=0x1 opp=0x8000000000000000"),
        ([1], [2, 4], "expected equally many, found 1 and 2"),
        ([0.5], [2], "expected a list of whole numbers, found float64"),
        (1, 2, "expected a list of whole numbers"),
    ],
)
def test_illegal_positions_are_refused(own: object, opp: object, message: str) -> None:
    with pytest.raises(ProbZeroError, match="position") as caught:
        label(5, own, opp, progress=False)  # type: ignore[arg-type]
    assert message in str(caught.value)


@pytest.mark.parametrize(
    "options", [{"size": 7}, {"threads": 0}, {"node_budget": 0}, {"table_bits": 0}, {"table_bits": 31}], ids=str
)
def test_settings_out_of_range_are_refused(options: dict[str, int]) -> None:
    with pytest.raises(ProbZeroError, match="expected"):
        Solver(**{"size": 5, **options})


def test_results_without_margins_cannot_be_asked_for_margins() -> None:
    with pytest.raises(ProbZeroError, match="results only"):
        keeps_margin(quiet(5, [othello(5).start()], margins=False))


def test_the_progress_bar_counts_the_positions(capsys: pytest.CaptureFixture[str]) -> None:
    label(4, *columns(random_positions(4, range(10, 14), 10)))
    shown = capsys.readouterr().err
    assert "solving 4×4: 100%" in shown and "40/40" in shown


def test_a_second_process_loads_the_compiled_solver_and_agrees(tmp_path: Path) -> None:
    """A recursive function that is compiled for two signatures crashes when numba loads it from its cache."""
    program = (
        "from probzero.truth.labels import label, label_positions\n"
        "from probzero.games.othello import othello\n"
        "own, opp = othello(5).start()\n"
        "print(label(5, [own], [opp], threads=1, progress=False).margin, len(label_positions.stats.cache_hits))\n"
    )
    source = str(Path(probzero.__file__).parents[1])
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path), "PYTHONPATH": source}
    for loaded in (0, 1):
        run = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True)
        assert (run.returncode, run.stdout) == (0, f"[13] {loaded}\n"), run.stderr
