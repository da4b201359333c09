"""probzero gtp: plays by the Go Text Protocol on the standard input and output, for GUIs and other programs."""

from __future__ import annotations

import argparse
import sys

from probzero.database.lookup import find
from probzero.front_ends import networks
from probzero.front_ends.gtp import Engine
from probzero.front_ends.players import NETWORK, PLAYERS_HELP, Contestant, contestant, game_of
from probzero.games.registry import OF_TEXT_PROTOCOL

EXAMPLES = """examples:
  probzero gtp                        the committed network of 5×5 Go
  probzero gtp --player network:384   it thinks longer
  probzero gtp --game othello-5       the same protocol for another game
  gnugo --mode gtp, gogui, gogui-twogtp and other programs take the whole command as an engine"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--player", default=NETWORK, metavar="PLAYER", help=PLAYERS_HELP)
    summary = "which game (default: that of the player, else that of the committed network of Go)"
    parser.add_argument("--game", metavar="NAME", help=summary)


def run(args: argparse.Namespace) -> None:
    if args.game is None and args.player.split(":")[0] == NETWORK:
        game = networks.load(networks.committed_of(OF_TEXT_PROTOCOL))[1].game
    else:
        game = game_of(args.game, [args.player])
    lookup = find(game)

    def player(name: str) -> Contestant:
        return contestant(name, game, lookup=lookup)

    sys.stdin.reconfigure(errors="replace")  # type: ignore[union-attr]
    for answer in Engine(game, player, args.player).answers(sys.stdin):
        print(answer, end="", flush=True)
