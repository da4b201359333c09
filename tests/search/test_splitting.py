"""Dividing particles: conserved, in proportion, and a pure function of the node's key."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from searching import FORMS, SYSTEMATIC, backend_of, searching

from probzero import games
from probzero.errors import ProbZeroError
from probzero.kernels.descend.splitting import SPLITTERS, middle, multinomial, systematic
from probzero.random_keys import key, mix, uniform

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


def test_without_a_draw_counts_are_rounded_sums() -> None:
    # Sums of the shares times 5: 0.35, 2.85, 2.85, 5; rounded 0, 3, 3, 5. A volume of 1 goes where ½ lies.
    share = torch.tensor([[0.07, 0.5, 0.0, 0.43]] * 2, dtype=torch.float32)
    for keys in (torch.tensor([1, 2]), torch.tensor([3, 4])):
        assert middle(share, torch.tensor([5, 1]), keys, 0).tolist() == [[0, 3, 0, 2], [0, 1, 0, 0]]


@pytest.mark.parametrize("name", sorted(SPLITTERS.keys() - {"middle"}))
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


@pytest.mark.parametrize("form", FORMS)
def test_hashes_of_rows_are_the_mix_of_their_words_in_both_forms(form: str) -> None:
    words = uniform(torch.arange(300)).mul(2**62).long().reshape(100, 3) - 2**61
    assert torch.equal(backend_of(games.make("othello", size=4), form).hash_rows(words), mix(*words.unbind(1)))


def alone(form: str, splitting: str) -> list[int]:
    """Search a game with that scheme; return the visits of the root's moves."""
    search = searching(4, games=1, settings=SYSTEMATIC.model_copy(update={"splitting": splitting}), form=form)
    search.run(torch.tensor([0]), 8, 3, 0)
    return search.graph.edge_visits[search.graph.edges_of(search.graph.root).index][0].tolist()


@pytest.mark.parametrize("form", FORMS)
def test_an_unknown_scheme_is_refused_in_both_forms(form: str) -> None:
    with pytest.raises(
        ProbZeroError,
        match=rf"search: search.splitting: expected one of .* {form} form has, found residual",
    ):
        alone(form, "residual")


def test_a_further_scheme_works_in_the_tensor_form_and_is_refused_where_it_has_no_compiled_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def all_to_the_first(share: torch.Tensor, volume: torch.Tensor, keys: torch.Tensor, salt: int) -> torch.Tensor:
        return torch.nn.functional.one_hot((share > 0).int().argmax(1), share.shape[1]) * volume[:, None]

    monkeypatch.setitem(SPLITTERS, "first", all_to_the_first)
    # Four moves, 24 particles: the bucket of unexplored moves has all of the first 8, then the first move has the rest.
    assert alone("tensor", "first") == [18, 2, 2, 2]
    with pytest.raises(
        ProbZeroError, match="expected one of systematic, middle, multinomial, which the compiled form has, found first"
    ):
        alone("compiled", "first")
