"""Players by the names that people type.

network             the committed network of the game
FILE or FOLDER      a checkpoint, or the newest one of a run
…:N                 the same with N particles a move; 0 is its policy alone
uct, uct:N          UCB1 with N random playouts a move
perfect             plays exactly, where the game can be solved
random, greedy, mobility    look one move ahead
gtp:COMMAND         a program that speaks the Go Text Protocol
uci:LIMIT:COMMAND   one that speaks UCI; LIMIT is what follows its `go`, such as depth 6
human               a person, in `play` alone
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from probzero.arena.players import Player
from probzero.arena.simple_players import SCORES, OnePlyPlayer
from probzero.config import Search
from probzero.errors import bad
from probzero.front_ends import networks
from probzero.front_ends.gtp_client import GtpPlayer
from probzero.front_ends.thinkers import Thinker, ThinkingPlayer
from probzero.front_ends.uci_client import UciPlayer
from probzero.games.base import Game
from probzero.games.names import named, short_name
from probzero.truth.labels import Lookup
from probzero.truth.perfect import PerfectPlayer

HUMAN, NETWORK, UCT, PERFECT = "human", "network", "uct", "perfect"
GTP, UCI = "gtp:", "uci:"  # what programs of others begin with
PLAYOUTS = 1000  # of `uct` without a number
PLAYERS_HELP = (
    "a checkpoint or the folder of a run, network (the committed one), uct, perfect, random, greedy, mobility, "
    "gtp:COMMAND or uci:LIMIT:COMMAND; network:N, FILE:N and uct:N think with N particles a move"
)
THINKERS_HELP = (
    "a checkpoint or the folder of a run, network (the committed one), or uct; "
    "network:N, FILE:N and uct:N think with N particles a move"
)


# The moves that led from the start to a position [words]; None if the game did not begin there.
History = Callable[[np.ndarray], str | None]


class Spec(NamedTuple):
    """What a person typed, taken apart."""

    text: str
    kind: str  # a word of those above, or the path of a network
    particles: int | None


@dataclass(frozen=True)
class Contestant:
    """Somebody who plays one game: how to make the player of a match, and the thinker if it has thoughts to show."""

    name: str
    game: Game
    maker: Callable[[History], Player]
    thinker: Thinker | None = None

    def make(self, history: History = lambda state: None) -> Player:
        """Return the player of a match; a program of others must know how the positions came about."""
        return self.maker(history)


def taken_apart(text: str) -> Spec:
    """Return what a text names; a number after its last colon is one of particles."""
    for others in (GTP, UCI):
        if text.startswith(others):
            return Spec(text, others, None)
    found = re.fullmatch(r"(.+):(\d{1,7})", text)
    kind, particles = (found[1], int(found[2])) if found else (text, None)
    if particles is not None and kind in (HUMAN, PERFECT, *SCORES):
        raise bad("player", text, f"{kind}, which has no particles", particles)
    return Spec(text, kind, particles)


def path_of(spec: Spec, game: Game | None) -> Path | None:
    """Return the checkpoint of a player, None for one without a network."""
    if spec.kind in (HUMAN, PERFECT, UCT, GTP, UCI, *SCORES):
        return None
    if spec.kind == NETWORK:
        return networks.committed(game)
    path = Path(spec.kind)
    if path.is_dir():
        return networks.newest(path)
    if not path.is_file():
        raise bad("player", spec.text, PLAYERS_HELP, "no such file")
    return path


def game_of(name: str | None, texts: Sequence[str]) -> Game:
    """Return the game that is named, else that of the first player with a file, else that of the committed network."""
    if name is not None:
        return named(name)
    for text in texts:
        spec = taken_apart(text)
        if spec.kind != NETWORK and (path := path_of(spec, None)) is not None:
            return networks.load(path)[1].game
    return networks.load(networks.committed())[1].game


def contestant(text: str, game: Game, *, key: int = 0, lookup: Lookup | None = None) -> Contestant:
    """Return the player of a game that a text names; `lookup` is what a perfect player may know already."""
    spec = taken_apart(text)
    if spec.kind == PERFECT:
        return Contestant(text, game, lambda history: PerfectPlayer(game, lookup=lookup))
    if spec.kind in SCORES:
        return Contestant(text, game, lambda history: OnePlyPlayer(game, SCORES[spec.kind]))
    if spec.kind == GTP:
        command = text.removeprefix(GTP).strip()
        return Contestant(_program(command, GTP), game, lambda history: GtpPlayer(game, command, history))
    if spec.kind == UCI:
        limit, _, command = text.removeprefix(UCI).partition(":")
        name = f"{_program(command, UCI)} {limit}"
        return Contestant(name, game, lambda history: UciPlayer(game, limit, command, history))
    thinker = thinker_of(spec, game, key)
    return Contestant(thinker.name, game, lambda history: ThinkingPlayer(thinker), thinker)


def thinker_of(spec: Spec, game: Game, key: int = 0) -> Thinker:
    """Return the player of a game that thinks; refuse one that does not, or thinks of another game."""
    if spec.kind == UCT:
        settings = Search(splitting="middle", temperature=1.0, cache=False, algorithm="ucb1")
        playouts = PLAYOUTS if spec.particles is None else spec.particles
        return Thinker(f"{UCT}:{playouts}", game, None, settings, playouts, key)
    path = path_of(spec, game)
    if path is None:
        raise bad("player", spec.text, "one that thinks: a network, or uct", "another")
    evaluator, info = networks.load(path)
    if info.game is not game:
        raise bad("player", f"{spec.text}: game", short_name(game), short_name(info.game))
    settings, usual = networks.search_of(path)
    particles = usual if spec.particles is None else spec.particles
    kind = NETWORK if spec.kind == NETWORK else path.stem if path == Path(spec.kind) else Path(spec.kind).name
    return Thinker(f"{kind}:{particles}", game, evaluator, settings, particles, key)


def searching_with(path: Path, algorithm: str, particles: int, key: int = 0) -> Thinker:
    """Return who searches a network's game by an algorithm, which may be another than its run's.

    One that does not learn goes without the network.
    Particles are drawn: without draws, the few of a batch would leave out many equal moves."""
    evaluator, info = networks.load(path)
    settings = networks.search_of(path)[0].model_copy(update={"algorithm": algorithm})
    network = evaluator if settings.arm.learns else None
    return Thinker(f"{algorithm}:{particles}", info.game, network, settings, particles, key, always_drawn=True)


def _program(command: str, otherwise: str) -> str:
    return Path(command.split()[0]).name if command.strip() else otherwise
