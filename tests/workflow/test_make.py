"""The Makefile: what it hands to Snakemake, and that nothing in SEED gets to be a command."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from probzero import config, study

ROOT = Path(__file__).parents[2]


def make(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """What make would do."""
    line = ["make", "--dry-run", "--no-print-directory", *arguments]
    return subprocess.run(
        line, cwd=ROOT, env={**os.environ, **variables}, capture_output=True, text=True, check=False, timeout=300
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
        (["study", "STUDY=study"], "--configfile config/study.yaml"),
        (["study", "STUDY=study", "SIZE=-smoke"], "--configfile config/study.yaml config/study-smoke.yaml"),
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


@pytest.mark.parametrize("size", ["", "-smoke"])
def test_the_study_of_the_protocol_goes_from_factorial_to_verdicts_in_its_order(size: str) -> None:
    shown = make("study", "CORES=2", *([f"SIZE={size}"] if size else [])).stdout
    plan = [line.strip() for line in " ".join(shown.split()).split(".venv/bin/")]
    laid = f" config/{{}}{size}.yaml" if size else ""
    alone = "snakemake --cores 2 --configfile "
    studies = [line for line in plan if line.startswith("snakemake") and " -- " not in line]
    assert studies == [
        f"{alone}config/factorial.yaml{laid.format('factorial')}",
        f"{alone}results/tuning{size}.json",
        f"{alone}results/rivals{size}.json{laid.format('rivals')}",
        f"{alone}results/default-scale{size}.json{laid.format('default-scale')}",
        f"{alone}config/budgets.yaml{laid.format('budgets')}",
    ]
    steps = [line for line in plan if line.startswith("probzero")]
    words = [line.split()[:3] for line in steps]
    actions = [line[1] + (f" {line[2]}" if line[1] == "tuning" else "") for line in words if line[1] != "openings"]
    assert actions == ["tuning draw", "tuning pick", "tuning apply", "tuning apply", "outcomes", "verdicts"]
    assert f"--space config/tuning{size}.yaml" in steps[0] and f"--output results/study{size}/verdicts.csv" in steps[-1]


def test_what_is_laid_over_the_studies_fits_them(tmp_path: Path) -> None:
    for name in ("factorial", "rivals", "default-scale"):
        raw, laid = (config.read(ROOT / "config" / f"{name}{size}.yaml")[0] for size in ("", "-smoke"))
        base = study.overlaid(raw["base"], laid["base"])
        found = study.parse({**raw, "name": laid["name"], "seeds": laid["seeds"], "base": base}, name)
        assert len(found.variants) == len(raw["variants"]) and found.seeds == (0, 1)
        last = found.variants[found.reference].truth
        assert last.particles * last.batches[-1] >= 96  # the budget of the verdicts


@pytest.mark.parametrize(
    ("arguments", "file", "name", "targets"),
    [
        (("SCALE=smoke",), "config/smoke.yaml", "smoke", "-- all page"),
        (("SEED=1",), "config/laptop.yaml --config 'seeds=[1]' name=laptop-seed1", "laptop-seed1", "-- all page"),
        (("STUDY=factorial",), "config/factorial.yaml", "factorial", ""),
    ],
)
def test_a_report_is_made_of_what_is_finished_first(
    arguments: tuple[str, ...], file: str, name: str, targets: str
) -> None:
    *_, made, reported = " ".join(make("report", "CORES=2", *arguments).stdout.split()).split(".venv/bin/")
    asked = f"--configfile {file} {targets}".strip()
    assert made.strip() == f"snakemake --cores 2 {asked}"
    assert reported.strip() == f"snakemake --cores 2 --report results/{name}/report.html {asked}"


def test_a_study_has_its_own_seeds() -> None:
    assert "SEED: expected none with a study" in make("study", "SEED=1").stderr


def test_a_run_is_called_like_its_file() -> None:
    """The Makefile finds results/<scale> by the name of config/<scale>.yaml."""
    for path in (ROOT / "config").glob("*.yaml"):
        raw, _ = config.read(path)
        assert raw["name"] == path.stem


def test_a_check_and_a_study_are_different_words() -> None:
    assert last("check") == ".venv/bin/probzero check --run results/laptop --reference results/reference/laptop"
    of_seed = last("check", "SEED=1")
    assert of_seed == ".venv/bin/probzero check --run results/laptop-seed1 --reference results/reference/laptop"
    assert "for name in settings;" in make("reference-study", "STUDY=settings").stdout
    assert "for name in factorial tuning rivals default-scale budgets study;" in make("reference-study").stdout


def test_verify_interrupts_the_second_of_two_runs_and_compares_them() -> None:
    plan = [" ".join(line.split()) for line in make("verify").stdout.splitlines() if ".venv/bin/" in line]
    first, half, whole, compared = plan[-4:]
    second = ".venv/bin/snakemake --directory .verify/second --cores 1"
    assert "--directory .verify/first --cores 2" in first and half.startswith(second) and whole.startswith(second)
    assert half == f"{whole} -- results/smoke/seed0/checkpoints/0002.safetensors"
    assert compared.startswith(".venv/bin/probzero same .verify/first/results/smoke .verify/second/results/smoke")


def installing(*arguments: str) -> list[str]:
    """The calls of pip with which an environment is made."""
    plan = make("--always-make", ".venv/.installed", *arguments).stdout
    return [" ".join(line.split()) for line in plan.splitlines() if " -m pip " in line]


def test_what_is_installed_is_held_to_the_hashes_of_the_lock() -> None:
    build, processors, whole, cuda, ours = installing()
    for line, lock in (
        (build, "workflow/build.lock"), (processors, "workflow/cpu.lock"), (whole, "requirements.lock"),
        (cuda, "workflow/cuda.lock"),
    ):  # fmt: skip
        assert f"install --require-hashes --no-deps --no-build-isolation -r {lock}" in line
    assert processors.endswith("|| true")  # most machines have no source of it
    assert "IS_CUDA" not in cuda and "'+cpu' in version('torch')" in cuda  # a build for processors needs none of it
    assert ours.endswith("install --no-deps --no-build-isolation -e .")


def test_a_machine_whose_torch_is_not_in_the_lock_may_do_without_hashes() -> None:
    (line,) = installing("LOCK=")
    assert line.endswith("install -c workflow/constraints.txt -e '.[test]'")


def test_only_test_all_asks_for_more_than_python() -> None:
    assert last("test").endswith('-m "not slow and not system"')
    assert last("test-all") == last("test").removesuffix(' -m "not slow and not system"')
    linters = make("lint").stdout
    assert all(f".venv/bin/{tool}" in linters for tool in ("ruff check", "snakefmt --check", "lint-imports", "mypy"))
