"""Certificates: what a network plays wherever any opponent can bring it, what that is worth, and where it errs.

A *hole* is a position met in which the agent's move gives the exact result away. An agent is *certified* from a start
if no opponent can keep it from the exact result of the start.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from probzero.arena.players import raw_moves
from probzero.config import Search
from probzero.devices import on
from probzero.errors import bad
from probzero.games.base import Game
from probzero.kinds import plain
from probzero.network.inference import Evaluator
from probzero.search.build import SearchFactory
from probzero.truth.best_response import FAR, Choose, Reach, distinct_rows
from probzero.truth.labels import Solver
from probzero.truth.measures import searched_moves

KIND, FILE_KIND = "certificates", "certificate"
FORMAT = 1  # of the file
MOST_LISTED = 2_000_000
NO_DRAWS = -1  # the key of an agent in whose search nothing is random


def keys_for(search: Search, particles: int, keys: int) -> list[int]:
    """Return the keys under which the agent of a budget is one of its own: first NO_DRAWS, if it can do without."""
    if particles == 0 or search.arm.draws == "nothing":
        return [NO_DRAWS]
    without = [NO_DRAWS] if search.arm.draws == "splitting" else []
    return without + list(range(keys if without else max(1, keys)))


def network_moves(factory: SearchFactory, evaluator: Evaluator | None, volume: int, particles: int, key: int) -> Choose:
    """Return the moves of a network: raw with 0 particles, else of a new search in batches of `volume` particles.

    The move is a function of the position alone: what is random in a search is keyed by the position and `key`, as in
    `truth.measures` by position and seed; with NO_DRAWS, ½ stands in the place of each draw.
    """
    if key == NO_DRAWS and factory.settings.arm.draws == "splitting":
        factory = factory.with_settings(splitting="middle")
    together = max(1, factory.capacity // (factory.game.most_moves * (particles + 1)))  # no search has more nodes

    def choose(states: np.ndarray) -> np.ndarray:
        if particles == 0:
            assert evaluator is not None
            return plain(raw_moves(evaluator, factory.game, on(states, evaluator.device)))
        parts = np.split(states, range(together, len(states), together))
        return np.concatenate(
            [plain(searched_moves(factory, part, volume, [particles // volume], key)[0]) for part in parts]
        )

    return choose


def reachable(game: Game, most_phase: int | None = None) -> np.ndarray:
    """Return the positions [n, W] that can be reached from the start, up to symmetry, of at most this phase.

    A game that has too many of them is refused.
    """
    found = [game.start()[None][:0]]
    states = game.start()[None]
    while len(states):
        states, _ = distinct_rows(game.canonical(states))
        if most_phase is not None:
            states = states[game.phase(states) <= most_phase]
        found.append(states)
        if sum(map(len, found)) > MOST_LISTED:
            raise bad("positions", game.identity, f"at most {MOST_LISTED:,} to be listed", "more")
        row, action = np.nonzero(game.legal(states))
        states = game.play(states[row], action)
    return distinct_rows(np.concatenate(found))[0]


def won_positions(solver: Solver, most_phase: int) -> np.ndarray:
    """Return the positions [n, W] of at most this phase, up to symmetry, that the player to move wins."""
    states = reachable(solver.game, most_phase)
    states = states[~solver.game.finished(states)]
    return states[solver.label(states, margins=False).result > 0]


def holes(reach: Reach, solver: Solver) -> np.ndarray:
    """Return in which positions bool [P] the agent's move gives the exact result away."""
    asked = np.flatnonzero(reach.action >= 0)
    found = np.zeros(len(reach.states), dtype=bool)
    labels = solver.label(reach.states[asked], margins=False)
    found[asked] = labels.action_result[np.arange(len(asked)), reach.action[asked]] < labels.result
    return found


def certificates(reach: Reach, solver: Solver) -> pd.DataFrame:
    """Return a row for each start.

    Columns: position (the start), moves_first (1 if the agent is to move there), positions met, decisions (those
    of them in which the agent moves), exact (the result under perfect play, for the agent), result (against the best
    response), certified (1 if that is no worse), margin (likewise, if the game has one), holes, hole_plies (from the
    start to the nearest; −1: there is none), random_wins, random_draws (shares of games against random moves) and
    line (a game against a best response).
    """
    game, wrong, begins = reach.game, holes(reach, solver), reach.roots
    exact = solver.label(reach.states[begins], margins=False).result
    rows = []
    for root, result in zip(begins, np.where(reach.turn[begins], exact, -exact), strict=True):
        plies = reach.plies_from(root)
        met, value = plies < FAR, int(reach.value[root])
        rows.append(
            {
                "position": game.to_text(reach.states[root]),
                "moves_first": int(reach.turn[root]),
                "positions": int(met.sum()),
                "decisions": int((met & (reach.action >= 0)).sum()),
                "exact": int(result),
                "result": int(np.sign(value)),
                "certified": int(np.sign(value) >= result),
                **({"margin": value} if game.has_margin else {}),
                "holes": int((met & wrong).sum()),
                "hole_plies": int(plies[wrong & met].min()) if (wrong & met).any() else -1,
                "random_wins": round(float(reach.chance[root, 0]), 12),
                "random_draws": round(float(reach.chance[root, 1]), 12),
                "line": game.move_names(reach.refutation(root)),
            }
        )
    return pd.DataFrame(rows)


def as_file(reach: Reach, starts: Sequence[int], agent: dict[str, Any]) -> bytes:
    """Return a certificate from some of the starts: what `tools/check_certificate.py` reads.

    JSON, one position a line: the game, whatever names the agent, for each start the score that nobody can push the
    agent below (the margin if the game has one, else the result), and the agent's move in every position met.
    """
    met = np.zeros(len(reach.states), dtype=bool)
    told = []
    for root in reach.roots[list(starts)]:
        met |= reach.plies_from(root) < FAR
        told.append(
            {
                "state": reach.states[root].tolist(),
                "agent_moves": bool(reach.turn[root]),
                "score": int(reach.value[root]),
            }
        )
    decisions = np.flatnonzero(met & (reach.action >= 0))
    game = reach.game
    head = {"format": FORMAT, "game": game.described, "game_version": game.version, "agent": agent, "starts": told}
    moves = [
        json.dumps([*reach.states[number].tolist(), game.move_name(int(reach.action[number]))], separators=(",", ":"))
        for number in decisions
    ]
    body = json.dumps(head, sort_keys=True)[:-1]
    return (body + ', "moves": [\n' + ",\n".join(moves) + "\n]}\n").encode()
