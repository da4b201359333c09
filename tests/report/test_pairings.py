"""The interval of a pairing's score, on paper."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from probzero.report.tournament import _effective_games, pairings_table

# Of n opening pairs with one pseudo-pair, half of it won twice and half lost twice; v = S² / n, S² over n + 1.
# [1, ½]: mean 2/3, squares (1/9 + 1/36 + ½·4/9 + ½·1/9) = 5/12, v = 5/12 / (2·3) = 5/72, (2/9) / (5/72) = 16/5.
# [1, 1, ½, 0]: mean 3/5, squares 0.69 + ½·0.36 + ½·0.16 = 0.95, v = 0.95 / (4·5) = 0.0475, 0.24 / 0.0475 = 96/19.


@pytest.mark.parametrize(("pairs", "games"), [([1, 0.5], 16 / 5), ([1, 1, 0.5, 0], 96 / 19)])
def test_pairs_are_worth_as_many_games_as_by_hand(pairs: list[float], games: float) -> None:
    found, quantile = _effective_games(np.array(pairs))
    assert found == pytest.approx(games)
    assert quantile == pytest.approx({2: 12.706, 4: 3.182}[len(pairs)], abs=1e-3)  # of Student's table


@pytest.mark.parametrize(
    ("results", "expected"),
    [
        # Score 3/4, t = 12.706, n = 3.2: Wilson's middle (3/4 + t²/2n) / (1 + t²/n) is 0.50486, the margin 0.49391.
        ([(1, 1), (1, -1)], (0.75, 0.0109, 0.9988)),
        # Score 5/8, t = 3.182, n = 96/19: middle (0.625 + 1.00226) / 3.00451 = 0.54161, margin 0.40413.
        ([(1, 1), (1, 1), (1, -1), (-1, -1)], (0.625, 0.1375, 0.9457)),
    ],
)
def test_the_interval_of_a_pairing_by_hand(
    results: list[tuple[int, int]], expected: tuple[float, float, float]
) -> None:
    games = pd.DataFrame(
        [
            {"first": sides[0], "second": sides[1], "opening": opening, "opening_moves": f"m{opening}",
             "moves": "a", "plies": 2, "result": result if sides[0] == "b" else -result}
            for opening, pair in enumerate(results)
            for sides, result in zip((("b", "a"), ("a", "b")), pair, strict=True)
        ]
    )  # fmt: skip
    (row,) = pairings_table(games, ["a", "b"]).to_dict("records")
    assert (row["player"], row["games"]) == ("b", 2 * len(results))
    assert (row["score"], row["score_low"], row["score_high"]) == pytest.approx(expected, abs=1e-4)
