"""probzero import: a checkpoint made of a network of the published project, which never passes for one of ours."""

from __future__ import annotations

import argparse
from pathlib import Path

from probzero.commands import arguments, progress
from probzero.network.checkpoint import save_checkpoint
from probzero.network.published import read_published

EXAMPLES = """examples:
  probzero import model_iter_400.pth --output imported.safetensors
  probzero import model_iter_400.pt --trusted --output imported.safetensors    a TorchScript file, which is a program
  probzero match imported.safetensors network --games 20                       and then, as any other network"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", type=Path, metavar="FILE", help="a state dict (.pth) or, if trusted, TorchScript (.pt)")
    arguments.add_path(parser, "--output", "where to write the checkpoint")
    arguments.add_trusted(parser)


def run(args: argparse.Namespace) -> None:
    model, info = read_published(args.file, args.trusted)
    assert info.imported is not None
    save_checkpoint(args.output, model, info)
    iteration = info.imported["iteration"]
    progress.report(
        f"imported {args.file.name}",
        "" if iteration is None else f"iteration {iteration}",
        f"{info.network.blocks} × {info.network.channels} network for {model.shape.height}×{model.shape.width} boards",
        f"rules: {info.imported['rules']}",
    )
