#!/usr/bin/env python3
"""Check a certificate: that no opponent can push an agent below the score it claims.

    python3 tools/check_certificate.py CERTIFICATE.json.gz ...

A certificate lists what an agent plays in every position that any opponent can bring it into. This program plays all of
the opponent's replies, looks the agent's moves up, and compares the worst end with the claim. It has rules of its own,
knows nothing of networks or searches, and needs Python alone: who doubts the certificate need trust only what follows.

A position is two sets of squares as integers (bit row·width + column), first the discs of the player to move.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import sys
import zlib
from pathlib import Path


class Refused(Exception):
    """The certificate proves nothing; the text says why."""


class Othello:
    """More discs win; who cannot place passes; the game ends when neither side can place."""

    version = 1

    def __init__(self, size):
        self.size, self.squares = size, range(size * size)
        self.names = [f"{'abcdefgh'[square % size]}{square // size + 1}" for square in self.squares]
        steps = [(down, right) for down in (-1, 0, 1) for right in (-1, 0, 1) if (down, right) != (0, 0)]
        self.rays = [[ray for step in steps if len(ray := self._ray(square, *step)) > 1] for square in self.squares]

    def _ray(self, square, down, right):
        row, column, found = square // self.size + down, square % self.size + right, []
        while 0 <= row < self.size and 0 <= column < self.size:
            found.append(1 << row * self.size + column)
            row, column = row + down, column + right
        return found

    def _turned(self, own, opp, square):
        turned = 0
        for ray in self.rays[square]:
            run = 0
            for bit in ray:
                if opp & bit:
                    run |= bit
                    continue
                if own & bit:
                    turned |= run
                break
        return turned

    def _placements(self, own, opp):
        free = [square for square in self.squares if not (own | opp) >> square & 1]
        return [(square, turned) for square in free if (turned := self._turned(own, opp, square))]

    def replies(self, own, opp):
        """Return {name of a legal move: the position after it, seen by the other player}; empty at the end."""
        found = self._placements(own, opp)
        if found:
            return {self.names[at]: (opp & ~turned, own | turned | 1 << at) for at, turned in found}
        return {"pass": (opp, own)} if self._placements(opp, own) else {}

    def score(self, own, opp):
        return own.bit_count() - opp.bit_count()


class ConnectFour:
    """A disc falls into a column; four in a row win, a full board is a draw."""

    version = 1

    def __init__(self, width, height):
        self.width, self.height = width, height
        inside = {(row, column) for row in range(height) for column in range(width)}
        lines = [
            [(row + down * step, column + right * step) for step in range(4)]
            for row, column in inside
            for down, right in ((0, 1), (1, 0), (1, 1), (1, -1))
        ]
        self.fours = [sum(1 << r * width + c for r, c in line) for line in lines if inside.issuperset(line)]

    def _won(self, discs):
        return any(discs & four == four for four in self.fours)

    def replies(self, own, opp):
        found = {}
        if not self._won(opp):
            for column in range(self.width):
                empty = [1 << row * self.width + column for row in range(self.height)]
                empty = [bit for bit in empty if not (own | opp) & bit]
                if empty:
                    found[str(column + 1)] = (opp, own | empty[0])
        return found

    def score(self, own, opp):
        return -1 if self._won(opp) else 0


GAMES = {"othello": Othello, "connect_four": ConnectFour}


def check(path):
    """Return a line that says what the certificate proves, or raise Refused."""
    data = Path(path).read_bytes()
    seal = Path(path).parent / "seals" / f"{Path(path).name}.json"
    try:
        if seal.is_file() and json.loads(seal.read_text())["sha256"] != hashlib.sha256(data).hexdigest():
            raise Refused("not the file that was sealed")
        told = json.loads(gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data)
        options = dict(told["game"])
        game = GAMES[options.pop("name")](**options)
        known = {(own, opp): move for own, opp, move in told["moves"]}
        starts = [(*start["state"], start["agent_moves"], start["score"]) for start in told["starts"]]
        if told["format"] != 1 or told["game_version"] != game.version or not starts:
            raise Refused("of a format, of rules or of starts that this program does not know")
        if len(known) < len(told["moves"]):
            raise Refused("a position has two moves")
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, OSError, EOFError, zlib.error) as error:
        raise Refused(f"not a certificate ({type(error).__name__}: {error})") from None
    used, values = set(), {}

    def value(own, opp, agent_moves):
        """Return the agent's score if the opponent plays its best from here."""
        place = own, opp, agent_moves
        if place not in values:
            replies = game.replies(own, opp)
            if not replies:
                values[place] = game.score(own, opp) * (1 if agent_moves else -1)
            elif agent_moves:
                if (own, opp) not in known:
                    raise Refused(f"no move for position {own}, {opp}")
                if known[own, opp] not in replies:
                    raise Refused(f"position {own}, {opp}: {known[own, opp]} is not a legal move")
                used.add((own, opp))
                values[place] = value(*replies[known[own, opp]], False)
            else:
                values[place] = min(value(*after, True) for after in replies.values())
        return values[place]

    for own, opp, agent_moves, score in starts:
        found = value(own, opp, agent_moves)
        if found != score:
            raise Refused(f"from position {own}, {opp} the agent's score is {found}, the claim is {score}")
    if len(used) < len(known):
        raise Refused(f"{len(known) - len(used)} positions that no opponent can reach")
    worst = min(score for *_, score in starts)
    outcome = "wins" if worst > 0 else "draws" if worst == 0 else "may lose"
    whence = "one start" if len(starts) == 1 else f"each of {len(starts)} starts"
    return f"holds: from {whence} the agent {outcome} (score {worst:+} at the least); {len(values):,} positions"


def main(paths):
    sys.setrecursionlimit(10_000)
    failed = not paths
    for path in paths:
        try:
            print(f"{path}: {check(path)}", flush=True)
        except (Refused, OSError) as error:
            print(f"{path}: refused: {error}", flush=True)
            failed = True
    if not paths:
        print(__doc__.strip(), file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
