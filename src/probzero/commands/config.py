"""probzero config: check a configuration and write it out in full, as the record of a run."""

from __future__ import annotations

import argparse
import json

from probzero import comparison, config
from probzero.commands import arguments, progress
from probzero.files import write_json, write_text


def add_arguments(parser: argparse.ArgumentParser) -> None:
    arguments.add_config(parser)
    arguments.add_path(parser, "--output", "where to write it, as JSON")


def run(args: argparse.Namespace) -> None:
    raw, where = config.read(args.config)
    if isinstance(raw, dict) and "variants" in raw:
        compared = comparison.parse(raw, where)
        write_text(args.output, json.dumps(raw, indent=2) + "\n")  # variants are shown in their order
        progress.report(compared.name, ", ".join(compared.variants), f"seeds {', '.join(map(str, compared.seeds))}")
        return
    settings = config.parse(raw, where)
    write_json(args.output, settings.as_dict())
    rounds = (
        f"{settings.training.iterations} iterations of {settings.selfplay.shards} × {settings.selfplay.games} games"
    )
    meeting = f"{len(settings.arena.checkpoints)} checkpoints meet in the tournament"
    progress.report(f"scale {settings.name}", f"seeds {', '.join(map(str, settings.seeds))}", rounds, meeting)
