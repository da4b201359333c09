"""Self-play of one shard: a batch of games played in step by one network, then the samples of their search graphs."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import pandas as pd
import torch

from probzero.config import Config, SelfPlay, Targets
from probzero.errors import bad
from probzero.games.othello import Othello, move_names, othello
from probzero.learning.dataset import Samples
from probzero.learning.played import PlayedMoves
from probzero.learning.resignation import Resignation
from probzero.learning.targets import SearchedGraph
from probzero.network.inference import Evaluator
from probzero.random_keys import key, uniform
from probzero.search.build import SearchFactory
from probzero.search.choice import Moves, sample
from probzero.search.graph import GraphSearch
from probzero.search.tree import Tree


@dataclass(frozen=True)
class Shard:
    """What the self-play of a shard leaves behind.

    Margin (when the game stopped) and result (+1 won) of a game are those of the player who moves first in it, opening
    included; `resigned` is 1 if the player to move gave up.
    """

    samples: Samples  # of all positions of the search graphs, merged
    games: pd.DataFrame  # game, opening_moves, moves, plies (without the opening), margin, result, resigned
    metrics: dict[str, Any]


class Record(Protocol):
    """What is kept of the games of a shard while they are played, for their samples."""

    def note(
        self, games: torch.Tensor, own: torch.Tensor, opp: torch.Tensor, moves: Moves, value: torch.Tensor
    ) -> None:
        """Note positions own, opp [n] of games [n] as they were searched, before a move is played."""

    def samples(self, result: torch.Tensor, settings: Targets) -> Samples:
        """Return the samples; result [G] (+1, 0, −1) is that of the player who moved first."""


Progress = Callable[[int, int], None]  # plies played, games still going


def play_shard(
    config: Config, evaluator: Evaluator, seed: int, iteration: int, shard: int, progress: Progress | None = None
) -> Shard:
    """Play the shard's games to their ends."""
    counts = _Counts(evaluator)
    settings, rules, device = config.selfplay, othello(config.game.size), evaluator.device
    game_key = torch.tensor(
        [key(config.experiment, seed, iteration, "selfplay", shard, game) for game in range(settings.games)],
        device=device,
    )
    opening = _openings(rules, settings.random_plies, game_key)
    factory = SearchFactory(rules, evaluator, config.search, settings.capacity, "selfplay.capacity")
    search = factory.start(opening.own, opening.opp, game_key)
    tree, games = search.tree, torch.arange(settings.games, device=device)
    resignation = Resignation(settings, game_key)
    record: Record = PlayedMoves(rules)
    if config.search.algorithm == "particle":
        record = SearchedGraph(tree, config.search.temperature)

    moves, exhausted = [], 0
    going = games
    for ply in range(rules.longest_game):
        if settings.noise > 0:
            search.add_noise(going, settings.noise, settings.noise_concentration, ply)
        search.run(going, settings.particles, settings.batches, ply)
        value = search.value(going)
        stays = ~resignation.now(going, value, ply)
        going, value = going[stays], value[stays]
        if not len(going):
            break
        roots, offered = tree.root[going], search.moves(going)
        exhausted += int(tree.closed[roots].sum())
        record.note(going, tree.own[roots], tree.opp[roots], offered, value)
        action = sample(offered, game_key[going], ply, temperature_at(settings, ply), settings.exploration)
        search.advance(going, action)
        made = torch.full_like(games, -1)
        made[going] = action
        moves.append(made)
        going = going[~rules.terminal(tree.own[tree.root[going]], tree.opp[tree.root[going]])]
        if progress is not None:
            progress(ply + 1, len(going))
        if not len(going):
            break
    if not moves:
        raise bad("self-play", "selfplay.resign_below", "a value that lets games be played", settings.resign_below)
    games_table, result = _games(rules, tree, opening.moves, torch.stack(moves, dim=1), resignation)
    samples = record.samples(result, config.targets)
    metrics = {
        "iteration": iteration,
        "shard": shard,
        **_outcomes(games_table),
        **resignation.metrics(result),
        "exhausted_roots": exhausted,
        **counts.metrics(search),
        "samples": len(samples.weight),
        **counts.seconds(),
    }
    return Shard(samples, games_table, metrics)


