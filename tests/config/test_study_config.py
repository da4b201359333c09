"""The configuration of a study: variants that differ in what they name and in nothing that costs."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import committed
import pytest

from probzero import study
from probzero.__main__ import main
from probzero.errors import ProbZeroError
from probzero.study import Description, Study

OVERLAYS = ["study-smoke", "study-full"]
VARIANTS = ["probzero", "alphazero", "alphazero-alike", "alphazero-minmax", "uct", "root-only", "visit-policy",
            "no-bootstrap", "no-reward", "plain-training", "multinomial", "no-reuse", "no-dag"]  # fmt: skip

POLICY_TRAINING = ("policy_moves", "policy_sharpness", "undecided_draw", "phase_balance", "policy_weight")


@pytest.fixture
def raw() -> dict[str, Any]:
    return copy.deepcopy(committed.plain())


def refusal(raw: Any) -> str:
    with pytest.raises(ProbZeroError) as caught:
        study.parse(raw, "here.yaml")
    message = str(caught.value)
    assert "\n" not in message and "here.yaml" in message
    return message


def differences(found: Study, variant: str) -> set[str]:
    """The settings in which a variant is not the reference."""
    mine, theirs = (found.variants[name].as_dict() for name in (variant, found.reference))
    return {
        f"{part}.{key}"
        for part in theirs
        if isinstance(theirs[part], dict)
        for key in theirs[part]
        if mine[part][key] != theirs[part][key]
    }


@pytest.mark.parametrize("overlays", [[], *([name] for name in OVERLAYS)], ids=str)
def test_the_committed_study_is_valid_at_every_size(overlays: list[str]) -> None:
    found = committed.parsed(*overlays)
    assert found.name == (overlays[0] if overlays else "study")
    assert (found.reference, list(found.variants)) == ("probzero", VARIANTS)
    for name, variant in found.variants.items():
        assert (variant.name, variant.seeds) == (name, found.seeds)
        assert variant.search.budget == "leaves"
    assert [name for name in VARIANTS if not found.learns(name)] == ["uct"]


def test_there_are_seeds_enough_to_see_how_much_is_chance() -> None:
    assert len(committed.parsed().seeds) >= 3
    assert len(committed.parsed("study-full").seeds) >= 3


def test_an_overlay_changes_every_variant_and_leaves_the_rest() -> None:
    plain, smoke = (committed.parsed(*names) for names in ([], ["study-smoke"]))
    for name in VARIANTS:
        assert smoke.variants[name].training.iterations == 2 < plain.variants[name].training.iterations
        assert smoke.variants[name].search == plain.variants[name].search
        assert differences(smoke, name) == differences(plain, name)


@pytest.mark.parametrize(
    ("variant", "expected"),
    [
        ("probzero", set()),
        ("root-only", {"targets.nodes"}),
        ("visit-policy", {"targets.policy"}),
        ("no-bootstrap", {"targets.value"}),
        ("no-reward", {"network.reward", "targets.value"}),
        ("plain-training", {f"training.{name}" for name in POLICY_TRAINING}),
        ("multinomial", {"search.splitting"}),
        ("no-reuse", {"search.reuse"}),
        ("no-dag", {"search.transpositions"}),
    ],
)
def test_an_ablation_differs_in_its_one_idea(variant: str, expected: set[str]) -> None:
    assert differences(committed.parsed(), variant) == expected


def test_alphazero_learns_from_games_as_it_was_published() -> None:
    found = committed.parsed()
    for name in ("alphazero", "alphazero-alike", "alphazero-minmax"):
        variant = found.variants[name]
        assert (variant.search.algorithm, variant.search.transpositions) == ("puct", False)
        assert (variant.targets.nodes, variant.targets.policy) == ("roots", "visits")
        assert variant.selfplay.noise > 0 and variant.selfplay.exploration == 0
        assert not variant.network.reward
    minmax = found.variants["alphazero-minmax"]
    assert (minmax.search.q_scale, minmax.search.exploration_growth) == ("minmax", "logarithmic")
    assert (minmax.network.value, minmax.targets.value) == ("support", "search")
    assert found.variants["uct"].search.algorithm == "ucb1"
    for name in ("alphazero", "alphazero-minmax", "plain-training"):
        training = found.variants[name].training
        assert (training.policy_sharpness, training.undecided_draw, training.phase_balance) == (1, 1, 0), name
        assert training.policy_weight == 1, name


def test_one_alphazero_is_trained_as_probzero_is() -> None:
    variants = committed.parsed().variants
    alike, alphazero, probzero = (variants[name] for name in ("alphazero-alike", "alphazero", "probzero"))
    assert alike.training.model_copy(update={"recency": 1.0}) == probzero.training
    assert alike.model_copy(update={"name": "alphazero", "training": alphazero.training}) == alphazero


@pytest.mark.parametrize(
    ("part", "key", "value"),
    [
        ("game", "size", 4),
        ("network", "blocks", 7),
        ("network", "channels", 33),
        ("network", "policy_hidden", 7),
        ("search", "budget", "simulations"),
        ("selfplay", "shards", 3),
        ("selfplay", "games", 77),
        ("selfplay", "particles", 3),
        ("selfplay", "batches", 17),
        ("selfplay", "random_plies", 1),
        ("training", "iterations", 99),
        ("training", "batch_size", 77),
        ("training", "samples", 777),
        ("arena", "particles", 3),
        ("arena", "batches", 17),
        ("arena", "openings", 11),
        ("arena", "anchors", ["random"]),
        ("truth", "batches", [17]),
        ("truth", "per_stratum", 11),
    ],
)
def test_a_variant_with_another_budget_is_refused_by_name_and_key(
    part: str, key: str, value: Any, raw: dict[str, Any]
) -> None:
    wanted = raw["base"][part][key]
    raw["variants"]["no-dag"].setdefault(part, {})[key] = value
    expected = f"here.yaml: variants.no-dag: {part}.{key}: expected {wanted}, as for probzero, found {value}"
    assert refusal(raw).endswith(expected)


@pytest.mark.parametrize("place", ["base", "no-dag"])
@pytest.mark.parametrize(("key", "value"), [("name", "mine"), ("seeds", [9])])
def test_name_and_seeds_are_the_studys_alone(place: str, key: str, value: Any, raw: dict[str, Any]) -> None:
    (raw["base"] if place == "base" else raw["variants"][place])[key] = value
    shown = place if place == "base" else f"variants.{place}"
    assert f"here.yaml: {shown}.{key}: expected none: it is the study's, found {value}" in refusal(raw)


def test_what_costs_nothing_may_differ(raw: dict[str, Any]) -> None:
    raw["variants"]["no-dag"].update(training={"learning_rate": 1e-3}, search={"temperature": 0.5})
    assert study.parse(raw, "here.yaml").variants["no-dag"].search.temperature == 0.5


def test_budgets_are_measured_by_the_reference(raw: dict[str, Any]) -> None:
    raw["base"]["selfplay"]["games"] = 128
    raw["variants"]["no-dag"]["selfplay"] = {"games": 64}
    message = refusal({**raw, "reference": "no-dag"})
    assert "variants.probzero: selfplay.games: expected 64, as for no-dag, found 128" in message


def test_a_budget_may_differ_where_the_file_says_so_and_there_alone(raw: dict[str, Any]) -> None:
    raw["variants"]["no-dag"]["selfplay"] = {"games": 64}
    raw["budget_differs_in"] = ["selfplay.games"]
    assert study.parse(raw, "here.yaml").variants["no-dag"].selfplay.games == 64
    raw["variants"]["no-dag"]["selfplay"]["batches"] = 16
    assert "variants.no-dag: selfplay.batches: expected 8, as for probzero, found 16" in refusal(raw)
    assert "budget_differs_in" in refusal({**raw, "budget_differs_in": ["truth.batches"]})


def test_a_reference_that_is_no_variant_is_refused(raw: dict[str, Any]) -> None:
    message = refusal({**raw, "reference": "stockfish"})
    assert message.endswith(f"here.yaml: reference: expected one of {', '.join(VARIANTS)}, found stockfish")


@pytest.mark.parametrize("place", ["top", "base", "section", "variant", "section of a variant"])
def test_unknown_keys_are_refused_at_every_level(place: str, raw: dict[str, Any]) -> None:
    inside = {
        "top": raw,
        "base": raw["base"],
        "section": raw["base"]["search"],
        "variant": raw["variants"]["no-dag"],
        "section of a variant": raw["variants"]["no-dag"]["search"],
    }
    inside[place]["colour"] = 1
    message = refusal(raw)
    assert ".colour: expected no such key" in message.replace(" colour", ".colour")
    if "variant" in place:
        assert "here.yaml: variants.no-dag" in message


@pytest.mark.parametrize("key", ["name", "reference", "seeds", "base", "variants"])
def test_a_missing_part_is_refused(key: str, raw: dict[str, Any]) -> None:
    del raw[key]
    message = refusal(raw)
    assert f"here.yaml: {key}: expected " in message and message.endswith(", found nothing")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"seeds": []}, "seeds"),
        ({"seeds": [1, 1]}, "seeds"),
        ({"name": "A name"}, "name"),
        ({"variants": {"probzero": {}}}, "variants"),  # nothing to compare with
        ({"variants": {"probzero": {}, "Other": {}}}, "variants.Other"),
        ({"variants": {"probzero": {}, "other\n": {}}}, "'variants.other\\n'"),
        ({"variants": {"probzero": {}, 3: {}}}, "variants.3"),
        ({"variants": ["probzero", "other"]}, "variants"),
        ({"base": {}}, "variants.probzero: experiment"),
        ({"base": {3: 4}}, "variants.probzero: 3"),
        ({"base": None}, "base"),
        ({"reference": 3}, "reference"),
        ({"budget_differs_in": ["selfplay.games", "selfplay.games"]}, "budget_differs_in"),
        ({"variants": {"probzero": {}, "other": 3}}, "variants.other"),
    ],
)
def test_a_study_that_is_none_is_refused(changes: dict[str, Any], message: str, raw: dict[str, Any]) -> None:
    assert f"here.yaml: {message}: " in refusal({**raw, **changes})


def test_a_variant_that_contradicts_itself_is_named(raw: dict[str, Any]) -> None:
    del raw["variants"]["alphazero"]["targets"]
    assert "here.yaml: variants.alphazero: targets.nodes: expected roots with search.algorithm puct" in refusal(raw)


def test_a_section_of_the_base_that_is_none_is_refused(raw: dict[str, Any]) -> None:
    raw["base"]["search"] = 3
    assert "here.yaml: variants.probzero: search: expected a mapping, found 3" in refusal(raw)
    raw["variants"]["probzero"]["search"] = {"cache": True}
    assert "here.yaml: variants.probzero: search.splitting: expected one of systematic, middle, multinomial" in refusal(
        raw
    )


def test_a_variant_left_empty_is_the_base(raw: dict[str, Any]) -> None:
    raw["variants"]["probzero"] = None
    found = study.parse(raw, "here.yaml")
    assert found.variants == committed.parsed().variants


def test_the_base_is_left_as_it_was(raw: dict[str, Any]) -> None:
    study.parse(raw, "here.yaml")
    assert raw == committed.plain()


def test_the_written_study_is_the_one_that_was_read(tmp_path: Path) -> None:
    output = tmp_path / "config.json"
    assert main(["config", "--config", json.dumps(committed.plain()), "--output", str(output)]) == 0
    again = json.loads(output.read_text(encoding="utf-8"))
    assert study.parse(again, "here.yaml") == committed.parsed()
    described = {"label": "no-dag", "role": "ablation", "idea": "engineering"}  # what was left out is written too
    assert described.items() <= again["variants"]["no-dag"].items()
    assert again["variants"]["probzero"]["role"] == "reference"
    assert list(again["variants"]) == list(committed.plain()["variants"])  # the order in which they are shown


def test_a_bad_study_writes_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    raw = {**committed.plain(), "reference": "stockfish"}
    assert main(["config", "--config", json.dumps(raw), "--output", str(tmp_path / "config.json")]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("probzero: error: ") and "stockfish" in line and not list(tmp_path.iterdir())


def test_the_committed_study_says_how_to_speak_of_its_variants() -> None:
    described = committed.parsed().described
    assert list(described) == VARIANTS
    assert {name: part.label for name, part in described.items() if part.label != name} == {
        "probzero": "ProbZero",
        "alphazero": "AlphaZero",
        "alphazero-alike": "AlphaZero, trained alike",
        "alphazero-minmax": "AlphaZero, min–max",
        "uct": "UCT",
    }
    roles = {"probzero": "reference", "uct": "baseline", **dict.fromkeys(VARIANTS[1:4], "rival")}
    assert {name: part.role for name, part in described.items() if part.role != "ablation"} == roles
    assert {name: part.idea for name, part in described.items() if part.idea} == {
        "root-only": "whole-tree targets",
        "visit-policy": "winner_prob policy targets",
        "no-bootstrap": "reward bootstrap",
        "no-reward": "reward bootstrap",
        "plain-training": "training for the policy",
        "multinomial": "engineering",
        "no-reuse": "engineering",
        "no-dag": "engineering",
    }
    assert [name for name, part in described.items() if not part.change] == ["probzero"]


def test_what_is_not_said_of_a_variant_is_filled_in(raw: dict[str, Any]) -> None:
    raw["variants"] = {"probzero": None, "no-dag": {"search": {"transpositions": False}}}
    found = study.parse({**raw, "reference": "no-dag"}, "here.yaml")
    assert found.described == {
        "probzero": Description(label="probzero", short="probzero", role="ablation", idea="", change=""),
        "no-dag": Description(label="no-dag", short="no-dag", role="reference", idea="", change=""),
    }


@pytest.mark.parametrize(
    ("variant", "role", "message"),
    [
        (
            "no-dag",
            "reference",
            "variants.no-dag.role: expected another than reference, which is probzero, found reference",
        ),
        ("probzero", "rival", "variants.probzero.role: expected reference, as the study names it, found rival"),
        (
            "no-dag",
            "opponent",
            "variants.no-dag.role: expected one of reference, rival, baseline, ablation, found 'opponent'",
        ),
    ],
)
def test_a_role_that_contradicts_the_study_is_refused(
    variant: str, role: str, message: str, raw: dict[str, Any]
) -> None:
    raw["variants"][variant]["role"] = role
    assert refusal(raw) == f"configuration: here.yaml: {message}"


def test_the_reference_may_say_that_it_is(raw: dict[str, Any]) -> None:
    raw["variants"]["probzero"]["role"] = "reference"
    assert study.parse(raw, "here.yaml") == committed.parsed()


@pytest.mark.parametrize("key", ["label", "idea", "change"])
@pytest.mark.parametrize("text", ["two\nlines", "the end\n", " ", 3, None], ids=repr)
def test_what_is_said_of_a_variant_is_one_line(key: str, text: Any, raw: dict[str, Any]) -> None:
    raw["variants"]["no-dag"][key] = text
    expected = f"here.yaml: variants.no-dag.{key}: expected a line of text, or nothing, found {text!r}"
    assert refusal(raw) == f"configuration: {expected}"


@pytest.mark.parametrize("name", ["random", "greedy", "mobility", "perfect", "ceiling", "iteration-0001"])
def test_a_variant_is_not_called_like_another_player(name: str, raw: dict[str, Any]) -> None:
    raw["variants"][name] = {}
    expected = f"variants.{name}: expected a name that no other player has, found {name}"
    assert refusal(raw) == f"configuration: here.yaml: {expected}"


@pytest.mark.parametrize("name", ["tables", "figures", "logs", "benchmarks", "seals", "seed0"])
def test_a_variant_is_not_called_like_a_folder_of_the_study(name: str, raw: dict[str, Any]) -> None:
    raw["variants"][name] = {}
    expected = f"variants.{name}: expected a name that no folder of the study has, found {name}"
    assert refusal(raw) == f"configuration: here.yaml: {expected}"


def test_a_study_is_not_called_like_a_folder_of_results(raw: dict[str, Any]) -> None:
    expected = "name: expected a name that no folder of results has, found reference"
    assert refusal({**raw, "name": "reference"}) == f"configuration: here.yaml: {expected}"


def test_a_variant_may_have_the_first_of_the_studys_seeds_alone(raw: dict[str, Any]) -> None:
    raw["variants"]["no-dag"]["repetitions"] = 2
    found = study.parse(raw, "here.yaml")
    assert found.seeds_of("no-dag") == found.seeds[:2] and found.seeds_of("probzero") == found.seeds
    assert found.seeds_of("perfect") == found.seeds  # whoever is no variant plays in every tournament
    assert found.fingerprint != committed.parsed().fingerprint
    raw["variants"]["no-dag"]["repetitions"] = len(found.seeds)
    assert study.parse(raw, "here.yaml").fingerprint == committed.parsed().fingerprint


def test_the_reference_has_all_seeds(raw: dict[str, Any]) -> None:
    raw["variants"]["probzero"]["repetitions"] = 1
    assert refusal(raw).endswith("variants.probzero.repetitions: expected 0, as everybody is compared with it, found 1")
