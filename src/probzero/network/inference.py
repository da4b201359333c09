"""The network as the search uses it: batch norm folded away, probabilities instead of logits.

The numbers of a position must not depend on which other positions share a call: a cached evaluation is then the very
number a fresh one would be. Nor may they depend on the processor, so that a checkpoint plays the same games everywhere.
On a processor every number is one chain of IEEE operations, whatever slot or vector it is in (`compiled`), up to the
probabilities (`probabilities`). A GPU has the dense form in torch (`dense`), whose bits are its own.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np

from probzero import templates, wdl
from probzero.devices import CPU
from probzero.errors import bad
from probzero.games.base import Game
from probzero.kinds import is_tensor, like, plain
from probzero.network.compiled.forward import CompiledNet
from probzero.network.evaluation import Evaluation, Form
from probzero.network.weights import Weights

if TYPE_CHECKING:
    from probzero.network.model import ProbZeroNet


__all__ = ["Evaluation", "Evaluator"]

MOST_SPANS = 10_000


class CompiledForm:
    """For processors, over numpy arrays."""

    def __init__(self, weights: Weights, game: Game) -> None:
        self.game, self.value_head = game, weights.config.value
        self.network = CompiledNet(weights)
        self._ends = templates.load("probzero.network.probabilities")

    def __call__(self, states: Any, moves: Any) -> Evaluation:
        if is_tensor(states):
            return Evaluation(*(like(part, states) for part in self(plain(states), plain(moves))))
        policy, outcomes = self.network(self.game.encode(states))
        prior = np.empty(moves.shape, np.float32)
        self._ends.over_moves(policy, moves, prior)
        chances = [np.empty((len(states), width), np.float32) for width in self.network.widths]
        for logits, chance in zip(outcomes, chances, strict=True):
            self._ends.softmax(logits, chance.shape[1], chance)
        if self.value_head == "support":
            mean = np.empty(len(states), np.float32)
            self._ends.means(chances[0], mean)
            chances[0] = wdl.from_expectation(mean)
        return Evaluation(prior, chances[0], chances[-1])

    def mark(self) -> float:
        return time.perf_counter()

    def between(self, began: float, ended: float) -> float:
        return ended - began


class Evaluator:
    """Evaluates positions; counts its calls, the positions sent and the seconds spent in them."""

    def __init__(self, network: Weights | ProbZeroNet, game: Game, device: Any = CPU) -> None:
        if network.shape != game.shape:
            raise bad("evaluator", "shape of the network", tuple(game.shape), tuple(network.shape))
        weights = network if isinstance(network, Weights) else network.weights()
        self.game, self.device = game, device
        self.form: Form
        if str(device) == CPU:
            self.form = CompiledForm(weights, game)
        else:
            from probzero.network.dense import DenseForm

            self.form = DenseForm(weights, game, device)
        self.calls = 0
        self.positions = 0
        self._spans: list[tuple[Any, Any]] = []  # of calls whose seconds were not asked for: a device is not waited for
        self._seconds = 0.0

    def __call__(self, states: Any, moves: Any) -> Evaluation:
        """Return the evaluation of states [n, W] whose legal moves are listed in moves [n, K], one at least.

        The only place where logits become probabilities for the search. A row of moves may list a move repeatedly.
        """
        began = self.form.mark()
        found = self.form(states, moves)
        self._spans.append((began, self.form.mark()))
        if len(self._spans) >= MOST_SPANS:
            self._sum_up()
        self.calls += 1
        self.positions += len(states)
        return found

    @property
    def seconds(self) -> float:
        """Return the seconds spent in calls."""
        self._sum_up()
        return self._seconds

    def _sum_up(self) -> None:
        self._seconds += sum(self.form.between(*span) for span in self._spans)
        self._spans.clear()
