"""Equal tuning: who is tried with what follows from the space alone, and is as much for every system."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import yaml

from probzero import study, tuning
from probzero.errors import ProbZeroError
from probzero.report.tuning import picks_of, rival_of

ROOT = Path(__file__).parents[2]
RIVALS: dict[str, Any] = yaml.safe_load((ROOT / "config" / "rivals.yaml").read_text(encoding="utf-8"))
RAW: dict[str, Any] = yaml.safe_load((ROOT / "config" / "tuning.yaml").read_text(encoding="utf-8"))
SPACE = tuning.parse(RAW, "tuning.yaml")


def test_every_system_is_tried_as_often_with_the_same_draws_of_what_all_share() -> None:
    found = study.parse(tuning.study_of(SPACE, RIVALS), "here")
    assert (SPACE.draws, found.seeds) == (12, (100,)) and SPACE.seed not in RIVALS["seeds"]
    assert list(found.variants) == [f"{name}-{number:02}" for name in SPACE.own for number in range(12)]
    for number in range(12):
        shared = [{key: tuning.drawn(SPACE, name, number)[key] for key in SPACE.shared} for name in SPACE.own]
        assert shared[0] == shared[1] == shared[2]
    for name in SPACE.own:
        tried = {str(tuning.drawn(SPACE, name, number)) for number in range(12)}
        assert len(tried) == 12


def test_what_is_tried_has_the_settings_drawn_half_the_iterations_and_the_set_for_choosing() -> None:
    found = study.parse(tuning.study_of(SPACE, RIVALS), "here")
    whole = study.parse(RIVALS, "rivals.yaml")
    for name, variant in found.variants.items():
        system, number = name.rsplit("-", 1)
        for setting, value in tuning.drawn(SPACE, system, int(number)).items():
            section, key = setting.split(".")
            said = getattr(getattr(variant, section), key)
            assert said == (tuple(map(tuple, value)) if isinstance(value, list) else value)
        assert 2 * variant.training.iterations == whole.variants[system].training.iterations
        assert variant.truth.positions.endswith("validation.csv")
        assert variant.search.algorithm == whole.variants[system].search.algorithm
    assert whole.variants["probzero"].truth.positions.endswith("test.csv")


def test_draws_reach_every_value_and_depend_on_seed_and_system() -> None:
    many = SPACE.model_copy(update={"own": {name: {"search.x": list(range(4))} for name in ("one", "other")}})
    draws = {name: [tuning.drawn(many, name, number)["search.x"] for number in range(400)] for name in many.own}
    assert np.bincount(draws["one"]) == pytest.approx(np.full(4, 100), abs=40)
    assert draws["one"] != draws["other"]
    again = many.model_copy(update={"seed": 11})
    assert draws["one"] != [tuning.drawn(again, "one", number)["search.x"] for number in range(400)]


PICKS = {"probzero": 3, "alphazero": 0, "gumbel": 11}


def test_picks_are_laid_over_a_study_and_the_rival_gets_all_seeds() -> None:
    plain = study.parse(RIVALS, "rivals.yaml")
    found = study.parse(tuning.picked(SPACE, RIVALS, PICKS, "gumbel"), "here")
    assert [name for name in found.variants if found.seeds_of(name) == found.seeds] == ["probzero", "gumbel"]
    changed = {name for name in found.variants if found.variants[name].as_dict() != plain.variants[name].as_dict()}
    assert changed == {*PICKS, *SPACE.alike}
    for name, number in PICKS.items():
        for setting, value in tuning.drawn(SPACE, name, number).items():
            section, key = setting.split(".")
            said = getattr(getattr(found.variants[name], section), key)
            assert said == (tuple(map(tuple, value)) if isinstance(value, list) else value)


def test_what_differs_from_a_tuned_system_in_one_thing_does_so_still() -> None:
    found = study.parse(tuning.picked(SPACE, RIVALS, PICKS, "gumbel"), "here").variants
    differ = {
        "alphazero-one-by-one": {("search", "virtual_loss")},
        "self-bootstrap": {("targets", "value")},
        "no-reward": {("network", "reward"), ("targets", "value")},
        "multinomial": {("search", "splitting")},
    }
    for name, expected in differ.items():
        mine, other = (found[variant].as_dict() for variant in (name, SPACE.alike[name]))
        parts = [part for part in mine if part not in ("name", "seeds", "experiment")]
        assert {(part, key) for part in parts for key in mine[part] if mine[part][key] != other[part][key]} == expected


def test_at_the_defaults_scale_the_reference_and_the_rival_alone_are_left() -> None:
    raw = yaml.safe_load((ROOT / "config" / "default-scale.yaml").read_text(encoding="utf-8"))
    found = study.parse(tuning.picked(SPACE, raw, PICKS, "gumbel", only_rival=True), "here")
    assert list(found.variants) == ["probzero", "gumbel"] and len(found.seeds) == 4


def test_the_rival_is_the_best_of_the_others_and_errors_that_are_equal_are_told_apart_raw() -> None:
    rows = [("probzero", 0, 0, 0.01, 0.1), ("probzero", 1, 1, 0.005, 0.1), ("alphazero", 4, 1, 0.02, 0.2),
            ("gumbel", 2, 1, 0.02, 0.1), ("gumbel", 3, 0, 0.03, 0.05)]  # fmt: skip
    table = pd.DataFrame(rows, columns=["system", "draw", "picked", "error", "raw_error"])
    assert picks_of(table) == {"probzero": 1, "alphazero": 4, "gumbel": 2}
    assert rival_of(table, "probzero") == "gumbel"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"own": {"nobody": {}}, "alike": {}}, "nobody among them"),
        ({"shared": {"learning_rate": [1.0]}}, "expected section.key with the values to draw from"),
        ({"shared": {"training.learning_rate": []}}, "expected section.key with the values to draw from"),
        ({"draws": 0}, "draws"),
        ({"alike": {"multinomial": "nobody"}}, "alike.multinomial: expected one of probzero"),
    ],
)
def test_a_space_that_cannot_be_tried_is_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ProbZeroError, match=message):
        study.parse(tuning.study_of(tuning.parse({**RAW, **changes}, "tuning.yaml"), RIVALS), "here")
