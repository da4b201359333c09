"""A study is a section of the paper: all its files are needed and read, and what was equal and spent is told."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pandas as pd
import paper_inputs
import pytest
from paper_inputs import RIVAL, ROOT, arguments, change, copied, refusal, replace, words
from sealed import rewrite_table

from probzero.__main__ import main
from probzero.report import paper

made, study, changed = paper_inputs.made, paper_inputs.study, paper_inputs.changed


def test_without_a_study_the_paper_says_so(made: Path) -> None:
    assert "with AlphaZero at equal budgets is not part of this document" in words(made, "<abstract>")
    assert "A comparison with AlphaZero at equal budgets, and ablations" in words(made, "<study-or-not>")
    assert "Comparison with AlphaZero" not in words(made, "heading")
    assert "Compared searches" not in words(made, "strong")


def test_a_study_is_a_section_of_its_own_run(made: Path, study: Path, tmp_path: Path) -> None:
    output = tmp_path / "paper.pdf"
    assert main(arguments(made, output, study)) == 0
    assert output.read_bytes().startswith(b"%PDF")
    assert "Comparison with AlphaZero and ablations" in words(made, "heading", study)
    assert "Compared searches" in words(made, "strong", study)
    said = words(made, "<provenance>", study)
    assert "a separate run, made by make study STUDY=study in the folder results/study" in said
    assert "results/reference/study" in said and "3 seeds (0, 1 and 2)" in said
    for selector in ("<abstract>", "<study-or-not>"):
        assert "not part of this document" not in words(made, selector, study)


def test_another_size_of_the_study_names_its_command(made: Path, changed: Path) -> None:
    replace(changed / "config.json", ('"name": "study"', '"name": "study-full"'))
    assert "made by make study STUDY=study SIZE=-full in the folder results/study-full" in words(
        made, "<provenance>", changed
    )


def test_the_study_of_the_protocol_is_told_from_the_one_before_it(made: Path, study: Path, changed: Path) -> None:
    assert "as it was before the protocol, and it decides no claim" in words(made, "<provenance>", study)
    replace(changed / "config.json", ('"name": "study"', '"name": "rivals"'))
    said = words(made, "<provenance>", changed)
    assert "Claim 7 is decided by the ratio of errors" in said and "before the protocol" not in said
    assert "made by make study in the folder results/rivals (kept in results/reference/rivals)" in said


def test_the_rival_is_the_one_with_most_seeds(made: Path, changed: Path) -> None:
    assert "ProbZero − AlphaZero is" in words(made, "<finding>", changed)
    change(changed, "elo", {"variant": "alphazero-minmax"}, {"seeds": 24})
    assert "ProbZero − AlphaZero, min–max is" in words(made, "<finding>", changed)
    assert "with 3 to 24 seeds" in words(made, "<provenance>", changed)


def test_what_is_equal_and_what_it_cost_is_told(made: Path, changed: Path) -> None:
    for variant, leaves, seeds in (("probzero", 1234567, 3), (RIVAL, 2345678, 2)):
        reached: dict[str, float | None] = {"leaf_evaluations": leaves, "seeds_reaching": seeds}
        change(changed, "efficiency", {"variant": variant, "threshold": 0.95}, reached)
    equal, cost = words(made, "<equal>", changed), words(made, "<spending>", changed)
    # 12 iterations of 256 games and 90,000 samples; 40 leaf evaluations a move, AlphaZero × 0.9, no-dag × 1.15
    for number in ("64 leaf evaluations a move", "3,072 games", "1,080,000 samples", "40.0 leaf", "0.90 to 1.15 times"):
        assert number in equal, f"{number} in {equal}"
    assert "first keeps 95% of exact results after 1,234,567 leaf evaluations of self-play (3 of 3 seeds)" in cost
    assert "AlphaZero after 2,345,678 leaf evaluations of self-play (2 of 3 seeds)" in cost
    # times are of a machine: the section says where they stand, and tells none
    assert "not part of this section" in cost and "tables/costs.csv" in cost and "tables/costs_to_reach.csv" in cost


def test_a_share_that_no_seed_reaches_is_said_not_to_be_reached(made: Path, changed: Path) -> None:
    for variant in ("probzero", RIVAL):
        reached: dict[str, float | None] = {"leaf_evaluations": None, "seeds_reaching": 0}
        change(changed, "efficiency", {"variant": variant, "threshold": 0.95}, reached)
    assert words(made, "<spending>", changed).count("in none of 3 seeds") == 2


def test_names_and_changes_of_variants_are_those_of_the_record(made: Path, changed: Path) -> None:
    replace(
        changed / "config.json",
        ('"AlphaZero, trained alike', '"Twin'),
        ('"trained alike', '"twin'),
        ('"an empty graph', '"a new graph'),
        ('"label": "UCT"', '"short": "UCT"'),
    )
    assert "beside Twin, " in words(made, "<other-systems>", changed) and "beside uct, " in words(
        made, "<other-systems>", changed
    )
    tables = words(made, "figure", changed)
    assert "a new graph for every move" in tables and "ProbZeroAlphaZerotwinmin–max" in tables


@pytest.mark.parametrize("name", [str(path) for path in paper.study_files(Path())])
def test_every_file_of_a_study_is_needed(
    name: str, made: Path, changed: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (changed / name).unlink()
    line, kind = refusal(capsys, made, changed), paper.kind_of(changed / name)
    assert line == f"probzero: error: {kind}: {changed / name}: expected a file, found nothing"


@pytest.mark.parametrize("table", paper.STUDY_TABLES)
def test_every_table_of_a_study_is_read(table: str, made: Path, study: Path, changed: Path) -> None:
    assert paper.compile_pdf(made, 3, paper.Beside(changed)) == paper.compile_pdf(
        made, 3, paper.Beside(study)
    )  # wherever it is
    shown = {"final": "share", "elo": "rating", "ablations": "raw_effect", "accounting": "games", "efficiency": "seeds"}

    def doubled(rows: pd.DataFrame) -> pd.DataFrame:
        rows.loc[rows["variant"].isin([RIVAL, "root-only"]), shown[table]] *= 2
        return rows

    rewrite_table(changed / "tables" / f"{table}.csv", doubled)
    assert paper.compile_pdf(made, 3, paper.Beside(changed)) != paper.compile_pdf(made, 3, paper.Beside(study))


def test_a_study_without_a_rival_is_refused(made: Path, changed: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rewrite_table(changed / "tables" / "final.csv", lambda rows: rows[~rows["variant"].str.startswith("alphazero")])
    assert "no rival of probzero among probzero, uct" in refusal(capsys, made, changed)


def test_a_study_of_two_systems_alone_compiles(made: Path, changed: Path) -> None:
    for path in (changed / "tables").glob("*.csv"):
        rewrite_table(path, lambda rows: rows[rows["variant"].isin(["probzero", RIVAL])])
    assert "Ablations" not in words(made, "heading", changed)
    assert paper.compile_pdf(made, 3, paper.Beside(changed)).startswith(b"%PDF")


def test_the_workflow_names_the_sources_and_the_study_that_is_kept(study: Path, tmp_path: Path) -> None:
    shutil.copy(ROOT / "Snakefile", tmp_path)
    shutil.copytree(ROOT / "workflow", tmp_path / "workflow")
    for name in ("src", "config", "paper", "environment.yml"):
        (tmp_path / name).symlink_to(ROOT / name)
    kept = tmp_path / "results" / "reference" / "study"
    plan = [sys.executable, "-m", "snakemake", "--snakefile", str(tmp_path / "Snakefile"), "--directory", str(tmp_path),
            "--configfile", str(ROOT / "config" / "smoke.yaml"), "--cores", "1", "--dry-run",
            "--quiet", "host"]  # fmt: skip
    for there in (False, True):
        if there:
            copied(study, paper.study_files(study), kept)
        shown = subprocess.run(plan, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=True).stdout
        rule = shown.partition("rule paper:")[2].partition("\nrule ")[0]
        assert (f"--study {kept} " in rule) == there
        for path in (tmp_path / "paper").iterdir():
            assert (f"{path}" in rule) == (path.suffix in (".typ", ".bib")), path
        assert all((str(path) in rule) == there for path in paper.study_files(kept))
        assert "--verdicts" not in rule and "--committed" not in rule  # nothing of these is there
    rivals = copied(study, paper.study_files(study), kept.with_name("rivals"))
    (kept / "verdicts.csv").touch()
    shown = subprocess.run(plan, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=True).stdout
    assert f"--study {rivals} --verdicts {kept / 'verdicts.csv'} --output" in shown
