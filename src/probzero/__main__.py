"""The command line. Each command is a module of `probzero.commands`, imported only when it is called: torch is slow."""

from __future__ import annotations

import argparse
import gc
import os
import sys
from collections.abc import Sequence
from difflib import get_close_matches
from importlib import import_module
from keyword import iskeyword
from typing import NoReturn

from probzero import __version__
from probzero.errors import ProbZeroError, bad

GROUPS: dict[str, dict[str, str]] = {
    "Use it": {
        "play": "play against a network in the terminal, or watch two players",
        "match": "let two players meet in paired games, and keep the record",
        "gtp": "play by the Go Text Protocol, for GUIs and other programs",
        "uci": "play by UCI, for GUIs and other programs",
        "analyse": "say what a network thinks of a position, move by move",
        "solve": "say what is true of positions, by look-up where there is a database",
        "explore": "play a network in the browser and look into its head",
        "export": "write a network as ONNX or TorchScript, for other programs",
        "certify": "play every opponent against a network, exactly",
        "endings": "say how often players keep the exact result near the end",
        "problems": "say how often searches find the one move that forces a win",
        "choose": "say what a network plays in positions of your own",
        "import": "make a checkpoint of a network of the published project",
    },
    "Steps of the workflow, which its rules call": {
        "config": "check a configuration and write it out in full",
        "init": "make the untrained checkpoint of iteration 0",
        "selfplay": "play the games of one shard and write its dataset",
        "train": "learn from the newest datasets and write the next checkpoint",
        "tournament": "play one player's games of a tournament",
        "elo": "rate the players of a tournament",
        "positions": "make the evaluation set and solve it",
        "truth": "measure one network against exact truth",
        "orientations": "measure raw policies with the board turned in every way",
        "measure": "measure a variant's checkpoints against exact truth, and write what they cost",
        "ceiling": "train the same network on exact labels",
        "blunders": "count the results given away in self-play",
        "report": "make the tables and figures of a run",
        "study-report": "set the variants of a study side by side, as tables and figures",
        "tournament-figure": "draw the ratings of a tournament of given networks",
        "tuning": "draw configurations to try of several systems, pick of them, lay the picks over a study",
        "outcomes": "gather what the networks of studies kept, position by position",
        "openings": "count the won openings that the arms singled out are certified from",
        "verdicts": "judge the claims by the rules written down before",
        "paper": "compile the paper of a run from its tables and figures",
        "cost": "say how the cores' time of a run was spent",
    },
    "Upkeep of what is committed, and measurements": {
        "check": "set a run beside the committed reference",
        "twins": "say how far runs lie apart that were made as on other processors",
        "claims": "judge every claim of README and paper by its table",
        "verify-results": "verify every committed file",
        "reference": "make a finished run or study the committed one, with a manifest",
        "redraw": "draw the figures of a finished or committed run anew from its tables",
        "pack": "put what an unfinished run needs to go on elsewhere into a small folder",
        "unpack": "go on with a run that was packed",
        "manifest": "list the files of a committed folder with their checksums and origins",
        "same": "compare two folders of results byte for byte, but for times",
        "readme": "write the tables of the README anew from the committed results",
        "database": "solve every position that can be reached",
        "population-ceiling": "train the same network on exact labels of all positions that can be reached",
        "position-sets": "draw the fixed sets of positions from a database",
        "dataset": "read and write samples in the published form",
        "compare-published": "set a run beside the published networks, against every opponent",
        "bench": "measure the speed of self-play beside that of its network",
        "bench-peers": "measure the speed of self-play beside that of other programs",
        "bench-gpu": "measure kernels and self-play on a GPU",
        "bench-growth": "measure how time and memory of a leaf grow with games and board",
    },
}
COMMANDS = {name: summary for group in GROUPS.values() for name, summary in group.items()}
WELCOME = """ProbZero, an AlphaZero variant that learns from the whole search tree.

  probzero play                      play against the committed network, here in the terminal
  probzero explore                   the same in the browser, and what goes on in its head
  probzero analyse "c4 d4" --truth   what it thinks of a position, beside what is exactly true
  probzero export                    take the network elsewhere, as ONNX or TorchScript
  make reproduce                     learn it all again, from nothing to the figures

Every command: probzero --help. Each has examples: probzero play --help."""
EXIT_CODES = """exit codes:
  0    done
  1    done, and something is not as it should be: a file that does not verify, a claim that fails, folders that differ
  2    bad input: one line on the standard error says what, where, what was expected and what was found
  130  interrupted (Ctrl-C)
  141  nobody reads the output any more"""
