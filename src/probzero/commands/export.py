"""probzero export: a network as a file for other programs."""

from __future__ import annotations

import argparse
from pathlib import Path

from probzero.commands import progress
from probzero.errors import bad
from probzero.front_ends.export import FORMS, export
from probzero.front_ends.players import NETWORK, path_of, taken_apart
from probzero.network.checkpoint import load_weights

ENDINGS = {"onnx": ".onnx", "torchscript": ".pt"}
EXAMPLES = """examples:
  probzero export                                        the committed network as network.onnx
  probzero export --format torchscript --output net.pt   for torch alone
  probzero export results/laptop                         the newest network of a run

How to use the file from Python without this package: docs/export.md. What is written is tried on random positions: its
chances agree with ours to 1e-5, or there is no file. ONNX needs the package onnx: pip install 'probzero[export]'."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    summary = "a checkpoint, the folder of a run, or network, the committed one (default)"
    parser.add_argument("checkpoint", nargs="?", default=NETWORK, metavar="CHECKPOINT", help=summary)
    parser.add_argument("--format", choices=list(FORMS), default="onnx", help="default: onnx")
    summary = "where to write it (default: its name, with .onnx or .pt)"
    parser.add_argument("--output", type=Path, metavar="FILE", help=summary)


def run(args: argparse.Namespace) -> None:
    path = path_of(taken_apart(args.checkpoint), None)
    if path is None:
        raise bad("export", args.checkpoint, "a checkpoint", "a player without a network")
    name = NETWORK if args.checkpoint == NETWORK else path.stem
    output = args.output or Path(f"{name}{ENDINGS[args.format]}")
    weights, info = load_weights(path, imported=True)
    differs = export(output, args.format, weights, info)
    size = output.stat().st_size / 1e6
    progress.report(f"written: {output}", f"{size:.1f} MB", f"agrees with ours to {differs:.0e} on random positions")
