"""The measures of a variant: shares of kept results at each checkpoint beside what it had cost."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import committed
import numpy as np
import pandas as pd
import pytest
import torch
from sealed import checkpoint_info, write_metrics

from probzero import files
from probzero.__main__ import main
from probzero.commands.measure import costs_until, work_done
from probzero.config import Network
from probzero.errors import ProbZeroError
from probzero.games import make
from probzero.games.base import list_moves
from probzero.network.checkpoint import save_checkpoint
from probzero.network.inference import Evaluator
from probzero.network.model import ProbZeroNet, build
from probzero.origin import Origin
from probzero.report.iteration_costs import SELFPLAY
from probzero.report.study.inputs import COSTS, WORK
from probzero.report.tables import SHARD_SUMS, TRAINING
from probzero.tables import write_csv
from probzero.truth.positions import KIND, REACHABLE, move_masks, states_of

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


def spending(output: Path) -> Path:
    return output.with_name(f"{output.stem}-costs.csv")


def command(variant: str, positions: Path, output: Path, *arguments: str) -> int:
    common = ["--config", smallest(variant), "--seed", "4", "--variant", variant, "--positions", str(positions)]
    return main(["measure", *common, *arguments, "--output", str(output), "--costs", str(spending(output))])


def measure(variant: str, positions: Path, output: Path, *arguments: str) -> pd.DataFrame:
    """Run the command; return what it measured, checked, without what it cost."""
    assert command(variant, positions, output, *arguments) == 0
    table, costs = pd.read_csv(output, dtype={"outcomes": str}), pd.read_csv(spending(output))
    assert list(table.columns) == [
        "variant",
        "seed",
        "iteration",
        "particles",
        "phase",
        "positions",
        "kept",
        "outcomes",
        *WORK,
    ]
    assert list(costs.columns) == ["variant", "seed", "iteration", *COSTS]
    assert set(costs.variant) == {variant} and set(costs.seed) == {4}
    assert costs.iteration.tolist() == table.iteration.unique().tolist()
    assert set(table.variant) == {variant} and set(table.seed) == {4}
    assert (table.kept <= table.positions).all() and (table.kept >= 0).all()
    strata = decisive(positions).groupby("phase").size()
    for _, measured in table.groupby(["iteration", "particles"]):
        assert measured.set_index("phase").positions.to_dict() == strata.to_dict()
    return table


def test_measures_of_uct_need_no_checkpoint_and_cost_nothing(positions: Path, tmp_path: Path) -> None:
    table = measure("uct", positions, tmp_path / "measures.csv")
    assert set(table.iteration) == {0} and set(table.particles) == {6, 12}  # no network, so no raw policy
    assert not table[list(WORK)].to_numpy().any()
    assert not pd.read_csv(spending(tmp_path / "measures.csv"))[list(COSTS)].to_numpy().any()
    assert table.kept.sum() > 0
    again = measure("uct", positions, tmp_path / "again.csv")
    assert again.equals(table)


def shard_numbers(iteration: int, shard: int, names: Sequence[str]) -> dict[str, float]:
    """Made-up numbers: every one tells which iteration, shard and column it is of."""
    columns = {name: 1000 * place + 10 * iteration + shard + 1 for place, name in enumerate(names)}
    return {"iteration": iteration, "shard": shard, "mean_plies": 9.0, **columns}


def training_numbers(iteration: int) -> dict[str, float]:
    return {**{name: 1.0 for name in TRAINING}, "iteration": iteration, "samples": 5**iteration}


Paths = dict[str, list[Path]]


@pytest.fixture
def left(tmp_path: Path) -> Paths:
    """What three iterations of two shards each left, by the option that names it, in no order."""
    found: Paths = {"--selfplay": [], "--training": [], "--selfplay-costs": [], "--training-costs": []}

    def write(option: str, name: str, content: dict[str, float]) -> None:
        kind = files.COSTS if "costs" in option else files.METRICS
        found[option].append(write_metrics(tmp_path / option / f"{name}.json", content, kind, seed=4))

    for iteration in (2, 3, 1):
        for shard in (1, 0):
            name = f"{iteration}-{shard}"
            write("--selfplay", name, shard_numbers(iteration, shard, SHARD_SUMS))
            write("--selfplay-costs", name, shard_numbers(iteration, shard, SELFPLAY))
        write("--training", str(iteration), training_numbers(iteration))
        write("--training-costs", str(iteration), {"iteration": iteration, "seconds": iteration / 4})
    return found


def total(name: str, names: Sequence[str], iteration: int) -> float:
    """The sum over all shards before a checkpoint."""
    before = range(1, iteration + 1)
    return sum(shard_numbers(number, shard, names)[name] for number in before for shard in (0, 1))


def done(iteration: int) -> dict[str, float]:
    """What the metrics above add up to before a checkpoint."""
    samples = sum(5**number for number in range(1, iteration + 1))
    played = {name: total(name, SHARD_SUMS, iteration) for name in ("games", "moves", "leaf_evaluations")}
    return {**played, "samples_seen": samples}


def spent(iteration: int) -> dict[str, float]:
    """What the costs above add up to."""
    counts = {name: total(name, SELFPLAY, iteration) for name in ("network_evaluations", "network_calls", "cache_hits")}
    trained = sum(number / 4 for number in range(1, iteration + 1))
    return {**counts, "selfplay_seconds": total("seconds", SELFPLAY, iteration), "training_seconds": trained}


def test_work_and_costs_are_those_before_each_checkpoint(left: Paths) -> None:
    work = work_done(left["--selfplay"], left["--training"], seed=4)
    costs = costs_until(left["--selfplay-costs"], left["--training-costs"], seed=4)
    for found, names, expected in ((work, WORK, done), (costs, COSTS, spent)):
        assert list(found.index) == [0, 1, 2, 3] and set(found.columns) == set(names)
        assert not found.loc[0].any()
        for iteration in (1, 2, 3):
            assert found.loc[iteration].to_dict() == pytest.approx(expected(iteration))


def test_metrics_and_costs_with_a_gap_are_refused(left: Paths) -> None:
    kept = {name: [path for path in paths if path.stem != "2"] for name, paths in left.items()}
    for read, end in ((work_done, ""), (costs_until, "-costs")):
        with pytest.raises(ProbZeroError, match=r"expected iterations 1 to 2, found \[1, 3\]"):
            read(left[f"--selfplay{end}"], kept[f"--training{end}"])


def test_metrics_and_costs_of_another_seed_are_refused(left: Paths) -> None:
    for read, end in ((work_done, ""), (costs_until, "-costs")):
        with pytest.raises(ProbZeroError, match=r"2-1\.json: seed: expected seed 0, found seed 4"):
            read(left[f"--selfplay{end}"], left[f"--training{end}"], seed=0)


def network_at(folder: Path, iteration: int) -> tuple[Path, ProbZeroNet]:
    """A checkpoint of the seed and the iteration, and its network."""
    settings, path = Network(blocks=1, channels=8), folder / f"{iteration:04}.safetensors"
    model = build(GAME.shape, settings, seed_key=iteration)
    save_checkpoint(path, model, checkpoint_info(GAME, settings, seed=4, iteration=iteration, shard=None))
    return path, model


def options(**paths: list[Path]) -> list[str]:
    return [text for name, found in paths.items() for text in (name, *map(str, found))]


@pytest.mark.parametrize("lacking", ["metrics", "costs"])
def test_a_checkpoint_without_metrics_or_costs_is_refused(
    lacking: str, positions: Path, left: Paths, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, _ = network_at(tmp_path, 2)
    kept = {name: paths for name, paths in left.items() if ("costs" in name) == (lacking == "metrics")}
    output = tmp_path / "short.csv"
    assert command("probzero", positions, output, *options(**{"--checkpoints": [path], **kept})) == 2
    assert f"expected {lacking} up to iteration 2, found 0" in capsys.readouterr().err
    assert not output.exists() and not spending(output).exists()


def test_measures_of_checkpoints_tell_what_was_done_and_apart_from_it_what_it_cost(
    positions: Path, left: Paths, tmp_path: Path
) -> None:
    made = {iteration: network_at(tmp_path, iteration) for iteration in (0, 2)}
    models = {iteration: model for iteration, (_, model) in made.items()}
    arguments = options(**{"--checkpoints": [path for path, _ in made.values()], **left})
    table = measure("probzero", positions, tmp_path / "measures.csv", *arguments)
    assert set(zip(table.iteration, table.particles, strict=True)) == {(i, p) for i in (0, 2) for p in (0, 6, 12)}
    costs = pd.read_csv(spending(tmp_path / "measures.csv")).set_index("iteration")
    for iteration in models:
        for row in table[table.iteration == iteration][list(WORK)].to_dict("records"):
            assert row == pytest.approx(done(iteration))
        assert costs.loc[iteration, list(COSTS)].to_dict() == pytest.approx(spent(iteration))
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
        digits = table[(table.iteration == iteration) & (table.particles == 0)].set_index("phase").outcomes
        for phase, rows in truth.groupby("phase"):
            assert digits[phase] == "".join("1" if kept[row] else "0" for row in rows.index)


def test_the_last_checkpoint_meets_the_whole_fixed_set_and_those_before_it_one_in_so_many(
    positions: Path, left: Paths, tmp_path: Path
) -> None:
    fixed = pd.read_csv(positions, keep_default_na=False).assign(source=REACHABLE)
    write_csv(tmp_path / "fixed.csv", fixed, KIND, Origin(command="positions"))
    settings = json.loads(smallest("probzero"))
    settings["truth"]["curve_share"] = 3
    made = [network_at(tmp_path, iteration)[0] for iteration in (0, 2)]
    arguments = ["--config", json.dumps(settings), "--seed", "4", "--variant", "probzero", "--positions"]
    arguments += [str(tmp_path / "fixed.csv"), *options(**{"--checkpoints": made, **left})]
    output = tmp_path / "measures.csv"
    assert main(["measure", *arguments, "--output", str(output), "--costs", str(spending(output))]) == 0
    met = pd.read_csv(output).groupby(["iteration", "particles"]).positions.sum()
    share = fixed.iloc[::3]
    assert set(met[0]) == {(share.decisive == 1).sum()} and set(met[2]) == {(fixed.decisive == 1).sum()}
