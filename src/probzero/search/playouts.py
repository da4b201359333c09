"""UCT: MCTS with UCB1, whose estimate of a leaf is the result of one game of random moves from there."""

from __future__ import annotations

from probzero import wdl
from probzero.kinds import cast, count_up
from probzero.network.evaluation import Evaluation
from probzero.random_keys import key, uniform
from probzero.search.backends.base import Leaves
from probzero.search.mcts import MctsSearch


class UctSearch(MctsSearch):
    """MCTS with playouts in the place of a network."""

    UCB1 = True

    def estimate(self, leaves: Leaves) -> Evaluation:
        """Return the results of playouts; the priors are random: UCB1 takes from them only which move to try first."""
        keys = self.graph.key[leaves.nodes]
        value = wdl.from_result(self.graph.backend.playouts(leaves.states, keys))
        real = count_up(keys, leaves.moves.shape[1]) < leaves.counts[:, None]
        prior = (uniform((keys ^ key("order"))[:, None], leaves.moves) + 1e-3) * real
        return Evaluation(cast(prior / prior.sum(1, keepdims=True), "float32"), value, value)
