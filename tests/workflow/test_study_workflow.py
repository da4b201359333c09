"""A study as a workflow: what it plans, and one small whole run, which is interrupted and goes on to the same bytes."""

from __future__ import annotations

import json
import re
import shlex
import signal
import subprocess
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml
from test_workflow import DEADLINE, ROOT, command, planned, snakemake

from probzero import config, study
from probzero.__main__ import main
from probzero.report.same_files import compared, differences

CONFIG = ROOT / "config"
VARIANTS = ["probzero", "alphazero", "uct", "root-only"]
TOP = Path("results") / "study-smoke"


def small(folder: Path) -> Path:
    """The smoke study of four variants alone: two that learn from a tree, one from games, one not at all."""
    raw = yaml.safe_load((CONFIG / "study.yaml").read_text(encoding="utf-8"))
    overlay = yaml.safe_load((CONFIG / "study-smoke.yaml").read_text(encoding="utf-8"))
    base: dict[str, Any] = {name: {**part, **overlay["base"].get(name, {})} if isinstance(part, dict) else part
                            for name, part in raw["base"].items()}  # fmt: skip
    variants = {name: raw["variants"][name] for name in VARIANTS}
    path = folder / "study.yaml"
    path.write_text(yaml.safe_dump({**raw, **overlay, "base": base, "variants": variants}), encoding="utf-8")
    return path


def test_a_study_plans_every_variant_and_seed(tmp_path: Path) -> None:
    jobs = planned(snakemake(tmp_path, "--dry-run", "--quiet", "rules", configfile=CONFIG / "study.yaml"))
    learners, seeds, iterations = 12, 3, 10
    assert jobs["init"] == learners * seeds
    assert jobs["selfplay"] == jobs["train"] == learners * seeds * iterations
    assert jobs["measure"] == (learners + 1) * seeds
    assert jobs["study_elo"] == seeds and jobs["study_report"] == 1


def test_everybody_meets_the_reference_its_first_rival_and_the_perfect_player(tmp_path: Path) -> None:
    raw = yaml.safe_load(small(tmp_path).read_text(encoding="utf-8"))
    raw["base"]["arena"]["anchors"] = ["random", "perfect"]
    raw["variants"] = {"first": {**raw["variants"]["alphazero"], "role": "rival"}, **raw["variants"]}
    configfile = tmp_path / "rivals.yaml"
    configfile.write_text(yaml.safe_dump(raw, sort_keys=False), encoding="utf-8")
    shown = snakemake(tmp_path, "--dry-run", "--quiet", "host", configfile=configfile).stdout
    met = dict(re.findall(r"set -- (\S+?)(?:=\S+)? (.*?); player", shown))
    names = {player: [name.partition("=")[0] for name in others.split()] for player, others in met.items()}
    hubs = ["probzero", "first", "perfect"]
    everybody = {"alphazero": hubs, "uct": hubs, "root-only": hubs, "random": hubs}
    assert names == {**everybody, "first": hubs[:1], "perfect": hubs[:2]}


def test_whoever_reads_a_checkpoint_is_told_with_which_settings_it_must_have_learned(tmp_path: Path) -> None:
    shown = snakemake(tmp_path, "--dry-run", "--quiet", "host", configfile=small(tmp_path)).stdout
    variants = study.parse(yaml.safe_load(small(tmp_path).read_text(encoding="utf-8")), "study.yaml").variants
    hashes = {name: variants[name].fingerprints(config.LEARNED) for name in VARIANTS}
    for line in [line for line in shown.splitlines() if "probzero tournament" in line]:
        words = shlex.split(line.partition("|")[0])
        told = dict(word.split("=", 1) for option, word in pairwise(words) if option == "--learned")
        players = {word.partition("=")[0] for word in words if "checkpoints/" in word}
        assert {name: json.loads(text) for name, text in told.items()} == {name: hashes[name] for name in players}
    for line in [line for line in shown.splitlines() if "probzero train" in line]:
        words = shlex.split(line.partition("|")[0])
        assert set(json.loads(words[words.index("--config") + 1])) == set(config.LEARNED)
    for line in [line for line in shown.splitlines() if "probzero measure" in line]:
        words = shlex.split(line.partition("|")[0])
        given = json.loads(words[words.index("--config") + 1])
        assert config.fingerprints(given, config.LEARNED) == hashes[words[words.index("--variant") + 1]]


