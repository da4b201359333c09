"""A configuration is taken whole and checked, or refused with one line that names the key."""

from __future__ import annotations

import copy
import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
import yaml

from probzero import config
from probzero.errors import ProbZeroError

ROOT = Path(__file__).parent.parent
SCALES = ["smoke", "laptop", "paper"]


@pytest.fixture
def raw() -> dict[str, Any]:
    return yaml.safe_load((ROOT / "config" / "smoke.yaml").read_text(encoding="utf-8"))


def changed(raw: dict[str, Any], path: str, value: Any) -> dict[str, Any]:
    *sections, key = path.split(".")
    result = copy.deepcopy(raw)
    place = result
    for section in sections:
        place = place.setdefault(section, {})
    place[key] = value
    return result


def refusal(raw: Any) -> str:
    with pytest.raises(ProbZeroError) as caught:
        config.parse(raw, "here.yaml")
    message = str(caught.value)
    assert "\n" not in message and "here.yaml" in message
    return message


@pytest.mark.parametrize("scale", SCALES)
def test_the_scales_are_valid_and_named_after_their_files(scale: str) -> None:
    assert config.load(ROOT / "config" / f"{scale}.yaml").name == scale


def test_the_default_scale_is_large_enough_for_its_claims() -> None:
    laptop = config.load(ROOT / "config" / "laptop.yaml")
    assert laptop.training.iterations >= 40
    assert len(laptop.arena.checkpoints) >= 8 and laptop.arena.checkpoints[0] == 0
    assert laptop.arena.particles * laptop.arena.batches == 96


def test_the_paper_scale_has_the_published_sizes() -> None:
    paper = config.load(ROOT / "config" / "paper.yaml")
    assert (paper.network.blocks, paper.network.channels) == (10, 50)
    assert paper.selfplay.shards * paper.selfplay.games == 20
    assert (paper.selfplay.particles, paper.selfplay.batches) == (8, 60)
    assert paper.training.learning_rate == paper.training.final_learning_rate == 5e-4
    assert (paper.training.batch_size, paper.training.samples, paper.training.gradient_clip) == (512, 0, 1)
    assert (paper.training.replay_window, paper.training.visit_exponent, paper.training.symmetries) == (1, 1, False)
    assert paper.arena.particles * paper.arena.batches == 1600
    assert paper.arena.checkpoints == (50, 100, 150, 200, 250, 300, 350, 400)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("colour", 1),
        ("game.colour", 1),
        ("network.colour", 1),
        ("search.colour", 1),
        ("selfplay.colour", 1),
        ("training.colour", 1),
        ("arena.colour", 1),
    ],
)
def test_unknown_keys_are_refused_at_every_level(raw: dict[str, Any], path: str, value: Any) -> None:
    assert "'colour' was unexpected" in refusal(changed(raw, path, value))


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("game.size", 7),
        ("network.blocks", 0),
        ("network.channels", -1),
        ("search.splitting", "stratified"),
        ("search.temperature", 0),
        ("search.cache", 1),
        ("selfplay.exploration", 1.5),
        ("selfplay.games", 0),
        ("selfplay.device", "gpu"),
        ("training.learning_rate", 0),
        ("training.learning_rate", "1e-3"),
        ("training.visit_exponent", 2),
        ("training.replay_window", 0),
        ("training.iterations", 10000),
        ("arena.openings", 0),
        ("seeds", []),
        ("name", "a name"),
    ],
)
def test_values_out_of_range_are_refused_by_name(raw: dict[str, Any], path: str, value: Any) -> None:
    message = refusal(changed(raw, path, value))
    assert path in message and repr(value) in message


@pytest.mark.parametrize("part", sorted(set(config.PARTS) - set(config.OPTIONAL)))
def test_a_missing_part_is_refused(raw: dict[str, Any], part: str) -> None:
    del raw[part]
    assert f"'{part}' is a required property" in refusal(raw)


def test_a_missing_setting_is_refused(raw: dict[str, Any]) -> None:
    del raw["training"]["samples"]
    assert "training: 'samples' is a required property" in refusal(raw)


def test_a_tournament_cannot_name_a_checkpoint_that_is_never_made(raw: dict[str, Any]) -> None:
    message = refusal(changed(raw, "arena.checkpoints", [0, 2, 5]))
    assert "arena.checkpoints: expected at most 4, found 5" in message


@pytest.mark.parametrize("nothing", [None, [], "text", 3])
def test_what_is_not_a_mapping_is_refused(nothing: Any) -> None:
    assert "not of type 'object'" in refusal(nothing)


def test_a_command_may_be_given_only_what_it_asks_for(raw: dict[str, Any]) -> None:
    parts = {name: raw[name] for name in ("experiment", "game")}
    loaded = config.load(json.dumps(parts), needs=("experiment", "game"))
    assert loaded.game.size == 5 and loaded.as_dict() == {**parts, "targets": asdict(config.Targets())}
    with pytest.raises(AttributeError, match="arena"):
        _ = loaded.arena.openings
    with pytest.raises(ProbZeroError, match="'network' is a required property"):
        config.load(json.dumps(parts), needs=("experiment", "game", "network"))


def test_what_may_be_left_out_has_the_default_that_the_schema_states(raw: dict[str, Any]) -> None:
    schema = yaml.safe_load(config.SCHEMA.read_text(encoding="utf-8"))["properties"]
    loaded = config.parse(raw).as_dict()
    stated = {
        (part, name): entry["default"]
        for part, section in schema.items()
        for name, entry in section.get("properties", {}).items()
        if "default" in entry
    }
    assert len(stated) >= 20
    assert stated == {(part, name): loaded[part][name] for part, name in stated}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"search.algorithm": "puct"}, "targets.nodes: expected roots with search.algorithm puct, found tree"),
        ({"targets.value": "steps"}, "targets.value: expected bootstrap or search or outcome with search.algorithm"),
        ({"selfplay.noise": 0.25}, "selfplay.noise: expected 0 with particle search"),
        ({"network.reward": False}, "targets.value: expected another value than bootstrap"),
        ({"selfplay.move_temperatures": [[2, 1.0]]}, "move_temperatures: expected plies that rise from 0, found [2]"),
        ({"selfplay.move_temperatures": [[0, 1.0], [0, 0.5]]}, "expected plies that rise from 0"),
    ],
)
def test_settings_that_contradict_each_other_are_refused(
    raw: dict[str, Any], changes: dict[str, Any], message: str
) -> None:
    for path, value in changes.items():
        raw = changed(raw, path, value)
    assert message in refusal(raw)


def test_what_was_not_asked_for_is_checked_all_the_same(raw: dict[str, Any]) -> None:
    with pytest.raises(ProbZeroError, match="colour"):
        config.load(json.dumps(changed(raw, "arena.colour", 1)), needs=("game",))


def test_a_configuration_survives_json(raw: dict[str, Any]) -> None:
    raw["training"]["weight_decay"] = 0.00001  # JSON writes 1e-05, which YAML would take for a text
    parsed = config.parse(raw)
    assert config.load(json.dumps(parsed.as_dict())) == parsed


def test_a_file_that_is_missing_or_broken_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ProbZeroError, match=r"absent\.yaml: expected a YAML file, found nothing"):
        config.load(tmp_path / "absent.yaml")
    broken = tmp_path / "broken.yaml"
    broken.write_text("game: [", encoding="utf-8")
    with pytest.raises(ProbZeroError, match=r"broken\.yaml: expected valid YAML or JSON") as caught:
        config.load(broken)
    assert "\n" not in str(caught.value)
