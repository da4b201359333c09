"""The picture of a real search, batch by batch, for docs/concepts.md; `concept_pictures.py` calls it."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from probzero.front_ends import players
from probzero.front_ends.explore.flow import Snapshot, Watch
from probzero.report import style

PARTICLES, BATCHES = 8, 3
PAPER: dict[str, Any] = {"boxstyle": "round,pad=0.1", "facecolor": "white", "edgecolor": "none"}  # behind a number
APART, BETWEEN = 1.4, 1.2  # first moves, beside 1 for all others; batches
BUCKET = -1  # adds to the number of a position: where its unexplored moves are drawn
VISIBLE = 0.01  # the least share of a bucket that is drawn


class Tree(NamedTuple):
    """Where each reached position is drawn, and by which move it was first reached."""

    x: dict[int, float]
    depth: dict[int, int]
    first: dict[int, int]  # edge of a node


def bucket(node: int) -> int:
    return BUCKET - node


def laid_out(last: Snapshot, right: float) -> Tree:
    """Put every position below the one from which it was first reached, leaves side by side, right of a place."""
    depth, first = {0: 0}, {}
    below: dict[int, list[int]] = {}
    for edge, (parent, child) in enumerate(last.ends.tolist()):
        if child not in depth:
            depth[child], first[child] = depth[parent] + 1, edge
            below.setdefault(parent, []).append(child)
    for node, children in below.items():
        if last.rest[node] >= VISIBLE:
            children.append(bucket(node))
            depth[bucket(node)] = depth[node] + 1
    x: dict[int, float] = {}

    def place(node: int) -> float:
        nonlocal right
        if children := below.get(node, []):
            x[node] = float(np.mean([place(child) for child in children]))
        else:
            right += APART if depth[node] == 1 else 1.0
            x[node] = right
        return x[node]

    place(0)
    return Tree(x, depth, first)


def draw_batch(axes: Axes, tree: Tree, before: Snapshot, now: Snapshot, names: Sequence[str]) -> None:
    """Draw what is known after a batch: on each line the particles that took it, at each first move its winner_prob."""
    moved = now.taken.copy()
    moved[: len(before.taken)] -= before.taken
    for edge, (parent, child) in enumerate(now.ends.tolist()):
        (from_x, from_y), (to_x, to_y) = ((tree.x[node], -tree.depth[node]) for node in (parent, child))
        many, again = int(moved[edge]), tree.first[child] != edge
        colour = style.BLUE if many else "#BBBBBB"
        line = ":" if again else "-"
        axes.plot([from_x, to_x], [from_y, to_y], color=colour, linewidth=0.8 + 0.5 * many, linestyle=line, zorder=1)
        if many:
            where = 0.4 * from_x + 0.6 * to_x, 0.4 * from_y + 0.6 * to_y
            axes.text(
                *where, str(many), ha="center", va="center", color=style.BLUE, bbox=PAPER, zorder=2, weight="bold"
            )
    for node in range(len(now.nodes)):
        x, y = tree.x[node], -tree.depth[node]
        edge_colour = style.VERMILION if node >= len(before.nodes) else style.BLACK
        axes.plot(x, y, "o", color="white", markeredgecolor=edge_colour, markersize=16, markeredgewidth=1.2, zorder=3)
        name = "start" if node == 0 else names[tree.first[node]]
        axes.text(x, y, name, ha="center", va="center", zorder=4, fontsize=6 if node == 0 else 8)
        if tree.depth[node] == 1:
            share = f"{100 * now.weight[tree.first[node]]:.0f} %"
            axes.text(x, y - 0.24, share, ha="center", va="center", color=style.BLACK, fontsize=7, bbox=PAPER, zorder=5)
        if bucket(node) in tree.x and node in now.ends[:, 0]:
            to_x = tree.x[bucket(node)]
            axes.plot([x, to_x], [y, y - 1], color="#BBBBBB", linestyle="--", linewidth=0.8, zorder=1)
            axes.plot(to_x, y - 1, "s", color="white", markeredgecolor=style.GREY, markersize=15, zorder=3)
            share = f"{100 * now.rest[node]:.0f} %"
            axes.text(to_x, y - 1, share, ha="center", va="center", fontsize=6, color=style.GREY, zorder=4)


def search_picture() -> Figure:
    thinker = players.contestant("network", players.game_of(None, ["network"])).thinker
    assert thinker is not None and thinker.together == PARTICLES
    watch = Watch(thinker.begin(thinker.game.start()))
    snapshots = watch.run(PARTICLES, BATCHES)
    right = 0.0
    with style.figure(9.2, 3.2) as (drawn, (axes,)):
        axes.axis("off")
        for number, (before, now) in enumerate(pairwise(snapshots), 1):
            names = [thinker.game.move_name(int(watch.graph.edge_action[edge])) for edge in now.edges]
            tree = laid_out(now, right + BETWEEN)
            draw_batch(axes, tree, before, now, names)
            axes.text(right + BETWEEN, 0.42, f"Batch {number}: {PARTICLES} particles")
            right = max(tree.x.values())
        axes.set_xlim(BETWEEN, right + 1)
        axes.set_ylim(-3.3, 0.6)
    return drawn
