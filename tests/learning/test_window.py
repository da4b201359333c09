"""The window of samples: how often each is drawn, and what becomes of it before the network sees it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from learnable import GAME, SETTINGS, small, some_samples
from oracles.slow_othello import SlowOthello
from sealed import wide

from probzero import games
from probzero.games.base import Game
from probzero.learning import training
from probzero.learning.dataset import Samples, concatenate
from probzero.learning.loss import Batch, losses
from probzero.learning.training import train
from probzero.learning.window import Window, decidedness, draw, draw_weights, draw_window, tensors, turned
from probzero.network.model import Outputs

OBLONG = [games.make("connect_four", width=width, height=height) for width, height in ((5, 4), (7, 6))]

pytestmark = pytest.mark.usefixtures("one_thread")


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


@pytest.mark.parametrize(
    ("sizes", "wanted", "recency", "expected"),
    [
        ([100, 100], 150, 0.5, [50, 100]),
        ([100, 100], 300, 0.5, [100, 200]),
        ([100, 50], 100, 0.5, [50, 50]),
        ([40, 40, 40], 70, 0.5, [10, 20, 40]),
        ([100, 100, 100], 244, 0.8, [64, 80, 100]),
        ([100, 100], 0, 0.25, [40, 160]),  # as many as there are
        ([10], 4, 0.5, [4]),
    ],
)
def test_older_samples_are_drawn_less_often_on_paper(
    sizes: list[int], wanted: int, recency: float, expected: list[int]
) -> None:
    drawn = draw_window(rng(), sizes, wanted, recency)
    bounds = np.cumsum([0, *sizes])
    for part, (size, count) in enumerate(zip(sizes, expected, strict=True)):
        times = np.bincount(drawn, minlength=bounds[-1])[bounds[part] : bounds[part + 1]]
        assert times.sum() == count
        assert times.max() - times.min() <= 1 and times.max() == -(-count // size)  # none twice before all once


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.integers(1, 60), min_size=1, max_size=6), st.integers(1, 400), st.floats(0.05, 0.99), st.integers(0, 9)
)
def test_as_many_are_drawn_as_wanted_and_each_iteration_has_its_share_to_the_next_whole_number(
    sizes: list[int], wanted: int, recency: float, seed: int
) -> None:
    drawn = draw_window(rng(seed), sizes, wanted, recency)
    assert len(drawn) == wanted and drawn.min() >= 0 and drawn.max() < sum(sizes)
    weight = [size * recency ** (len(sizes) - 1 - part) for part, size in enumerate(sizes)]
    part_of = np.repeat(np.arange(len(sizes)), sizes)[drawn]
    for part, share in enumerate(weight):
        assert abs((part_of == part).sum() - wanted * share / sum(weight)) <= 1 + 1e-6


def test_old_and_new_samples_come_mixed_and_always_in_the_same_order() -> None:
    drawn = draw_window(rng(3), [100, 100], 150, 0.5)
    assert np.array_equal(drawn, draw_window(rng(3), [100, 100], 150, 0.5))
    assert not np.array_equal(drawn, draw_window(rng(4), [100, 100], 150, 0.5))
    assert 5 < (drawn[:50] < 100).sum() < 30  # a third of any part are old


def test_where_all_iterations_count_alike_samples_are_drawn_as_before() -> None:
    for wanted in (0, 70, 250):
        found = draw_window(rng(5), [60, 40], wanted, 1.0)
        assert np.array_equal(found, draw(rng(5), 100, wanted or 100))


def test_drawing_uses_every_sample_once_before_any_twice() -> None:
    rng = np.random.default_rng(0)
    assert sorted(draw_window(rng, [2, 3], 0, 1.0)) == [0, 1, 2, 3, 4]
    assert len(set(draw(rng, 100, 40))) == 40
    twice = draw(rng, 10, 15)
    assert len(twice) == 15 and set(twice[:10]) == set(range(10))


def test_weighted_drawing_on_paper() -> None:
    # Eight draws with weights 1, 1, 2, 4: each as often as its weight says, exactly, as the shares are whole numbers.
    drawn = draw(rng(), 4, 8, np.array([1.0, 1.0, 2.0, 4.0]))
    assert np.bincount(drawn).tolist() == [1, 1, 2, 4]
    assert not len(draw(rng(), 0, 5, np.zeros(0))) and not len(draw(rng(), 0, 5))


@settings(max_examples=60, deadline=None)
@given(st.lists(st.floats(0.01, 1.0), min_size=1, max_size=80), st.integers(1, 300), st.integers(0, 9))
def test_every_sample_comes_as_often_as_its_weight_says_up_to_rounding(
    weights: list[float], wanted: int, seed: int
) -> None:
    weight = np.array(weights)
    drawn = draw(rng(seed), len(weight), wanted, weight)
    assert len(drawn) == wanted
    share = wanted * weight / weight.sum()
    assert (abs(np.bincount(drawn, minlength=len(weight)) - share) <= 1 + 1e-6).all()


def test_over_many_draws_the_rounding_favours_nobody() -> None:
    weight = np.array([0.2, 0.5, 0.3, 1.0, 0.6])
    counts = sum(np.bincount(draw(rng(seed), 5, 3, weight), minlength=5) for seed in range(4000))
    assert counts / 12000 == pytest.approx(weight / weight.sum(), abs=0.012)


def test_weights_and_recency_work_together() -> None:
    drawn = draw_window(rng(), [4, 4], 48, 0.5, np.array([1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 3.0, 3.0]))
    assert np.bincount(drawn).tolist() == [4, 4, 4, 4, 4, 4, 12, 12]


def whole(window: Window) -> Batch:
    """All samples as one batch, none of them turned."""
    count = len(window.weight)
    return turned(window, GAME, np.arange(count), np.zeros(count, int))


def policies(*rows: list[float]) -> Samples:
    """Samples whose explored moves are the first ones, with these targets."""
    samples = some_samples(len(rows))
    samples.policy[:], samples.mask[:] = 0, 0
    for sample, row in enumerate(rows):
        samples.policy[sample, : len(row)], samples.mask[sample, : len(row)] = row, 1
    return samples


def test_a_target_is_as_decided_as_its_entropy_is_small() -> None:
    # 1 − H / log k by hand: uniform 0; one move of several 1; (½, ½, 0, 0): 1 − log 2 / log 4 = ½; a single move 0.
    samples = policies([0.25] * 4, [0, 1, 0], [0.5, 0.5, 0, 0], [1])
    assert decidedness(samples).tolist() == pytest.approx([0, 1, 0.5, 0], abs=1e-6)
    assert draw_weights(samples, GAME, SETTINGS.model_copy(update={"undecided_draw": 0.2})) == pytest.approx(
        [0.4, 2, 1.2, 0.4], abs=1e-6
    )
    assert draw_weights(samples, GAME, SETTINGS) is None


def test_rare_disc_counts_are_drawn_more_often() -> None:
    samples = some_samples(5)
    samples.states[:, 1] = 0
    for sample, discs in enumerate([5, 9, 9, 9, 9]):
        samples.states[sample, 0] = (1 << discs) - 1
    # One sample of 5 discs and four of 9: shares 1/5 and 4/5, so that to the power −½ the first counts twice as much.
    found = draw_weights(samples, GAME, SETTINGS.model_copy(update={"phase_balance": 0.5}))
    assert found == pytest.approx(np.array([2, 1, 1, 1, 1]) / 1.2)
    assert draw_weights(samples, GAME, SETTINGS.model_copy(update={"phase_balance": 1.0})) == pytest.approx(
        [2.5] + [0.625] * 4
    )


def test_values_are_learned_as_if_all_were_drawn_alike() -> None:
    samples = some_samples(96)
    settings = SETTINGS.model_copy(update={"undecided_draw": 0.2, "phase_balance": 0.5, "visit_exponent": 0.0})
    samples.policy[::2] = samples.mask[::2] / samples.mask[::2].sum(1, keepdims=True)
    weight = draw_weights(samples, GAME, settings)
    data = tensors(samples, GAME, settings, "cpu", weight)
    data = whole(data)
    outputs = Outputs(*(part.detach() for part in small().eval()(data.planes)))
    all_alike = losses(outputs, data._replace(drawn=torch.ones(96))).value
    rows = torch.from_numpy(draw(rng(), 96, 200_000, weight))
    often = Batch(*(column[rows] for column in data))
    drawn = losses(Outputs(*(part[rows] for part in outputs)), often)
    assert float(drawn.value) == pytest.approx(float(all_alike), rel=1e-4)
    assert abs(float(drawn.policy) - float(losses(outputs, data).policy)) > 0.01  # the policy is another matter


def test_a_sharper_target_is_a_power_of_the_search_s() -> None:
    data = tensors(
        policies([0.25, 0.75], [0.5, 0.5]), GAME, SETTINGS.model_copy(update={"policy_sharpness": 2.0}), "cpu"
    )
    assert data.policy[:, :2].tolist() == [pytest.approx([0.1, 0.9]), pytest.approx([0.5, 0.5])]


def test_over_legal_moves_those_never_explored_count_as_zero() -> None:
    samples = some_samples(40)
    samples.mask[:] = samples.policy  # only the first legal move was explored
    data = whole(tensors(samples, GAME, SETTINGS.model_copy(update={"policy_moves": "legal"}), "cpu"))
    for state, policy, mask in zip(samples.states.tolist(), data.policy, data.mask, strict=True):
        legal = sorted(SlowOthello.from_bitboards(5, *state).legal_moves())
        assert np.flatnonzero(mask).tolist() == legal and np.flatnonzero(policy).tolist() == legal[:1]
    outputs = small().eval()(data.planes)
    explored = whole(tensors(samples, GAME, SETTINGS, "cpu"))
    assert losses(outputs, explored).policy == 0  # one explored move says nothing ...
    assert losses(outputs, data).policy > 1  # ... but that it was the one explored does


def slowly_turned(board: np.ndarray, k: int) -> np.ndarray:
    """A board [..., H, W] turned by symmetry k: transposed if k & 4, then turned over."""
    board = np.swapaxes(board, -1, -2) if k & 4 else board
    down, across = (k & 1, k & 2) if k & 4 else (k & 2, k & 1)
    return board[..., :: -1 if down else 1, :: -1 if across else 1]


def test_a_sample_is_turned_as_a_whole() -> None:
    samples = some_samples()
    columns = wide(samples, GAME)
    rows, turns = np.arange(96)[::-1].copy(), np.arange(96) % 8
    batch = turned(tensors(samples, GAME, SETTINGS, "cpu"), GAME, rows, turns)
    for place, (row, k) in enumerate(zip(rows, turns, strict=True)):
        np.testing.assert_array_equal(batch.planes[place], slowly_turned(GAME.encode(samples.states[[row]])[0], k))
        for found, column in zip((batch.policy, batch.mask), columns, strict=True):
            board, passing = column[row, :25].reshape(5, 5), column[row, 25]
            assert found[place].tolist() == [*slowly_turned(board, k).ravel(), passing]
    np.testing.assert_array_equal(batch.value, samples.value[rows])
    np.testing.assert_allclose(batch.weight, np.sqrt(samples.weight[rows]), rtol=1e-6)


@pytest.mark.parametrize("game", OBLONG, ids=lambda game: game.identity)
def test_where_there_is_an_up_and_a_down_only_left_and_right_change_places(game: Game) -> None:
    samples = some_samples(40, game)
    policy, mask = wide(samples, game)
    rows, turns = np.arange(40), np.arange(40) % 2
    batch = turned(tensors(samples, game, SETTINGS, "cpu"), game, rows, turns)
    for row, k in zip(rows, turns, strict=True):
        step = -1 if k else 1
        np.testing.assert_array_equal(batch.planes[row], game.encode(samples.states[[row]])[0][..., ::step])
        assert batch.policy[row].tolist() == policy[row, ::step].tolist()
        assert batch.mask[row].tolist() == mask[row, ::step].tolist()


@pytest.mark.parametrize(("game", "count"), [(GAME, 8), (OBLONG[0], 2)], ids=["othello", "connect four"])
@pytest.mark.parametrize("symmetries", [True, False])
def test_training_turns_samples_by_the_symmetries_of_the_game(
    game: Game, count: int, symmetries: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []

    def listening(data: Window, game: Game, rows: np.ndarray, turns: np.ndarray) -> Batch:
        asked.append(turns)
        return turned(data, game, rows, turns)

    monkeypatch.setattr(training, "turned", listening)
    train(small(game), {}, [some_samples(60, game)], SETTINGS.model_copy(update={"symmetries": symmetries}), game, 1, 1)
    assert set(np.concatenate(asked)) == (set(range(count)) if symmetries else {0})


def test_training_draws_by_its_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def listening(drawing: np.random.Generator, sizes: list[int], *drawn: Any) -> np.ndarray:
        asked.append((sizes, *drawn))
        return draw_window(drawing, sizes, *drawn)

    monkeypatch.setattr(training, "draw_window", listening)
    recent = SETTINGS.model_copy(update={"samples": 30, "recency": 0.5, "undecided_draw": 0.5})
    window = [some_samples(12), some_samples(20)]
    train(small(), {}, window, recent, GAME, 1, 1)
    [(sizes, wanted, recency, weight)] = asked
    assert (sizes, wanted, recency) == ([12, 20], 30, 0.5)
    assert weight == pytest.approx(draw_weights(concatenate(window), GAME, recent))
