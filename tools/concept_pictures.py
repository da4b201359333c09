#!/usr/bin/env python3
"""Draw the pictures of docs/concepts.md: a real search, two examples worked by hand, and a whole certificate.

.venv/bin/python tools/concept_pictures.py            into docs/images
.venv/bin/python tools/concept_pictures.py FOLDER     elsewhere, to look at

The search is that of the committed network of 5×5 Othello, the certificate that of the committed run of 4×4.
"""

from __future__ import annotations

import argparse
import gzip
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from concept_search import PAPER, search_picture
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from probzero import files, wdl
from probzero.games.names import named
from probzero.kernels.winner_prob.reference import winner_prob
from probzero.report import style

ROOT = Path(__file__).parents[1]
CERTIFICATE = ROOT / "results" / "reference" / "othello4" / "seed0" / "certificates" / "iteration-0012.json.gz"
DPI = 130
COLOURS = {wdl.WIN: style.BLUE, wdl.DRAW: "#C8C8C8", wdl.LOSS: style.ORANGE}
NAMES = {wdl.WIN: "win", wdl.DRAW: "draw", wdl.LOSS: "loss"}


def empty(axes: Axes, title: str = "") -> None:
    """Leave the axes to what is drawn by hand."""
    axes.axis("off")
    axes.set_title(title, loc="left")


def save(drawn: Figure, path: Path) -> None:
    """Write a picture whole or not at all; the same picture gives the same bytes."""
    with files.replacing(path) as temporary:
        drawn.savefig(temporary, format="png", dpi=DPI, metadata={"Software": None}, pil_kwargs={"optimize": True})


# Examples worked by hand: triples are (win, draw, loss) for the player to move at the node.

CASES = {
    "Three moves, none of them sure": {"a": (0.2, 0.1, 0.7), "b": (0.3, 0.2, 0.5), "c": (0.9, 0.0, 0.1)},
    "Two proven wins": {"a": (0.0, 0.0, 1.0), "b": (0.0, 0.0, 1.0), "c": (0.1, 0.0, 0.9)},
}


def weights(children: Sequence[Sequence[float]]) -> np.ndarray:
    values = torch.tensor([children], dtype=torch.float64)
    return winner_prob(values, torch.ones(values.shape[:2])).numpy()[0]


def bar(
    axes: Axes, left: float, bottom: float, triple: Sequence[float], width: float = 1.0, height: float = 0.5
) -> None:
    """Draw a triple as a bar of three colours with its numbers."""
    for outcome in (wdl.WIN, wdl.DRAW, wdl.LOSS):
        share = width * float(triple[outcome])
        axes.barh(bottom, share, height, left, color=COLOURS[outcome], linewidth=0)
        if triple[outcome] >= 0.1:
            text = f"{triple[outcome]:.2f}".removesuffix("0")
            ink = "white" if outcome == wdl.WIN else style.BLACK
            axes.text(left + share / 2, bottom, text, ha="center", va="center", color=ink, fontsize=7)
        left += share


def legend(drawn: Figure, axes: Axes, whose: str) -> None:
    for outcome, name in NAMES.items():
        axes.barh(0, 0, color=COLOURS[outcome], label=f"{name} {whose}")
    drawn.legend(*axes.get_legend_handles_labels(), loc="outside lower center", ncols=3)


def winner_picture() -> Figure:
    with style.figure(7.0, 2.3, columns=2) as (drawn, panels):
        for axes, (title, children) in zip(panels, CASES.items(), strict=True):
            empty(axes, title)
            chances = weights(list(children.values()))
            for row, (name, child) in enumerate(children.items()):
                axes.text(-0.05, -row, name, ha="right", va="center", weight="bold")
                bar(axes, 0, -row, wdl.flip(torch.tensor(child)).tolist())
                axes.barh(-row, 0.7 * chances[row], 0.5, 1.25, color=style.GREEN, linewidth=0)
                axes.text(1.28 + 0.7 * chances[row], -row, f"{100 * chances[row]:.0f} %", va="center")
            axes.text(0, 0.5, "what each move leads to", color=style.GREY, fontsize=7)
            axes.text(1.25, 0.5, "winner_prob", color=style.GREY, fontsize=7)
            axes.set_xlim(-0.15, 2.2)
            axes.set_ylim(-2.5, 0.8)
        legend(drawn, panels[0], "for who chooses")
    return drawn


# Of the leaf, what its two heads say; the other move ends the game in a draw. The rest of the root is not explored.
LEAF_VALUE, LEAF_REWARD, DRAWN = (0.2, 0.1, 0.7), (0.3, 0.1, 0.6), (0.0, 1.0, 0.0)
ROOT_REWARD, EXPLORED = (0.4, 0.2, 0.4), 0.8


def value_target() -> tuple[np.ndarray, np.ndarray]:
    """Return the weights of both moves, and m · Σ w · flip(child's value_target) + (1 − m) · reward_net."""
    w = weights([LEAF_VALUE, DRAWN])
    flipped = wdl.flip(torch.tensor([LEAF_REWARD, DRAWN])).numpy()
    return w, EXPLORED * (w @ flipped) + (1 - EXPLORED) * np.array(ROOT_REWARD)


