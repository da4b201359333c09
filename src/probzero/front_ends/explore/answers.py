"""All that the page may ask about one game and one network, as plain data ready for JSON.

Positions are told by their one-line notation, moves by their names. Numbers speak for the player to move.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from probzero.errors import bad
from probzero.front_ends.analysis import Judge, think
from probzero.front_ends.explore import flow
from probzero.front_ends.explore.records import Records
from probzero.front_ends.thinkers import Thinker
from probzero.games.names import short_name

DIGITS = 4
OWNERS = {1: "x", -1: "o", 0: "."}  # of the player to move, of the opponent, nobody's


class Answers:
    """What a page may know: thinkers of the same network by their particles, exact truth, recorded games."""

    def __init__(self, player: str, thinkers: Sequence[Thinker], usual: int, judge: Judge, records: Records) -> None:
        """`player` is what people call the network, `usual` the number of particles with which the page begins."""
        self.player, self.usual, self.judge, self.records = player, usual, judge, records
        self.game = judge.game
        self.thinkers = {thinker.particles: thinker for thinker in sorted(thinkers, key=lambda one: one.particles)}
        if usual not in self.thinkers:
            raise bad("explore", "particles", f"{usual} among them", ", ".join(map(str, self.thinkers)))

    @property
    def flows(self) -> bool:
        """Whether the search is one whose particles can be followed."""
        return self.thinkers[self.usual].settings.arm.draws == "splitting"

    def about(self) -> dict[str, Any]:
        """Return what the page must know before it draws anything."""
        view = self.game.view(self.game.start())
        return {
            "subject": f"{short_name(self.game)} · {self.player}",
            "player": self.player,
            "sides": self.game.sides,
            "rows": view.rows,
            "columns": view.columns,
            "margin": self.game.has_margin,
            "flows": self.flows,
            "start": self.game.to_text(self.game.start()),
            "particles": list(self.thinkers),
            "usual": list(self.thinkers).index(self.usual),
        }

    def position(self, at: str) -> dict[str, Any]:
        """Return a position: what stands where, its moves and where they lead, and how the game ended if it did."""
        return self._position(self._state(at))

    def line(self, begin: str, moves: str) -> list[dict[str, Any]]:
        """Return the positions of a game from a position (empty: the start), before each move and after the last."""
        state, told = self._state(begin) if begin else self.game.start(), []
        for number, action in enumerate(self.game.parse_moves(moves, "game"), 1):
            told.append(self._position(state))
            if not self.game.legal(state[None])[0, action]:
                raise bad("game", f"move {number}", "a legal move", self.game.move_name(action))
            state = self.game.play(state[None], np.array([action]))[0]
        return [*told, self._position(state)]

    def thoughts(self, at: str, particles: int) -> dict[str, Any]:
        """Return what the network thinks of a position at which the game goes on, see `analysis.Thoughts`."""
        told = asdict(think(self._thinker(particles), self._going(at)))
        kept = ("best", "value", "wdl", "network", "particles")
        fields = ("move", "policy", "weight", "winner_prob", "particles", "share", "value")
        moves = [{name: one[name] for name in fields} for one in told["moves"]]
        return rounded({**{name: told[name] for name in kept}, "moves": moves})

    def truth(self, at: str) -> dict[str, Any] | None:
        """Return the exact values of a position and its moves, see `analysis.Truth`; None if they are not to be had."""
        found = self.judge.truth(self._going(at))
        if found is None:
            return None
        moves = [{name: getattr(one, name) for name in ("move", "result", "margin", "keeps")} for one in found.moves]
        return {"result": found.result, "margin": found.margin, "moves": moves}

    def flow(self, at: str, particles: int) -> dict[str, Any]:
        """Return the search of a position batch by batch, see `flow.record`."""
        thinker, state = self._thinker(particles), self._going(at)
        if particles == 0:
            raise bad("flow", "particles", "some: the policy alone searches nothing", particles)
        return flow.record(thinker.begin(state), thinker.together, thinker.batches)

    def _thinker(self, particles: int) -> Thinker:
        if particles not in self.thinkers:
            raise bad("particles", "request", f"one of {', '.join(map(str, self.thinkers))}", particles)
        return self.thinkers[particles]

    def _state(self, at: str) -> np.ndarray:
        state = self.game.from_text(at)
        self.game.check_states(state[None])
        return state

    def _going(self, at: str) -> np.ndarray:
        state = self._state(at)
        if self.game.finished(state[None])[0]:
            raise bad("position", repr(at), "a game that goes on", "one that is over")
        return state

    def _position(self, state: np.ndarray) -> dict[str, Any]:
        view = self.game.view(state)
        legal = np.flatnonzero(self.game.legal(state[None])[0])
        after = self.game.play(np.repeat(state[None], len(legal), axis=0), legal)
        moves = [
            {
                "move": self.game.move_name(action),
                "row": view.target[action][0] if action in view.target else None,
                "column": view.target[action][1] if action in view.target else None,
                "after": self.game.to_text(following),
            }
            for action, following in zip(legal.tolist(), after, strict=True)
        ]
        told: dict[str, Any] = {"at": self.game.to_text(state), "moves": moves, "over": None}
        told["owner"] = ["".join(OWNERS[int(owner)] for owner in row) for row in view.owner]
        if any(sign for row in view.sign for sign in row):
            told["sign"] = view.sign
        if not moves:
            margin = int(self.game.margin(state[None])[0]) if self.game.has_margin else None
            told["over"] = {"result": int(self.game.outcome(state[None])[0]), "margin": margin}
        return told


def rounded(told: Any) -> Any:
    """Return plain data with every number that is not whole rounded."""
    if isinstance(told, Mapping):
        return {name: rounded(part) for name, part in told.items()}
    if isinstance(told, (list, tuple)):
        return [rounded(part) for part in told]
    return round(told, DIGITS) if isinstance(told, float) else told
