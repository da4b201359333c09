"""A configuration is taken whole and checked, or refused with one line that names the key."""

from __future__ import annotations

import copy
import json
import math
from pathlib import Path
from typing import Any

import pytest
import yaml
from pydantic import ValidationError

from probzero import config
from probzero.errors import ProbZeroError
from probzero.games.registry import GAMES

ROOT = Path(__file__).parents[2]
SCALES = ["smoke", "laptop", "paper"]
SECTIONS = {"game", "network", "search", "selfplay", "targets", "training", "arena", "truth"}


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
    assert paper.arena.particles * paper.arena.batches == 384  # published: 1600; why fewer, the file says
    assert paper.arena.checkpoints == (50, 100, 150, 200, 250, 300, 350, 400)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("colour", 1),
        ("game.colour", 1),
        ("network.colour", 1),
        ("search.colour", 1),
        ("selfplay.colour", 1),
        ("targets.colour", 1),
        ("training.colour", 1),
        ("arena.colour", 1),
        ("truth.colour", 1),
    ],
)
def test_unknown_keys_are_refused_at_every_level(raw: dict[str, Any], path: str, value: Any) -> None:
    assert f"here.yaml: {path}: expected no " in refusal(changed(raw, path, value))


def test_a_misspelt_key_is_named_before_the_one_that_is_missing(raw: dict[str, Any]) -> None:
    raw["network"]["chanels"] = raw["network"].pop("channels")
    keys = "blocks, channels, policy_hidden, value, support, reward"
    assert refusal(raw).endswith(f"network.chanels: expected no such key (there are {keys}), found 16")


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("game.size", 7),
        ("game.name", "draughts"),
        ("network.blocks", 0),
        ("network.channels", -1),
        ("search.splitting", "stratified"),
        ("search.temperature", 0),
        ("search.cache", 1),
        ("selfplay.exploration", 1.5),
        ("selfplay.games", 0),
        ("selfplay.device", "gpu"),
        ("training.learning_rate", 0),
        ("training.visit_exponent", 2),
        ("training.replay_window", 0),
        ("training.iterations", 10000),
        ("arena.openings", 0),
        ("seeds", []),
        ("seeds", [1, 1]),
        ("arena.checkpoints", [0, 0]),
        ("arena.anchors", ["random", "random"]),
        ("truth.batches", []),
        ("name", "a name"),
        ("search.algorithm", "minimax"),
        ("network.value", "scalar"),
    ],
)
def test_values_out_of_range_are_refused_by_name(raw: dict[str, Any], path: str, value: Any) -> None:
    message = refusal(changed(raw, path, value))
    assert f": {path}: expected " in message and message.endswith(f", found {value!r}")


@pytest.mark.parametrize(
    ("path", "value", "expected"),
    [
        ("selfplay.games", 0, "a whole number from 1 to 100,000"),
        ("search.temperature", 0, "a number above 0 and at most 100"),
        ("search.cache", "yes", "true or false"),
        ("search.splitting", "stratified", "one of systematic, middle, multinomial"),
        ("selfplay.device", "gpu", "one of auto, cpu, cuda"),
        ("name", "Smoke", "a name of lower-case letters, digits and hyphens that begins with a letter"),
        ("seeds", [], "a list of 1 or more, all different, each a whole number from 0 to 9,999"),
        ("seeds.0", -1, "a whole number from 0 to 9,999"),
        ("selfplay.move_temperatures.0.1", -1, "a number from 0 to 1,000"),
        ("selfplay.move_temperatures", [], "a list of 1 or more, each a pair of a whole number from 0 to 200 and "
         "a number from 0 to 1,000"),
        ("arena", 3, "a mapping"),
        ("game.size", 7, "one of 4, 5, 6, 8"),
        ("game.name", "draughts", f"one of {', '.join(GAMES)}"),
    ],
)  # fmt: skip
def test_what_was_expected_is_said_in_words(raw: dict[str, Any], path: str, value: Any, expected: str) -> None:
    if path.endswith(".0"):
        raw["seeds"] = [value]
    elif path.endswith(".0.1"):
        raw["selfplay"]["move_temperatures"] = [[0, value]]
    else:
        raw = changed(raw, path, value)
    assert refusal(raw) == f"configuration: here.yaml: {path}: expected {expected}, found {value!r}"


