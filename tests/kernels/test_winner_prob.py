"""winner_prob, all forms: the compiled loop, the reference, and the Triton kernel in Triton's interpreter."""

from __future__ import annotations

import os

os.environ["TRITON_INTERPRET"] = "1"  # read when triton and the kernels are imported, so before any of that

import itertools
import subprocess
import sys
from fractions import Fraction

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from kernel_forms import KERNEL_FORMS, winner_prob

from probzero import wdl
from probzero.kernels.winner_prob import triton_kernel

AWKWARD_SIZES = (1, 2, 7, 26, 33, 65)
WON, DRAWN, LOST = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)  # of the child: LOST is a win for the parent

every_form = pytest.mark.parametrize("form", KERNEL_FORMS)


def weigh(children: list, temperature: float = 1.0, form: str = "reference") -> torch.Tensor:
    """Return the weights [K] of one node's children, none of them masked."""
    values = torch.tensor([children], dtype=torch.float32)
    return winner_prob(values, torch.ones(values.shape[:2], dtype=torch.bool), temperature, form=form)[0]


def enumerate_outcomes(triples: np.ndarray) -> np.ndarray:
    """Brute force in float64 for [K, 3]: the chance, over all 3^K outcomes, that child i alone is best; normalised."""
    K = len(triples)
    good_for_parent = {wdl.WIN: 0, wdl.DRAW: 1, wdl.LOSS: 2}
    chance = np.zeros(K)
    for outcome in itertools.product(range(3), repeat=K):
        ranks = [good_for_parent[o] for o in outcome]
        best = max(ranks)
        if best > 0 and ranks.count(best) == 1:  # the one best, and not lost
            chance[ranks.index(best)] += np.prod([float(triples[k, o]) for k, o in enumerate(outcome)])
    return chance / chance.sum()


def exact_formula(triples: np.ndarray) -> list[float]:
    """The defining formula with its eps in exact fractions, for any number of children [K, 3]."""
    eps = Fraction(1, 10**12)
    win, draw, loss = ([Fraction(float(t[o])) for t in triples] for o in (wdl.WIN, wdl.DRAW, wdl.LOSS))
    raw = []
    for i in range(len(triples)):
        others_lost, others_not_won = Fraction(1), Fraction(1)
        for j in range(len(triples)):
            if j != i:
                others_lost *= win[j] + eps
                others_not_won *= win[j] + draw[j] + eps
        raw.append(draw[i] * others_lost + loss[i] * others_not_won)
    return [float(r / sum(raw)) for r in raw]


def random_triples(*shape: int, sharpness: float = 2.0, seed: int = 0) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    return (torch.randn(*shape, 3, generator=generator) * sharpness).softmax(-1)


triple = st.one_of(
    st.sampled_from([WON, DRAWN, LOST]),
    st.lists(st.floats(-30, 30), min_size=3, max_size=3).map(lambda x: tuple(torch.tensor(x).softmax(0).tolist())),
)
children = st.lists(triple, min_size=1, max_size=12)


@every_form
def test_two_children_by_hand(form):
    # raw_1 = .3·.5 + .5·(.5 + .4) = .60, raw_2 = .4·.2 + .1·(.2 + .3) = .13; squared (τ = 1/2): .36 and .0169.
    node = [(0.2, 0.3, 0.5), (0.5, 0.4, 0.1)]
    assert weigh(node, form=form).tolist() == pytest.approx([0.60 / 0.73, 0.13 / 0.73], abs=1e-6)
    assert weigh(node, 0.5, form).tolist() == pytest.approx([0.36 / 0.3769, 0.0169 / 0.3769], abs=1e-6)


@every_form
@pytest.mark.parametrize("K", [1, 2, 3, 5, 7])
def test_agrees_with_the_enumeration_of_all_outcomes(K, form):
    values = torch.cat([random_triples(6, K, sharpness=s, seed=K) for s in (0.5, 3.0)])
    weights = winner_prob(values, torch.ones(12, K, dtype=torch.bool), form=form)
    expected = np.stack([enumerate_outcomes(node) for node in values.numpy().astype(np.float64)])
    assert np.abs(weights.numpy() - expected).max() < 1e-5


