"""The command line. Each command is a module of `probzero.commands`, imported only when it is called: torch is slow."""

from __future__ import annotations

import argparse
import gc
import sys
from collections.abc import Sequence
from importlib import import_module
from keyword import iskeyword
from typing import NoReturn

from probzero import __version__
from probzero.errors import ProbZeroError

COMMANDS = {
    "config": "check a configuration and write it out in full",
    "init": "make the untrained checkpoint of iteration 0",
    "selfplay": "play the games of one shard and write its dataset",
    "train": "learn from the newest datasets and write the next checkpoint",
    "dataset": "read and write samples in the published form",
    "match": "play one player against others",
    "elo": "rate the players of a tournament",
    "database": "solve every position that can be reached",
    "solve": "solve positions, by look-up where there is a database",
    "position-sets": "draw the fixed sets of positions from a database",
    "positions": "make the evaluation set and solve it",
    "truth": "measure one network against exact truth",
    "certify": "play every opponent against a network, exactly",
    "choose": "say what a network plays in positions of your own",
    "measure": "measure a variant's checkpoints against exact truth, and write what they cost",
    "ceiling": "train the same network on exact labels",
    "blunders": "count the results given away in self-play",
    "report": "make the tables and figures of a run",
    "paper": "compile the paper of a run from its tables and figures",
    "study-report": "set the variants of a study side by side, as tables and figures",
    "readme": "write the tables of the README anew from the committed results",
    "check": "set a run beside the committed reference",
    "same": "compare two folders of results byte for byte, but for times",
    "manifest": "list the files of a committed folder with their checksums and origins",
    "reference": "make a finished run or study the committed one, with a manifest",
    "verify-results": "verify every committed file",
    "cost": "say how the cores' time of a run was spent",
    "import": "make a checkpoint of a network of the published project",
    "compare-published": "set a run beside the published networks, against every opponent",
    "bench": "measure the speed of self-play beside that of its network",
    "bench-peers": "measure the speed of self-play beside that of other programs",
    "bench-growth": "measure how time and memory of a leaf grow with games and board",
}
FAILURE = 2


class _Parser(argparse.ArgumentParser):
    """Like every other bad input, a wrong argument ends with one line."""

    def error(self, message: str) -> NoReturn:
        raise ProbZeroError(f"{self.prog.removeprefix('probzero ')}: {message}")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; return the status for the shell."""
    try:
        return _run(list(sys.argv[1:] if arguments is None else arguments))
    except ProbZeroError as error:
        return _fail(error)
    except OSError as error:  # no room on the disk, no permission, …
        return _fail(error)
    except KeyboardInterrupt:
        return 130


def _run(arguments: list[str]) -> int:
    parser = _Parser(prog="probzero", description="ProbZero: learning from the whole search tree.")
    parser.add_argument("--version", action="version", version=__version__)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    called = next((argument for argument in arguments if not argument.startswith("-")), None)
    for name, summary in COMMANDS.items():
        command = commands.add_parser(name, help=summary, description=summary.capitalize() + ".")
        if name == called:
            module = import_module(f"probzero.commands.{_module(name)}")
            module.add_arguments(command)
            if not gc.isenabled():  # see the end of this file
                gc.freeze()
                gc.enable()
            command.set_defaults(run=module.run)
    parsed = parser.parse_args(arguments)
    return parsed.run(parsed) or 0


def _module(command: str) -> str:
    """Return the name of a command's module; one that is a word of Python's own has an underscore at its end."""
    name = command.replace("-", "_")
    return f"{name}_" if iskeyword(name) else name


def _fail(error: Exception) -> int:
    print(f"probzero: error: {' '.join(str(error).split())}", file=sys.stderr)
    return FAILURE


if __name__ == "__main__":
    # What is imported is never garbage. Kept from looking through it again and again, and once more at the end, the
    # collector costs a job a third of a second less.
    gc.disable()
    sys.exit(main())
