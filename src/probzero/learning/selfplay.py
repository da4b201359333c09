"""Self-play of one shard: a batch of games played in step by one network, then the samples of their search graphs."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import pandas as pd
import torch

from probzero.config import Config
from probzero.games.othello import Othello, move_names, othello
from probzero.learning.dataset import Samples
from probzero.learning.targets import extract
from probzero.network.inference import Evaluator
from probzero.random_keys import key, uniform
from probzero.search.choice import sample
from probzero.search.evaluation import remembered
from probzero.search.particle import ParticleSearch
from probzero.search.tree import Tree


@dataclass(frozen=True)
class Shard:
    """What the self-play of a shard leaves behind."""

    samples: Samples  # of all positions of the search graphs, merged
    games: pd.DataFrame  # game, opening_moves, moves, plies (without the opening), margin (Black's discs − White's)
    metrics: dict[str, Any]


Progress = Callable[[int, int], None]  # plies played, games still going


def play_shard(
    config: Config, evaluator: Evaluator, seed: int, iteration: int, shard: int, progress: Progress | None = None
) -> Shard:
    """Play the shard's games to their ends."""
    began, network_began, sent_began, calls_began = (
        time.perf_counter(),
        evaluator.seconds,
        evaluator.positions,
        evaluator.calls,
    )
    settings, rules, device = config.selfplay, othello(config.game.size), evaluator.device
    games = torch.arange(settings.games, device=device)
    tree = Tree(rules, settings.games, settings.capacity, "selfplay.capacity", device)
    tree.game_key[:] = torch.tensor(
        [key(config.experiment, seed, iteration, "selfplay", shard, game) for game in range(settings.games)]
    )
    evaluate = remembered(evaluator, config.search, rules.actions, settings.capacity, device)
    search = ParticleSearch(tree, evaluate, config.search)
    opening = _openings(rules, settings.random_plies, tree.game_key)
    search.start(games, opening.own, opening.opp)

    moves, exhausted = [], 0
    going = games
    for ply in range(rules.longest_game):
        search.run(going, settings.particles, settings.batches, ply)
        exhausted += int(tree.closed[tree.root[going]].sum())
        action = sample(tree, going, settings.exploration, ply)
        search.advance(going, action)
        record = torch.full_like(games, -1)
        record[going] = action
        moves.append(record)
        going = going[tree.edge_count[tree.root[going]] > 0]
        if progress is not None:
            progress(ply + 1, len(going))
        if not len(going):
            break
    samples = extract(tree, config.search.temperature)
    seconds = time.perf_counter() - began
    sent = evaluator.positions - sent_began
    games_table = _games(rules, tree, opening.moves, torch.stack(moves, dim=1))
    metrics = {
        "iteration": iteration,
        "shard": shard,
        **_outcomes(games_table),
        "exhausted_roots": exhausted,
        "leaf_evaluations": search.leaf_evaluations,
        "network_evaluations": sent,
        "network_calls": evaluator.calls - calls_began,
        "cache_hits": search.leaf_evaluations - sent,
        "nodes": int(tree.evaluated.sum()),
        "terminal_nodes": int((tree.evaluated & (tree.edge_count == 0)).sum()),
        "entered_positions": tree.nodes,
        "samples": len(samples.weight),
        "seconds": seconds,
        "network_seconds": evaluator.seconds - network_began,
    }
    return Shard(samples, games_table, metrics)


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


def _games(rules: Othello, tree: Tree, opening: torch.Tensor, moves: torch.Tensor) -> pd.DataFrame:
    """Return a row per game from the final roots and the moves [G, plies] (−1 after the end) of opening and game."""
    before, after = (opening >= 0).sum(1), (moves >= 0).sum(1)
    margin = rules.margin(tree.own[tree.root], tree.opp[tree.root])
    margin = torch.where((before + after) % 2 == 0, margin, -margin)  # a pass is a ply: colours alternate
    names = [[move_names(rules.size, row[row >= 0]) for row in part.cpu().numpy()] for part in (opening, moves)]
    return pd.DataFrame(
        {
            "game": range(len(moves)),
            "opening_moves": names[0],
            "moves": names[1],
            "plies": after.tolist(),
            "margin": margin.tolist(),
        }
    )


def _outcomes(games: pd.DataFrame) -> dict[str, Any]:
    return {
        "games": len(games),
        "moves": int(games.plies.sum()),
        "mean_plies": float(games.plies.mean()),
        "distinct_games": len(games[["opening_moves", "moves"]].drop_duplicates()),
        "black_wins": int((games.margin > 0).sum()),
        "draws": int((games.margin == 0).sum()),
        "white_wins": int((games.margin < 0).sum()),
    }
