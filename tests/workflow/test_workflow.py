"""The workflow: what it plans, what it refuses, and one whole run at the smoke scale that the slower tests share."""

from __future__ import annotations

import fcntl
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pandas as pd
import psutil
import pytest
import yaml
from killing import run_and_kill, temporary

from probzero import config, files
from probzero.__main__ import main
from probzero.report.same_files import compared

ROOT = Path(__file__).parents[2]
RULES = sorted((ROOT / "workflow" / "rules").glob("*.smk"))
SMOKE = ROOT / "config" / "smoke.yaml"
RUN = Path("results") / "smoke"
SEED = RUN / "seed0"
TABLES = ["training", "selfplay", "costs", "ratings", "differences", "pairings", "model", "truth", "errors",
          "calibration", "reliability", "perfect", "blunders", "efficiency", "certificates"]  # fmt: skip
FIGURES = ["elo", "win_rates", "training", "selfplay", "costs", "truth", "errors", "reliability", "blunders",
           "certificates"]  # fmt: skip
PLAYERS = ["iteration-0000", "iteration-0002", "iteration-0004", "random", "greedy", "mobility", "perfect"]
TRUTH = {"positions", "ceiling", "truth", "blunders", "certify"}
DEADLINE = 1800  # seconds after which a run counts as hanging


def command(folder: Path, *arguments: str, configfile: Path = SMOKE) -> list[str]:
    where = ["--snakefile", str(ROOT / "Snakefile"), "--directory", str(folder), "--configfile", str(configfile)]
    return [sys.executable, "-m", "snakemake", *arguments, "--cores", "2", "--nocolor", *where]


def snakemake(folder: Path, *arguments: str, configfile: Path = SMOKE) -> subprocess.CompletedProcess[str]:
    line = command(folder, *arguments, configfile=configfile)
    return subprocess.run(
        line, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, timeout=DEADLINE
    )


def planned(shown: subprocess.CompletedProcess[str]) -> dict[str, int]:
    """Jobs by rule from the table of a dry run."""
    assert shown.returncode == 0, shown.stdout
    table = shown.stdout.partition("Job stats:")[2].partition("total")[0]
    return {name: int(count) for name, count in re.findall(r"^(\w+) +(\d+)$", table, re.MULTILINE)}


def smoke(**changes: Any) -> dict[str, Any]:
    raw = yaml.safe_load(SMOKE.read_text(encoding="utf-8"))
    for name, value in changes.items():
        raw[name] = {**raw[name], **value} if isinstance(value, dict) else value
    return raw


def written(folder: Path, raw: dict[str, Any]) -> Path:
    path = folder / "changed.yaml"
    path.write_text(yaml.safe_dump(raw), encoding="utf-8")
    return path


def test_every_rule_has_an_environment_a_log_a_benchmark_threads_and_resources() -> None:
    blocks = [
        block.partition("\n\n\n")[0]
        for path in RULES
        for block in re.split(r"^ *rule ", path.read_text(encoding="utf-8"), flags=re.M)[1:]
    ]
    assert len(blocks) >= 8
    for block in blocks:
        for directive in ("output:", "log:", "benchmark:", "conda:", "threads:", "mem_mb=", "runtime=", "shell:"):
            assert re.search(rf"\n +{directive}", block), f"{block.splitlines()[0]} {directive}"
        assert re.search(r"\| tee \{log:q\}\"$", block.strip()), block.splitlines()[0]


def test_every_rule_names_the_one_environment() -> None:
    for path in RULES:
        for name in re.findall(r"conda:\n +\"(.+)\"", path.read_text(encoding="utf-8")):
            assert (path.parent / name).resolve() == ROOT / "environment.yml"


def test_every_figure_is_in_the_report_and_every_caption_is_used() -> None:
    text = "".join(path.read_text(encoding="utf-8") for path in RULES)
    captions = {path.stem for path in (ROOT / "workflow" / "report").glob("*.rst")}
    named = set(re.findall(r'report: "../report/(\w+).rst"', text))
    named |= set(re.findall(r'in_report\(\s*f?"[^"]*", "[^"]*", "(\w+)"', text))
    listed = {name for line in re.findall(r'^    "[\w ]+": (\[.*\]),$', text, re.M) for name in json.loads(line)}
    assert listed == set(FIGURES)
    (studied,) = re.findall(r"^STUDY_FIGURES = (\[[^\]]*\])", text, re.M)
    assert captions == named | listed | set(json.loads(studied))


