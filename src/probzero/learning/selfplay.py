"""Self-play of one shard: a batch of games played in step by one network, then the samples of their search graphs."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from probzero.config import Config
from probzero.games.othello import Othello, othello
from probzero.learning.dataset import Samples
from probzero.learning.targets import extract
from probzero.network.inference import Evaluator
from probzero.random_keys import key
from probzero.search.choice import sample
from probzero.search.evaluation import CachedEvaluation, Evaluate
from probzero.search.particle import ParticleSearch
from probzero.search.tree import Tree

Progress = Callable[[int, int], None]  # plies played, games still going


def play_shard(
    config: Config, evaluator: Evaluator, seed: int, iteration: int, shard: int, progress: Progress | None = None
) -> tuple[Samples, dict[str, Any]]:
    """Play the shard's games to their ends; return the merged samples and the shard's metrics."""
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
    evaluate: Evaluate = evaluator
    if config.search.cache:
        evaluate = CachedEvaluation(evaluator, rules.actions, settings.capacity, device)
    search = ParticleSearch(tree, evaluate, config.search)
    black, white = rules.start()
    search.start(games, torch.full_like(games, black), torch.full_like(games, white))

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
    return samples, {
        "iteration": iteration,
        "shard": shard,
        **_outcomes(rules, tree, torch.stack(moves, dim=1)),
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


def _outcomes(rules: Othello, tree: Tree, moves: torch.Tensor) -> dict[str, Any]:
    """Count results over games from their final roots and moves [G, plies] (−1 after the end)."""
    plies = (moves >= 0).sum(1)
    for_mover = rules.result(tree.own[tree.root], tree.opp[tree.root])
    for_black = torch.where(plies % 2 == 0, for_mover, -for_mover)  # a pass is a ply: colours alternate
    return {
        "games": len(moves),
        "moves": int(plies.sum()),
        "mean_plies": float(plies.double().mean()),
        "distinct_games": len(np.unique(moves.cpu().numpy(), axis=0)),
        "black_wins": int((for_black > 0).sum()),
        "draws": int((for_black == 0).sum()),
        "white_wins": int((for_black < 0).sum()),
    }
