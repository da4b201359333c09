"""A small program that speaks UCI: it plays the last legal move of 8×8 Othello by the slow rules, or misbehaves.

It counts rows from below, calls a disc on e3 `P@e3`, and passes by moving the first of its discs to where it is."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from oracles.slow_othello import OWN, SlowOthello


def upside_down(square: int) -> int:
    return (7 - square // 8) * 8 + square % 8


def names(board: SlowOthello) -> dict[str, int]:
    """Legal moves by name."""
    found = {}
    for move in board.legal_moves():
        square = move if move < 64 else upside_down(min(upside_down(k) for k in range(64) if board.squares[k] == OWN))
        name = f"{'abcdefgh'[square % 8]}{8 - square // 8}"
        found[f"P@{name}" if move < 64 else name + name] = move
    return found


def main(manner: str) -> None:
    board = SlowOthello.start(8)
    for line in sys.stdin:
        command, *given = line.split()
        if command == "uci":
            print("id name toy\nuciok", flush=True)
        elif command == "isready":
            print("readyok", flush=True)
        elif command == "position":
            board = SlowOthello.start(8)
            for move in given[2:]:
                board = board.after(names(board)[move])
        elif command == "go":
            if manner == "dies":
                return
            answer = "P@a9" if manner == "cheats" else list(names(board))[-1]
            print(f"info depth {given[1]}\nbestmove {answer} ponder {answer}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "well")
