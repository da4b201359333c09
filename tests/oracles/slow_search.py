"""Particle search for one game with dictionaries and recursion-free loops: slow, obvious, float64 throughout.

Shares with the library only the rules' slow twin, the evaluator given to it and the keyed random draws.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import torch
from oracles.slow_othello import SlowOthello

from probzero.random_keys import key, mix, uniform

Triple = tuple[float, float, float]
Position = tuple[int, int]
EPS = 1e-12


def flip(triple: Triple) -> Triple:
    return triple[2], triple[1], triple[0]


def winner_weights(values: list[Triple]) -> list[float]:
    """winner_prob at temperature 1, the products written out."""
    raw = []
    for i, (_, draw, loss) in enumerate(values):
        others = [value for j, value in enumerate(values) if j != i]
        raw.append(
            draw * math.prod(win + EPS for win, _, _ in others)
            + loss * math.prod(win + tie + EPS for win, tie, _ in others)
        )
    total = sum(raw)
    return [value / total for value in raw] if total > 0 else [1 / len(raw)] * len(raw)


@dataclass
class SlowNode:
    position: Position
    actions: list[int] = field(default_factory=list)  # in order of falling prior
    policy: list[float] = field(default_factory=list)
    tried: int = 0  # the first `tried` actions are explored
    value: Triple = (0, 0, 0)
    target: Triple = (0, 0, 0)
    value_net: Triple = (0, 0, 0)
    reward_net: Triple = (0, 0, 0)
    terminal: bool = False
    closed: bool = False
    visits: int = 0


class SlowSearch:
    """Othello's; another game is another `board` and `rank`."""

    def __init__(self, size: int, evaluate: Callable, game_key: int, start: Sequence[int]) -> None:
        self.size = size
        self.evaluate = evaluate
        self.game_key = game_key
        self.nodes: dict[Position, SlowNode] = {}
        self.elsewhere = self.weightless = 0  # nodes closed without being visited; splits where no move had weight
        self.root: Position = (int(start[0]), int(start[1]))
        self.visit_leaf(self.root)

    def board(self, position: Position) -> SlowOthello:
        return SlowOthello.from_bitboards(self.size, *position)

    def child(self, node: SlowNode, index: int) -> Position:
        return self.board(node.position).after(node.actions[index]).bitboards()

    def rank(self, position: Position) -> int:
        board = self.board(position)
        return 2 * sum(disc != "." for disc in board.squares) + bool(board.placements())

    def visit_leaf(self, position: Position) -> None:
        board = self.board(position)
        moves = board.legal_moves()
        node = self.nodes[position] = SlowNode(position)
        if not moves:
            margin = board.margin()
            outcome = (float(margin > 0), float(margin == 0), float(margin < 0))
            node.value = node.target = node.value_net = node.reward_net = outcome
            node.terminal = node.closed = True
            return
        priors, value, reward = self.evaluate(torch.tensor([position]), torch.tensor([moves]))
        prior = dict(zip(moves, priors[0].tolist(), strict=True))
        node.actions = sorted(moves, key=lambda move: (-prior[move], move))
        node.policy = [prior[move] for move in node.actions]
        node.value = node.value_net = tuple(value[0].tolist())
        node.target = node.reward_net = tuple(reward[0].tolist())

    def split(self, node: SlowNode, volume: int, salt: int) -> dict[Position, int]:
        own, opp = node.position
        hashed = mix(torch.tensor([own]), torch.tensor([opp]), torch.tensor([self.game_key]))
        drawn = float(uniform(hashed ^ salt))
        slots: list[tuple[list[int], float]] = []  # explored open moves one by one, then the bucket
        for index in range(node.tried):
            if not self.nodes[self.child(node, index)].closed:
                slots.append(([index], node.policy[index]))
        if node.tried < len(node.actions):
            slots.append((list(range(node.tried, len(node.actions))), sum(node.policy[node.tried :])))
        assert slots, "an open node has a move for its particles"
        total = sum(share for _, share in slots)
        if total == 0:  # no move has any weight: they share equally
            self.weightless += 1
            slots, total = [(moves, len(moves)) for moves, _ in slots], sum(len(moves) for moves, _ in slots)
        received: dict[Position, int] = {}
        before, mass = 0, 0.0
        for moves, share in slots:
            mass += share
            upto = min(volume, math.floor(volume * mass / total + drawn))
            for turn in range(upto - before):
                index = moves[turn % len(moves)]
                node.tried = max(node.tried, index + 1)
                child = self.child(node, index)
                received[child] = received.get(child, 0) + 1
            before = upto
        assert before == volume, "particles are conserved"
        return received

    def simulate(self, particles: int, salt: int) -> None:
        waiting, touched, leaves = {self.root: particles}, [], {}
        stopped = 0  # particles that came by a new move to a position closed from elsewhere
        while waiting:
            position = min(waiting, key=self.rank)
            volume = waiting.pop(position)
            node = self.nodes[position]
            node.visits += volume
            if node.closed:
                stopped += volume
                continue
            touched.append(position)
            for child, count in self.split(node, volume, salt).items():
                into = waiting if child in self.nodes else leaves
                into[child] = into.get(child, 0) + count
        assert sum(leaves.values()) + stopped == particles, "particles are conserved"
        for leaf, count in leaves.items():
            self.visit_leaf(leaf)
            self.nodes[leaf].visits += count
        for position in sorted(touched, key=self.rank, reverse=True):
            self.back_up(self.nodes[position])
        if any(self.nodes[position].closed for position in touched):
            self.close_elsewhere()

    def close_elsewhere(self) -> None:
        """Close and renew every node below which nothing is left to explore, wherever it is, until there is none."""
        while found := [node for node in self.nodes.values() if not node.closed and self.exhausted(node)]:
            self.elsewhere += len(found)
            for node in found:
                self.back_up(node)

    def exhausted(self, node: SlowNode) -> bool:
        """Was every move explored, and does it lead to a closed node?"""
        whole = node.tried == len(node.actions)
        return whole and all(self.nodes[self.child(node, index)].closed for index in range(node.tried))

    def back_up(self, node: SlowNode) -> None:
        children = [self.nodes[self.child(node, index)] for index in range(node.tried)]
        weights = winner_weights([child.value for child in children])
        mass = min(1.0, max(0.0, 1 - sum(node.policy[node.tried :])))
        node.policy[: node.tried] = [mass * weight for weight in weights]

        def blend(attribute: str, network: Triple) -> Triple:
            flipped = [flip(getattr(child, attribute)) for child in children]
            sums = [sum(w * triple[k] for w, triple in zip(weights, flipped, strict=True)) for k in range(3)]
            return tuple(mass * sums[k] + (1 - mass) * network[k] for k in range(3))

        node.value, node.target = blend("value", node.value_net), blend("target", node.reward_net)
        node.closed = self.exhausted(node)

    def run(self, particles: int, batches: int, step: int) -> None:
        for batch in range(batches):
            if self.nodes[self.root].closed:
                return
            self.simulate(particles, key("split", step, batch))

    def advance(self, action: int) -> None:
        node = self.nodes[self.root]
        self.root = self.child(node, node.actions.index(action))
        if self.root not in self.nodes:
            self.visit_leaf(self.root)

    def settled(self) -> list[tuple[SlowNode, list[float], Triple | None]]:
        """Every node with an explored child after a backup of the whole graph: (node, weights, reward target)."""
        rewards: dict[Position, Triple] = {}
        samples = []
        for position in sorted(self.nodes, key=self.rank, reverse=True):
            node = self.nodes[position]
            if node.terminal:
                rewards[position] = node.value
        for position in sorted(self.nodes, key=self.rank, reverse=True):
            node = self.nodes[position]
            if not node.tried:
                continue
            self.back_up(node)
            children = [self.child(node, index) for index in range(node.tried)]
            weights = winner_weights([self.nodes[child].value for child in children])
            known = [(w, rewards[child]) for w, child in zip(weights, children, strict=True) if child in rewards]
            total = sum(w for w, _ in known)
            if known:
                if total < 1e-30:  # none of them has weight: they share equally
                    known, total = [(1.0, triple) for _, triple in known], float(len(known))
                rewards[position] = tuple(sum(w * flip(triple)[k] for w, triple in known) / total for k in range(3))
            samples.append((node, weights, rewards.get(position)))
        return samples
