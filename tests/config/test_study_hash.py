"""The hash of a study: it follows every setting that can change a result, and no other."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import committed

from probzero import config, study
from probzero.__main__ import main
from probzero.files import read_sealed


def fingerprint(**changes: Any) -> str:
    return study.parse({**committed.plain(), **changes}, "here.yaml").fingerprint


def test_the_record_of_a_study_is_sealed_with_its_hash(tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    assert main(["config", "--config", json.dumps(committed.plain()), "--output", str(path)]) == 0
    assert read_sealed(path, config.KIND)[1].settings == {"study": fingerprint()}


def test_the_hash_follows_what_can_change_a_result() -> None:
    raw = committed.plain()
    base, variants = raw["base"], raw["variants"]
    others = [
        {"base": {**base, "experiment": "another"}},
        {"base": {**base, "truth": {**base["truth"], "per_stratum": base["truth"]["per_stratum"] + 1}}},
        {"variants": {**variants, "uct": {**variants["uct"], "selfplay": {"exploration": 0.0, "lag": 1}}}},
        {"variants": {**variants, "uct": {**variants["uct"], "label": "another"}}},
        {"variants": {name: part for name, part in variants.items() if name != "uct"}},
    ]
    hashes = [fingerprint(**changes) for changes in ({}, *others)]
    assert len(set(hashes)) == len(hashes)


def test_the_hash_does_not_tell_where_to_compute() -> None:
    base = committed.plain()["base"]
    moved = {part: {**base[part], "threads": 7} for part in ("selfplay", "training", "arena", "truth")}
    assert fingerprint(base={**base, **moved}) == fingerprint()
