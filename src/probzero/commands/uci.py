"""probzero uci: plays chess by the Universal Chess Interface on the standard input and output, for GUIs."""

from __future__ import annotations

import argparse
import sys

from probzero.front_ends.uci import COMMITTED, Engine

EXAMPLES = """examples:
  probzero uci                                     the committed network of the endgames; GUIs take this as an engine
  probzero uci --checkpoint results/chess-endgames   the newest network of a run of yours
  printf 'position fen 8/8/8/3k4/8/8/8/KQ6 w - - 0 1\\ngo nodes 400\\n' | probzero uci
  printf 'go perft 5\\n' | probzero uci             counts lines of play, and how fast

It has learned king and queen, rook or pawn against king, and nothing else: from the start it plays no strong chess."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    summary = "a network of chess, or the folder of a run (default: the committed one of the endgames)"
    parser.add_argument("--checkpoint", default=COMMITTED, metavar="FILE", help=summary)


def run(args: argparse.Namespace) -> None:
    sys.stdin.reconfigure(errors="replace")  # type: ignore[union-attr]
    Engine(lambda line: print(line, flush=True), args.checkpoint).answer(sys.stdin)
