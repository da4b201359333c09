"""probzero explore: a page in the browser to play a network and to look into its head, or a file that holds one."""

from __future__ import annotations

import argparse
import webbrowser
from dataclasses import replace
from pathlib import Path

from probzero import files
from probzero.arena.names import iteration_of_file
from probzero.commands import arguments, progress
from probzero.config import load as load_settings
from probzero.database.lookup import find
from probzero.errors import ProbZeroError, bad
from probzero.front_ends import players
from probzero.front_ends.analysis import Judge
from probzero.front_ends.explore import page
from probzero.front_ends.explore.answers import Answers
from probzero.front_ends.explore.records import Records
from probzero.origin import Origin

NEEDS = ("experiment", "game", "search", "arena")
PORT = 8377
BUDGETS = (0, 96, 384)  # beside that of the tournament

EXAMPLES = f"""examples:
  probzero explore                               the committed network, at http://127.0.0.1:{PORT}/
  probzero explore --open                        the same, and a browser that shows it
  probzero explore results/laptop                the newest network of a run, with the games of its tournament
  probzero explore uct:2000 --game connect_four-5x4
  probzero explore --export page.html            one file with a few of its games, which needs no server
  probzero explore --export page.html --record matches/iteration-0060/17 certificates/iteration-0060/0

The page is answered on this computer alone. Keys: ? in the page. Of a network, `--record` knows the games of its run's
tournament and the best responses of its certificates; the page lists them under Games. Needs starlette and uvicorn:
pip install 'probzero[explore]'."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    summary = f"who thinks: {players.THINKERS_HELP} (default: network)"
    parser.add_argument("player", nargs="?", default=players.NETWORK, metavar="PLAYER", help=summary)
    parser.add_argument("--game", metavar="NAME", help="the game, as in NAME-5 (default: that of the network)")
    summary = "budgets to choose from, the first to begin with (default: the tournament's, 0, 96 and 384)"
    parser.add_argument("--particles", type=arguments.numbers, metavar="N,N,…", help=summary)
    parser.add_argument("--port", type=_port, default=PORT, help=f"where to answer, 0: any free one (default: {PORT})")
    parser.add_argument("--open", action="store_true", help="open the page in the usual browser")
    parser.add_argument("--export", type=Path, metavar="FILE.html", help="write a page that needs no server, and end")
    summary = "a recorded game for it, such as matches/iteration-0060/17 (default: a few of the network's own)"
    parser.add_argument("--record", nargs="+", default=[], metavar="RECORD/N", help=summary)
    parser.add_argument("--config", metavar="FILE|JSON", help="the settings that the file is to be told of")
    parser.add_argument("--seed", type=int, metavar="S", help="the seed that it is to be told of")


def run(args: argparse.Namespace) -> None:
    if args.record and not args.export:
        raise bad("explore", "--record", "--export FILE.html beside it", "none")
    answers = made_ready(args)
    if args.export:
        export(args, answers)
        return
    try:
        from probzero.front_ends.explore import server
    except ImportError as error:
        raise bad("explore", "the page", "pip install 'probzero[explore]'", f"no {error.name}") from None
    listening = server.bound(args.port)
    address = f"http://{server.HOST}:{listening.getsockname()[1]}/"
    progress.report("explore", address, "Ctrl-C ends it")
    if args.open:
        webbrowser.open(address)
    server.serve(answers, listening)


def made_ready(args: argparse.Namespace) -> Answers:
    """Return what the page may ask, from the network that is named, what is known of its game and its run's records."""
    game = players.game_of(args.game, [args.player])
    spec = players.taken_apart(args.player)
    usual, path = players.thinker_of(spec, game), players.path_of(spec, game)
    budgets = args.particles or [usual.particles, *(BUDGETS if path else ())]
    thinkers = [replace(usual, particles=count) for count in dict.fromkeys(budgets)]
    number = iteration_of_file(path) if path else None
    name = f"iteration-{number:04}" if number is not None else path.stem if path else spec.kind
    seed = path.resolve().parent.parent if path and path.resolve().parent.name == "checkpoints" else None
    return Answers(name, thinkers, budgets[0], Judge(game, find(game)), Records(game, seed))


def export(args: argparse.Namespace, answers: Answers) -> None:
    data = page.collect(answers, page.chosen(answers, answers.player, args.record))
    made = Origin(command=args.command, seed=args.seed)
    if args.config:
        made = arguments.made(args, load_settings(args.config, NEEDS), NEEDS)
    files.write(args.export, page.whole(data).encode(), page.KIND, made.about(answers.player))
    told = f"{sum(map(len, data['games'].values()))} games", f"{len(data['positions']):,} positions"
    progress.report("page", str(args.export), *told)


def _port(text: str) -> int:
    if not text.isdigit() or int(text) > 65_535:
        raise ProbZeroError(str(bad("explore", "--port", "a number from 0 to 65535", repr(text))))
    return int(text)