def test_a_study_of_a_game_without_a_solver_is_refused(tmp_path: Path) -> None:
    raw = yaml.safe_load(small(tmp_path).read_text(encoding="utf-8"))
    raw["base"]["game"]["size"] = 6
    configfile = tmp_path / "large.yaml"
    configfile.write_text(yaml.safe_dump(raw), encoding="utf-8")
    shown = snakemake(tmp_path, "--dry-run", configfile=configfile)
    assert shown.returncode != 0 and "base.game: expected one with a solver" in shown.stdout


@pytest.fixture(scope="module")
def interrupted(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A whole study in two calls, the first of them killed: its folder, and the network that was learned by then."""
    folder = tmp_path_factory.mktemp("study")
    configfile = small(folder)
    with subprocess.Popen(
        command(folder, configfile=configfile), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as running:
        began = time.monotonic()
        while not (learned := list(folder.glob("results/*/*/seed*/checkpoints/0001.safetensors"))):
            assert running.poll() is None and time.monotonic() - began < DEADLINE
            time.sleep(0.1)
        running.send_signal(signal.SIGKILL)
        running.wait()
    shown = snakemake(folder, configfile=configfile)
    assert shown.returncode == 0, shown.stdout
    return folder, learned[0].relative_to(folder)


@pytest.fixture(scope="module")
def finished(interrupted: tuple[Path, Path]) -> Path:
    return interrupted[0]


@pytest.mark.smoke
def test_one_command_leaves_tables_and_figures_of_all_variants(finished: Path) -> None:
    final = pd.read_csv(finished / TOP / "tables" / "final.csv")
    assert set(final["variant"]) == set(VARIANTS)
    accounting = pd.read_csv(finished / TOP / "tables" / "accounting.csv").set_index("variant")
    learners = accounting.drop("uct")
    assert learners["games"].nunique() == learners["samples_seen"].nunique() == 1
    ratings = pd.read_csv(finished / TOP / "seed1" / "tables" / "ratings.csv")
    assert set(ratings["player"]) == {*VARIANTS, "random"}
    assert json.loads((finished / TOP / "config.json").read_text(encoding="utf-8"))["reference"] == "probzero"
    for figure in ("study_truth", "study_variants", "study_ablations", "study_elo"):
        assert (finished / TOP / "figures" / f"{figure}.png").stat().st_size > 5000


@pytest.mark.slow
def test_a_study_made_twice_on_other_cores_gives_the_same_bytes(finished: Path, tmp_path: Path) -> None:
    again = command(tmp_path, configfile=small(tmp_path))
    again[again.index("--cores") + 1] = "1"
    subprocess.run(again, check=True, stdout=subprocess.DEVNULL, timeout=2 * DEADLINE)
    found = differences(finished / TOP, tmp_path / TOP)
    assert len(found) > 100 and not [f"{name}: {what}" for name, what in found.items() if what]


@pytest.mark.smoke
def test_what_is_committed_of_a_study_holds_and_has_its_settings(finished: Path, tmp_path: Path) -> None:
    committed = tmp_path / "reference" / TOP.name
    assert main(["reference", "--run", str(finished / TOP), "--output", str(committed)]) == 0
    assert main(["verify-results", str(committed.parent)]) == 0
    rows = pd.read_csv(committed / "manifest.csv").set_index("file")
    assert (rows["rule"] != "unknown").all() and (rows["versions"] != "unknown").all()
    made = rows.drop("machine.json")
    assert not made["configuration"].isin(["none", "unknown"]).any(), made["configuration"]
    assert made.loc[["config.json", "tables/final.csv", "figures/study_elo.pdf"], "configuration"].nunique() == 1
    checkpoints = [name for name in rows.index if name.endswith(".safetensors")]
    assert len(checkpoints) == 3 * 2  # the last of every variant that learns, with two seeds


@pytest.mark.smoke
def test_who_was_interrupted_learns_and_is_measured_with_the_same_bytes(
    interrupted: tuple[Path, Path], tmp_path: Path
) -> None:
    """One learner of the study, in a run that nobody stops; below, marked slow, the whole study."""
    folder, first = interrupted
    learner = first.parents[1]
    shown = snakemake(tmp_path, str(learner / "measures.csv"), configfile=small(tmp_path))
    assert shown.returncode == 0, shown.stdout
    made = [learner / name for name in compared(tmp_path / learner)]
    assert {learner / "checkpoints" / "0002.safetensors", learner / "measures.csv"} <= set(made)
    assert not [str(name) for name in made if (tmp_path / name).read_bytes() != (folder / name).read_bytes()]
