"""probzero openings: won openings that four arms are certified from: ProbZero, its rival, the best and the worst cell.

names  say which certificates to make, as files that the workflow knows how to make
table  gather them
"""

from __future__ import annotations

import argparse
from pathlib import Path

import pandas as pd

from probzero.commands import arguments, progress
from probzero.errors import bad
from probzero.origin import Origin
from probzero.report.certificates import read_certificates
from probzero.report.evidence.outcomes import Outcomes, read_outcomes
from probzero.report.evidence.verdicts import SEARCHED
from probzero.report.tables import read_written, write_table
from probzero.report.tuning import COLUMNS as PICKS
from probzero.report.tuning import rival_of

EXAMPLES = """examples:
  probzero openings names --outcomes results/study/outcomes.safetensors --picks results/study/picks.csv \\
      --study rivals=results/rivals
  probzero openings table --certificates results/*/seed*/certificates/*.csv --output results/study/openings.csv"""
REFERENCE = "probzero"
SEEDS = 3  # of an arm


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("action", choices=("names", "table"), help="what to do")
    parser.add_argument("--outcomes", type=Path, metavar="FILE", help="names: what `outcomes` wrote")
    parser.add_argument("--picks", type=Path, metavar="FILE", help="names: the table that `tuning pick` wrote")
    summary = "names: the study whose certificates to name, and its folder"
    parser.add_argument("--study", type=arguments.player, metavar="NAME=FOLDER", help=summary)
    parser.add_argument("--certificates", nargs="+", type=Path, metavar="FILE", help="table: the certificates")
    parser.add_argument(
        "--output", type=Path, metavar="FILE", help="table: where to write it (.csv; .md goes beside it)"
    )


def run(args: argparse.Namespace) -> None:
    needs = {"names": ("outcomes", "picks", "study"), "table": ("certificates", "output")}[args.action]
    for name in needs:
        if getattr(args, name) is None:
            raise bad("openings", f"--{name}", f"given with {args.action}", "nothing")
    if args.action == "names":
        found = read_outcomes(args.outcomes)
        for arm in chosen(found, rival_of(read_written(args.picks, PICKS), REFERENCE)):
            (name, folder), (study, variant) = args.study, arm.split("/")
            for seed in found.seeds(arm, SEARCHED)[:SEEDS] if study == name else ():
                print(folder / f"seed{seed}" / "certificates" / f"{variant}.csv")
        return
    parts = []
    for path in args.certificates:
        part = read_certificates([path])
        won = part[part["source"] == "won"].groupby("particles")["certified"].agg(certified="sum", openings="size")
        parts.append(won.reset_index().assign(arm=path.stem, seed=int(path.parents[1].name.removeprefix("seed"))))
    table = pd.concat(parts)[["arm", "seed", "particles", "certified", "openings"]]
    table = table.sort_values(["arm", "particles", "seed"], ignore_index=True)
    write_table(table, args.output, Origin(command=args.command))
    for (who, budget), rows in table.groupby(["arm", "particles"]):
        certified = f"{rows['certified'].sum()} of {rows['openings'].sum()} won openings"
        progress.report(f"certified, {who}", f"{budget} leaf evaluations" if budget else "raw", certified)


def chosen(found: Outcomes, rival: str) -> list[str]:
    """Return the four arms: ProbZero, the rival, the cells of least and of greatest error."""
    cells = [arm for arm in found.arms if arm.startswith("factorial/")]
    error = pd.Series({arm: found.of(arm, SEARCHED, found.seeds(arm, SEARCHED)).mean() for arm in cells})
    return [f"rivals/{REFERENCE}", f"rivals/{rival}", str(error.idxmin()), str(error.idxmax())]
