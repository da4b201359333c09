"""probzero tournament: the row of one player in the tournament, all its games against the opponents named."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from probzero import config, files, games
from probzero.arena.match import play_matches
from probzero.arena.names import MATCHES, iteration_of, iteration_of_file
from probzero.arena.players import Player, PolicyPlayer, SearchPlayer
from probzero.arena.simple_players import SCORES, OnePlyPlayer
from probzero.commands import arguments, progress
from probzero.config import Config, Search
from probzero.devices import resolve_device
from probzero.errors import bad
from probzero.network.checkpoint import load_weights
from probzero.network.inference import Evaluator
from probzero.search.build import SearchFactory
from probzero.tables import write_csv
from probzero.truth.perfect import PerfectPlayer

PERFECT = "perfect"
NEEDS = ("experiment", "game", "search", "arena")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    arguments.add_config(parser)
    arguments.add_seed(parser)
    summary = "NAME=FILE: a checkpoint; NAME alone: random, greedy, mobility or perfect"
    parser.add_argument("--player", required=True, type=arguments.player, metavar="PLAYER", help=summary)
    parser.add_argument(
        "--against", required=True, nargs="+", type=arguments.player, metavar="PLAYER", help="opponents"
    )
    summary = "a search of its own for a player: a JSON object, the search section of a configuration"
    parser.add_argument("--search", action="append", default=[], type=_own_search, metavar="NAME=JSON", help=summary)
    summary = "what a player's checkpoint must have learned with: a JSON object, hashes of parts of a configuration"
    parser.add_argument("--learned", action="append", default=[], type=_learned, metavar="NAME=JSON", help=summary)
    summary = "leaf evaluations or simulations a move of a player, whole batches; 0: its policy alone"
    parser.add_argument("--budget", action="append", default=[], type=_budget, metavar="NAME=N", help=summary)
    arguments.add_imported(parser)
    arguments.add_path(parser, "--output", "where to write the games")


def run(args: argparse.Namespace) -> None:
    settings = config.load(args.config, NEEDS)
    own, made = dict(args.search), arguments.made(args, settings, NEEDS)
    player, *against = [
        (name, _player(settings, name, path, own.get(name), args)) for name, path in [args.player, *args.against]
    ]
    played = play_matches(settings, args.seed, player, against)
    write_csv(args.output, played, MATCHES, made.about(player[0]))
    name = player[0]
    points = (1 + played["result"].where(played["first"] == name, -played["result"])).sum() / 2
    distinct = len(played[["opening_moves", "moves"]].drop_duplicates())
    progress.report(
        f"tournament, {name}",
        f"{len(played)} games ({distinct} distinct) with {len(against)} of the others",
        f"score {progress.percent(points, len(played))}",
    )


def _own_search(text: str) -> tuple[str, Search]:
    name, _, source = text.partition("=")
    where = f"--search {name}"
    return name, config.parse_part("search", files.parse_json(source.encode(), "search", where), where)


def _learned(text: str) -> tuple[str, dict[str, str]]:
    name, _, source = text.partition("=")
    hashes = files.parse_json(source.encode(), "configuration", f"--learned {name}")
    if not isinstance(hashes, dict) or not all(isinstance(found, str) for found in hashes.values()):
        raise bad("configuration", f"--learned {name}", "an object of hashes", source)
    return name, hashes


def _budget(text: str) -> tuple[str, int]:
    name, _, number = text.partition("=")
    (budget,) = arguments.numbers(number)
    return name, budget


def _player(
    settings: Config, name: str, checkpoint: Path | None, own: Search | None, args: argparse.Namespace
) -> Player:
    """Return a player: a checkpoint with its own search and budget or those of the settings, one without a network,
    or UCT."""
    arena, game = settings.arena, games.make(settings.game.name, **settings.game.options)
    if checkpoint is None and own is None:
        if name == PERFECT:
            return PerfectPlayer(game, arena.threads)
        if name not in SCORES:
            raise bad("player", name, f"a checkpoint (NAME=FILE) or one of {', '.join([*SCORES, PERFECT])}", "neither")
        return OnePlyPlayer(game, SCORES[name])
    evaluator = None
    if checkpoint is not None:
        learned = {**settings.fingerprints(("experiment", "game")), **dict(args.learned).get(name, {})}
        number = iteration_of(name)
        number = iteration_of_file(checkpoint) if number is None else number  # a variant's name tells of none
        wanted: dict[str, Any] = {"seed": args.seed, "iteration": number, "settings": learned}
        network, _ = load_weights(checkpoint, game, imported=args.imported, **wanted)
        evaluator = Evaluator(network, game, resolve_device(arena.device, arena.threads))
    budget = dict(args.budget).get(name, arena.particles * arena.batches)
    arguments.check_budgets("budget", [budget], arena.particles)
    if budget == 0 and evaluator is not None:
        return PolicyPlayer(evaluator, game)
    factory = SearchFactory(game, evaluator, own or settings.search, arena.capacity, "arena.capacity")
    return SearchPlayer(factory, arena.particles, budget // arena.particles)
