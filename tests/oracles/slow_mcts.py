"""MCTS for one game, as a tree of Python objects: slow and obvious.

Shares with the library only the rules' slow twin and the evaluator given to it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import torch
from oracles.connect_four_search import ConnectFourBoard
from oracles.slow_othello import SlowOthello


@dataclass
class SlowNode:
    board: SlowOthello | ConnectFourBoard
    actions: list[int] = field(default_factory=list)  # in order of falling prior
    prior: list[float] = field(default_factory=list)
    visits: list[int] = field(default_factory=list)
    total: list[float] = field(default_factory=list)  # results for the player to move here
    children: dict[int, SlowNode] = field(default_factory=dict)
    value: float = 0.0
    expanded: bool = False


class SlowMcts:
    """`kind`: puct, or parent for an untried move that has its node's Q less `reduction`, or minmax for the logarithmic
    constant, scaled Q and untried moves first, or ucb1."""

    def __init__(
        self, board: SlowOthello | ConnectFourBoard, evaluate: Callable, kind: str, c: float, reduction: float = 0.0
    ) -> None:
        self.evaluate, self.kind, self.c, self.reduction = evaluate, kind, c, reduction
        self.root = SlowNode(board)
        self.expand(self.root)
        self.low, self.high = math.inf, -math.inf

    def expand(self, node: SlowNode) -> None:
        node.expanded = True
        moves = node.board.legal_moves()
        if not moves:
            margin = node.board.margin()
            node.value = float((margin > 0) - (margin < 0))
            return
        priors, value, _ = self.evaluate(torch.tensor([node.board.bitboards()]), torch.tensor([moves]))
        prior = dict(zip(moves, priors[0].tolist(), strict=True))
        node.actions = sorted(moves, key=lambda move: (-prior[move], move))
        node.prior = [prior[move] for move in node.actions]
        node.visits = [0] * len(moves)
        node.total = [0.0] * len(moves)
        node.value = float(value[0, 0] - value[0, 2])

    def score(self, node: SlowNode, k: int) -> float:
        n, parent = node.visits[k], sum(node.visits)
        if n == 0 and self.kind not in ("puct", "parent"):
            return math.inf
        untried = sum(node.total) / parent - self.reduction if parent and self.kind == "parent" else 0.0
        q = node.total[k] / n if n else untried
        if self.kind == "ucb1":
            return (q + 1) / 2 + self.c * math.sqrt(math.log(parent) / n)
        c = self.c
        if self.kind == "minmax":
            c += math.log((parent + 19652 + 1) / 19652)
            if self.high > self.low:
                q = (q - self.low) / (self.high - self.low)
        return q + c * node.prior[k] * math.sqrt(parent) / (1 + n)

    def simulate(self) -> None:
        self.back_up(*self.descend())

    def simulate_together(self, count: int, virtual_loss: int) -> None:
        """Send simulations down one after another, each counted as lost so often until all have arrived."""
        found = []
        for _ in range(count):
            path, leaf = self.descend()
            for parent, k in path:
                parent.visits[k] += virtual_loss
                parent.total[k] -= virtual_loss
            found.append((path, leaf))
        for path, _ in found:
            for parent, k in path:
                parent.visits[k] -= virtual_loss
                parent.total[k] += virtual_loss
        for path, leaf in found:
            self.back_up(path, leaf)

    def descend(self) -> tuple[list[tuple[SlowNode, int]], SlowNode]:
        node, path = self.root, []
        while node.expanded and node.actions:
            k = max(range(len(node.actions)), key=lambda k: (self.score(node, k), -k))
            path.append((node, k))
            if k not in node.children:
                node.children[k] = SlowNode(node.board.after(node.actions[k]))
            node = node.children[k]
        return path, node

    def back_up(self, path: list[tuple[SlowNode, int]], leaf: SlowNode) -> None:
        if not leaf.expanded:
            self.expand(leaf)
        value = leaf.value
        for parent, k in reversed(path):
            value = -value
            parent.visits[k] += 1
            parent.total[k] += value
            mean = parent.total[k] / parent.visits[k]
            self.low, self.high = min(self.low, mean), max(self.high, mean)

    def run(self, simulations: int) -> None:
        self.low, self.high = math.inf, -math.inf
        for _ in range(simulations):
            self.simulate()

    def advance(self, action: int) -> None:
        k = self.root.actions.index(action)
        self.root = self.root.children.get(k) or SlowNode(self.root.board.after(action))
        if not self.root.expanded:
            self.expand(self.root)