@pytest.mark.parametrize("path", ["game.size", "network.blocks", "selfplay.lag", "training.samples", "truth.openings"])
@pytest.mark.parametrize("value", [5.0, True, "5", None, -5, math.nan, math.inf, [5]], ids=str)
def test_a_whole_number_is_nothing_but_that(raw: dict[str, Any], path: str, value: Any) -> None:
    message = refusal(changed(raw, path, value))
    assert f": {path}: expected " in message and message.endswith(f", found {value!r}")


@pytest.mark.parametrize("path", ["search.temperature", "selfplay.noise", "training.learning_rate"])
@pytest.mark.parametrize(
    "value", [math.nan, math.inf, -math.inf, True, "0.5", None, -0.5, 10**400], ids=lambda v: str(v)[:9]
)
def test_a_number_is_finite_and_no_text(raw: dict[str, Any], path: str, value: Any) -> None:
    message = refusal(changed(raw, path, value))
    assert f": {path}: expected a number" in message and message.endswith(f", found {value!r}")


def test_a_whole_number_will_do_for_a_number(raw: dict[str, Any]) -> None:
    assert config.parse(changed(raw, "search.temperature", 1)) == config.parse(changed(raw, "search.temperature", 1.0))


@pytest.mark.parametrize("text", ["1e-3", "1E3", "1.5e3"])
def test_a_number_that_yaml_takes_for_a_text_is_refused_with_advice(raw: dict[str, Any], text: str) -> None:
    assert yaml.safe_load(text) == text
    advice = f"found '{text}', a text (YAML reads 1.0e-3 and 1.0e+3 as numbers, but not 1e-3)"
    assert refusal(changed(raw, "training.learning_rate", text)).endswith(advice)


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("name", "smoke"),
        ("experiment", "probzero"),
        ("selfplay.device", "cpu"),
        ("search.splitting", "systematic"),
        ("game.name", "othello"),
    ],
)
@pytest.mark.parametrize("end", ["\n", "\r\n", " "], ids=repr)
def test_a_name_ends_without_a_line_break(raw: dict[str, Any], path: str, text: str, end: str) -> None:
    assert f": {path}: expected " in refusal(changed(raw, path, text + end))


@pytest.mark.parametrize("device", ["auto", "cpu", "cuda"])
def test_a_device_is_chosen_by_its_kind(raw: dict[str, Any], device: str) -> None:
    assert config.parse(changed(raw, "arena.device", device)).arena.device == device


@pytest.mark.parametrize("device", ["cuda:0", "gpu", "CPU", ""])
def test_other_names_of_devices_are_refused(raw: dict[str, Any], device: str) -> None:
    assert "arena.device: expected one of auto, cpu, cuda" in refusal(changed(raw, "arena.device", device))


def test_the_device_is_chosen_on_the_machine_unless_one_is_named(raw: dict[str, Any]) -> None:
    parsed = config.parse(raw)
    assert {part.device for part in (parsed.selfplay, parsed.training, parsed.arena, parsed.truth)} == {"auto"}


def test_a_game_has_the_options_that_it_is_registered_with(raw: dict[str, Any]) -> None:
    raw["arena"]["anchors"] = ["random"]
    game = config.parse(changed(raw, "game", {"name": "connect_four", "width": 4, "height": 5})).game
    assert (game.name, game.options) == ("connect_four", {"width": 4, "height": 5})
    assert game.entry is GAMES["connect_four"] and game.entry.solvable(**game.options)
    assert game.model_dump() == {"name": "connect_four", "width": 4, "height": 5}
    assert config.parse(raw).game.size == 5
    with pytest.raises(ProbZeroError, match=r"^configuration: game\.width: expected no option of othello but size"):
        config.Game(name="othello", size=5, width=4)


@pytest.mark.parametrize(
    ("game", "message"),
    [
        ({"size": 5}, f"game.name: expected one of {', '.join(GAMES)}, found nothing"),
        ({"name": "othello"}, "game.size: expected an option that othello needs, found nothing"),
        (
            {"name": "connect_four", "width": 4},
            "game.height: expected an option that connect_four needs, found nothing",
        ),
        ({"name": "connect_four", "width": 8, "height": 6}, "game.width: expected one of 1, 2, 3, 4, 5, 6, 7, found 8"),
        ({"name": "connect_four", "size": 5}, "game.size: expected no option of connect_four but width, height"),
    ],
)
def test_a_game_with_other_options_is_refused(raw: dict[str, Any], game: dict[str, Any], message: str) -> None:
    assert f"configuration: here.yaml: {message}" in refusal(changed(raw, "game", game))


