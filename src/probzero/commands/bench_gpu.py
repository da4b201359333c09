"""probzero bench-gpu: what a GPU does with the search, as a table and a page to send back."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import pandas as pd

from probzero import config, files, machine
from probzero.devices import resolve_device
from probzero.errors import bad
from probzero.origin import Origin
from probzero.report.tables import markdown, write_table


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--config", metavar="FILE", help="a configuration for one GPU; without it, only say which there is"
    )
    parser.add_argument(
        "--output", type=Path, metavar="FILE", help="where to write the table; the page stands beside it, as .md"
    )


def run(args: argparse.Namespace) -> None:
    if (args.config is None) != (args.output is None):
        raise bad("bench-gpu", "arguments", "--config and --output, or neither", "one of them")
    device = resolve_device("cuda")
    print(f"GPU: {card(device)}", flush=True)
    if args.config is not None:
        write(config.load(args.config), device, args.output)


def card(device: Any) -> str:
    """Return the name of a GPU and what its driver and libraries are called."""
    import torch
    import triton

    of_torch = torch.get_device_module(device)
    memory = of_torch.get_device_properties(device).total_memory / 2**30
    built = torch.version.cuda or torch.version.hip
    libraries = f"torch {torch.__version__} ({built}), triton {triton.__version__}"
    return f"{of_torch.get_device_name(device)}, {memory:.0f} GiB, {libraries}"


def write(settings: config.Config, device: Any, output: Path, **sizes: Any) -> None:
    """Measure; write table and page."""
    from probzero.benchmarks.gpu import measure

    rows = []
    for row in measure(settings, device, **sizes):
        rows.append(row)
        print(f"{row.part:>12}  {row.case:<26}  {row.quantity:<38}  {row.value:>14,.3f} {row.unit}", flush=True)
    table = pd.DataFrame(rows)
    write_table(table, output, Origin(command="bench-gpu"))
    described = "\n".join(f"- {name}: {text}" for name, text in machine.describe().items())
    page = f"""# ProbZero on a GPU

- card: {card(device)}
{described}
- configuration: {settings.name}, network {settings.network.blocks} × {settings.network.channels}

What `make gpu-check` checked before this page was written, all on this card: every kernel against its oracle, the
search against the compiled one, and the whole pipeline at the smoke scale.

{markdown(table)}
"""
    files.write_text(output.with_suffix(".md"), page)
