"""What a variant is called and what it is for stands in the study's record."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import made_study as made
import pytest

from probzero.errors import ProbZeroError
from probzero.study import Description, descriptions


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"reference": "nobody"}, r"config\.json: reference: expected one of probzero, alphazero, .*found nobody"),
        ({"reference": "uct"}, r"variants\.probzero\.role: expected another than reference, which is uct"),
        (
            {"variants": {"probzero": {"role": "friend"}, "uct": {}}},
            r"variants\.probzero\.role: expected one of reference, rival",
        ),
        ({"variants": []}, "variants: expected a mapping of 2 or more"),
    ],
)
def test_records_that_contradict_themselves_are_refused(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ProbZeroError, match=message):
        descriptions(made.write_record(tmp_path / "config.json", ("probzero", "alphazero", "uct"), **changes))


def test_names_roles_and_ideas_are_those_of_the_record(tmp_path: Path) -> None:
    variants: dict[str, Any] = {
        "slow": {"search": {}},
        "quick": {"label": "Quick", "idea": "speed", "change": "none of it"},
        "other": {"role": "rival", "label": "The other", "short": "other"},
        "plain": None,
    }
    record = made.write_record(tmp_path / "config.json", variants=variants, reference="plain")
    found = descriptions(record)
    assert list(found) == ["slow", "quick", "other", "plain"]
    assert [one.role for one in found.values()] == ["ablation", "ablation", "rival", "reference"]
    assert found["slow"] == Description(label="slow", short="slow", idea="", change="", role="ablation")
    assert found["quick"] == Description(
        label="Quick", short="Quick", idea="speed", change="none of it", role="ablation"
    )
    assert (found["other"].label, found["other"].short) == ("The other", "other")
