"""Recorded games, replayed: that every move was legal, and how each game ended."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from probzero.errors import bad
from probzero.games.base import Game

LEFT = 2  # in column `resigned`: the game was left unfinished


class Replay(NamedTuple):
    """The moves of n games, game after game at each ply."""

    states: np.ndarray  # [moves, words] before each move
    action: np.ndarray  # [moves]
    game: np.ndarray  # [moves] number of the game
    ply: np.ndarray  # [moves] from the start
    final: np.ndarray  # [n, words]


def replay(game: Game, sequences: Sequence[Sequence[int]], where: object = "games") -> Replay:
    """Play sequences of actions from the start; refuse an illegal one. `where` is what errors call the record."""
    longest = max(map(len, sequences), default=0)
    table = np.full((len(sequences), longest), -1)
    for row, sequence in enumerate(sequences):
        table[row, : len(sequence)] = sequence
    states = np.tile(game.start(), (len(table), 1))
    parts = [(states[:0], table[:0, 0] if longest else np.zeros(0, int), np.zeros(0, int), np.zeros(0, int))]
    for ply in range(longest):
        going = np.flatnonzero(table[:, ply] >= 0)
        action = table[going, ply]
        illegal = ~game.legal(states[going])[np.arange(len(going)), action]
        if illegal.any():
            raise bad("games", f"{where}: game {going[illegal][0]}, ply {ply + 1}", "a legal move", "an illegal one")
        parts.append((states[going], action, going, np.full(len(going), ply)))
        states[going] = game.play(states[going], action)
    before, action, number, plies = (np.concatenate(column) for column in zip(*parts, strict=True))
    return Replay(before, action, number, plies, states)


def sequences_of(game: Game, games: pd.DataFrame, where: object = "games") -> tuple[list[list[int]], np.ndarray]:
    """Return the actions of recorded games from the start, and how many of each [n] are its opening."""
    openings, moves = (
        [game.parse_moves(moves, where) for moves in games[column]] for column in ("opening_moves", "moves")
    )
    whole = [before + after for before, after in zip(openings, moves, strict=True)]
    return whole, np.array([len(before) for before in openings], dtype=int)


def check_results(game: Game, games: pd.DataFrame, where: object, *, selfplay: bool = False) -> None:
    """Refuse records whose moves do not lead to a finished game with the result, the margin and the plies they tell.

    Result and margin speak for who moved first from the start, from which `plies` counts too. Those of `selfplay` have
    no opening in `plies`, and where column `resigned` is 1 the player to move has given up a game that goes on; where
    it is LEFT nobody has, and the result is 0."""
    sequences, opening = sequences_of(game, games, where)
    final = replay(game, sequences, where).final
    length = np.array([len(sequence) for sequence in sequences], dtype=int)
    view = np.where(length % 2 == 0, 1, -1)  # who moved first is to move at even plies
    resigned = games["resigned"].to_numpy() if selfplay else np.zeros(len(games), dtype=int)
    goes_on = (~game.finished(final)).astype(int)
    wrong = goes_on != np.isin(resigned, (1, LEFT))
    if wrong.any():
        row = int(np.argmax(wrong))
        found = "one that goes on" if goes_on[row] else "one that is finished"
        expected = "a finished game" if resigned[row] == 0 else f"resigned 1 or {LEFT} for a game that goes on"
        raise bad("games", f"{where}: line {row + 2}", expected, found)
    told = {
        "plies": length - opening if selfplay else length,
        "result": np.select([resigned == 1, resigned == LEFT], [-1, 0], game.outcome(final)) * view,
    }
    if "margin" in games:
        told["margin"] = game.margin(final) * view
    for name, values in told.items():
        wrong = games[name].to_numpy() != values
        if wrong.any():
            row = int(np.argmax(wrong))
            expected = f"{name} {values[row]}, as its moves say"
            raise bad("games", f"{where}: line {row + 2}", expected, games[name].iloc[row])