FAILURE, INTERRUPTED, UNREAD = 2, 130, 141


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
    except BrokenPipeError as error:
        return _unread(error)
    except OSError as error:  # no room on the disk, no permission, …
        return _fail(error)
    except (MemoryError, RuntimeError) as error:
        if not isinstance(error, MemoryError) and "t allocate memory" not in str(error):  # as torch says it
            raise
        return _fail(bad("memory", "this process", "as much as the job needs", str(error) or "no more to be had"))
    except ImportError as error:
        if not (error.path or "").endswith(".so"):  # a compiled library for which there is no memory
            raise
        return _fail(error)
    except KeyboardInterrupt as error:
        return _stopped("interrupted", error, INTERRUPTED)


def _run(arguments: list[str]) -> int:
    if not arguments:
        print(WELCOME)
        return 0
    if arguments[0] in ("-h", "--help", "help"):
        print(_help())
        return 0
    parser = _Parser(prog="probzero", add_help=False)
    parser.add_argument("--version", action="version", version=__version__)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    called = next((argument for argument in arguments if not argument.startswith("-")), None)
    if called is not None and called not in COMMANDS:
        near = get_close_matches(called, COMMANDS, 3) or ["probzero --help, which lists all"]
        raise bad("command", repr(called), " or ".join(near), "another")
    for name, summary in COMMANDS.items():
        command = commands.add_parser(
            name,
            description=f"{summary[0].upper()}{summary[1:]}.",
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        if name == called:
            module = import_module(f"probzero.commands.{_module(name)}")
            module.add_arguments(command)
            command.epilog = getattr(module, "EXAMPLES", None)
            if not gc.isenabled():  # see the end of this file
                gc.freeze()
                gc.enable()
            command.set_defaults(run=module.run)
    parsed = parser.parse_args(arguments)
    status = parsed.run(parsed) or 0
    sys.stdout.flush()  # here, where a closed pipe is still met with one line
    return status


def _module(command: str) -> str:
    """Return the name of a command's module; one that is a word of Python's own has an underscore at its end."""
    name = command.replace("-", "_")
    return f"{name}_" if iskeyword(name) else name


def _help() -> str:
    """Return all commands, by what they are for."""
    width = max(map(len, COMMANDS)) + 2
    groups = [
        "\n".join([f"{title}:", *(f"  {name:{width}}{summary}" for name, summary in group.items())])
        for title, group in GROUPS.items()
    ]
    usage = "usage: probzero COMMAND …    (probzero COMMAND --help: its arguments, and examples; probzero --version)"
    return "\n\n".join([usage, *groups, EXIT_CODES])


def _unread(error: BaseException) -> int:
    """End as a program does whose reader has gone; what is left in the buffer goes nowhere."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return _stopped("nobody reads the output any more", error, UNREAD)


def _stopped(why: str, error: BaseException, status: int) -> int:
    """End with one line, and what the command has to say of its work."""
    print("; ".join([f"probzero: {why}", *getattr(error, "__notes__", ())]), file=sys.stderr)
    return status


def _fail(error: Exception) -> int:
    print(f"probzero: error: {' '.join(str(error).split())}", file=sys.stderr)
    return FAILURE


if __name__ == "__main__":
    # What is imported is never garbage. Kept from looking through it again and again, and once more at the end, the
    # collector costs a job a third of a second less.
    gc.disable()
    sys.exit(main())
