"""The Makefile: what it hands to Snakemake, and that nothing in SEED gets to be a command."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from probzero import config

ROOT = Path(__file__).parents[2]


def make(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """What make would do."""
    line = ["make", "--dry-run", "--no-print-directory", *arguments]
    return subprocess.run(
        line, cwd=ROOT, env={**os.environ, **variables}, capture_output=True, text=True, check=False, timeout=60
    )


def last(*arguments: str) -> str:
    shown = make(*arguments)
    assert shown.returncode == 0, shown.stderr
    return " ".join(shown.stdout.splitlines()[-1].split())


@pytest.mark.parametrize(
    ("arguments", "flags"),
    [
        (["reproduce"], "--configfile config/laptop.yaml"),
        (["smoke"], "--configfile config/smoke.yaml"),
        (["reproduce", "CORES=3", "SCALE=paper"], "--configfile config/paper.yaml"),
        (["reproduce", "SEED=12"], "--configfile config/laptop.yaml --config 'seeds=[12]' name=laptop-seed12"),
        (["reproduce", "SEED=0"], "--configfile config/laptop.yaml --config 'seeds=[0]' name=laptop-seed0"),
        (["study"], "--configfile config/study.yaml"),
        (["study", "SIZE=-smoke"], "--configfile config/study.yaml config/study-smoke.yaml"),
        (["study", "STUDY=settings"], "--configfile config/settings.yaml"),
    ],
    ids=" ".join,
)
def test_a_run_is_one_call_of_snakemake(arguments: list[str], flags: str) -> None:
    cores = "3" if "CORES=3" in arguments else "all"
    assert last(*arguments) == f".venv/bin/snakemake --cores {cores} {flags}"


def test_4x4_takes_five_seeds_when_it_is_set_beside_the_published_networks(tmp_path: Path) -> None:
    (tmp_path / "model_iter_10.pt").touch()
    alone, beside = (make("othello4", *more).stdout for more in ([], [f"PUBLISHED={tmp_path}"]))
    assert "--configfile config/othello4.yaml" in alone and "seeds" not in alone and "compare-published" not in alone
    assert "--config 'seeds=[0,1,2,3,4]'" in beside and f"--published {tmp_path}/model_iter_10.pt --trusted" in beside


@pytest.mark.parametrize(
    "seed",
    ["`touch {}`", "$(touch {})", "$$(touch {})", "$(shell touch {})", "1'; touch {}; '", "1;touch {}", "1 2", "1\n2",
     "010", "00", "-1", "1.5", "1e3", "[1]", "one"],
)  # fmt: skip
@pytest.mark.parametrize("place", ["command line", "environment"])
def test_a_seed_that_is_no_number_is_refused_before_a_shell_sees_it(seed: str, place: str, tmp_path: Path) -> None:
    text = seed.replace("{}", str(tmp_path / "made"))
    shown = make("reproduce", f"SEED={text}") if place == "command line" else make("reproduce", SEED=text)
    assert shown.returncode != 0 and "SEED: expected a whole number, found" in shown.stderr
    assert shown.stdout == "" and not (tmp_path / "made").exists()


def test_a_study_has_its_own_seeds() -> None:
    assert "SEED: expected none with a study" in make("study", "SEED=1").stderr


def test_a_run_is_called_like_its_file() -> None:
    """The Makefile finds results/<scale> by the name of config/<scale>.yaml."""
    for path in (ROOT / "config").glob("*.yaml"):
        raw, _ = config.read(path)
        assert raw["name"] == path.stem


def test_a_check_and_a_study_are_different_words() -> None:
    assert last("check") == ".venv/bin/probzero check --run results/laptop --reference results/reference/laptop"
    assert "results/reference/settings" in make("reference-study", "STUDY=settings").stdout


def test_verify_interrupts_the_second_of_two_runs_and_compares_them() -> None:
    plan = [" ".join(line.split()) for line in make("verify").stdout.splitlines() if ".venv/bin/" in line]
    first, half, whole, compared = plan[-4:]
    second = ".venv/bin/snakemake --directory .verify/second --cores 1"
    assert "--directory .verify/first --cores 2" in first and half.startswith(second) and whole.startswith(second)
    assert half == f"{whole} -- results/smoke/seed0/checkpoints/0002.safetensors"
    assert compared.startswith(".venv/bin/probzero same .verify/first/results/smoke .verify/second/results/smoke")


def test_only_test_all_asks_for_more_than_python() -> None:
    assert last("test").endswith('-m "not slow and not system"')
    assert last("test-all").endswith("--dist loadfile")
    linters = make("lint").stdout
    assert all(f".venv/bin/{tool}" in linters for tool in ("ruff check", "snakefmt --check", "lint-imports", "mypy"))