@every_form
def test_agrees_with_the_enumeration_where_a_win_a_draw_or_a_loss_is_proven(form):
    open_children = [(0.2, 0.3, 0.5), (0.6, 0.3, 0.1), (0.1, 0.1, 0.8)]
    for proven in ([LOST], [DRAWN], [WON], [WON, WON], [DRAWN, LOST], [DRAWN, WON]):
        node = [*open_children, *proven]
        expected = enumerate_outcomes(np.array(node))
        assert weigh(node, form=form).numpy() == pytest.approx(expected, abs=1e-5)


@every_form
@pytest.mark.parametrize("K", AWKWARD_SIZES)
def test_agrees_with_exact_fractions_at_awkward_sizes(K, form):
    values = random_triples(3, K, sharpness=4.0, seed=K)
    values[1, : (K + 1) // 2] = torch.tensor(DRAWN)
    values[2, :: max(1, K // 3)] = torch.tensor(LOST)
    weights = winner_prob(values, torch.ones(3, K, dtype=torch.bool), form=form)
    expected = np.array([exact_formula(node) for node in values.numpy()])
    assert np.abs(weights.numpy() - expected).max() < 1e-6


@every_form
@pytest.mark.parametrize("wins", [1, 2, 3, 30])
def test_proven_wins_share_everything(wins, form):
    node = [LOST] * wins + [WON, DRAWN, (0.3, 0.3, 0.4)]
    weights = weigh(node, form=form)
    assert weights[:wins].tolist() == pytest.approx([1 / wins] * wins, abs=1e-7)
    assert weights[wins:].max() < 1e-9


@every_form
@pytest.mark.parametrize("temperature", [1.0, 0.1, 3.0])
@pytest.mark.parametrize("triple", [WON, DRAWN, LOST], ids=["all-lost", "all-drawn", "all-won"])
@pytest.mark.parametrize("K", AWKWARD_SIZES)
def test_equal_children_get_equal_weights(K, triple, temperature, form):
    assert weigh([triple] * K, temperature, form).tolist() == pytest.approx([1 / K] * K, abs=1e-7)


@every_form
@pytest.mark.parametrize("draws", [1, 2, 40])
def test_a_lost_child_gets_nothing_beside_drawn_ones(draws, form):
    weights = weigh([WON, *[DRAWN] * draws, WON], form=form)
    assert weights.tolist() == pytest.approx([0, *[1 / draws] * draws, 0], abs=1e-9)


@every_form
def test_the_slightest_chance_of_a_win_outweighs_any_number_of_sure_draws(form):
    # Only child 0 can be the one best: sure draws always tie. Outcome by outcome, its weight is exactly 1.
    node = [(0.5, 0.5, 1e-30), *[DRAWN] * 30]
    assert weigh(node, form=form)[0] == pytest.approx(1.0, abs=1e-6)


@every_form
def test_masked_children_get_zero_and_change_nothing(form):
    values = random_triples(40, 9, seed=3)
    mask = torch.rand(40, 9, generator=torch.Generator().manual_seed(4)) < 0.5
    weights = winner_prob(values, mask, form=form)
    assert (weights[~mask] == 0).all()
    for row in range(40):
        kept = values[row : row + 1, mask[row]]
        alone = winner_prob(kept, torch.ones(kept.shape[:2], dtype=torch.bool), form=form)
        assert torch.allclose(weights[row, mask[row]], alone[0], atol=1e-7)


@every_form
@pytest.mark.parametrize("temperature", [1.0, 0.5])
def test_a_node_without_children_gets_zeros_beside_others_that_have_some(temperature, form):
    mask = torch.tensor([[True, True], [False, False]])
    weights = winner_prob(random_triples(2, 2), mask, temperature, form=form)
    assert weights[1].tolist() == [0.0, 0.0]
    assert weights[0].sum().item() == pytest.approx(1.0, abs=1e-6)


@every_form
@pytest.mark.parametrize("shape", [(0, 5), (3, 0), (0, 0)])
def test_no_nodes_or_no_children_is_no_error(shape, form):
    weights = winner_prob(torch.zeros(*shape, 3), torch.zeros(shape, dtype=torch.bool), form=form)
    assert weights.shape == shape


@every_form
def test_inputs_are_left_alone_and_may_be_views(form):
    rows = random_triples(6, 2, 4)  # value_search of [n, K, 2, 3] is such a view
    values, mask = rows.transpose(1, 2)[:, :, 0], torch.ones(4, 6, dtype=torch.bool).T
    before = rows.clone()
    weights = winner_prob(values, mask, form=form)
    assert torch.equal(rows, before)
    contiguous = winner_prob(values.clone().contiguous(), torch.ones(6, 4, dtype=torch.bool), form=form)
    assert torch.equal(weights, contiguous)


def test_the_reference_leaves_alone_values_that_already_have_its_working_layout():
    planes = random_triples(6, 4).permute(2, 0, 1).double().contiguous()
    before = planes.clone()
    winner_prob(planes.permute(1, 2, 0), torch.zeros(6, 4, dtype=torch.bool))
    assert torch.equal(planes, before)


@every_form
@settings(max_examples=60, deadline=None)
@given(children=children, temperature=st.sampled_from([1.0, 0.25, 2.0]), data=st.data())
def test_weights_sum_to_one_and_follow_their_children(form, children, temperature, data):
    order = data.draw(st.permutations(range(len(children))))
    weights = weigh(children, temperature, form)
    assert (weights >= 0).all()
    assert weights.sum().item() == pytest.approx(1.0, abs=1e-6)
    permuted = weigh([children[i] for i in order], temperature, form)
    assert torch.allclose(permuted, weights[list(order)], atol=1e-6)


@every_form
@settings(max_examples=60, deadline=None)
@given(children=children)
def test_every_form_agrees_with_exact_fractions_on_extreme_triples(form, children):
    values = np.array(children, dtype=np.float32)
    if any(t[wdl.WIN] < 1 for t in values):  # with every child won all raws are 0: see the test of equal children
        assert weigh(children, form=form).numpy() == pytest.approx(exact_formula(values), abs=1e-5)


@pytest.mark.parametrize("form", ["compiled", "triton"])
@settings(max_examples=40, deadline=None)
@given(nodes=st.lists(children, min_size=1, max_size=5), temperature=st.sampled_from([1.0, 0.3]), data=st.data())
def test_the_other_forms_agree_with_the_reference(form, nodes, temperature, data):
    K = max(map(len, nodes))
    values = torch.tensor([node + [(0.0, 0.0, 0.0)] * (K - len(node)) for node in nodes], dtype=torch.float32)
    mask = torch.tensor(
        data.draw(st.lists(st.lists(st.booleans(), min_size=K, max_size=K), min_size=len(nodes), max_size=len(nodes)))
    )
    expected = winner_prob(values, mask, temperature)
    assert torch.allclose(winner_prob(values, mask, temperature, form), expected, atol=1e-6)


@pytest.mark.parametrize("form", ["compiled", "triton"])
@pytest.mark.parametrize("K", AWKWARD_SIZES)
def test_the_other_forms_agree_with_the_reference_over_several_programs(K, form):
    n = 2 * triton_kernel.block_rows(16) + 1  # not a multiple of the rows of a program
    values, mask = random_triples(n, K, seed=K), torch.rand(n, K, generator=torch.Generator().manual_seed(K)) < 0.7
    expected = winner_prob(values, mask)
    assert torch.allclose(winner_prob(values, mask, form=form), expected, atol=1e-6)


def test_a_search_on_a_processor_does_not_import_triton():
    program = (
        "import sys, torch; from probzero import games; from probzero.search.build import choose_backend;"
        "from probzero.search.graph import Graph;"
        "backend = choose_backend(games.make('othello', size=4), torch.device('cpu'));"
        "backend.backup(Graph(backend, 1, 8, 'capacity'), torch.empty(0, dtype=torch.int64), 1.0);"
        "backend.winner_prob(torch.ones(1, 1, 3), torch.ones(1, 1, dtype=torch.bool), 1.0);"
        "sys.exit('triton' in sys.modules)"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    assert subprocess.run([sys.executable, "-c", program], env=environment, check=False).returncode == 0
