"""The search of one `go` of the Universal Chess Interface: its limits, when it ends, and what it says meanwhile."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count
from threading import Event
from time import monotonic

import numpy as np

from probzero.front_ends.uci_board import Board
from probzero.kinds import count_up, plain
from probzero.search.base import GraphSearch
from probzero.search.build import SearchFactory
from probzero.search.move_choice import best
from probzero.truth.measures import search_from

TOGETHER = 8  # particles of a batch; MCTS sends them one after another
OFTEN = 1.0  # seconds after which a line is said though nothing has changed
MOVES_LEFT, SHARE_OF_INCREMENT, RESERVE = 30, 0.8, 0.05  # of a clock: moves to come, and seconds for the way of a move
STEEPNESS, PAWN = 1.5637541897, 90  # centipawns are 90·tan(1.5637541897·q), as lc0 has them; q = ±1 is ±12,790


@dataclass(frozen=True)
class Limits:
    """When a search ends; without any of them, when it is told to."""

    nodes: int | None = None
    seconds: float | None = None
    depth: int | None = None  # plies of the line that it expects
    among: tuple[int, ...] = ()  # actions that may be chosen; none: all
    endless: bool = False  # the move is told only when it is asked for


@dataclass(frozen=True)
class Found:
    """What a search says so far, for the player to move."""

    line: list[int]  # actions that it expects
    nodes: int  # particles, or simulations
    value: float  # chance of a win − chance of a loss
    mates: bool = False  # the first move of the line does

    @property
    def score(self) -> str:
        if self.mates:
            return "mate 1"
        return f"cp {round(PAWN * math.tan(STEEPNESS * min(1.0, max(-1.0, self.value))))}"


def seconds_of(left: float, increment: float, moves: int | None) -> float:
    """Return how long a move may take with so many seconds on the clock for `moves` moves, or for the whole game."""
    share = left / (moves or MOVES_LEFT) + SHARE_OF_INCREMENT * increment
    return max(0.0, min(share, left - RESERVE))


def searched(factory: SearchFactory, board: Board, limits: Limits, stop: Event) -> Iterator[Found]:
    """Yield what is found after every batch until a limit is met; at least one batch is searched.

    All draws are keyed by the position, so that equal numbers of nodes give equal moves."""
    began, search = monotonic(), search_from(factory, board.state[None], 0)
    games, done = count_up(search.graph.root, 1), 0
    for batch in count():
        together = TOGETHER if limits.nodes is None else min(TOGETHER, limits.nodes - done)
        search.run(games, together, 1, batch)
        done += together
        found = look(search, board, done, limits.among)
        yield found
        if (
            bool(search.graph.closed[search.graph.root[0]])
            or stop.is_set()
            or (limits.nodes is not None and done >= limits.nodes)
            or (limits.seconds is not None and monotonic() - began >= limits.seconds)
            or (limits.depth is not None and len(found.line) >= limits.depth)
            or not has_room(search)
        ):
            return


def has_room(search: GraphSearch) -> bool:
    """Return whether the graph can take another batch, whatever that finds."""
    graph = search.graph
    return graph.nodes + TOGETHER * (graph.rules.most_moves + 1) < graph.table.capacity


def look(search: GraphSearch, board: Board, done: int, among: tuple[int, ...] = ()) -> Found:
    """Return what a search of one position says; its first move is one of those named, if any are."""
    graph, games = search.graph, count_up(search.graph.root, 1)
    value, root, line = float(plain(search.value(games))[0]), int(graph.root[0]), list[int]()
    try:  # each node of the line is the root for a moment
        while (moves := search.moves(games)).tried.any():
            if among and not line:
                tried = moves.tried & np.isin(moves.action, among)
                moves = moves._replace(tried=tried)
                line.append(int(best(moves)[0]) if tried.any() else among[0])
            else:
                line.append(int(plain(best(moves))[0]))
            graph.root[games] = graph.child_of(graph.root[games], np.array(line[-1:]))
    finally:
        graph.root[0] = root
    after = board.play(line[0]).state[None]
    mates = len(line) == 1 and bool(board.game.finished(after)[0]) and int(board.game.outcome(after)[0]) < 0
    return Found(line, done, value, mates)


def told(found: Found, board: Board, seconds: float) -> str:
    """Return an info line."""
    speed = f" nps {found.nodes / seconds:.0f}" if seconds > 0 else ""
    return (
        f"info depth {len(found.line)} nodes {found.nodes} time {1000 * seconds:.0f}{speed} score {found.score} "
        f"pv {' '.join(board.line(found.line))}"
    )


def think(factory: SearchFactory, board: Board, limits: Limits, stop: Event, say: Callable[[str], None]) -> str:
    """Search, saying lines of information, and return the name of the move."""
    began = said = monotonic()
    shown, found = list[int](), Found([], 0, 0.0)
    for found in searched(factory, board, limits, stop):
        now = monotonic()
        if found.line[:1] != shown or now - said >= OFTEN:
            say(told(found, board, now - began))
            said, shown = now, found.line[:1]
    say(told(found, board, monotonic() - began))
    return board.name(found.line[0])
