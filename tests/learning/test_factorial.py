"""The factorial of ProbZero: its cells play and search alike, draw as much, and differ in their targets alone."""

from __future__ import annotations

from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from test_ablations import FOUR, by_state, configured

from probzero import config, study
from probzero.learning.loss import Batch, losses
from probzero.learning.selfplay import Shard, play_shard
from probzero.network.inference import Evaluator
from probzero.network.model import Outputs, build

pytestmark = pytest.mark.usefixtures("one_thread")

ROOT = Path(__file__).parents[2]
TRAININGS = ("default", "published")
CELLS = list(product(("tree", "roots"), ("bootstrap", "outcome"), ("winner", "visits")))
FACTORIAL = study.load(ROOT / "config" / "factorial.yaml")


def named(training: str, cell: tuple[str, str, str]) -> str:
    return "-".join((training, *cell))


def test_every_cell_is_there_under_both_trainings_and_differs_in_nothing_else() -> None:
    assert set(FACTORIAL.variants) == {named(*both) for both in product(TRAININGS, CELLS)}
    for training, cell in product(TRAININGS, CELLS):
        found, first = (FACTORIAL.variants[named(training, part)] for part in (cell, CELLS[0]))
        assert (found.targets.nodes, found.targets.value, found.targets.policy) == cell
        same = {"nodes": "tree", "value": "bootstrap", "policy": "winner"}
        assert found.model_copy(update={"name": first.name, "targets": found.targets.model_copy(update=same)}) == first


def test_the_two_trainings_differ_in_training_alone_and_draw_as_many_samples_in_as_many_steps() -> None:
    default, published = (FACTORIAL.variants[named(training, CELLS[0])] for training in TRAININGS)
    for part in set(config.LEARNED) - {"targets", "training"}:
        assert getattr(default, part) == getattr(published, part)
    assert (default.targets.least_moves, published.targets.least_moves) == (2, 1)
    draws = {(cell.training.samples, cell.training.batch_size) for cell in FACTORIAL.variants.values()}
    assert len(draws) == 1 and min(draws)[0] > 0  # 0 would be one pass over what there is: more of a tree than of roots


def test_the_published_training_is_that_of_the_published_scale_but_for_its_length() -> None:
    ours = FACTORIAL.variants[named("published", CELLS[0])].training.model_dump()
    theirs = config.load(ROOT / "config" / "paper.yaml").training.model_dump()
    apart = {"iterations", "samples", "batch_size", "threads"}
    assert {key for key in ours if ours[key] != theirs[key]} <= apart


@cache
def shard(cell: tuple[str, str, str]) -> Shard:
    nodes, value, policy = cell
    chosen = {"nodes": nodes, "value": value, "policy": policy}
    raw = configured(targets=chosen, games=1)  # of several games, only those that played a position share its root
    settings = raw.model_copy(update={"game": config.Game(name="othello", size=4)})
    return play_shard(settings, Evaluator(build(FOUR.shape, raw.network, 1), FOUR, "cpu"), 0, 1, 0)


@pytest.mark.parametrize("cell", CELLS, ids="-".join)
def test_all_cells_play_the_same_games_with_the_same_network(cell: tuple[str, str, str]) -> None:
    found, first = shard(cell), shard(CELLS[0])
    assert found.games.equals(first.games)
    counted = set(first.metrics) - {"samples"}
    assert {name: found.metrics[name] for name in counted} == {name: first.metrics[name] for name in counted}


def columns(cell: tuple[str, str, str], rows: np.ndarray) -> dict[str, Any]:
    return dict(zip(("states", "policy", "mask", "value", "reward", "valid", "weight"),
                    shard(cell).samples.take(rows).columns(), strict=True))  # fmt: skip


@pytest.mark.parametrize("cell", CELLS, ids="-".join)
def test_a_cell_differs_from_its_neighbours_in_what_its_name_says(cell: tuple[str, str, str]) -> None:
    nodes, value, policy = cell
    mine = columns(cell, np.arange(len(shard(cell).samples)))
    whole = by_state(shard(("tree", value, policy)).samples)
    rows = np.array([whole[tuple(state)] for state in mine["states"].tolist()])
    assert (len(rows) < len(whole)) == (nodes == "roots")
    for other, differs in (
        (("tree", value, policy), set()),
        (("tree", "bootstrap" if value == "outcome" else "outcome", policy), {"value"}),
        (("tree", value, "winner" if policy == "visits" else "visits"), {"policy"}),
    ):
        theirs = columns(other, rows)
        assert {name for name in mine if not np.array_equal(mine[name], theirs[name])} == differs


@pytest.mark.parametrize("nodes", ["tree", "roots"])
def test_outcomes_are_those_carried_up_and_positions_without_one_have_no_value(nodes: str) -> None:
    samples = shard((nodes, "outcome", "winner")).samples
    known = samples.valid == 1
    assert known.sum() > 0 and (nodes == "roots" or not known.all())
    assert np.array_equal(samples.value[known], samples.reward[known])
    assert not samples.value[~known].any()


def test_a_sample_without_a_value_teaches_the_value_head_nothing() -> None:
    torch.manual_seed(0)
    policy, value, reward = torch.randn(2, 4), torch.randn(2, 3, requires_grad=True), torch.randn(2, 3)
    even = torch.full((2, 4), 0.25)
    target = torch.tensor([[1.0, 0, 0], [0, 0, 0]])  # the second has none
    ones = torch.ones(2)
    batch = Batch(torch.zeros(2, 2, 2, 2), even, torch.ones(2, 4), target, target, target.sum(1), ones, ones)
    found = losses(Outputs(policy, value, reward), batch)
    found.value.backward()
    assert found.value.item() == pytest.approx(-value[0].log_softmax(0)[0].item())  # the mean over the one that has
    assert value.grad is not None and value.grad[1].abs().max() == 0 < value.grad[0].abs().max()


def test_the_studies_of_rivals_have_the_base_of_the_factorial() -> None:
    rivals = study.load(ROOT / "config" / "rivals.yaml").variants["probzero"]
    cell = FACTORIAL.variants[named("default", CELLS[0])]
    assert rivals.model_copy(update={"name": cell.name, "seeds": cell.seeds}) == cell
    scale = study.load(ROOT / "config" / "default-scale.yaml").variants["probzero"]
    default = config.load(ROOT / "config" / "laptop.yaml")
    for part in ("game", "network", "selfplay", "targets", "training"):
        assert getattr(scale, part) == getattr(default, part)
    for part in ("game", "network", "search", "targets"):
        assert getattr(scale, part) == getattr(cell, part)
    apart = {"iterations", "samples"}
    assert scale.training.model_dump(exclude=apart) == cell.training.model_dump(exclude=apart)
    assert (scale.selfplay.particles, scale.selfplay.random_plies) == (
        cell.selfplay.particles,
        cell.selfplay.random_plies,
    )
