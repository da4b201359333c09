"""probzero analyse: what a network thinks of a position, move by move."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict

from probzero.database.lookup import find
from probzero.errors import bad
from probzero.front_ends import board, positions, screens
from probzero.front_ends.analysis import Judge, think
from probzero.front_ends.players import THINKERS_HELP, game_of, taken_apart, thinker_of

EXAMPLES = """examples:
  probzero analyse                               the start, as the committed network sees it with 96 particles
  probzero analyse "c4 d4" --truth               after these moves, beside what is exactly true
  probzero analyse ...../.xo../.ooo./...../..... x is to move, o is not, rows from the top
  probzero analyse "c4 d4" --player network:0    the policy alone, without a search
  probzero analyse "c4 d4" --player results/laptop:384 --json
  probzero analyse --game connect_four-5x4 --player uct:2000 "3 3"

A position is `start`, the moves that lead to it from the start, or the game's notation. In JSON, `weight` is what the
search chooses by (policy_search, or the share of visits); win, draw and loss are in this order and speak, like every
number, for the player to move."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("position", nargs="*", metavar="POSITION", help="default: start")
    parser.add_argument("--player", default="network", metavar="PLAYER", help=f"who thinks: {THINKERS_HELP}")
    parser.add_argument("--game", metavar="NAME", help="default: that of the player")
    parser.add_argument("--truth", action="store_true", help="set what is exactly true beside it, if that can be found")
    parser.add_argument("--json", action="store_true", help="all numbers, for programs")


def run(args: argparse.Namespace) -> None:
    game = game_of(args.game, [args.player])
    line = positions.read(game, " ".join(args.position))
    thinker = thinker_of(taken_apart(args.player), game)
    if not line.legal():
        raise bad("position", game.to_text(line.state), "a game that goes on", "one that is over")
    thoughts = think(thinker, line.state)
    truth = Judge(game, find(game)).truth(line.state) if args.truth else None
    if args.json:
        told = {**asdict(thoughts), "truth": asdict(truth) if truth else None}
        print(json.dumps(told, indent=2))
        return
    shown = screens.console()
    ascii = screens.plain_letters(shown)
    picture = board.drawn(game, line.state, line.turn, mark=line.legal(), ascii=ascii)
    picture.append("\n\n").append_text(board.side(game, line.turn, ascii)).append(" to move")
    who = game.sides[line.turn]
    said = screens.thoughts_shown(thoughts, who, truth, ascii=ascii, most=len(thoughts.moves))
    shown.print(screens.beside(shown, picture, said))
    if args.truth and truth is None:
        shown.print("what is exactly true is not to be found in some seconds", style="dim")
