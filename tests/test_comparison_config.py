"""The configuration of a comparison: variants that differ in what they name and in nothing that costs."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
import yaml
from snakemake.utils import update_config  # type: ignore[import-untyped]

from probzero import comparison
from probzero.__main__ import main
from probzero.commands.points import COSTS, SELFPLAY, cumulative_costs
from probzero.comparison import Comparison
from probzero.config import Network
from probzero.errors import ProbZeroError
from probzero.games.othello import othello
from probzero.network.checkpoint import CheckpointInfo, save_checkpoint
from probzero.network.inference import Evaluator
from probzero.network.model import build
from probzero.report.tables import SHARD_SUMS, TRAINING
from probzero.truth.positions import boards, move_masks

pytestmark = pytest.mark.usefixtures("one_thread")

CONFIG = Path(__file__).parent.parent / "config"
OVERLAYS = ["comparison-smoke", "comparison-full"]
VARIANTS = ["probzero", "alphazero", "alphazero-minmax", "uct", "root-only", "visit-policy", "no-bootstrap",
            "no-reward", "multinomial", "no-reuse", "no-dag"]  # fmt: skip


def committed(*overlays: str) -> dict[str, Any]:
    """The comparison of the repository with other files laid over it, as Snakemake does it."""
    raw: dict[str, Any] = {}
    for name in ("comparison", *overlays):
        update_config(raw, yaml.safe_load((CONFIG / f"{name}.yaml").read_text(encoding="utf-8")))
    return raw


@pytest.fixture
def raw() -> dict[str, Any]:
    return copy.deepcopy(committed())


def refusal(raw: Any) -> str:
    with pytest.raises(ProbZeroError) as caught:
        comparison.parse(raw, "here.yaml")
    message = str(caught.value)
    assert "\n" not in message and "here.yaml" in message
    return message


def differences(found: Comparison, variant: str) -> set[str]:
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
def test_the_committed_comparison_is_valid_at_every_size(overlays: list[str]) -> None:
    found = comparison.parse(committed(*overlays), "here.yaml")
    assert found.name == (overlays[0] if overlays else "comparison")
    assert (found.reference, list(found.variants)) == ("probzero", VARIANTS)
    for name, variant in found.variants.items():
        assert (variant.name, variant.seeds) == (name, found.seeds)
        assert variant.search.budget == "leaves"
    assert [name for name in VARIANTS if not found.learns(name)] == ["uct"]


def test_there_are_seeds_enough_to_see_how_much_is_chance() -> None:
    assert len(comparison.parse(committed(), "here.yaml").seeds) >= 3
    assert len(comparison.parse(committed("comparison-full"), "here.yaml").seeds) >= 3


def test_an_overlay_changes_every_variant_and_leaves_the_rest() -> None:
    plain, smoke = (comparison.parse(committed(*names), "here.yaml") for names in ([], ["comparison-smoke"]))
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
        ("multinomial", {"search.splitting"}),
        ("no-reuse", {"search.reuse"}),
        ("no-dag", {"search.transpositions"}),
    ],
)
def test_an_ablation_differs_in_its_one_idea(variant: str, expected: set[str]) -> None:
    assert differences(comparison.parse(committed(), "here.yaml"), variant) == expected


def test_alphazero_learns_from_games_as_it_was_published() -> None:
    found = comparison.parse(committed(), "here.yaml")
    for name in ("alphazero", "alphazero-minmax"):
        variant = found.variants[name]
        assert (variant.search.algorithm, variant.search.transpositions) == ("puct", False)
        assert (variant.targets.nodes, variant.targets.policy) == ("roots", "visits")
        assert variant.selfplay.noise > 0 and variant.selfplay.exploration == 0
        assert not variant.network.reward
    minmax = found.variants["alphazero-minmax"]
    assert (minmax.search.q_scale, minmax.search.exploration_growth) == ("minmax", "logarithmic")
    assert (minmax.network.value, minmax.targets.value) == ("support", "search")
    assert found.variants["uct"].search.algorithm == "ucb1"


@pytest.mark.parametrize(
    ("part", "key", "value"),
    [
        ("game", "size", 6),
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
def test_name_and_seeds_are_the_comparisons_alone(place: str, key: str, value: Any, raw: dict[str, Any]) -> None:
    (raw["base"] if place == "base" else raw["variants"][place])[key] = value
    shown = place if place == "base" else f"variants.{place}"
    assert f"here.yaml: {shown}.{key}: expected none: it is the comparison's, found {value}" in refusal(raw)


def test_what_costs_nothing_may_differ(raw: dict[str, Any]) -> None:
    raw["variants"]["no-dag"].update(training={"learning_rate": 1e-3}, search={"temperature": 0.5})
    assert comparison.parse(raw, "here.yaml").variants["no-dag"].search.temperature == 0.5


def test_budgets_are_measured_by_the_reference(raw: dict[str, Any]) -> None:
    raw["base"]["selfplay"]["games"] = 128
    raw["variants"]["no-dag"]["selfplay"] = {"games": 64}
    message = refusal({**raw, "reference": "no-dag"})
    assert "variants.probzero: selfplay.games: expected 64, as for no-dag, found 128" in message


def test_a_budget_may_differ_where_the_file_says_so_and_there_alone(raw: dict[str, Any]) -> None:
    raw["variants"]["no-dag"]["selfplay"] = {"games": 64}
    raw["budget_differs_in"] = ["selfplay.games"]
    assert comparison.parse(raw, "here.yaml").variants["no-dag"].selfplay.games == 64
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
    assert "'colour' was unexpected" in message
    if "variant" in place:
        assert "here.yaml: variants.no-dag" in message


@pytest.mark.parametrize("key", ["name", "reference", "seeds", "base", "variants"])
def test_a_missing_part_is_refused(key: str, raw: dict[str, Any]) -> None:
    del raw[key]
    assert f"'{key}' is a required property" in refusal(raw)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"seeds": []}, "seeds"),
        ({"seeds": [1, 1]}, "seeds"),
        ({"name": "A name"}, "name"),
        ({"variants": {"probzero": {}}}, "variants"),  # nothing to compare with
        ({"variants": {"probzero": {}, "Other": {}}}, "variants"),
        ({"variants": {"probzero": {}, "other": 3}}, "variants.other"),
    ],
)
def test_a_comparison_that_is_none_is_refused(changes: dict[str, Any], message: str, raw: dict[str, Any]) -> None:
    assert f"here.yaml: {message}: " in refusal({**raw, **changes})


def test_a_variant_that_contradicts_itself_is_named(raw: dict[str, Any]) -> None:
    del raw["variants"]["alphazero"]["targets"]
    assert "here.yaml: variants.alphazero: targets.nodes: expected roots with search.algorithm puct" in refusal(raw)


def test_a_variant_left_empty_is_the_base(raw: dict[str, Any]) -> None:
    raw["variants"]["probzero"] = None
    found = comparison.parse(raw, "here.yaml")
    assert found.variants == comparison.parse(committed(), "here.yaml").variants


def test_the_base_is_left_as_it_was(raw: dict[str, Any]) -> None:
    comparison.parse(raw, "here.yaml")
    assert raw == committed()


def test_the_written_comparison_is_the_one_that_was_read(tmp_path: Path) -> None:
    output = tmp_path / "config.json"
    assert main(["config", "--config", json.dumps(committed()), "--output", str(output)]) == 0
    again = json.loads(output.read_text(encoding="utf-8"))
    assert comparison.parse(again, "here.yaml") == comparison.parse(committed(), "here.yaml")


def test_a_bad_comparison_writes_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    raw = {**committed(), "reference": "stockfish"}
    assert main(["config", "--config", json.dumps(raw), "--output", str(tmp_path / "config.json")]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("probzero: error: ") and "stockfish" in line and not list(tmp_path.iterdir())


def smallest(variant: str) -> str:
    """A variant of the comparison on 4×4 boards, small enough for a test; as JSON."""
    settings = comparison.parse(committed("comparison-smoke"), "here.yaml").variants[variant].as_dict()
    settings["game"] = {"size": 4}
    settings["truth"] |= {"per_stratum": 3, "particles": 2, "batches": [3, 6], "capacity": 20_000}
    return json.dumps(settings)


@pytest.fixture(scope="module")
def positions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("positions") / "positions.csv"
    assert main(["positions", "--config", smallest("probzero"), "--seed", "0", "--output", str(path)]) == 0
    return path


def decisive(positions: Path) -> pd.DataFrame:
    table = pd.read_csv(positions, keep_default_na=False)
    assert set(table.source) == {"random"}
    return table[table.decisive == 1].reset_index(drop=True)


def points(variant: str, positions: Path, output: Path, *arguments: str) -> pd.DataFrame:
    common = ["--config", smallest(variant), "--seed", "4", "--variant", variant, "--positions", str(positions)]
    assert main(["points", *common, *arguments, "--output", str(output)]) == 0
    table = pd.read_csv(output)
    assert list(table.columns) == [
        "variant", "seed", "iteration", "particles", "discs", "positions", "kept", *COSTS,
    ]  # fmt: skip
    assert set(table.variant) == {variant} and set(table.seed) == {4}
    assert (table.kept <= table.positions).all() and (table.kept >= 0).all()
    strata = decisive(positions).groupby("discs").size()
    for _, measured in table.groupby(["iteration", "particles"]):
        assert measured.set_index("discs").positions.to_dict() == strata.to_dict()
    return table


def test_points_of_uct_need_no_checkpoint_and_cost_nothing(positions: Path, tmp_path: Path) -> None:
    table = points("uct", positions, tmp_path / "points.csv")
    assert set(table.iteration) == {0} and set(table.particles) == {6, 12}  # no network, so no raw policy
    assert not table[list(COSTS)].to_numpy().any()
    assert table.kept.sum() > 0
    again = points("uct", positions, tmp_path / "again.csv")
    assert again.equals(table)


def shard_metrics(iteration: int, shard: int) -> dict[str, float]:
    """Made-up metrics: every number tells which iteration, shard and column it is of."""
    columns = {name: 1000 * place + 10 * iteration + shard + 1 for place, name in enumerate(SHARD_SUMS)}
    return {"iteration": iteration, "shard": shard, "mean_plies": 9.0, **columns}


def training_metrics(iteration: int) -> dict[str, float]:
    return {
        **{name: 1.0 for name in TRAINING},
        "iteration": iteration,
        "samples": 5**iteration,
        "seconds": iteration / 4,
    }


@pytest.fixture
def metrics(tmp_path: Path) -> tuple[list[Path], list[Path]]:
    """Files of three iterations of two shards each, and of their training, in no order."""
    selfplay, trained = [], []
    for iteration in (2, 3, 1):
        for shard in (1, 0):
            selfplay.append(tmp_path / f"{iteration}-{shard}.json")
            selfplay[-1].write_text(json.dumps(shard_metrics(iteration, shard)), encoding="utf-8")
        trained.append(tmp_path / f"{iteration}.json")
        trained[-1].write_text(json.dumps(training_metrics(iteration)), encoding="utf-8")
    return selfplay, trained


def spent(iteration: int) -> dict[str, float]:
    """What the metrics above add up to before a checkpoint."""
    before = range(1, iteration + 1)

    def total(name: str) -> float:
        return sum(shard_metrics(number, shard)[name] for number in before for shard in (0, 1))

    return {
        **{name: total(name) for name in SELFPLAY},
        "samples_seen": sum(5**number for number in before),
        "selfplay_seconds": total("seconds"),
        "training_seconds": sum(number / 4 for number in before),
    }


def test_costs_are_what_was_spent_before_each_checkpoint(metrics: tuple[list[Path], list[Path]]) -> None:
    costs = cumulative_costs(*metrics)
    assert list(costs.index) == [0, 1, 2, 3] and set(costs.columns) == set(COSTS)
    assert not costs.loc[0].any()
    for iteration in (1, 2, 3):
        assert costs.loc[iteration].to_dict() == pytest.approx(spent(iteration))


def test_costs_with_a_gap_are_refused(metrics: tuple[list[Path], list[Path]]) -> None:
    played, trained = metrics
    second = [path for path in trained if json.loads(path.read_text(encoding="utf-8"))["iteration"] != 2]
    with pytest.raises(ProbZeroError, match=r"expected iterations 1 to 2, found \[1, 3\]"):
        cumulative_costs(played, second)


def test_a_checkpoint_without_costs_is_refused(
    positions: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    network, path = Network(1, 8), tmp_path / "0005.safetensors"
    save_checkpoint(path, build(4, network, seed_key=0), CheckpointInfo("probzero", 4, 5, 4, network))
    common = ["--config", smallest("probzero"), "--seed", "4", "--variant", "probzero", "--positions", str(positions)]
    assert main(["points", *common, "--checkpoints", str(path), "--output", str(tmp_path / "short.csv")]) == 2
    assert "expected metrics up to iteration 5, found 0" in capsys.readouterr().err
    assert not (tmp_path / "short.csv").exists()


def test_points_of_checkpoints_tell_what_each_has_cost(
    positions: Path, metrics: tuple[list[Path], list[Path]], tmp_path: Path
) -> None:
    network, checkpoints, models = Network(1, 8), [], {}
    for iteration in (0, 2):
        models[iteration] = build(4, network, seed_key=iteration)
        checkpoints.append(tmp_path / f"{iteration:04}.safetensors")
        save_checkpoint(checkpoints[-1], models[iteration], CheckpointInfo("probzero", 4, iteration, 4, network))
    files = {"--checkpoints": checkpoints, "--selfplay": metrics[0], "--training": metrics[1]}
    arguments = [text for name, paths in files.items() for text in (name, *map(str, paths))]
    table = points("probzero", positions, tmp_path / "points.csv", *arguments)
    assert set(zip(table.iteration, table.particles, strict=True)) == {(i, p) for i in (0, 2) for p in (0, 6, 12)}
    for iteration in models:
        for row in table[table.iteration == iteration][list(COSTS)].to_dict("records"):
            assert row == pytest.approx(spent(iteration))
    # The raw policy, position by position.
    rules, truth = othello(4), decisive(positions)
    own, opp = (torch.from_numpy(side) for side in boards(truth))
    keeping = move_masks(rules, truth.keeping)
    for iteration, model in models.items():
        prior = Evaluator(model.eval(), 4, "cpu")(own, opp, rules.legal(own, opp)).prior.numpy()
        kept = keeping[np.arange(len(truth)), prior.argmax(1)]
        found = table[(table.iteration == iteration) & (table.particles == 0)].set_index("discs").kept
        assert found.to_dict() == pd.Series(kept.astype(int)).groupby(truth.discs).sum().to_dict()
