"""Games that people keep: a file of JSON with the game, the players, where it began and the moves.

What is going on is kept after every move, so that no game is lost when a terminal closes.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

from probzero import files
from probzero.errors import ProbZeroError, bad
from probzero.front_ends.positions import Line, action_of, read
from probzero.games.names import named

FORMAT, KIND = 1, "saved game"
KEYS = {"format": int, "game": str, "players": list, "begin": str, "moves": str}


def save(path: Path, line: Line, players: tuple[str, str]) -> None:
    """Write a game, whole or not at all."""
    game = line.game
    content = {
        "format": FORMAT,
        "game": game.identity,
        "players": list(players),
        "begin": game.to_text(line.begin),
        "moves": line.moves,
    }
    files.write_text(path, files.plain_json(content))


def load(path: Path) -> tuple[Line, tuple[str, str]]:
    """Return a game and its players; whatever is not as `save` wrote it is refused."""
    content = files.parse_json(files.read_bytes(path, KIND), KIND, path)
    if not isinstance(content, dict) or content.keys() != KEYS.keys():
        raise bad(KIND, path, f"an object of {', '.join(KEYS)}", "another")
    for key, kind in KEYS.items():
        if type(content[key]) is not kind:
            raise bad(KIND, f"{path}: {key}", {int: "a number", str: "a text", list: "two texts"}[kind], content[key])
    if content["format"] != FORMAT:
        raise bad(KIND, f"{path}: format", FORMAT, content["format"])
    players = content["players"]
    if len(players) != 2 or not all(isinstance(player, str) for player in players):
        raise bad(KIND, f"{path}: players", "two texts", players)
    try:
        line = read(named(content["game"]), content["begin"])
        for number, word in enumerate(content["moves"].split(), 1):
            action = action_of(line.game, word)
            if action is None:
                raise bad("move", f"number {number}", f"one of {line.game.identity}", word)
            line.play(action, f"number {number}")
    except ProbZeroError as error:
        raise ProbZeroError(f"{KIND}: {path}: {error}") from None
    return line, (players[0], players[1])


def folder() -> Path:
    """Return where games that are going on are kept."""
    state = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(state) / "probzero" / "games"


def going_on() -> Path:
    """Return the file of a new game: no other game has its name."""
    return folder() / f"{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}.json"


def latest() -> Path:
    """Return the game that was left last."""
    found = sorted(folder().glob("*.json"), key=lambda path: path.stat().st_mtime)
    if not found:
        raise bad(KIND, folder(), "a game that was left", "none")
    return found[-1]
