"""What the workflow costs, on paper."""

from __future__ import annotations

from pathlib import Path

import pytest
from sealed import MADE, made

from probzero import config
from probzero.__main__ import main
from probzero.errors import ProbZeroError
from probzero.files import COSTS, read_sealed, write_json
from probzero.report.cost import REST, STARTING, WITHOUT_JOB, WITHOUT_TRAINING, cost
from probzero.tables import TABLE

SETTINGS = {"game": "aaa", "training": "bbb"}


def job(results: Path, name: str, seconds: float) -> None:
    path = results / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"s\th:m:s\tmax_rss\n{seconds}\t0:00:01\t1.0\n")


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """Two seeds: self-play 30 + 20 s (28 + 18 at work), training 40 s (37), match 5 s, truth 6 s, the rest 4 + 1 s."""
    job(tmp_path, "seed0/benchmarks/selfplay/0001-0.tsv", 30)
    job(tmp_path, "seed1/benchmarks/selfplay/0001-0.tsv", 20)
    job(tmp_path, "seed0/benchmarks/train/0001.tsv", 40)
    job(tmp_path, "seed0/benchmarks/match/random.tsv", 5)
    job(tmp_path, "seed0/benchmarks/truth/positions.tsv", 6)
    job(tmp_path, "seed0/benchmarks/figures.tsv", 4)
    job(tmp_path, "benchmarks/paper.tsv", 1)
    for name, seconds in (
        ("seed0/costs/selfplay/0001-shard0.json", 28),
        ("seed1/costs/selfplay/0001-shard0.json", 18),
        ("seed0/costs/train/0001.json", 37),
    ):
        write_json(tmp_path / name, {"seconds": seconds}, COSTS, MADE)
    write_json(tmp_path / "config.json", {}, config.KIND, made(settings=SETTINGS))
    return tmp_path


def test_the_cores_time_is_shared_out_on_paper(results: Path) -> None:
    # 106 s of jobs in 60 s on two cores: 14 s without a job; starting up 50 + 40 − 83 = 7 s; 60 − 40 s no training.
    table = cost(results, 60, 2).set_index("kind")
    assert table.seconds.to_dict() == {
        "self-play": 50, "training": 40, "matches": 5, "measuring against truth": 6, REST: 5,
        STARTING: 7, WITHOUT_JOB: 14, WITHOUT_TRAINING: 20,
    }  # fmt: skip
    assert table.jobs.to_list() == [2, 1, 1, 1, 2, 0, 0, 0]
    assert table.share[WITHOUT_JOB] == pytest.approx(14 / 120)
    assert table.share[WITHOUT_TRAINING] == pytest.approx(20 / 60)


def test_a_study_is_shared_out_like_a_run(tmp_path: Path) -> None:
    # Two variants of one seed: self-play 10 + 12 s (21 at work), training 20 + 30 (47), 8 s of measuring, 4 of matches.
    for variant, played, trained in (("one", 10, 20), ("other", 12, 30)):
        job(tmp_path, f"{variant}/seed0/benchmarks/selfplay/0001-shard0.tsv", played)
        job(tmp_path, f"{variant}/seed0/benchmarks/train/0001.tsv", trained)
        job(tmp_path, f"{variant}/seed0/benchmarks/measure.tsv", 4)
        write_json(tmp_path / variant / "seed0/costs/selfplay/0001-shard0.json", {"seconds": played - 0.5}, COSTS, MADE)
        write_json(tmp_path / variant / "seed0/costs/train/0001.json", {"seconds": trained - 1.5}, COSTS, MADE)
    job(tmp_path, "seed0/benchmarks/match/one.tsv", 4)
    table = cost(tmp_path, 60, 2).set_index("kind")
    assert table.seconds.to_dict() == {
        "self-play": 22, "training": 50, "matches": 4, "measuring against truth": 8, REST: 0,
        STARTING: 4, WITHOUT_JOB: 36, WITHOUT_TRAINING: 30,
    }  # fmt: skip


def test_jobs_of_an_earlier_run_are_no_measurement(results: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ProbZeroError, match="jobs of 40 s at most"):
        cost(results, 20, 2)
    output = results / "cost.csv"
    assert main(["cost", "--run", str(results), "--wall", "20", "--cores", "2", "--output", str(output)]) != 0
    assert "found 106 s" in capsys.readouterr().err and not output.exists()
    assert main(["cost", "--run", str(results), "--wall", "60", "--cores", "2", "--output", str(output)]) == 0
    assert output.with_suffix(".md").is_file()
    assert read_sealed(output, TABLE)[1].settings == SETTINGS


def test_a_file_that_is_no_benchmark_is_named(results: Path) -> None:
    (results / "benchmarks/paper.tsv").write_text("what\n1\n")
    with pytest.raises(ProbZeroError, match=r"paper\.tsv: expected a benchmark file"):
        cost(results, 60, 2)
