"""What the paper says of machine, memory and time is read from what is committed; every reference has its source."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pandas as pd
import paper_inputs
import pytest
from paper_inputs import BY, ROOT, arguments, refusal, words
from sealed import reseal

from probzero import files, machine
from probzero.__main__ import main
from probzero.tables import TABLE, write_csv

made, study = paper_inputs.made, paper_inputs.study


@pytest.fixture
def committed(tmp_path: Path) -> Path:
    """Two seeds of a run of an hour and half an hour; a study of two variants, 3 × 1,200 s and 2 × 2,700 s."""
    folder = tmp_path / "results"
    reference = folder / "reference"
    made_on = json.dumps({"processor": "Acorn", "versions": "python 3"}).encode()
    files.write(reference / "laptop" / "machine.json", made_on, machine.KIND, BY)
    for seed, seconds in ((0, 3600.0), (1, 1800.0)):
        times = pd.DataFrame({"iteration": [1, 2], "cumulative_seconds": [5.5, seconds]})
        write_csv(reference / "laptop" / f"seed{seed}" / "tables" / "costs.csv", times, TABLE, BY)
    times = pd.DataFrame(
        [("a", 5, 600.5, 3), ("a", 10, 1200.5, 3), ("b", 10, 2700.5, 2)],
        columns=["variant", "iteration", "seconds", "seeds"],
    )
    write_csv(reference / "study" / "tables" / "costs.csv", times, TABLE, BY)
    growth = pd.DataFrame(
        [("games", "5x5", 20, 1009.9), ("games", "5x5", 1024, 1471.1), ("board", "8x8", 64, 9999.5)],
        columns=["growing", "board", "games", "bytes_per_leaf"],
    )
    write_csv(folder / "bench" / "growth.csv", growth, TABLE, BY)
    return folder


def test_machine_memory_and_time_are_those_of_what_is_committed(made: Path, committed: Path) -> None:
    said = words(made, "<computing>", committed=committed)
    assert "a machine with the processor Acorn" in said
    assert "4.0 hours of one core in all" in said  # 1 + 0.5 + 1 + 1.5
    assert "with 20 to 1,024 games takes 1,010 to 1,471 bytes a leaf evaluation" in said
    table = words(made, "<spent-table>", committed=committed)
    assert "reference/laptop21.5" in table and "reference/study52.5" in table


def test_without_them_it_tells_no_times(made: Path) -> None:
    assert "Hardware, memory, time" not in words(made, "heading")
    assert "Hardware, memory, time" not in words(made, "<repeat>")


def test_the_command_takes_them_and_refuses_a_file_that_was_changed(
    made: Path, committed: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "paper.pdf"
    assert main(arguments(made, output, None, "--committed", str(committed))) == 0
    assert output.read_bytes().startswith(b"%PDF")
    capsys.readouterr()
    costs = committed / "reference" / "study" / "tables" / "costs.csv"
    reseal(costs, lambda data: data.replace(b"seconds", b"minutes"))
    assert "seconds" in refusal(capsys, made, None, "--committed", str(committed))
    (committed / "bench" / "growth.csv").unlink()
    line = refusal(capsys, made, None, "--committed", str(committed))
    assert line == f"probzero: error: table: {committed / 'bench' / 'growth.csv'}: expected a file, found nothing"


def test_what_is_typed_of_the_whole_game_is_what_the_solution_counted() -> None:
    layers = pd.read_csv(ROOT / "results" / "reference" / "database" / "layers.csv")
    text = (ROOT / "paper" / "method.typ").read_text(encoding="utf-8")
    assert f"{layers['positions'].sum():,} reachable positions up to symmetry" in text


def test_every_work_is_cited_and_has_a_source_in_the_notes() -> None:
    entries = re.findall(
        r"^@\w+\{(\w+),", (ROOT / "paper" / "references.bib").read_text(encoding="utf-8"), re.MULTILINE
    )
    text = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "paper").glob("*.typ"))
    notes = (ROOT / "docs" / "notes" / "references.md").read_text(encoding="utf-8")
    for entry in entries:
        assert re.search(rf"@{entry}\b", text), f"{entry} is cited nowhere"
        assert f"| `{entry}` |" in notes, f"{entry} has no source"
    assert len(set(entries)) == len(entries)
