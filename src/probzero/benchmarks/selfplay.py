"""Self-play of one shard beside the raw speed of its network."""

from __future__ import annotations

from typing import Any

import numpy as np

from probzero.benchmarks.rows import speed
from probzero.benchmarks.search import evaluator_of, random_positions
from probzero.config import Config
from probzero.devices import on
from probzero.games.base import list_moves
from probzero.learning.selfplay import play_shard
from probzero.network.inference import Evaluator
from probzero.random_keys import key

RAW_SECONDS = 3.0


def measure(config: Config) -> dict[str, Any]:
    """Play one shard of a configuration with an untrained network; return one row of the benchmark table.

    The raw speed is that of the evaluator alone, on positions of random play, in calls as large as the shard's were on
    average. Half of it is measured before the shard and half after, so that a drift of the machine shows in both.
    """
    evaluator = evaluator_of(config)
    states = random_positions(evaluator.game, 4096, key(config.experiment, "bench", "positions"))
    expected = min(4096, max(16, config.selfplay.games * config.selfplay.particles // 2))
    # One game first: to load compiled code is part of starting up, not of playing.
    play_shard(config.changed(selfplay={"games": 1, "batches": 1}), evaluator, seed=0, iteration=0, shard=0)
    before = raw_speed(evaluator, states, expected, RAW_SECONDS / 2)
    shard = play_shard(config, evaluator, seed=0, iteration=1, shard=0)
    metrics, costs = shard.metrics, shard.costs
    mean_call = costs["network_evaluations"] / costs["network_calls"]
    after = raw_speed(evaluator, states, round(mean_call), RAW_SECONDS / 2)
    raw, seconds, leaves = (before + after) / 2, costs["seconds"], metrics["leaf_evaluations"]
    return {
        "scale": config.name,
        "network": f"{config.network.blocks}x{config.network.channels}",
        "games": metrics["games"],
        "particles": config.selfplay.particles,
        "batches": config.selfplay.batches,
        "threads": config.selfplay.threads,
        "leaf_evaluations": leaves,
        "mean_call": mean_call,
        "raw_network_per_second": raw,
        "network_per_second": costs["network_evaluations"] / costs["network_seconds"],
        "leaves_per_second": leaves / seconds,
        "leaves_to_raw": leaves / seconds / raw,
        "network_share": costs["network_seconds"] / seconds,
        "cache_hit_share": costs["cache_hits"] / leaves,
        "other_microseconds_per_leaf": 1e6 * (seconds - costs["network_seconds"]) / leaves,
    }


def raw_speed(evaluator: Evaluator, states: np.ndarray, call: int, seconds: float) -> float:
    """Return positions per second of the evaluator in calls of `call` positions, taken from states [n, W]."""
    states, game = np.resize(states, (call, states.shape[1])), evaluator.game
    moves = list_moves(game.legal(states), game.most_moves)
    asked = [on(part, evaluator.device) for part in (states, moves)]
    return speed(lambda: evaluator(*asked), call, seconds)
