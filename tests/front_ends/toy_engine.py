"""A small program that speaks GTP: it plays the first legal move of 4×4 Othello by the slow rules, or misbehaves."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from oracles.slow_othello import SlowOthello

NAMES = [f"{'ABCD'[square % 4]}{square // 4 + 1}" for square in range(16)] + ["PASS"]


def main(manner: str) -> None:
    board = SlowOthello.start(4)
    for line in sys.stdin:
        command, *given = line.split()
        answer = ""
        if command == "clear_board":
            board = SlowOthello.start(4)
        elif command == "play":
            move = NAMES.index(given[1].upper())
            if move not in board.legal_moves():
                print("? illegal move\n", flush=True)
                continue
            board = board.after(move)
        elif command == "genmove":
            if manner == "dies":
                return
            if manner == "cheats":
                print("= A1\n", flush=True)
                continue
            move = board.legal_moves()[0]
            answer = "resign" if manner == "resigns" else NAMES[move]
            board = board.after(move)
        print(f"= {answer}\n", flush=True)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "well")
