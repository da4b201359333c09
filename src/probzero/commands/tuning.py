"""probzero tuning: what is tried of several systems, which of it is picked, and studies with what was picked.

draw   write the study of all that is tried, from a space
pick   read that study's results and write the table of what was tried, with the pick of each system
apply  write a study with the picks in it
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from probzero import config, files, study, tuning
from probzero.commands import arguments, progress
from probzero.errors import bad
from probzero.origin import Origin
from probzero.report.study.inputs import read_results
from probzero.report.tables import write_table
from probzero.report.tuning import picks_of, read_tried, rival_of, tried_table
from probzero.study import descriptions

ACTIONS = ("draw", "pick", "apply")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("action", choices=ACTIONS, help="what to do")
    arguments.add_path(parser, "--space", "what is tried: values by setting, draws, seed")
    parser.add_argument("--results", type=Path, metavar="FOLDER", help="pick: the finished study of what was tried")
    parser.add_argument("--picks", type=Path, metavar="FILE", help="apply: the table that `pick` wrote")
    parser.add_argument("--study", type=Path, metavar="FILE", help="apply: the study to lay the picks over")
    summary = "apply: of the systems tuned, leave the reference and the best of the others alone"
    parser.add_argument("--only-rival", action="store_true", help=summary)
    arguments.add_path(parser, "--output", "where to write the study (a configuration) or the table")


def run(args: argparse.Namespace) -> None:
    space = tuning.parse(*config.read(args.space))
    needs = {"draw": (), "pick": ("results",), "apply": ("picks", "study")}[args.action]
    for name in needs:
        if getattr(args, name) is None:
            raise bad("tuning", f"--{name}", f"given with {args.action}", "nothing")
    {"draw": _draw, "pick": _pick, "apply": _apply}[args.action](args, space)


def _draw(args: argparse.Namespace, space: tuning.Space) -> None:
    raw, where = config.read(args.space.parent / space.study)
    study.parse(raw, where)
    found = tuning.study_of(space, raw)
    _write(args.output, found)
    progress.report(space.name, f"{space.draws} configurations of each of {', '.join(space.own)}")


def _pick(args: argparse.Namespace, space: tuning.Space) -> None:
    folder: Path = args.results
    record = folder / "config.json"
    made = Origin(command=args.command, settings=files.read_sealed(record, config.KIND)[1].settings)
    seed = f"seed{space.seed}"
    measures, costs = (sorted(folder.glob(f"*/{seed}/{kind}.csv")) for kind in ("measures", "costs"))
    found = read_results(measures, costs, [folder / seed / "tables" / "ratings.csv"], descriptions(record))
    table = tried_table(space, found)
    write_table(table, args.output, made)
    for system, number in picks_of(table).items():
        row = table[(table["system"] == system) & (table["draw"] == number)].iloc[0]
        errors = f"error {100 * row['error']:.2f} % searched, {100 * row['raw_error']:.2f} % raw"
        progress.report(f"tuning, {system}", f"draw {number} of {space.draws}", errors)


def _apply(args: argparse.Namespace, space: tuning.Space) -> None:
    table = read_tried(args.picks, space)
    raw, where = config.read(args.study)
    reference = study.parse(raw, where).reference
    rival = rival_of(table, reference)
    _write(args.output, tuning.picked(space, raw, picks_of(table), rival, args.only_rival))
    progress.report(f"picks for {args.study.stem}", f"rival: {rival}")


def _write(path: Path, found: dict[str, Any]) -> None:
    """Write a study as JSON, which YAML reads too, once it is known to be one."""
    study.parse(found, str(path))
    files.write_text(path, json.dumps(found, indent=2) + "\n")