def test_the_linter_has_nothing_to_say(tmp_path: Path) -> None:
    shown = snakemake(tmp_path, "--lint")
    assert shown.returncode == 0, shown.stdout


@pytest.mark.parametrize(
    ("scale", "expected"),
    [
        ("smoke", {"selfplay": 4 * 2 + 1, "train": 4, "match": 3, "truth": 3 + 1, "certify": 3}),
        ("laptop", {"selfplay": 60, "train": 60, "match": 9, "truth": 9 + 1, "certify": 9}),
        ("paper", {"selfplay": 400 * 2 + 1, "train": 400, "match": 8, "truth": 8 + 1, "certify": 8}),
        ("othello4", {"selfplay": 12 + 1, "train": 12, "match": 7, "truth": 7 + 1, "certify": 7}),
    ],
)
def test_every_scale_plans_all_its_jobs(scale: str, expected: dict[str, int], tmp_path: Path) -> None:
    jobs = planned(snakemake(tmp_path, "--dry-run", "--quiet", "rules", configfile=ROOT / "config" / f"{scale}.yaml"))
    once = ("all", "configuration", "init", "anchor_matches", "positions", "ceiling", "blunders", "report", "paper")
    assert jobs == {**dict.fromkeys(once, 1), **expected}


def test_the_page_of_a_run_is_made_of_its_last_network(tmp_path: Path) -> None:
    shown = snakemake(tmp_path, "page", "--dry-run", "--quiet", "host")
    jobs = planned(shown)
    assert jobs["page"] == 1 and "report" not in jobs and (jobs["train"], jobs["match"], jobs["certify"]) == (4, 1, 1)
    made = "probzero explore results/smoke/seed0/checkpoints/0004.safetensors"
    assert made in shown.stdout and "--export results/smoke/explore.html" in shown.stdout


def test_seeds_are_independent_runs(tmp_path: Path) -> None:
    jobs = planned(
        snakemake(tmp_path, "--dry-run", "--quiet", "rules", configfile=written(tmp_path, smoke(seeds=[0, 7])))
    )
    assert (jobs["init"], jobs["train"], jobs["report"], jobs["configuration"]) == (2, 8, 2, 1)


def test_a_seed_and_a_name_on_the_command_line_go_before_those_of_the_file(tmp_path: Path) -> None:
    shown = snakemake(tmp_path, "--dry-run", "--quiet", "host", "--config", "seeds=[3]", "name=smoke-seed3")
    assert "output: results/smoke-seed3/seed3/checkpoints/0001.safetensors" in shown.stdout
    assert "smoke-seed3/seed0" not in shown.stdout and "results/smoke/" not in shown.stdout


@pytest.mark.parametrize(
    "game",
    [{"name": "othello", "size": 6}, {"name": "connect_four", "width": 7, "height": 6}],
    ids=lambda game: game["name"],
)
def test_a_game_without_a_solver_is_learned_played_and_rated(game: dict[str, Any], tmp_path: Path) -> None:
    raw = smoke(arena={"anchors": ["random", "mobility"]})
    configfile = written(tmp_path, {**raw, "game": game})
    shown = snakemake(tmp_path, "--dry-run", "--quiet", "host", configfile=configfile)
    once = ("all", "configuration", "init", "anchor_matches", "report")
    assert planned(shown) == {**dict.fromkeys(once, 1), "selfplay": 8, "train": 4, "match": 3}
    assert "probzero report" in shown.stdout and "probzero truth" not in shown.stdout


@pytest.mark.parametrize(("lag", "networks"), [(0, ["0000", "0001", "0002"]), (1, ["0000", "0000", "0001"])])
def test_the_network_that_plays_may_lag_behind(lag: int, networks: list[str], tmp_path: Path) -> None:
    configfile = written(tmp_path, smoke(selfplay={"lag": lag}))
    shown = snakemake(tmp_path, "--dry-run", "--quiet", "host", configfile=configfile)
    for iteration, network in enumerate(networks, start=1):
        played = rf"results/smoke/seed0/selfplay/{iteration:04}/shard0\.safetensors"
        inputs = re.findall(rf"rule selfplay:\n +input: (\S+)\n +output: {played}", shown.stdout)
        assert inputs == [f"results/smoke/seed0/checkpoints/{network}.safetensors"], shown.stdout


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"game": {"size": 7}}, "game.size: expected one of 4, 5, 6, 8, found 7"),
        ({"arena": {"checkpoints": [0, 9]}}, "arena.checkpoints: expected at most 4, found 9"),
        ({"training": {"rate": 1}}, "training.rate: expected no such key"),
    ],
)
def test_a_bad_configuration_stops_the_workflow_before_any_job(
    changes: dict[str, Any], expected: str, tmp_path: Path
) -> None:
    configfile = written(tmp_path, smoke(**changes))
    shown = snakemake(tmp_path, configfile=configfile)
    assert shown.returncode != 0
    (line,) = [line for line in shown.stdout.splitlines() if expected in line]
    assert str(configfile) in line
    assert "Traceback" not in shown.stdout
    assert not (tmp_path / "results").exists()


