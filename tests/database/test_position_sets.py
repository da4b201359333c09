"""The fixed sets of positions: what the rule promises on 4×4, and that the committed sets of 5×5 keep it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from made_database import SMALL, opened
from oracles import plain_minimax
from oracles.slow_othello import SlowOthello
from sealed import made, rewrite_table

from probzero import games
from probzero.__main__ import main
from probzero.database.position_sets import Rule, position_sets, shared
from probzero.errors import ProbZeroError
from probzero.games.base import Game
from probzero.tables import write_csv
from probzero.truth.labels import Solver
from probzero.truth.positions import KIND, margins_of, read_positions, states_of

RULE = Rule(first=5, whole=8, last=14, validation=100, drawn=20)
COMMITTED = Path(__file__).parents[2] / "results" / "reference" / "positions"
LARGE = games.make("othello", size=5)
NAMES = ("validation", "test", "drawn")


@pytest.fixture(scope="module")
def sets(database4: Path) -> dict[str, pd.DataFrame]:
    return position_sets(opened(database4), RULE, 2)


@cache
def committed(name: str) -> pd.DataFrame:
    return read_positions(COMMITTED / f"{name}.csv", LARGE)


def keys(game: Game, table: pd.DataFrame) -> list[tuple[int, ...]]:
    return [tuple(state) for state in game.canonical(states_of(game, table)).tolist()]


def decisive_of_minimax() -> Iterator[tuple[int, ...]]:
    solved = plain_minimax.solve(SMALL)
    for key, moves in solved.moves.items():
        if any(np.sign(move) != np.sign(solved.value[key]) for move in moves):
            yield key


def discs(key: tuple[int, ...]) -> int:
    return sum(word.bit_count() for word in key)


def test_no_position_is_in_two_sets_or_twice_in_one_whatever_its_turned_form(sets: dict[str, pd.DataFrame]) -> None:
    for game, tables in ((SMALL, sets), (LARGE, {name: committed(name) for name in NAMES})):
        every = [key for table in tables.values() for key in keys(game, table)]
        assert len(set(every)) == len(every)


def test_early_phases_are_divided_one_to_four_and_later_ones_have_equal_numbers(sets: dict[str, pd.DataFrame]) -> None:
    whole = sorted(key for key in decisive_of_minimax() if RULE.first <= discs(key) <= RULE.whole)
    early = {name: [key for key in keys(SMALL, sets[name]) if discs(key) <= RULE.whole] for name in NAMES}
    assert sorted(early["validation"] + early["test"]) == whole and not early["drawn"]
    assert len(early["validation"]) == round(len(whole) / 5)
    late = range(10, RULE.last + 1)  # phase 9 has fewer than wanted
    assert {(sets["validation"].phase == phase).sum() for phase in late} == {16}
    assert {(sets["test"].phase == phase).sum() for phase in late} == {64}
    assert len(sets["drawn"]) == RULE.drawn


def test_every_row_is_decisive_and_has_the_margins_of_plain_minimax(sets: dict[str, pd.DataFrame]) -> None:
    solved = plain_minimax.solve(SMALL)
    wanted = set(decisive_of_minimax())
    for name, table in sets.items():
        assert set(keys(SMALL, table)) <= wanted
        assert (table.decisive == 1).all() and ((table.result == 0).all() or name != "drawn")
        for key, text, result in zip(keys(SMALL, table), table.margins, table.result, strict=True):
            values = margins_of(SMALL, text)
            assert sorted(values[values > -100].tolist()) == sorted(solved.moves[key])
            assert result == np.sign(solved.value[key])


def replayed(size: int, line: str) -> str:
    """Where a line of play leads by the slow rules, in the notation of positions."""
    slow = SlowOthello.start(size)
    for move in games.make("othello", size=size).parse_moves(line):
        assert move in slow.legal_moves()
        slow = slow.after(move)
    return "/".join("".join(slow.squares[first : first + size]) for first in range(0, size * size, size))


def test_every_line_of_play_leads_to_its_position_by_other_rules(sets: dict[str, pd.DataFrame]) -> None:
    for table in sets.values():
        assert [replayed(4, line) for line in table.line] == table.position.tolist()
    some = pd.concat([committed(name).iloc[::29] for name in NAMES])
    assert [replayed(5, line) for line in some.line] == some.position.tolist()


def test_sets_are_the_same_bytes_each_time_and_by_the_command(
    sets: dict[str, pd.DataFrame], database4: Path, tmp_path: Path
) -> None:
    asked = ["position-sets", "--config", json.dumps({"game": SMALL.described}), "--database", str(database4)]
    asked += ["--first", "5", "--whole", "8", "--last", "14", "--validation", "100", "--drawn", "20"]
    assert main([*asked, "--output", str(tmp_path)]) == 0
    for name, table in sets.items():
        assert (tmp_path / f"{name}.csv").read_text() == table.to_csv(index=False, lineterminator="\n")
        pd.testing.assert_frame_equal(read_positions(tmp_path / f"{name}.csv", SMALL), table, check_dtype=False)


def test_draws_differ_from_phase_to_phase_but_not_with_the_threads(
    sets: dict[str, pd.DataFrame], database4: Path
) -> None:
    for name, table in position_sets(opened(database4), RULE, 1).items():
        pd.testing.assert_frame_equal(table, sets[name])


@pytest.mark.parametrize(
    ("column", "text", "found"),
    [
        ("line", "b1", "moves that lead to the position"),
        ("line", "b1 b1 b1", "a legal move"),
        ("margins", "b1:3", "agree with the result"),
        ("margins", "b1", "MOVE:MARGIN"),
        ("margins", "z9:1", "names of moves"),
    ],
)
def test_a_row_whose_line_or_margins_are_not_its_own_is_refused(
    sets: dict[str, pd.DataFrame], tmp_path: Path, column: str, text: str, found: str
) -> None:
    path = tmp_path / "set.csv"
    write_csv(path, sets["drawn"], KIND, made())
    read_positions(path, SMALL)
    rewrite_table(path, lambda table: table.assign(**{column: [text, *table[column][1:]]}))
    with pytest.raises(ProbZeroError, match=found):
        read_positions(path, SMALL)


def test_the_committed_sets_keep_the_rule() -> None:
    validation, test, drawn = (committed(name) for name in NAMES)
    assert (len(validation), len(test), len(drawn)) == (1000, 4000, 300)
    layers = pd.read_csv(COMMITTED.parent / "database" / "layers.csv").set_index("discs")
    both = pd.concat([validation, test]).phase.value_counts()
    assert all(both[discs] == layers["decisive"][discs] for discs in range(6, 10))
    for table, equal in ((validation, {68, 69}), (test, {272, 276})):
        assert set(table.phase.value_counts()[range(10, 24)]) == equal
        assert (table.decisive == 1).all() and (table.result >= 0).all()
    assert (drawn.decisive == 1).all() and (drawn.result == 0).all() and drawn.phase.between(10, 23).all()


def test_labels_of_the_committed_sets_are_those_of_the_search() -> None:
    some = pd.concat([committed(name).iloc[7::97] for name in NAMES])
    labels = Solver(LARGE, threads=1).label(states_of(LARGE, some))
    assert labels.action_margin is not None
    np.testing.assert_array_equal([margins_of(LARGE, text) for text in some.margins], labels.action_margin)
    np.testing.assert_array_equal(some.result, labels.result)


@pytest.mark.parametrize(
    ("total", "most", "shares"),
    [
        (10, [9, 9, 9], [3, 3, 4]),
        (10, [1, 9, 9], [1, 4, 5]),
        (10, [1, 2, 3], [1, 2, 3]),
        (0, [3], [0]),
    ],
)
def test_a_number_is_shared_as_evenly_as_may_be(total: int, most: list[int], shares: list[int]) -> None:
    assert shared(total, most) == shares
