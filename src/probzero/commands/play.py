"""probzero play: a game in the terminal, against a network or between any two players."""

from __future__ import annotations

import argparse
import io
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from rich.console import Console

from probzero.database.lookup import find
from probzero.errors import ProbZeroError, bad
from probzero.front_ends import networks, positions, saved, screens
from probzero.front_ends.analysis import Judge
from probzero.front_ends.play import WORDS, Session
from probzero.front_ends.players import HUMAN, NETWORK, PLAYERS_HELP, UCT, contestant, game_of, taken_apart, thinker_of
from probzero.front_ends.thinkers import Thinker

EXAMPLES = f"""examples:
  probzero play                          you against the committed network, you move first
  probzero play --second                 it moves first
  probzero play network:0                easier: its policy alone; network:8, network:96, network:384 are harder
  probzero play perfect                  against exact play
  probzero play network:384 perfect      watch two players; the one named first moves first
  probzero play results/laptop           against the newest network of a run of yours
  probzero play --game connect_four-7x6 uct:5000
  probzero play --position "c4 d4"       go on from there; a position is as in `probzero analyse`
  probzero play --resume                 go on with the game that was left last

in the game: a move, such as c4, or one of {", ".join(WORDS)}."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "players", nargs="*", metavar="PLAYER", help=f"{PLAYERS_HELP}, or human; default: human network"
    )
    parser.add_argument("--second", action="store_true", help="with one player: it moves first")
    parser.add_argument("--game", metavar="NAME", help="which game (default: that of the players)")
    of = parser.add_mutually_exclusive_group()
    of.add_argument("--position", metavar="POSITION", help="where to begin (default: start)")
    of.add_argument("--load", type=Path, metavar="FILE", help="go on with a game that was saved")
    of.add_argument("--resume", action="store_true", help="go on with the game that was left last")
    parser.add_argument(
        "--key", type=int, default=0, metavar="K", help="of the draws of players that draw (default: 0)"
    )


def run(args: argparse.Namespace) -> None:
    if len(args.players) > 2:
        raise bad("players", " ".join(args.players), "two at most", len(args.players))
    loaded = saved.latest() if args.resume else args.load
    if loaded is not None:
        line, kept_names = saved.load(loaded)
        names = _names(args) if args.players else kept_names
        game = line.game
    else:
        names = _names(args)
        game = game_of(args.game, [name for name in names if name != HUMAN])
        if not args.players and not networks.has_committed(game):
            names = (UCT, HUMAN) if args.second else (HUMAN, UCT)
        line = positions.read(game, args.position or positions.START)
    lookup = find(game)
    first, second = (None if name == HUMAN else contestant(name, game, key=args.key, lookup=lookup) for name in names)
    shown = screens.console()

    def hinter() -> Thinker | None:
        thinkers = [player.thinker for player in (first, second) if player is not None and player.thinker is not None]
        if thinkers:
            return thinkers[0]
        return thinker_of(taken_apart(NETWORK), game) if networks.has_committed(game) else None

    keep = loaded if args.resume else saved.going_on()
    session = Session(line, (first, second), names, shown, _reader(shown), keep, Judge(game, lookup), hinter, args.key)
    session.make_ready()
    try:
        if not session.run():
            print(_where(session))
    except EOFError:
        print(f"\nthe input has ended; {_where(session)}")
    except ProbZeroError as error:  # a program of others that misbehaves
        raise ProbZeroError(f"{error}; {_where(session)}") from None
    except (KeyboardInterrupt, BrokenPipeError) as error:
        error.add_note(_where(session))
        raise


def _names(args: argparse.Namespace) -> tuple[str, str]:
    """Return who moves first and who second."""
    if len(args.players) == 2:
        return args.players[0], args.players[1]
    other = args.players[0] if args.players else NETWORK
    return (other, HUMAN) if args.second else (HUMAN, other)


def _reader(shown: Console) -> Callable[[str], str]:
    """Return what reads a line; at a terminal one that can be edited."""
    if sys.stdin.isatty():
        with suppress(ImportError):
            import readline  # noqa: F401 (that it is there is enough)
    elif isinstance(sys.stdin, io.TextIOWrapper):
        sys.stdin.reconfigure(errors="replace")

    def ask(prompt: str) -> str:
        shown.file.flush()
        typed = input(prompt)
        if not sys.stdin.isatty():
            print(typed)  # so that who reads along sees both sides
        return typed

    return ask


def _where(session: Session) -> str:
    """Say where the game is kept that goes on."""
    return "the game is kept: probzero play --resume" if session.kept else "no move was played"