def test_a_key_that_stands_twice_in_a_file_is_refused(tmp_path: Path) -> None:
    configfile = tmp_path / "twice.yaml"
    configfile.write_text(SMOKE.read_text(encoding="utf-8") + "seeds: [1]\n", encoding="utf-8")
    shown = snakemake(tmp_path, "--dry-run", configfile=configfile)
    assert shown.returncode != 0 and f"{configfile}: seeds: expected one such key" in shown.stdout


def test_a_forgotten_setting_is_not_taken_from_the_default_scale(tmp_path: Path) -> None:
    raw = smoke()
    del raw["selfplay"]["games"]
    shown = snakemake(tmp_path, "--dry-run", configfile=written(tmp_path, raw))
    assert (
        shown.returncode != 0
        and "selfplay.games: expected a whole number from 1 to 100,000, found nothing" in shown.stdout
    )


def test_two_runs_do_not_write_to_one_folder_at_once(tmp_path: Path) -> None:
    target = str(RUN / "config.json")
    (tmp_path / RUN).mkdir(parents=True)
    with (tmp_path / RUN / ".lock").open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        refused = snakemake(tmp_path, target)
        assert refused.returncode != 0 and "results/smoke: another run is writing there" in refused.stdout
        assert "Traceback" not in refused.stdout and not (tmp_path / target).exists()
        assert snakemake(tmp_path, target, "--dry-run").returncode == 0
        assert snakemake(tmp_path, "results/other/config.json", "--config", "name=other").returncode == 0
    assert snakemake(tmp_path, target).returncode == 0
    assert (tmp_path / target).exists()


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """One whole run: its folder and what it said."""
    folder = tmp_path_factory.mktemp("smoke")
    shown = snakemake(folder)
    assert shown.returncode == 0, shown.stdout
    return folder, shown.stdout


@pytest.mark.smoke
def test_a_run_leaves_every_table_and_figure(finished: tuple[Path, str]) -> None:
    folder, _ = finished
    for table in TABLES:
        assert len(pd.read_csv(folder / SEED / "tables" / f"{table}.csv"))
        assert (folder / SEED / "tables" / f"{table}.md").read_text(encoding="utf-8").startswith("|")
    for figure in FIGURES:
        assert (folder / SEED / "figures" / f"{figure}.png").read_bytes().startswith(b"\x89PNG")
        assert (folder / SEED / "figures" / f"{figure}.pdf").read_bytes().startswith(b"%PDF")
    assert json.loads((folder / RUN / "config.json").read_text(encoding="utf-8")) == config.parse(smoke()).as_dict()
    made = {path.stem for path in (folder / SEED / "checkpoints").iterdir()}
    assert made == {*(f"{number:04}" for number in range(5)), "ceiling"}


