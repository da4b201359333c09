"""Records of matches: real games of players that move at random, sealed as the tournament seals them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pandas as pd
from sealed import made

from probzero.arena.match import play_match
from probzero.arena.names import MATCHES
from probzero.arena.openings import random_openings
from probzero.arena.simple_players import SCORES, OnePlyPlayer
from probzero.games.base import Game
from probzero.tables import write_csv


def record(game: Game, player: str, against: Sequence[str], openings: int = 2, plies: int = 3) -> pd.DataFrame:
    """Return the games of a player against others, every opening from both sides."""
    begun = random_openings(game, openings, plies, seed=1)
    one, other = (OnePlyPlayer(game, SCORES["random"]) for _ in range(2))  # each follows the games by itself
    frames = [play_match(game, begun, (player, one), (name, other), ("test",)) for name in against]
    return pd.concat(frames, ignore_index=True)


def write_record(path: Path, games: pd.DataFrame, seed: int = 0) -> Path:
    """Write the games of the player that the file is named after."""
    write_csv(path, games, MATCHES, made(seed=seed, subject=path.stem))
    return path
