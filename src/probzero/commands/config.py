"""probzero config: check a configuration and write it out in full, as the record of a run."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from probzero import config, machine, study, tournament
from probzero.commands import progress
from probzero.errors import bad
from probzero.files import write, write_json, write_text
from probzero.network.compiled.target import choose, said
from probzero.origin import Origin
from probzero.report.configuration import reference


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--config", metavar="FILE|JSON", help="a run or a study: a file, or a JSON object")
    parser.add_argument("--output", type=Path, metavar="FILE", help="where to write it, as JSON")
    parser.add_argument("--machine", type=Path, metavar="FILE", help="where to write versions and processor, as JSON")
    parser.add_argument("--document", type=Path, metavar="FILE", help="where to write the reference of all settings")


def run(args: argparse.Namespace) -> None:
    if args.document:
        write_text(args.document, reference())
    elif not (args.config and args.output):
        raise bad("config", "arguments", "--config and --output, or --document", "neither")
    else:
        _check(args.config, args.output, Origin(command=args.command))
        if args.machine:
            write_json(args.machine, machine.describe(), machine.KIND, Origin(command=args.command))
            progress.report(machine.processor(), said(choose()))


def _check(source: str, output: Path, made: Origin) -> None:
    raw, where = config.read(source)
    if isinstance(raw, dict) and "variants" in raw:
        found = study.parse(raw, where)
        described = {name: part.model_dump() for name, part in found.described.items()}
        full = {name: {**(part or {}), **described[name]} for name, part in raw["variants"].items()}
        whole = {**raw, "variants": full}
        data = json.dumps(whole, indent=2) + "\n"  # variants are shown in their order
        made = made.model_copy(update={"settings": {"study": found.fingerprint}})
        write(output, data.encode(), config.KIND, made)
        progress.report(found.name, ", ".join(found.variants), f"seeds {', '.join(map(str, found.seeds))}")
        return
    if isinstance(raw, dict) and "tournaments" in raw:
        networks = tournament.parse(raw, where)
        made = made.model_copy(update={"settings": {"tournaments": networks.fingerprint}})
        write(output, (json.dumps(raw, indent=2) + "\n").encode(), config.KIND, made)
        progress.report(networks.name, ", ".join(networks.networks), f"{len(networks.players)} tournaments")
        return
    settings = config.parse_run(raw, where)
    made = made.model_copy(update={"settings": settings.fingerprints(config.PARTS)})
    write_json(output, settings.as_dict(), config.KIND, made)
    rounds = (
        f"{settings.training.iterations} iterations of {settings.selfplay.shards} × {settings.selfplay.games} games"
    )
    meeting = f"{len(settings.arena.checkpoints)} checkpoints meet in the tournament"
    progress.report(f"scale {settings.name}", f"seeds {', '.join(map(str, settings.seeds))}", rounds, meeting)