@pytest.mark.parametrize("part", sorted(set(config.PARTS) - set(config.OPTIONAL)))
def test_a_missing_part_is_refused(raw: dict[str, Any], part: str) -> None:
    del raw[part]
    message = refusal(raw)
    assert f"here.yaml: {part}: expected " in message and message.endswith(", found nothing")


def test_a_missing_setting_is_refused(raw: dict[str, Any]) -> None:
    del raw["training"]["samples"]
    expected = "training.samples: expected a whole number from 0 to 1,000,000,000, found nothing"
    assert refusal(raw) == f"configuration: here.yaml: {expected}"


def test_a_tournament_cannot_name_a_checkpoint_that_is_never_made(raw: dict[str, Any]) -> None:
    message = refusal(changed(raw, "arena.checkpoints", [0, 2, 5]))
    assert "arena.checkpoints: expected at most 4, found 5" in message


@pytest.mark.parametrize("nothing", [None, [], "text", 3])
def test_what_is_not_a_mapping_is_refused(nothing: Any) -> None:
    assert refusal(nothing) == f"configuration: here.yaml: top level: expected a mapping, found {nothing!r}"


def test_a_key_that_is_no_text_is_refused(raw: dict[str, Any]) -> None:
    assert "here.yaml: 1: expected no such key" in refusal({**raw, 1: 2})
    raw["network"][False] = 2  # no: 2
    assert refusal(raw).endswith(", reward), found False")


def test_a_command_may_be_given_only_what_it_asks_for(raw: dict[str, Any]) -> None:
    parts = {name: raw[name] for name in ("experiment", "game")}
    loaded = config.load(json.dumps(parts), needs=("experiment", "game"))
    assert loaded.game.size == 5 and set(loaded.as_dict()) == {*parts, *config.OPTIONAL}
    with pytest.raises(AttributeError, match="arena"):
        _ = loaded.arena.openings
    with pytest.raises(ProbZeroError, match="--config: network: expected a mapping, found nothing"):
        config.load(json.dumps(parts), needs=("experiment", "game", "network"))


def test_every_setting_has_a_meaning_and_every_number_has_bounds() -> None:
    seen = 0
    for name, field in config.Config.model_fields.items():
        schema = field.annotation.model_json_schema() if name in SECTIONS else config.Config.model_json_schema()
        for key, part in schema["properties"].items():
            if "$ref" in part:
                continue
            seen += 1
            assert part.get("description"), (name, key)
            if part.get("type") in ("integer", "number"):
                assert {"minimum", "exclusiveMinimum"} & part.keys() and "maximum" in part, (name, key)
    assert seen > 70


def test_lists_are_tuples_and_those_without_an_order_are_sorted(raw: dict[str, Any]) -> None:
    raw["arena"]["checkpoints"], raw["truth"]["batches"] = [4, 0, 2], [8, 2]
    parsed = config.parse(raw)
    assert (parsed.arena.checkpoints, parsed.truth.batches, parsed.seeds) == ((0, 2, 4), (2, 8), (0,))
    assert parsed.selfplay.move_temperatures == ((0, 1.0),)
    assert parsed.as_dict()["arena"]["checkpoints"] == [0, 2, 4]


def test_settings_cannot_be_assigned_to(raw: dict[str, Any]) -> None:
    with pytest.raises(ValidationError, match="frozen"):
        config.parse(raw).network.blocks = 3  # type: ignore[misc]


