"""Problems: positions that the player to move wins in so many moves whatever the other does, by one first move alone.

They come from random games and are solved by the rules alone: every move and every reply is tried (`forced`). No player
has a part in them, and no table.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from probzero.errors import bad
from probzero.games.base import Game
from probzero.games.random_play import play_by_seed

COLUMNS = {"moves": int, "position": str, "key": str}
PLIES = 200  # of a random game, if it lasts so long
GAMES = 20  # played at a time
ROUNDS = 200  # of so many games, after which there are too few problems
TOGETHER = 100  # positions that are solved at a time


def solved(game: Game, states: np.ndarray, most: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return in how many own moves each of states [n, words] is won, 0 if in more than `most`; by how many moves that
    begins; and the first of them by action, [n] each."""
    needed, ways, first = (np.zeros(len(states), dtype=np.int64) for _ in range(3))
    game.loops("probzero.truth.forced").shortest(np.ascontiguousarray(states), most, needed, ways, first)
    return needed, ways, first


def problems(game: Game, wanted: Sequence[int], each: int, seed: int) -> pd.DataFrame:
    """Return `each` problems of each number of moves in `wanted` (`COLUMNS`), distinct up to symmetry.

    `key` is the one move that begins the win. A game that chance sets up is not played on."""
    found: dict[int, list[dict[str, object]]] = {moves: [] for moves in wanted}
    seen: set[bytes] = set()
    drawing = np.random.default_rng(seed)
    for _ in range(ROUNDS):
        plies = game.set_up or min(PLIES, game.longest_game)
        played = play_by_seed(game, GAMES, plies, int(drawing.integers(1 << 62)))
        states = np.unique(game.canonical(played.states[game.set_up :].reshape(-1, game.words)), axis=0)
        states = states[drawing.permutation(len(states))]
        for first in range(0, len(states), TOGETHER):
            lacking = [moves for moves in wanted if len(found[moves]) < each]
            if not lacking:
                return pd.DataFrame([row for moves in wanted for row in found[moves]], columns=list(COLUMNS))
            part = states[first : first + TOGETHER]
            needed, ways, key = solved(game, part, max(lacking))
            for row in np.flatnonzero(np.isin(needed, lacking) & (ways == 1)):
                moves = int(needed[row])
                if len(found[moves]) < each and part[row].tobytes() not in seen:
                    seen.add(part[row].tobytes())
                    name = game.move_name(int(key[row]))
                    found[moves].append({"moves": moves, "position": game.to_text(part[row]), "key": name})
    least = min(map(len, found.values()))
    raise bad("problems", game.identity, f"{each} of each in {GAMES * ROUNDS:,} random games", least)
