"""Ratings: known answers, coverage of the intervals, extremes and bad input."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from scipy import optimize
from simulated_games import simulate

from probzero.arena import elo
from probzero.arena.names import iteration_of
from probzero.errors import ProbZeroError
from probzero.report.tournament import differences_table, model_table, pairings_table, ratings_table, wilson

COLUMNS = ["first", "second", "opening_moves", "moves", "result"]


def games_of(*rows: tuple[str, str, str, int]) -> pd.DataFrame:
    """Make games from (first, second, opening, result), every one with moves of its own."""
    return pd.DataFrame([(*row[:3], f"m{number}", row[3]) for number, row in enumerate(rows)], columns=COLUMNS)


def match(first: str, second: str, results: list[tuple[int, int]], opening: str = "o") -> pd.DataFrame:
    """Make opening pairs from the results for `first`, who moves first in one game and second in the other."""
    rows = []
    for number, (begun, answered) in enumerate(results):
        rows += [(first, second, f"{opening}{number}", begun), (second, first, f"{opening}{number}", -answered)]
    return games_of(*rows)


@pytest.mark.parametrize(("wins", "losses"), [(600, 400), (900, 100), (500, 500)])
def test_two_players_without_draws_differ_by_the_logit_of_the_score(wins, losses):
    # Balanced sides and no first-move advantage: 400 log10(s / (1 − s)), the prior adding one win and one loss.
    results = [(1, 1)] * (wins // 2) + [(-1, -1)] * (losses // 2)
    found = elo.fit(match("b", "a", results), ["a", "b"], "a")
    assert found.rating[1] == pytest.approx(400 * math.log10((wins + 1) / (losses + 1)), abs=1e-6)
    assert found.rating[1] == pytest.approx(400 * math.log10(wins / losses), abs=4)
    assert found.first_move.value == pytest.approx(0, abs=1e-6)


def test_draws_do_not_change_the_ratio_of_wins_to_losses():
    # Davidson: P(win) / P(loss) = 10^(difference / 400), whatever the draws; draws = ν √(wins · losses).
    found = elo.fit(match("b", "a", [(1, 1)] * 200 + [(-1, -1)] * 100 + [(0, 0)] * 150), ["a", "b"], "a")
    assert found.rating[1] == pytest.approx(400 * math.log10(401 / 201), abs=1e-6)
    assert found.draw.value == pytest.approx(300.5 / math.sqrt(401 * 201), rel=1e-6)


def slow_negative_log_posterior(theta: np.ndarray, games: pd.DataFrame, names: list[str]) -> float:
    """The docstring's model, game by game: ratings after the first (in logits), F, ln ν."""
    rating = dict(zip(names, [0.0, *theta[:-2]], strict=True))
    advantage, nu = theta[-2], math.exp(theta[-1])
    pairings = sorted({tuple(sorted(pair)) for pair in zip(games["first"], games["second"], strict=True)})
    rows = [(first, second, result, 1.0) for first, second, _, _, result in games.itertuples(index=False)]
    for i, j in pairings:
        each = len(names) / 2 / len(pairings) / 4  # a game for each player; four kinds of it
        rows += [(i, j, 1, each), (i, j, -1, each), (j, i, 1, each), (j, i, -1, each)]
        shared = 1 / len(pairings) / 4
        rows += [(i, j, 1, shared), (j, i, 1, shared), (i, j, -1, shared), (j, i, -1, shared)]
        rows += [(i, j, 0, shared), (j, i, 0, shared)]
    total = 0.0
    for first, second, result, weight in rows:
        x = rating[first] - rating[second] + advantage
        chances = {1: math.exp(x / 2), 0: nu, -1: math.exp(-x / 2)}
        total -= weight * math.log(chances[result] / sum(chances.values()))
    return total


def test_fit_agrees_with_a_slow_maximisation_of_the_stated_model():
    games, names = simulate(np.random.default_rng(3), [0, 120, 300], 60, 0.4, 12)
    slow = optimize.minimize(slow_negative_log_posterior, np.zeros(4), args=(games, names), method="BFGS")
    found = elo.fit(games, names, names[0])
    per_logit = 400 / math.log(10)
    assert found.rating[1:] == pytest.approx(slow.x[:2] * per_logit, abs=0.02)
    assert found.first_move.value == pytest.approx(slow.x[2] * per_logit, abs=0.02)
    assert found.draw.value == pytest.approx(math.exp(slow.x[3]), rel=1e-3)


