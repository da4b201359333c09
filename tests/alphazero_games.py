"""AlphaZero's games of self-play at the smoke scale, and what was played in them, by the slow rules of Othello."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml
from oracles.slow_othello import SlowOthello

from probzero import games
from probzero.config import Config, SelfPlay, parse
from probzero.learning.selfplay import Shard, play_shard
from probzero.network.inference import Evaluator
from probzero.network.model import build

SMOKE = Path(__file__).parent.parent / "config" / "smoke.yaml"
WIN, DRAW, LOSS = [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]
RULES = games.make("othello", size=5)


def configured(search: dict[str, Any] | None = None, targets: dict[str, Any] | None = None, **selfplay: Any) -> Config:
    """AlphaZero at the smoke scale with a tiny network."""
    raw = yaml.safe_load(SMOKE.read_text(encoding="utf-8"))
    raw["network"] = {"blocks": 1, "channels": 8, "reward": False}
    raw["search"].update({"algorithm": "puct", "transpositions": False, **(search or {})})
    raw["targets"] = {"nodes": "roots", "policy": "visits", "value": "outcome", **(targets or {})}
    sizes = {"games": 12, "particles": 4, "batches": 6, "random_plies": 5, "exploration": 0.0, "capacity": 50_000}
    raw["selfplay"].update({**sizes, **selfplay})
    return parse(raw)


def settings(**changes: Any) -> SelfPlay:
    """Settings of self-play, those given and the rest as in the smoke scale."""
    return configured(**changes).selfplay


def shard(config: Config, seed: int = 0) -> Shard:
    evaluator = Evaluator(build(RULES.shape, config.network, 1), RULES, "cpu")
    return play_shard(config, evaluator, seed=seed, iteration=1, shard=0)


def rows_of(found: Shard) -> list[Any]:
    """The table of games, row by row."""
    return list(found.games.itertuples())


def replayed(found: Shard) -> list[list[tuple[SlowOthello, int]]]:
    """Every game of a shard: the positions after its opening and the moves played there; the last has none (−1)."""
    games = []
    for row in rows_of(found):
        board = SlowOthello.start(5)
        for move in RULES.parse_moves(row.opening_moves):
            board = board.after(move)
        game = []
        for move in RULES.parse_moves(row.moves):
            assert move in board.legal_moves()
            game.append((board, move))
            board = board.after(move)
        games.append([*game, (board, -1)])
    return games


def played_in_order(found: Shard) -> Iterator[tuple[int, int, SlowOthello, int]]:
    """Game, ply, position and move of every move played, in the order of the samples."""
    games = replayed(found)
    for ply in range(max(map(len, games)) - 1):
        for number, game in enumerate(games):
            if ply < len(game) - 1:
                yield number, ply, *game[ply]
