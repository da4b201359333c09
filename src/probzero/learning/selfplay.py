"""Self-play of one shard: a batch of games played in step by one network, then the samples that its record gives."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from probzero import wdl
from probzero.config import Config, SelfPlay
from probzero.errors import bad
from probzero.games.base import Game
from probzero.games.records import LEFT
from probzero.kinds import count_up, like, plain, space
from probzero.learning.dataset import Samples
from probzero.learning.openings import openings
from probzero.learning.record import Position, Record
from probzero.learning.resignation import Resignation
from probzero.network.inference import Evaluator
from probzero.random_keys import key
from probzero.search.base import GraphSearch
from probzero.search.build import SearchFactory
from probzero.search.graph import Graph
from probzero.search.move_choice import sample

GAMES = "games"  # the kind of a record of self-play


@dataclass(frozen=True)
class Shard:
    """What the self-play of a shard leaves behind.

    The margin of a game, if the game has one, is by how much the player who began was ahead when it stopped, its result
    +1 if that player won, and `resigned` 1 if the player to move gave up, LEFT (with result 0) if nobody ended it.
    """

    samples: Samples  # of all positions that the record says something of
    games: pd.DataFrame  # game, opening_moves, moves, plies (without the opening), margin, result, resigned
    metrics: dict[str, Any]  # the same wherever it is played
    costs: dict[str, Any]  # what depends on the machine or on the cache


def play_shard(config: Config, evaluator: Evaluator, seed: int, iteration: int, shard: int) -> Shard:
    """Play the shard's games to their ends, or for as many plies as they may have."""
    counts = _Counts(evaluator)
    settings, game = config.selfplay, evaluator.game
    keys = [key(config.experiment, seed, iteration, "selfplay", shard, number) for number in range(settings.games)]
    opening = openings(game, settings, np.array(keys))
    factory = SearchFactory(game, evaluator, config.search, settings.capacity, "selfplay.capacity")
    search = factory.start(opening.states, np.array(keys))
    graph = search.graph
    game_key, games = graph.game_key, count_up(graph.root, settings.games)
    resignation = Resignation(settings, game_key)
    record: Record = config.search.arm.record_class(search)

    moves, exhausted = [], 0
    going = games
    for ply in range(settings.longest or game.longest_game):
        if settings.noise > 0:
            search.add_noise(going, settings.noise, settings.noise_concentration, ply)
        search.run(going, settings.particles, settings.batches, ply)
        value = search.value(going)
        stays = ~resignation.now(going, value, ply)
        going, value = going[stays], value[stays]
        if not len(going):
            break
        roots, offered = graph.root[going], search.moves(going)
        exhausted += int(graph.closed[roots].sum())
        record.note(Position(going, graph.states(roots), roots, search.lesson(going, offered), value))
        action = sample(offered, game_key[going], ply, temperature_at(settings, ply), settings.exploration)
        search.advance(going, action)
        made = space(games).full_like(games, -1)
        made[going] = action
        moves.append(made)
        going = going[~game.finished(graph.states(graph.root[going]))]
        if not len(going):
            break
    if not moves:
        raise bad("self-play", "selfplay.resign_below", "a value that lets games be played", settings.resign_below)
    games_table, result = _games(game, graph, opening.moves, plain(space(games).stack(moves, axis=1)), resignation)
    left = games_table["resigned"].to_numpy() == LEFT
    samples = record.samples(like(np.where(left, wdl.UNKNOWN, result), games), config.targets)
    if not len(samples):
        expected = f"positions of which targets.least_moves ({config.targets.least_moves}) were explored"
        budget = f"{settings.particles} × {settings.batches}"
        raise bad("self-play", "samples", expected, f"none with selfplay.particles × batches = {budget}")
    metrics = {
        "iteration": iteration,
        "shard": shard,
        **_outcomes(games_table),
        **resignation.metrics(like(result, games)),
        "exhausted_roots": exhausted,
        **_sizes(search),
        "samples": len(samples.weight),
    }
    return Shard(samples, games_table, metrics, {"iteration": iteration, "shard": shard, **counts.costs(search)})


def temperature_at(settings: SelfPlay, ply: int) -> float:
    """Return the temperature of the moves at a ply: that of the last step of the schedule begun by then."""
    return [temperature for first, temperature in settings.move_temperatures if first <= ply][-1]


class _Counts:
    """The work of the evaluator and the time since the counting began."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator = evaluator
        self.began = time.perf_counter()
        self.before = (evaluator.positions, evaluator.calls, evaluator.seconds)

    def costs(self, search: GraphSearch) -> dict[str, float]:
        sent = self.evaluator.positions - self.before[0]
        return {
            "network_evaluations": sent,
            "network_calls": self.evaluator.calls - self.before[1],
            "cache_hits": search.leaf_evaluations - sent,
            "seconds": time.perf_counter() - self.began,
            "network_seconds": self.evaluator.seconds - self.before[2],
        }


def _sizes(search: GraphSearch) -> dict[str, int]:
    """Return how much was searched."""
    graph = search.graph
    evaluated, moves = graph.evaluated[: graph.nodes], graph.edge_count[: graph.nodes]  # the rest is never touched
    return {
        "leaf_evaluations": search.leaf_evaluations,
        "nodes": int(evaluated.sum()),
        "terminal_nodes": int((evaluated & (moves == 0)).sum()),
        "entered_positions": graph.nodes,
        "edges": graph.edges,
    }


def _games(
    game: Game, graph: Graph, opening: np.ndarray, moves: np.ndarray, resignation: Resignation
) -> tuple[pd.DataFrame, np.ndarray]:
    """Return a row per game from the final roots and the moves [G, plies] (−1 after the end) of opening and game.

    Also returns the results [G], seen by the player who moved first after the opening.
    """
    before, after = (opening >= 0).sum(1), (moves >= 0).sum(1)
    last, resigned = plain(graph.states(graph.root)), plain(resignation.resigned)
    mover = 1 - 2 * (after % 2)  # +1: the player who moved first after the opening would be to move
    left = ~game.finished(last) & ~resigned
    result = np.where(resigned, -1, np.where(left, 0, game.outcome(last))) * mover
    began = 1 - 2 * (before % 2)  # +1: that player began the game; a pass is a ply, so players alternate
    names = [[game.move_names(row[row >= 0]) for row in part] for part in (opening, moves)]
    table = {
        "game": range(len(moves)),
        "opening_moves": names[0],
        "moves": names[1],
        "plies": after.tolist(),
        "result": (result * began).tolist(),
        "resigned": np.where(left, LEFT, resigned.astype(int)).tolist(),
    }
    if game.has_margin:
        table["margin"] = (game.margin(last) * mover * began).tolist()
    columns = ["game", "opening_moves", "moves", "plies", "margin", "result", "resigned"]
    return pd.DataFrame(table, columns=[name for name in columns if name in table]), result


def _outcomes(games: pd.DataFrame) -> dict[str, Any]:
    return {
        "games": len(games),
        "moves": int(games.plies.sum()),
        "mean_plies": float(games.plies.mean()),
        "distinct_games": len(games[["opening_moves", "moves"]].drop_duplicates()),
        "first_wins": int((games.result > 0).sum()),
        "draws": int((games.result == 0).sum()),
        "second_wins": int((games.result < 0).sum()),
    }