def test_one_part_is_checked_as_in_the_whole() -> None:
    assert config.parse_part("network", {"blocks": 1, "channels": 8}, "a file") == config.Network(blocks=1, channels=8)
    with pytest.raises(ProbZeroError, match=r"^configuration: a file: network\.blocks: expected a whole number from 1"):
        config.parse_part("network", {"blocks": 0, "channels": 8}, "a file")
    with pytest.raises(
        ProbZeroError, match=r"^configuration: a file: game\.size: expected one of 4, 5, 6, 8, found 9$"
    ):
        config.parse_part("game", {"name": "othello", "size": 9}, "a file")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"search.algorithm": "puct"}, "targets.nodes: expected roots with search.algorithm puct, found tree"),
        ({"targets.value": "steps"}, "targets.value: expected bootstrap or search or outcome with search.algorithm"),
        ({"selfplay.noise": 0.25}, "selfplay.noise: expected 0 with search.algorithm particle, which explores by"),
        (
            {"search.algorithm": "puct", "targets": {"nodes": "roots", "policy": "visits", "value": "mixed"}},
            "selfplay.exploration: expected 0 with search.algorithm puct, which explores by selfplay.noise, found 0.05",
        ),
        ({"network.reward": False}, "targets.value: expected another value than bootstrap"),
        ({"selfplay.move_temperatures": [[2, 1.0]]}, "move_temperatures: expected plies that rise from 0, found [2]"),
        ({"selfplay.move_temperatures": [[0, 1.0], [0, 0.5]]}, "expected plies that rise from 0"),
        (
            {"game.size": 6, "arena.anchors": ["random", "perfect"]},
            "arena.anchors: expected players that othello has; perfect needs a game that can be solved, found perfect",
        ),
        (
            {"game": {"name": "connect_four", "width": 4, "height": 4}, "arena.anchors": ["greedy"]},
            "arena.anchors: expected players that connect_four has; greedy needs a game that is won by a margin",
        ),
    ],
)
def test_settings_that_contradict_each_other_are_refused(
    raw: dict[str, Any], changes: dict[str, Any], message: str
) -> None:
    for path, value in changes.items():
        raw = changed(raw, path, value)
    assert message in refusal(raw)


@pytest.mark.parametrize("name", ["reference", "bench"])
def test_a_run_is_not_called_like_a_folder_of_results(name: str, raw: dict[str, Any]) -> None:
    assert f"name: expected a name that no folder of results has, found {name}" in refusal({**raw, "name": name})


def test_names_have_an_end(raw: dict[str, Any]) -> None:
    assert config.parse({**raw, "name": "a" * 64, "experiment": "x" * 200})
    for key, value in (
        ("name", "a" * 65),
        ("experiment", "x" * 201),
        ("experiment", "a\x00b"),
        ("experiment", "a\x85b"),
    ):
        assert f"{key}: expected" in refusal({**raw, key: value})


def test_a_run_that_learns_nothing_is_refused(raw: dict[str, Any]) -> None:
    targets = {"nodes": "roots", "policy": "visits", "value": "outcome"}
    idle = changed(changed(changed(raw, "search.algorithm", "ucb1"), "targets", targets), "selfplay.exploration", 0.0)
    assert not config.parse(idle).search.arm.learns  # as a variant of a study
    with pytest.raises(ProbZeroError, match=r"^configuration: a file: search\.algorithm: expected one that learns"):
        config.parse_run(idle, "a file")


def test_what_was_not_asked_for_is_checked_all_the_same(raw: dict[str, Any]) -> None:
    with pytest.raises(ProbZeroError, match="colour"):
        config.load(json.dumps(changed(raw, "arena.colour", 1)), needs=("game",))


def test_a_configuration_survives_json(raw: dict[str, Any]) -> None:
    raw["training"]["weight_decay"] = 0.00001  # JSON writes 1e-05, which YAML would take for a text
    parsed = config.parse(raw)
    assert config.load(json.dumps(parsed.as_dict())) == parsed


def test_settings_that_came_later_change_no_hash_until_they_are_used() -> None:
    plain = config.load(ROOT / "config" / "smoke.yaml").as_dict()
    parts = ("search", "selfplay", "training")
    first = config.fingerprints(plain, parts)
    older = {part: {key: plain[part][key] for key in plain[part] if key not in config.LATER} for part in parts}
    assert config.fingerprints(older, parts) == first
    for key, value in config.LATER.items():
        (part,) = (part for part in parts if key in plain[part])
        assert plain[part][key] == value
        used = config.fingerprints({**plain, part: {**plain[part], key: value + 1}}, parts)
        assert [name for name in parts if used[name] != first[name]] == [part]
