"""Recorded games are replayed, and what is wrong with them is said with the name of their file."""

from __future__ import annotations

import pandas as pd
import pytest
from made_games import GIVEN_UP, SMALL, recorded

from probzero.errors import ProbZeroError
from probzero.games.records import check_results


def whole_games() -> pd.DataFrame:
    """Finished games as matches record them: `plies` counts the opening too."""
    table = recorded().drop(index=GIVEN_UP).reset_index(drop=True)
    return table.assign(plies=table.plies + 2).drop(columns="resigned")


def test_plies_count_the_opening_in_matches_but_not_in_selfplay() -> None:
    check_results(SMALL, whole_games(), "m.csv")
    check_results(SMALL, recorded(), "m.csv", selfplay=True)
    with pytest.raises(ProbZeroError, match=r"m\.csv: line 2: expected plies \d+, as its moves say, found \d+"):
        check_results(SMALL, recorded().drop(index=GIVEN_UP), "m.csv")
    with pytest.raises(ProbZeroError, match=r"m\.csv: line 2: expected plies \d+, as its moves say, found \d+"):
        check_results(SMALL, whole_games().assign(resigned=0), "m.csv", selfplay=True)


def test_nobody_resigns_in_a_match() -> None:
    with pytest.raises(ProbZeroError, match=r"m\.csv: line 3: expected a finished game, found one that goes on"):
        check_results(SMALL, recorded(), "m.csv")


@pytest.mark.parametrize("column", ["opening_moves", "moves"])
@pytest.mark.parametrize(
    ("move", "message"),
    [("z9", "m.csv: 'z9': expected names of moves of othello-size4, found z9"), ("b2", "m.csv: game 1, ply ")],
)
def test_a_move_that_is_unknown_or_illegal_is_refused_with_the_file(column: str, move: str, message: str) -> None:
    table = whole_games()
    table.loc[1, column] = move
    with pytest.raises(ProbZeroError) as refusal:
        check_results(SMALL, table, "m.csv")
    assert message in str(refusal.value)