@pytest.mark.parametrize(
    ("ratings", "openings"), [([0, 100, 200, 300], 40), ([0, 400, 700, 800, 850], 30), ([0, 150, 250], 10)]
)
def test_intervals_cover_the_truth_nineteen_times_in_twenty(ratings, openings):
    rng = np.random.default_rng(7)
    truth = np.array(ratings, dtype=float)
    covered, first_move = [], []
    for _ in range(150):
        games, names = simulate(rng, ratings, 40, 0.2, openings)
        found = elo.fit(games, names, names[0])
        table = differences_table(found)
        index = {name: position for position, name in enumerate(names)}
        true = truth[table["player"].map(index)] - truth[table["opponent"].map(index)]
        covered.append(((table["low"] <= true) & (true <= table["high"])).mean())
        first_move.append(found.first_move.low <= 40 <= found.first_move.high)
    # 150 tournaments: a true 95 % has a standard error of at most 1.8 points, less for the mean over pairs.
    assert 0.92 <= np.mean(covered) <= 0.99
    assert np.mean(first_move) >= 0.90


def test_intervals_of_equal_players_cover_zero_whatever_the_openings_favour():
    rng = np.random.default_rng(11)
    covered, first_move_covered = [], []
    for _ in range(150):
        games, names = simulate(rng, [0, 0, 0], 0, 0.1, 30, favour=300)
        found = elo.fit(games, names, names[0])
        table = differences_table(found)
        covered.append(((table["low"] <= 0) & (table["high"] >= 0)).mean())
        first_move_covered.append(found.first_move.low <= 0 <= found.first_move.high)
    assert 0.92 <= np.mean(covered) <= 0.99
    assert np.mean(first_move_covered) >= 0.90  # openings are few and strong: games alone would cover far less


def test_repeating_every_game_of_an_opening_does_not_narrow_the_intervals():
    # The copies bring no new information; an interval that took games for independent would shrink by √2.
    games, names = simulate(np.random.default_rng(5), [0, 100, 150], 0, 0.1, 60)
    once = differences_table(elo.fit(games, names, names[0]))
    twice = differences_table(elo.fit(pd.concat([games, games]), names, names[0]))
    assert twice["standard_error"].to_numpy() == pytest.approx(once["standard_error"].to_numpy(), rel=0.05)


