"""probzero verdicts: a verdict on every claim by the rules of docs/protocol.md, from what has been measured so far."""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import pandas as pd

from probzero import files, machine, study, tournament
from probzero.commands import arguments, progress
from probzero.config import KIND as CONFIGURATION
from probzero.origin import Origin
from probzero.report.drawing import draw_verdicts
from probzero.report.evidence.outcomes import read_outcomes
from probzero.report.evidence.verdicts import (
    budget_rows,
    error_rows,
    filling_rows,
    progress_rows,
    verdict_table,
)
from probzero.report.study.inputs import COSTS_COLUMNS
from probzero.report.tables import read_written, write_table
from probzero.report.tuning import COLUMNS as PICKS
from probzero.report.tuning import rival_of
from probzero.study import RIVAL, Study
from probzero.tables import read_table

EXAMPLES = """examples:
  probzero verdicts --outcomes results/study/outcomes.safetensors --rivals results/rivals \\
      --picks results/study/picks.csv --progress published=results/reference/published \\
      --budgets results/budgets/leaves --output results/study/verdicts.csv"""
ONE_BY_ONE = "alphazero-one-by-one"
TOGETHER = "alphazero"
DIFFERENCES_FILE = Path("tables") / "differences.csv"
DIFFERENCES: dict[str, type] = {
    **dict.fromkeys(("player", "opponent"), str),
    **dict.fromkeys(("difference", "low", "high", "standard_error", "superiority"), float),
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--outcomes", type=Path, metavar="FILE", help="claims 1 to 4 and 7: what `outcomes` wrote")
    parser.add_argument("--rivals", type=Path, metavar="FOLDER", help="claims 4 and 7: the finished study of rivals")
    summary = "claim 7: the table of what was tried in tuning, which says who the rival is (default: who has all seeds)"
    parser.add_argument("--picks", type=Path, metavar="FILE", help=summary)
    summary = "claim 5: the folder of tournaments of checkpoints, and whose they are"
    parser.add_argument(
        "--progress", action="append", default=[], type=arguments.player, metavar="WHOSE=FOLDER", help=summary
    )
    parser.add_argument("--budgets", type=Path, metavar="FOLDER", help="claim 6: that of one network by budget")
    parser.add_argument("--machine", type=Path, metavar="FILE", help="where to write versions and processor, as JSON")
    arguments.add_path(parser, "--output", "where to write the table (.csv; .md, .png and .pdf go beside it)")


def run(args: argparse.Namespace) -> None:
    rows = []
    if args.outcomes and args.rivals:
        record = args.rivals / "config.json"
        made = files.read_sealed(record, CONFIGURATION)[1]
        found = read_outcomes(args.outcomes, settings={"rivals": made.settings["study"]})
        rivals = study.load(record)
        picks = read_written(args.picks, PICKS) if args.picks else None
        rival = first_of_all_seeds(rivals) if picks is None else rival_of(picks, rivals.reference)
        rows += error_rows(found, rival)
        rows += filling_rows(_costs(args.rivals, rivals), found, (ONE_BY_ONE, TOGETHER))
    for whose, folder in args.progress:
        for name in tournament.load(folder / "config.json").players:
            if (folder / name / DIFFERENCES_FILE).is_file():
                rows += progress_rows(_differences(folder / name), f"{whose}, {name}")
            else:
                progress.report(f"claim 5, {whose}, {name}", "not rated yet")
    if args.budgets:
        rows += budget_rows(_differences(args.budgets))
    table = verdict_table(rows)
    made = Origin(command=args.command)
    write_table(table, args.output, made)
    if not draw_verdicts(read_written(args.output, {"claim": str}), args.output.with_suffix(""), made):
        progress.report("figure", "none yet: no errors are compared")
    if args.machine:
        files.write_json(args.machine, machine.describe(), machine.KIND, made)
    for row in table[table["verdict"] != ""].to_dict("records"):
        told = "" if np.isnan(row["estimate"]) else f"{row['estimate']:.3g}"
        progress.report(f"claim {row['claim']}", row["contrast"], told, row["verdict"])


def first_of_all_seeds(found: Study) -> str:
    """Return the first rival that has all seeds, as the one picked in tuning has; the first rival if none has."""
    rivals = [name for name, part in found.described.items() if part.role == RIVAL]
    return next((name for name in rivals if found.seeds_of(name) == found.seeds), rivals[0])


def _costs(folder: Path, rivals: Study) -> pd.DataFrame:
    """Return what the last checkpoints cost, by variant and seed."""
    paths = [
        folder / name / f"seed{seed}" / "costs.csv"
        for name in (rivals.reference, ONE_BY_ONE, TOGETHER)
        for seed in rivals.seeds_of(name)
    ]
    parts = [read_table(path, COSTS_COLUMNS, files.COSTS) for path in paths]
    return pd.concat([part[part["iteration"] == part["iteration"].max()] for part in parts], ignore_index=True)


def _differences(folder: Path) -> pd.DataFrame:
    return read_written(folder / DIFFERENCES_FILE, DIFFERENCES)