def bootstrap_picture() -> Figure:
    w, target = value_target()
    spots = {"root": (1.3, 0.0), "leaf": (0.0, -1.5), "end": (1.3, -1.5), "rest": (2.6, -1.5)}  # middles of bars
    told: dict[str, tuple[str, list[tuple[str, Sequence[float]]]]] = {
        "leaf": ("move a: a leaf", [("value head", LEAF_VALUE), ("reward head", LEAF_REWARD)]),
        "end": ("move b: the game ends in a draw", [("outcome", DRAWN)]),
        "rest": ("all other moves: the bucket", [("reward head", ROOT_REWARD)]),
        "root": ("a position", [("value target", target.tolist()), ("reward target", DRAWN)]),
    }
    shares = {"leaf": EXPLORED * w[0], "end": EXPLORED * w[1], "rest": 1 - EXPLORED}
    with style.figure(7.4, 3.3) as (drawn, (axes,)):
        empty(axes)
        for name, share in shares.items():
            (x, y), (root_x, root_y) = spots[name], spots["root"]
            axes.plot([x, root_x], [y + 0.28, root_y - 0.55], color=style.GREY, linewidth=1 + 3 * share, zorder=1)
            middle = (x + root_x) / 2, (y + root_y - 0.27) / 2
            axes.text(*middle, f"{100 * share:.0f} %", ha="center", va="center", bbox=PAPER, zorder=2)
        for name, (title, triples) in told.items():
            x, y = spots[name]
            axes.text(x, y + 0.13, title, ha="center", weight="bold", fontsize=7.5)
            for row, (label, triple) in enumerate(triples):
                bar(axes, x - 0.34, y - 0.06 - 0.3 * row, triple, 0.68, 0.22)
                axes.text(x - 0.37, y - 0.06 - 0.3 * row, label, ha="right", va="center", fontsize=7, color=style.GREY)
        axes.set_xlim(-0.85, 3.15)
        axes.set_ylim(-2.05, 0.35)
        legend(drawn, axes, "for who is to move there")
    return drawn


# The whole certificate of 4×4: every position that Black can bring White's agent into.

State = tuple[int, ...]


class Layer(NamedTuple):
    """Positions of a ply, by the places of those they come from, and who moves in them."""

    agent: bool
    came: dict[State, list[State]]
    over: set[State]


def layers(told: dict[str, Any]) -> Iterator[Layer]:
    """Return all positions that the opponent can bring the agent into, ply by ply: it has one move, the other all."""
    game = named("othello-4")
    answers = {tuple(move[:2]): move[2] for move in told["moves"]}
    (start,) = told["starts"]
    came: dict[State, list[State]] = {tuple(start["state"]): []}
    agent = bool(start["agent_moves"])
    while came:
        over: set[State] = set()
        after: dict[State, list[State]] = {}
        for state in came:
            position = np.array([state], dtype=np.int64)
            legal = np.flatnonzero(game.legal(position)[0]).tolist()
            if not legal:
                over.add(state)
            for action in legal:
                if not agent or game.move_name(action) == answers[state]:
                    follower = tuple(game.play(position, np.array([action]))[0].tolist())
                    after.setdefault(follower, []).append(state)
        yield Layer(agent, came, over)
        came, agent = after, not agent


def certificate_picture() -> Figure:
    told = json.loads(gzip.decompress(CERTIFICATE.read_bytes()))
    to_move = {True: (style.BLUE, "White: one move"), False: (style.ORANGE, "Black: every move")}
    spread: dict[State, float] = {}
    with style.figure(7.0, 5.0) as (drawn, (axes,)):
        empty(axes)
        for ply, layer in enumerate(layers(told)):
            above = {state: float(np.mean([spread[one] for one in layer.came[state]] or [0.0])) for state in layer.came}
            ordered = sorted(layer.came, key=lambda state: (above[state], state))
            width = min(1.0, len(ordered) / 14)
            placed = {state: width * ((number + 0.5) / len(ordered) - 0.5) for number, state in enumerate(ordered)}
            for state, x in placed.items():
                for one in layer.came[state]:
                    colour = to_move[not layer.agent][0]
                    axes.plot([spread[one], x], [1 - ply, -ply], color=colour, linewidth=0.7, zorder=1)
                colour, marker = (style.GREEN, "s") if state in layer.over else (to_move[layer.agent][0], "o")
                axes.plot(x, -ply, marker, color=colour, markersize=4.5, zorder=2)
            axes.text(-0.56, -ply, to_move[layer.agent][1], ha="right", va="center", fontsize=7, color=style.GREY)
            axes.text(0.55, -ply, str(len(ordered)), ha="right", va="center", fontsize=7, color=style.GREY)
            spread = placed
        axes.text(0.55, 0.7, "positions", fontsize=7, color=style.GREY, ha="right")
        axes.set_xlim(-0.75, 0.6)
        axes.set_ylim(-ply - 0.5, 1)
        for colour, marker, label in (
            (style.ORANGE, "o", "Black, any opponent, to move"),
            (style.BLUE, "o", "White, the agent, to move"),
            (style.GREEN, "s", f"over: White has won by {told['starts'][0]['score']} discs or more"),
        ):
            axes.plot([], [], marker, color=colour, markersize=4.5, label=label)
        drawn.legend(*axes.get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return drawn


PICTURES = {
    "search": search_picture,
    "winner_prob": winner_picture,
    "bootstrap": bootstrap_picture,
    "certificate": certificate_picture,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, default=ROOT / "docs" / "images", metavar="FOLDER")
    folder = parser.parse_args().folder
    for name, draw in PICTURES.items():
        save(draw(), folder / f"{name}.png")


if __name__ == "__main__":
    main()
