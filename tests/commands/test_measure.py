"""The measures of a variant: shares of kept results at each checkpoint beside what it had cost."""

from __future__ import annotations

import json
from pathlib import Path

import committed
import numpy as np
import pandas as pd
import pytest
import torch

from probzero.__main__ import main
from probzero.commands.measure import SELFPLAY, cumulative_costs
from probzero.config import Network
from probzero.errors import ProbZeroError
from probzero.games import make
from probzero.games.base import list_moves
from probzero.network.checkpoint import CheckpointInfo, save_checkpoint
from probzero.network.inference import Evaluator
from probzero.network.model import build
from probzero.report.study.inputs import COSTS
from probzero.report.tables import SHARD_SUMS, TRAINING
from probzero.truth.positions import move_masks, states_of

GAME = make("othello", size=4)
pytestmark = pytest.mark.usefixtures("one_thread")


def smallest(variant: str) -> str:
    """A variant of the study on 4×4 boards, small enough for a test; as JSON."""
    settings = committed.parsed("study-smoke").variants[variant].as_dict()
    settings["game"]["size"] = 4
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


def measure(variant: str, positions: Path, output: Path, *arguments: str) -> pd.DataFrame:
    common = ["--config", smallest(variant), "--seed", "4", "--variant", variant, "--positions", str(positions)]
    assert main(["measure", *common, *arguments, "--output", str(output)]) == 0
    table = pd.read_csv(output)
    assert list(table.columns) == [
        "variant", "seed", "iteration", "particles", "phase", "positions", "kept", *COSTS,
    ]  # fmt: skip
    assert set(table.variant) == {variant} and set(table.seed) == {4}
    assert (table.kept <= table.positions).all() and (table.kept >= 0).all()
    strata = decisive(positions).groupby("phase").size()
    for _, measured in table.groupby(["iteration", "particles"]):
        assert measured.set_index("phase").positions.to_dict() == strata.to_dict()
    return table


def test_measures_of_uct_need_no_checkpoint_and_cost_nothing(positions: Path, tmp_path: Path) -> None:
    table = measure("uct", positions, tmp_path / "measures.csv")
    assert set(table.iteration) == {0} and set(table.particles) == {6, 12}  # no network, so no raw policy
    assert not table[list(COSTS)].to_numpy().any()
    assert table.kept.sum() > 0
    again = measure("uct", positions, tmp_path / "again.csv")
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
    network, path = Network(blocks=1, channels=8), tmp_path / "0005.safetensors"
    save_checkpoint(
        path, build(GAME.shape, network, seed_key=0), CheckpointInfo("probzero", 4, 5, GAME.described, network)
    )
    common = ["--config", smallest("probzero"), "--seed", "4", "--variant", "probzero", "--positions", str(positions)]
    assert main(["measure", *common, "--checkpoints", str(path), "--output", str(tmp_path / "short.csv")]) == 2
    assert "expected metrics up to iteration 5, found 0" in capsys.readouterr().err
    assert not (tmp_path / "short.csv").exists()


def test_measures_of_checkpoints_tell_what_each_has_cost(
    positions: Path, metrics: tuple[list[Path], list[Path]], tmp_path: Path
) -> None:
    network, checkpoints, models = Network(blocks=1, channels=8), [], {}
    for iteration in (0, 2):
        models[iteration] = build(GAME.shape, network, seed_key=iteration)
        checkpoints.append(tmp_path / f"{iteration:04}.safetensors")
        save_checkpoint(
            checkpoints[-1], models[iteration], CheckpointInfo("probzero", 4, iteration, GAME.described, network)
        )
    files = {"--checkpoints": checkpoints, "--selfplay": metrics[0], "--training": metrics[1]}
    arguments = [text for name, paths in files.items() for text in (name, *map(str, paths))]
    table = measure("probzero", positions, tmp_path / "measures.csv", *arguments)
    assert set(zip(table.iteration, table.particles, strict=True)) == {(i, p) for i in (0, 2) for p in (0, 6, 12)}
    for iteration in models:
        for row in table[table.iteration == iteration][list(COSTS)].to_dict("records"):
            assert row == pytest.approx(spent(iteration))
    # The raw policy, position by position.
    truth = decisive(positions)
    states = torch.from_numpy(states_of(GAME, truth))
    moves, keeping = list_moves(GAME.legal(states), GAME.most_moves), move_masks(GAME, truth.keeping)
    for iteration, model in models.items():
        prior = Evaluator(model.eval(), GAME, "cpu")(states, moves).prior
        raw = moves[torch.arange(len(truth)), prior.argmax(1)]
        kept = keeping[np.arange(len(truth)), raw.numpy()]
        found = table[(table.iteration == iteration) & (table.particles == 0)].set_index("phase").kept
        assert found.to_dict() == pd.Series(kept.astype(int)).groupby(truth.phase).sum().to_dict()
