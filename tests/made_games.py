"""Records of self-play as the command writes them: random games by the slow rules of 4×4 Othello."""

from __future__ import annotations

import random
from pathlib import Path

import pandas as pd
from oracles.slow_othello import SlowOthello
from sealed import made

from probzero import games
from probzero.learning.selfplay import GAMES
from probzero.tables import write_csv

SMALL = games.make("othello", size=4)
OPENING = 2
GIVEN_UP = 1  # the game that ended by resignation
COUNT = 4


def recorded() -> pd.DataFrame:
    """Four games after openings of two plies; the second was given up by the player to move, four plies early."""
    draws, rows = random.Random(5), []
    for number in range(COUNT):
        boards, moves = [SlowOthello.start(4)], []
        while legal := boards[-1].legal_moves():
            moves.append(draws.choice(legal))
            boards.append(boards[-1].after(moves[-1]))
        if number == GIVEN_UP:
            moves, boards = moves[:-4], boards[:-4]
        black_to_move = len(moves) % 2 == 0
        margin = boards[-1].margin() if black_to_move else -boards[-1].margin()
        result = (margin > 0) - (margin < 0) if number != GIVEN_UP else -1 if black_to_move else 1
        rows.append(
            {
                "game": number,
                "opening_moves": SMALL.move_names(moves[:OPENING]),
                "moves": SMALL.move_names(moves[OPENING:]),
                "plies": len(moves) - OPENING,
                "margin": margin,
                "result": result,
                "resigned": int(number == GIVEN_UP),
            }
        )
    return pd.DataFrame(rows)


def write_games(path: Path, table: pd.DataFrame, shard: int = 0) -> Path:
    write_csv(path, table, GAMES, made(shard=shard))
    return path