@pytest.mark.smoke
def test_the_report_of_a_run_is_one_page_that_asks_for_nothing_else(finished: tuple[Path, str], tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    shown = snakemake(finished[0], "--report", str(page))
    assert shown.returncode == 0, shown.stdout
    text = page.read_text(encoding="utf-8")
    assert all(f"{SEED}/figures/{figure}.png" in text for figure in FIGURES)
    assert all(f"{SEED}/tables/{table}.csv" in text for table in TABLES) and f"{RUN}/paper.pdf" in text
    assert "on a logarithmic axis" in text and "each says below which" in text.replace(
        "\n", " "
    )  # a caption, the heading
    assert not re.findall(r'<(?:script|link|img|iframe)[^>]* (?:src|href)="https?:', text)


@pytest.mark.smoke
def test_every_player_meets_every_other_from_both_sides(finished: tuple[Path, str]) -> None:
    games = pd.concat(pd.read_csv(path) for path in (finished[0] / SEED / "matches").glob("*.csv"))
    counts = games.groupby(["first", "second"]).size()
    assert counts.to_dict() == {(one, two): 8 for one in PLAYERS for two in PLAYERS if one != two}


@pytest.mark.smoke
def test_progress_is_one_line_a_job(finished: tuple[Path, str]) -> None:
    _, said = finished
    for iteration in range(1, 5):
        for what in ("self-play shard 0", "self-play shard 1", "training"):
            assert len(re.findall(rf"^iteration {iteration}/4 · {what} · .+$", said, re.MULTILINE)) == 1
    assert re.search(r"iteration 4/4 · self-play .+ leaf evaluations/s .+ · about \d+ \w+ of learning left", said)
    assert not re.search(r"Traceback|Warning|Select jobs|Execute \d|^rule |Finished job", said, re.MULTILINE)


@pytest.mark.smoke
def test_every_job_leaves_its_log_and_its_benchmark(finished: tuple[Path, str], tmp_path: Path) -> None:
    folder, said = finished
    jobs = planned(snakemake(tmp_path, "--dry-run", "--quiet", "rules"))
    logs = list((folder / RUN).rglob("*.log"))
    assert len(logs) == len(list((folder / RUN).rglob("*.tsv"))) == sum(jobs.values()) - jobs["all"]
    lines = [line for log in logs for line in log.read_text(encoding="utf-8").splitlines()]
    assert len(lines) >= len(logs) and all(line in said for line in lines)  # those of two jobs may alternate


@pytest.mark.smoke
def test_a_run_ends_with_what_it_cost(finished: tuple[Path, str]) -> None:
    folder, said = finished
    cost = pd.read_csv(folder / RUN / "cost.csv").set_index("kind")
    assert cost.jobs[["self-play", "training", "matches"]].to_list() == [9, 4, 4]
    cores_time, run_time = (cost.seconds / cost.share)[["training", "the run without a training job"]]
    assert cores_time / run_time == pytest.approx(2, rel=1e-3)
    assert (folder / RUN / "cost.md").read_text(encoding="utf-8").strip() in said


@pytest.mark.smoke
def test_another_game_goes_through_the_whole_workflow(tmp_path: Path) -> None:
    """Of half the length of config/connect-four.yaml, with one shard."""
    raw = yaml.safe_load((ROOT / "config" / "connect-four.yaml").read_text(encoding="utf-8"))
    raw["selfplay"]["shards"], raw["training"]["iterations"], raw["arena"]["checkpoints"] = 1, 2, [0, 2]
    shown = snakemake(tmp_path, configfile=written(tmp_path, raw))
    assert shown.returncode == 0, shown.stdout
    tables = tmp_path / "results" / "connect-four" / "seed0" / "tables"
    ratings = pd.read_csv(tables / "ratings.csv")
    assert set(ratings["player"]) == {*PLAYERS} - {"greedy", "iteration-0004"} and ratings["rating"].notna().all()
    truth = pd.read_csv(tables / "truth.csv")
    assert (truth["positions"] > 0).all() and truth["kept_share"].between(0, 1).all()


def test_a_second_run_has_nothing_to_do(finished: tuple[Path, str]) -> None:
    shown = snakemake(finished[0])
    assert shown.returncode == 0 and "Nothing to be done" in shown.stdout


@pytest.mark.smoke
@pytest.mark.parametrize(
    ("changes", "again"),
    [
        ({"arena": {"openings": 9}}, {"match", "anchor_matches", "report"}),
        ({"training": {"samples": 4097}}, {"train", "selfplay", "match", "report"} | TRUTH),
        ({"truth": {"openings": 5}}, {"report"} | TRUTH),
        ({"name": "smoke", "seeds": [0, 1]}, None),
    ],
)
def test_only_what_depends_on_a_setting_is_done_again(
    changes: dict[str, Any], again: set[str] | None, finished: tuple[Path, str], tmp_path: Path
) -> None:
    configfile = written(tmp_path, smoke(**changes))
    jobs = planned(snakemake(finished[0], "--dry-run", "--quiet", "rules", configfile=configfile))
    if again is not None:
        assert set(jobs) == again | {"all", "configuration", "paper"}
    else:  # a further seed is all new, and the first stays as it is
        assert (jobs["init"], jobs["selfplay"], jobs["train"], jobs["match"]) == (1, 9, 4, 3)


@pytest.mark.smoke
def test_what_is_committed_of_a_run_replays_its_tournament(finished: tuple[Path, str], tmp_path: Path) -> None:
    committed = tmp_path / "reference" / "smoke"
    assert main(["reference", "--run", str(finished[0] / RUN), "--output", str(committed)]) == 0
    assert main(["verify-results", str(committed.parent)]) == 0
    networks = {player: committed / "seed0" / "checkpoints" / f"{player[-4:]}.safetensors" for player in PLAYERS[:3]}
    named = {player: f"{player}={networks[player]}" if player in networks else player for player in PLAYERS}
    for player, others in (("iteration-0004", [*PLAYERS[:2], *PLAYERS[3:]]), ("perfect", PLAYERS[3:6])):
        again = tmp_path / "again" / f"{player}.csv"
        settings = ["--config", str(committed / "config.json"), "--seed", "0"]
        against = ["--against", *(named[other] for other in others)]
        assert main(["tournament", *settings, "--player", named[player], *against, "--output", str(again)]) == 0
        record = committed / "seed0" / "matches" / f"{player}.csv"
        assert again.read_bytes() == record.read_bytes()
        assert files.seal_of(again).read_bytes() == files.seal_of(record).read_bytes()


@pytest.mark.smoke
def test_a_run_that_was_killed_goes_on_to_the_same_bytes(finished: tuple[Path, str], tmp_path: Path) -> None:
    """One kill, as far as the first trained network; `tests/trust/test_kills.py` has twenty of a whole run."""
    folder, target = tmp_path / "killed", str(SEED / "checkpoints" / "0001.safetensors")
    moments: list[bool] = []

    def playing() -> bool:
        if not moments and (folder / SEED / "selfplay" / "0001" / "shard0.safetensors").exists():
            (leader,) = [child for child in psutil.Process().children() if str(folder) in child.cmdline()]
            os.killpg(leader.pid, signal.SIGSTOP)  # so that it does not come to its end meanwhile
            moments.append("another run is writing there" in snakemake(folder, target).stdout)  # and leaves it alone
        return bool(moments)

    end = run_and_kill(command(folder, target), tmp_path / "said", playing)
    assert moments == [True] and end.code == -signal.SIGKILL, end.said
    assert not (folder / target).exists()
    shown = snakemake(folder, target, "--quiet", "host")
    assert shown.returncode == 0, shown.stdout
    assert "rule init" not in shown.stdout and "rule train" in shown.stdout  # what was done before the kill is kept
    made = list(compared(folder / RUN))
    assert len(made) >= 9 and temporary(folder) == []
    assert all((folder / RUN / name).read_bytes() == (finished[0] / RUN / name).read_bytes() for name in made)


@pytest.mark.smoke
def test_a_dataset_that_was_damaged_stops_the_run_with_one_line(finished: tuple[Path, str], tmp_path: Path) -> None:
    folder = tmp_path / "copy"
    shutil.copytree(finished[0], folder, symlinks=True)
    name = SEED / "selfplay" / "0004" / "shard1.safetensors"
    (folder / name).write_bytes((folder / name).read_bytes()[:-8])
    shown = snakemake(folder)
    assert shown.returncode != 0
    lines = [line for line in shown.stdout.splitlines() if line.startswith("probzero: error: ")]
    assert len(lines) == 1 and str(name) in lines[0]
    assert "Traceback" not in shown.stdout
    assert not (folder / SEED / "checkpoints" / "0004.safetensors").exists()


def test_jobs_on_a_gpu_take_it_in_turns(tmp_path: Path) -> None:
    """One job that wants the GPU after the other, unless --resources names more; others do without."""
    raw = smoke(selfplay={"device": "cuda"}, training={"device": "cpu"})
    shown = snakemake(tmp_path, "--dry-run", "--quiet", "host", configfile=written(tmp_path, raw)).stdout
    jobs = dict(re.findall(r"^rule (\w+):\n(?: .*\n)*? +resources: (.*)$", shown, re.MULTILINE))
    assert "gpu=1" in jobs["selfplay"] and "gpu=0" in jobs["train"]
    profile = yaml.safe_load((ROOT / "profiles" / "default" / "config.yaml").read_text(encoding="utf-8"))
    assert "gpu=1" in str(profile["resources"])