@pytest.mark.parametrize("openings", [2, 4, 10])
def test_the_spread_of_few_openings_by_hand(openings):
    # Half of G openings are won twice, half lost twice: the difference, F and the correlations vanish. With the prior,
    # two and a half games, half a draw among them, P(draw) = 1/2 / (2G + 5/2), so that in logits
    #   H = (2G + 5/2) · (1 − P(draw))/4 = (G + 1)/2
    #   M = G/(G−1) · Σ (±1)² + 1/2 = G²/(G−1) + 1/2     an opening won twice scores 1/2 + 1/2, a split one nothing
    found = elo.fit(match("b", "a", [(1, 1), (-1, -1)] * (openings // 2)), ["a", "b"], "a")
    variance = (openings**2 / (openings - 1) + 1 / 2) / ((openings + 1) / 2) ** 2
    assert found.covariance[1, 1] == pytest.approx(variance * (400 / math.log(10)) ** 2, rel=1e-6)
    assert (found.openings, found.freedom) == (openings, openings - 1)


def test_openings_that_always_split_give_narrow_but_real_intervals():
    split = elo.fit(match("b", "a", [(1, -1), (-1, 1)] * 20), ["a", "b"], "a")
    mixed = elo.fit(match("b", "a", [(1, 1), (-1, -1)] * 20), ["a", "b"], "a")
    assert split.rating[1] == pytest.approx(0, abs=1e-6)
    assert 5 < math.sqrt(split.covariance[1, 1]) < math.sqrt(mixed.covariance[1, 1]) / 2


def test_a_perfect_score_is_rated_finitely_with_an_honest_interval():
    found = elo.fit(match("b", "a", [(1, 1)] * 20), ["a", "b"], "a")
    row = ratings_table(found).iloc[1]
    # 20 of 20 pairs: Clopper and Pearson put the lowest credible score at 0.832, or 278 Elo.
    assert 0 < row["low"] < 278
    assert 500 < row["rating"] < 1000
    assert not row["bounded"]
    assert row["high"] > 900


def test_one_result_for_the_weaker_side_bounds_the_difference():
    found = elo.fit(match("b", "a", [(1, 1)] * 19 + [(1, -1)]), ["a", "b"], "a")
    assert ratings_table(found)["bounded"].all()


def test_one_draw_bounds_the_difference_too():
    found = elo.fit(match("b", "a", [(1, 1)] * 19 + [(1, 0)]), ["a", "b"], "a")
    assert ratings_table(found)["bounded"].all() and found.score.tolist() == pytest.approx([0.5 / 40, 39.5 / 40])


def test_draws_alone_say_that_players_are_equal_and_nothing_of_the_first_move():
    # By hand: the prior has two wins or losses for 2G + 1/2 draws, and ν = draws / √(wins · losses) = (2G + 1/2) / 1.
    found = elo.fit(match("b", "a", [(0, 0)] * 10), ["a", "b"], "a")
    assert found.rating.tolist() == pytest.approx([0, 0], abs=1e-6)
    assert found.first_move.value == pytest.approx(0, abs=1e-6)
    assert found.draw.value == pytest.approx(20.5, rel=1e-6)
    assert found.score.tolist() == [0.5, 0.5] and ratings_table(found)["bounded"].all()


@pytest.mark.parametrize("result", [1, -1, 0])
def test_games_that_all_end_alike_are_rated(result):
    games = match("b", "a", [(result, -result)] * 10)
    found = elo.fit(games, ["a", "b"], "a")
    assert found.rating[1] == pytest.approx(0, abs=1e-6)
    assert np.sign(found.first_move.value) * (abs(found.first_move.value) > 1) == result
    assert all(math.isfinite(value) for value in (found.first_move.low, found.first_move.high, found.draw.high))


def test_a_single_opening_gives_very_wide_intervals():
    found = elo.fit(match("b", "a", [(1, -1)]), ["a", "b"], "a")
    table = differences_table(found)
    assert table["high"].iloc[0] - table["low"].iloc[0] > 1000


def test_another_anchor_shifts_ratings_and_leaves_differences_alone():
    games, names = simulate(np.random.default_rng(1), [0, 200, 350], 30, 0.3, 20)
    low, high = (elo.fit(games, names, anchor) for anchor in (names[0], names[2]))
    assert low.rating - low.rating[2] == pytest.approx(high.rating, abs=1e-6)
    assert high.rating[2] == 0
    pd.testing.assert_frame_equal(differences_table(low), differences_table(high), rtol=1e-6)


def test_field_intervals_do_not_depend_on_the_anchor():
    games, names = simulate(np.random.default_rng(1), [0, 200, 350], 30, 0.3, 20)
    widths = []
    for anchor in (names[0], names[2]):
        table = ratings_table(elo.fit(games, names, anchor))
        widths.append((table["field_high"] - table["field_low"]).to_numpy())
    assert widths[0] == pytest.approx(widths[1], rel=1e-6)


def test_swapping_names_swaps_ratings():
    games, names = simulate(np.random.default_rng(2), [0, 100, 250], 20, 0.2, 20)
    swap = {names[1]: names[2], names[2]: names[1], names[0]: names[0]}
    swapped = games.assign(first=games["first"].map(swap), second=games["second"].map(swap))
    before, after = (elo.fit(found, names, names[0]) for found in (games, swapped))
    assert after.rating == pytest.approx(before.rating[[0, 2, 1]], abs=1e-6)
    assert after.covariance == pytest.approx(before.covariance[[0, 2, 1]][:, [0, 2, 1]], rel=1e-6)


def test_swapping_sides_and_results_turns_the_first_move_advantage_round():
    games, names = simulate(np.random.default_rng(2), [0, 100, 250], 80, 0.2, 20)
    turned = games.assign(first=games["second"], second=games["first"], result=-games["result"])
    before, after = (elo.fit(found, names, names[0]) for found in (games, turned))
    assert after.rating == pytest.approx(before.rating, abs=1e-6)
    assert after.first_move.value == pytest.approx(-before.first_move.value, abs=1e-6)


def test_superiority_is_one_half_for_equals_and_near_one_for_a_clear_winner():
    equal = differences_table(elo.fit(match("b", "a", [(1, 1), (-1, -1)] * 10), ["a", "b"], "a"))
    clear = differences_table(elo.fit(match("b", "a", [(1, 1)] * 35 + [(1, -1)] * 5), ["a", "b"], "a"))
    assert equal["superiority"].iloc[0] == pytest.approx(0.5, abs=1e-6)
    assert clear["superiority"].iloc[0] > 0.999


def test_tables_have_every_player_and_every_pair_once():
    games, names = simulate(np.random.default_rng(2), [0, 100, 250, 300], 20, 0.2, 5)
    found = elo.fit(games, names, names[0])
    assert ratings_table(found)["player"].tolist() == names
    assert ratings_table(found)["iteration"].tolist() == [0, 1, 2, 3]
    table = differences_table(found)
    assert len(table) == 6 and set(map(frozenset, zip(table["player"], table["opponent"], strict=True))).__len__() == 6
    assert model_table(found)["parameter"].tolist() == ["first_move_advantage", "draw_parameter"]


def test_games_of_strangers_are_refused():
    with pytest.raises(ProbZeroError, match=r"first: expected one of .*found stranger"):
        elo.fit(match("b", "a", [(1, 1)]).assign(first="stranger"), ["a", "b"], "a")


def test_players_without_a_chain_of_games_are_refused():
    games = pd.concat([match("b", "a", [(1, -1)]), match("d", "c", [(1, -1)])])
    with pytest.raises(ProbZeroError, match="chain of games between any two players, found none from a to c"):
        elo.fit(games, ["a", "b", "c", "d"], "a")


def test_an_unknown_anchor_is_refused():
    with pytest.raises(ProbZeroError, match="anchor"):
        elo.fit(match("b", "a", [(1, 1)]), ["a", "b"], "z")


def test_iteration_of_reads_checkpoints_only():
    assert iteration_of("iteration-0040") == 40
    assert iteration_of("perfect") is None


@pytest.mark.parametrize(
    ("wins", "games", "low", "high"),
    [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718)],
)
def test_wilson_agrees_with_newcombe_1998(wins, games, low, high):
    assert wilson(wins / games, games, 1.959964) == pytest.approx((low, high), abs=5e-5)


def test_a_pairing_counts_games_results_and_distinct_sequences():
    games = match("b", "a", [(1, 1), (1, 0), (-1, 0), (1, -1)])
    games.loc[1, ["opening_moves", "moves"]] = games.loc[0, ["opening_moves", "moves"]]
    row = pairings_table(games, ["a", "b"]).iloc[0]
    assert (row["player"], row["opponent"]) == ("b", "a")
    assert tuple(row[["games", "wins", "draws", "losses", "distinct_games"]]) == (8, 4, 2, 2, 7)
    assert row["score"] == pytest.approx(5 / 8)
    assert row["score_low"] < 5 / 8 < row["score_high"]


def test_the_interval_of_a_score_knows_how_the_games_of_an_opening_hang_together():
    def width(results: list[tuple[int, int]]) -> float:
        row = pairings_table(match("b", "a", results), ["a", "b"]).iloc[0]
        return row["score_high"] - row["score_low"]

    agree, free, split = [(1, 1), (-1, -1)] * 50, [(1, 1), (1, -1), (-1, 1), (-1, -1)] * 25, [(1, -1), (-1, 1)] * 50
    low, high = wilson(0.5, 200, 1.984)
    assert width(free) == pytest.approx(high - low, rel=0.02)  # as 200 independent games, t quantile of 99
    low, high = wilson(0.5, 100, 1.984)
    assert width(agree) == pytest.approx(high - low, rel=0.02)  # as 100
    assert 0 < width(split) < width(free) / 3
