"""The study of settings: one changed at a time, around the default's way of training."""

from __future__ import annotations

from typing import Any

import committed
import pytest

from probzero import config
from probzero.study import Study

OPTIONS = (
    "policy_moves", "policy_sharpness", "undecided_draw", "phase_balance", "policy_weight", "visit_exponent",
    "batch_size", "gradient_clip",
)  # fmt: skip


def learning(variant: Any) -> dict[str, Any]:
    parts = variant.as_dict()
    return {
        name: parts[name] for name in ("experiment", "game", "network", "search", "selfplay", "targets", "training")
    }


@pytest.fixture(scope="module")
def settings() -> Study:
    return committed.parsed(name="settings")


def test_its_reference_trains_as_the_default_does(settings: Study) -> None:
    default = config.load(committed.CONFIG / "laptop.yaml")
    ours = settings.variants[settings.reference]
    for option in OPTIONS:
        assert getattr(ours.training, option) == getattr(default.training, option), option
    assert (ours.network, ours.targets) == (default.network, default.targets)


@pytest.mark.parametrize(("mine", "theirs"), [("probzero", "probzero"), ("plain", "plain-training")])
def test_it_stands_beside_the_study_of_ideas(mine: str, theirs: str, settings: Study) -> None:
    assert learning(settings.variants[mine]) == learning(committed.parsed().variants[theirs])


def test_every_other_variant_changes_one_setting(settings: Study) -> None:
    assert len(settings.seeds) >= 3
    theirs = settings.variants[settings.reference].as_dict()
    together = {"particles-128": ["games", "batches"]}  # so that the leaf evaluations stay the same
    for name in set(settings.variants) - {settings.reference, "plain"}:
        mine = settings.variants[name].as_dict()
        changed = [
            key for part in theirs if isinstance(theirs[part], dict) for key in theirs[part]
            if mine[part][key] != theirs[part][key]
        ]  # fmt: skip
        assert changed == together.get(name, changed[:1]) != [], (name, changed)


def test_as_many_leaf_evaluations_for_all(settings: Study) -> None:
    plays = [variant.selfplay for variant in settings.variants.values()]
    assert len({play.games * play.particles * play.batches for play in plays}) == 1
