"""Nothing depends on where tensors lie: on a device of its own every stage gives what it gives on a processor."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import interpreted  # noqa: F401 (before anything that imports triton)
import numpy as np
import pandas as pd
import pytest
import torch
from learnable import GAME, SETTINGS, small, some_samples
from pretend_device import DEVICE
from pretend_kernels import use

from probzero import config, games
from probzero.arena.match import play_match
from probzero.arena.openings import random_openings
from probzero.arena.players import SearchPlayer
from probzero.arena.simple_players import SCORES, OnePlyPlayer
from probzero.config import Config
from probzero.learning.selfplay import play_shard
from probzero.learning.training import train
from probzero.network import dense
from probzero.network.inference import Evaluator
from probzero.network.model import ProbZeroNet, build
from probzero.search.build import SearchFactory
from probzero.truth.measures import calibration_table, kept_table
from probzero.truth.perfect import games_from_wins
from probzero.truth.positions import from_random_play, labelled

RULES = games.make("othello", size=4)
CONFIG = config.load(Path(__file__).parents[1] / "config" / "smoke.yaml").changed(
    game={"size": 4}, selfplay={"games": 3, "noise": 0.25, "resign_below": -0.9}
)
PUCT = CONFIG.changed(  # which goes down the tree once for each leaf
    search={"algorithm": "puct"}, targets={"nodes": "roots", "policy": "visits", "value": "mixed"},
    selfplay={"particles": 2, "batches": 3},
)  # fmt: skip
SEARCHES = {"particle": CONFIG, "puct": PUCT}
PARTICLES = {"particle": 4, "puct": 2}
PLACES = ("cpu", DEVICE)

pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.fixture(autouse=True)
def plain_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    """Oracles do what Triton's kernels do on a GPU; and a processor need not fill a GPU's chunk with empty boards."""
    use(monkeypatch)
    monkeypatch.setattr(dense, "CHUNK_OF_GPU", dense.CHUNK)


def evaluator_on(place: Any) -> Evaluator:
    return Evaluator(build(RULES.shape, CONFIG.network, 1), RULES, place)


def factory_on(place: Any, settings: Config) -> SearchFactory:
    return SearchFactory(RULES, evaluator_on(place), settings.search, 20_000, "capacity")


def test_tensors_of_the_device_do_not_mix_with_others() -> None:
    numbers = torch.arange(3, device=DEVICE)
    assert (numbers + 1).cpu().tolist() == [1, 2, 3] and numbers.device == DEVICE
    for mixed in (lambda: torch.cat([numbers, torch.arange(3)]), lambda: numbers.index_select(0, torch.arange(2))):
        with pytest.raises(RuntimeError, match="expected all tensors on the same device"):
            mixed()


@pytest.mark.parametrize("search", SEARCHES)
def test_a_match_is_the_same_wherever_its_players_search(search: str) -> None:
    openings, settings = random_openings(RULES, 3, 3, seed=2), SEARCHES[search]
    found = []
    for place in PLACES:
        one = SearchPlayer(factory_on(place, settings), PARTICLES[search], 3)
        weaker = SearchPlayer(factory_on("cpu", settings), PARTICLES[search], 2)
        for other in (OnePlyPlayer(RULES, SCORES["greedy"]), weaker):
            found.append(play_match(RULES, openings, ("one", one), ("other", other), ("match",)))
    pd.testing.assert_frame_equal(pd.concat(found[:2]), pd.concat(found[2:]))
    assert set(found[0].result) >= {-1, 1}


def test_games_against_the_perfect_player_are_the_same() -> None:
    tables = [games_from_wins(RULES, SearchPlayer(factory_on(at, CONFIG), 4, 3), 4, 3, 2, 5) for at in PLACES]
    pd.testing.assert_frame_equal(*tables)
    assert len(tables[0]) > 3


def test_measures_are_the_same() -> None:
    positions = labelled(RULES, from_random_play(RULES, 4, seed=5), "random", threads=1)
    kept = [kept_table(factory_on(at, CONFIG), evaluator_on(at), positions, CONFIG.truth, 0) for at in PLACES]
    pd.testing.assert_frame_equal(*kept)
    calibrated = [calibration_table(evaluator_on(at), RULES, positions) for at in PLACES]
    pd.testing.assert_frame_equal(*calibrated, atol=1e-5)


@pytest.mark.parametrize("search", SEARCHES)
def test_self_play_is_the_same(search: str) -> None:
    here, there = (play_shard(SEARCHES[search], evaluator_on(at), seed=0, iteration=1, shard=0) for at in PLACES)
    pd.testing.assert_frame_equal(here.games, there.games)
    for mine, theirs in zip(vars(here.samples).values(), vars(there.samples).values(), strict=True):
        assert np.allclose(mine, theirs, atol=2e-5)


def test_training_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ProbZeroNet, "_compiles", lambda *_: False)  # which a processor alone has
    found = []
    for place in PLACES:
        model, state = small(), {}
        for iteration in (1, 2):
            state, metrics = train(model, state, [some_samples()], SETTINGS, GAME, iteration, iteration, place)
        found.append((metrics, model, state))
    (mine, here, moments), (theirs, there, others) = found
    assert mine["policy_loss"] == pytest.approx(theirs["policy_loss"], rel=1e-4)
    for name, weight in here.named_parameters():
        other = there.get_parameter(name)
        assert other.device == DEVICE and torch.allclose(weight, other.cpu(), atol=1e-5), name
    assert moments.keys() == others.keys()