def temperature_at(settings: SelfPlay, ply: int) -> float:
    """Return the temperature of the moves at a ply: that of the last step of the schedule begun by then."""
    return [temperature for first, temperature in settings.move_temperatures if first <= ply][-1]


class _Counts:
    """The work of the evaluator and the time since the counting began."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator = evaluator
        self.began = time.perf_counter()
        self.before = (evaluator.positions, evaluator.calls, evaluator.seconds)

    def metrics(self, search: GraphSearch) -> dict[str, Any]:
        tree, sent = search.tree, self.evaluator.positions - self.before[0]
        return {
            "leaf_evaluations": search.leaf_evaluations,
            "network_evaluations": sent,
            "network_calls": self.evaluator.calls - self.before[1],
            "cache_hits": search.leaf_evaluations - sent,
            "nodes": int(tree.evaluated.sum()),
            "terminal_nodes": int((tree.evaluated & (tree.edge_count == 0)).sum()),
            "entered_positions": tree.nodes,
            "edges": tree.edges,
        }

    def seconds(self) -> dict[str, float]:
        return {
            "seconds": time.perf_counter() - self.began,
            "network_seconds": self.evaluator.seconds - self.before[2],
        }


class _Opening(NamedTuple):
    """Where games begin, seen by the player to move."""

    own: torch.Tensor  # [G]
    opp: torch.Tensor  # [G]
    moves: torch.Tensor  # [G, plies] actions, −1 after the last


def _openings(rules: Othello, most: int, game_key: torch.Tensor) -> _Opening:
    """Play between 0 and `most` random plies in each game, as its key says, stopping short of a finished game."""
    black, white = rules.start()
    own, opp = torch.full_like(game_key, black), torch.full_like(game_key, white)
    plies = (uniform(game_key ^ key("random plies")) * (most + 1)).long()
    moves = torch.full((len(game_key), most), -1, device=game_key.device)
    for ply in range(most):
        legal = rules.legal(own, opp)
        drawn = uniform((game_key ^ key("random ply", ply))[:, None], torch.arange(rules.actions, device=own.device))
        action = torch.where(legal, drawn, -1.0).argmax(1)
        after = rules.place(own, opp, action)
        play = (plies > ply) & ~rules.terminal(*after)
        plies = torch.where(play, plies, 0)  # once stopped, stopped for good
        moves[play, ply] = action[play]
        own, opp = torch.where(play, after[0], own), torch.where(play, after[1], opp)
    return _Opening(own, opp, moves)


def _games(
    rules: Othello, tree: Tree, opening: torch.Tensor, moves: torch.Tensor, resignation: Resignation
) -> tuple[pd.DataFrame, torch.Tensor]:
    """Return a row per game from the final roots and the moves [G, plies] (−1 after the end) of opening and game.

    Also returns the results [G], seen by the player who moved first after the opening.
    """
    before, after = (opening >= 0).sum(1), (moves >= 0).sum(1)
    last = rules.margin(tree.own[tree.root], tree.opp[tree.root])  # for whoever would be to move
    mover = 1 - 2 * (after % 2)  # +1: the player who moved first after the opening
    result = torch.where(resignation.resigned, -1, last.sign()) * mover
    colour = 1 - 2 * (before % 2)  # +1: that player is Black; a pass is a ply, so colours alternate
    names = [[move_names(rules.size, row[row >= 0]) for row in part.cpu().numpy()] for part in (opening, moves)]
    table = pd.DataFrame(
        {
            "game": range(len(moves)),
            "opening_moves": names[0],
            "moves": names[1],
            "plies": after.tolist(),
            "margin": (last * mover * colour).tolist(),
            "result": (result * colour).tolist(),
            "resigned": resignation.resigned.long().tolist(),
        }
    )
    return table, result


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
