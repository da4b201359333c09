"""Gumbel AlphaZero for one game, as a tree of Python objects: slow and obvious.

One visit after another, as the paper's sequential halving has it: phases, and in each the moves that are left, ranked
anew whenever some are dropped.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from oracles.connect_four_search import ConnectFourBoard
from oracles.slow_mcts import SlowMcts, SlowNode
from oracles.slow_othello import SlowOthello


class SlowGumbel(SlowMcts):
    """`noise`: g of the root's moves by action."""

    def __init__(
        self, board: SlowOthello | ConnectFourBoard, evaluate: Callable, most: int, c_visit: float, c_scale: float
    ) -> None:
        super().__init__(board, evaluate, "gumbel", 0.0)
        self.most, self.c_visit, self.c_scale = most, c_visit, c_scale
        self.noise: dict[int, float] = {}

    def q(self, node: SlowNode) -> list[float]:
        """The completed values of a node's moves."""
        tried = [k for k in range(len(node.actions)) if node.visits[k]]
        mixed = node.value
        if tried:
            mean = sum(node.prior[k] * node.total[k] / node.visits[k] for k in tried) / sum(
                node.prior[k] for k in tried
            )
            mixed = (node.value + sum(node.visits) * mean) / (sum(node.visits) + 1)
        return [node.total[k] / node.visits[k] if node.visits[k] else mixed for k in range(len(node.actions))]

    def logits(self, node: SlowNode) -> list[float]:
        scale = (self.c_visit + max(node.visits)) * self.c_scale
        return [math.log(prior) + scale * q for prior, q in zip(node.prior, self.q(node), strict=True)]

    def improved(self, node: SlowNode) -> list[float]:
        logits = self.logits(node)
        raised = [math.exp(logit - max(logits)) for logit in logits]
        return [part / sum(raised) for part in raised]

    def score(self, node: SlowNode, k: int) -> float:
        return self.improved(node)[k] - node.visits[k] / (1 + sum(node.visits))

    def descend(self, k: int) -> None:
        """One simulation that begins with move k of the root."""
        node, path = self.root, []
        while True:
            path.append((node, k))
            if k not in node.children:
                node.children[k] = SlowNode(node.board.after(node.actions[k]))
            node = node.children[k]
            if not node.expanded or not node.actions:
                break
            k = max(range(len(node.actions)), key=lambda k: (self.score(node, k), -k))
        if not node.expanded:
            self.expand(node)
        value = node.value
        for parent, move in reversed(path):
            value = -value
            parent.visits[move] += 1
            parent.total[move] += value

    def run(self, simulations: int) -> None:
        root, left = self.root, simulations
        self.before = list(root.visits)
        kept = considered = min(self.most, len(root.actions))
        phases = max(1, math.ceil(math.log2(considered)))
        while left > 0:
            for _ in range(max(1, simulations // (phases * kept))):
                chosen = self.ranked()[:kept]  # all that are left, or the best half of them
                for k in chosen[:left]:
                    self.descend(k)
                left -= kept
                if left <= 0:
                    break
            kept = min(considered, max(2, kept // 2))

    def ranked(self) -> list[int]:
        """The root's moves by the visits of this search, then by g + log π + σ(q)."""
        scores, root = self.logits(self.root), self.root
        keys = {
            k: (root.visits[k] - self.before[k], scores[k] + self.noise.get(root.actions[k], 0.0))
            for k in range(len(root.actions))
        }
        return sorted(keys, key=lambda k: keys[k], reverse=True)

    def best(self) -> int:
        return self.root.actions[self.ranked()[0]]
