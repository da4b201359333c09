"""Dividing particles: conserved, in proportion, and a pure function of the node's key."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from probzero.random_keys import key, mix, uniform
from probzero.search.splitting import SPLITTERS, multinomial, systematic
from probzero.search.table import hash_rows

shares = st.lists(st.floats(0, 1), min_size=1, max_size=12).filter(lambda row: sum(row) > 1e-6)


def normalised(row: list[float]) -> torch.Tensor:
    share = torch.tensor([row], dtype=torch.float64)
    return (share / share.sum()).float()


def test_the_published_example_splits_sixteen_into_eight_three_five() -> None:
    share = torch.tensor([[0.5, 0.2, 0.3]], dtype=torch.float32).repeat(200, 1)
    counts = systematic(share, torch.full((200,), 16), torch.arange(200), key("example"))
    assert [8, 3, 5] in counts.tolist()
    assert {tuple(row) for row in counts.tolist()} == {(8, 3, 5), (8, 4, 4)}


@given(shares, st.integers(0, 200), st.integers(0, 2**62))
def test_systematic_counts_are_the_floor_or_ceiling_of_the_share(row: list[float], volume: int, draw: int) -> None:
    share = normalised(row)
    counts = systematic(share, torch.tensor([volume]), torch.tensor([draw]), 0)[0].tolist()
    assert sum(counts) == volume
    for count, part in zip(counts, share[0].tolist(), strict=True):
        assert math.floor(part * volume - 1e-4) <= count <= math.ceil(part * volume + 1e-4)


@given(shares, st.integers(0, 60), st.integers(0, 2**62))
def test_multinomial_counts_add_up_and_respect_zero_shares(row: list[float], volume: int, draw: int) -> None:
    share = normalised(row)
    counts = multinomial(share, torch.tensor([volume]), torch.tensor([draw]), 0)[0].tolist()
    assert sum(counts) == volume
    assert all(count == 0 for count, part in zip(counts, share[0].tolist(), strict=True) if part == 0)


@pytest.mark.parametrize("name", list(SPLITTERS))
def test_mean_counts_are_proportional_to_the_shares(name: str) -> None:
    share = torch.tensor([[0.07, 0.5, 0.0, 0.43]], dtype=torch.float32).repeat(20_000, 1)
    counts = SPLITTERS[name](share, torch.full((20_000,), 5), torch.arange(20_000), key("mean")).double()
    sigma = (5 * 0.25 / 20_000) ** 0.5  # an upper bound on the standard error of either scheme
    assert torch.allclose(counts.mean(0), 5 * share[0].double(), atol=4 * sigma)


@pytest.mark.parametrize("name", list(SPLITTERS))
def test_nothing_is_placed_where_no_move_may_have_particles(name: str) -> None:
    counts = SPLITTERS[name](torch.zeros(2, 3), torch.tensor([4, 1]), torch.arange(2), 7)
    assert counts.tolist() == [[0, 0, 0], [0, 0, 0]]


def test_systematic_has_less_variance_than_multinomial() -> None:
    share = torch.tensor([[0.25, 0.35, 0.4]], dtype=torch.float32).repeat(5_000, 1)
    volume, keys = torch.full((5_000,), 8), torch.arange(5_000)
    low, high = (SPLITTERS[name](share, volume, keys, 1).double().var(0) for name in ("systematic", "multinomial"))
    assert (low < high / 3).all()


def test_draws_are_uniform_and_depend_on_every_word() -> None:
    words = torch.arange(200_000)
    drawn = uniform(words, 3)
    assert float(drawn.min()) >= 0 and float(drawn.max()) < 1
    histogram = torch.histc(drawn, bins=20, min=0, max=1)
    assert float(((histogram - 10_000) ** 2 / 10_000).sum()) < 45  # chi-square, 19 degrees of freedom, p ≈ 7e-4
    assert not torch.equal(drawn, uniform(words, 4))
    assert len(mix(words).unique()) == len(words)


def test_keys_tell_types_orders_and_boundaries_apart() -> None:
    parts = [("a", 1), (1, "a"), ("a", "1"), ("a1",), ("a", 1, ""), (11,), (1, 1)]
    assert len({key(*part) for part in parts}) == len(parts)
    assert all(0 <= key(*part) < 2**63 for part in parts)
    assert key("selfplay", 0, 1) == key("selfplay", 0, 1)


def test_compiled_hashes_are_those_of_the_tensor_form() -> None:
    words = uniform(torch.arange(300)).mul(2**62).long().reshape(100, 3) - 2**61
    assert torch.equal(hash_rows(words), mix(*words.unbind(1)))
