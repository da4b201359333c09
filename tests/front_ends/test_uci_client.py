"""Programs that speak UCI play matches; one that misbehaves is named in one line."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

import numpy as np
import pytest
from oracles.slow_othello import SlowOthello

from probzero import games
from probzero.arena.match import play_match
from probzero.arena.openings import random_openings
from probzero.arena.simple_players import SCORES, OnePlyPlayer
from probzero.errors import ProbZeroError
from probzero.front_ends.uci_client import UciPlayer

EIGHT = games.make("othello", size=8)
TOY = Path(__file__).with_name("toy_uci.py")


def toy(manner: str = "well") -> str:
    return shlex.join([sys.executable, str(TOY), manner])


def test_an_engine_plays_by_its_own_names_from_openings_and_through_passes() -> None:
    openings = random_openings(EIGHT, 4, 4, 7)
    lines = {
        state.tobytes(): EIGHT.move_names(moves) for state, moves in zip(openings.states, openings.moves, strict=True)
    }
    engine = UciPlayer(EIGHT, "depth 1", toy(), lambda state: lines.get(state.tobytes()))
    played = play_match(EIGHT, openings, ("toy", engine), ("random", OnePlyPlayer(EIGHT, SCORES["random"])), ("t",))
    passes = 0
    for row in played.itertuples():
        board, ply = SlowOthello.start(8), 0
        for name in f"{row.opening_moves} {row.moves}".split():
            move = EIGHT.parse_moves(name)[0]
            if ply >= 4 and (row.first, row.second)[ply % 2] == "toy":
                assert move == board.legal_moves()[-1]
            passes += move == 64
            board, ply = board.after(move), ply + 1
        assert not board.legal_moves()
    assert passes, "somebody should have had to pass"


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        (toy("dies"), "expected an answer, found nothing: it has ended"),
        (toy("cheats"), "expected one of P@.*, found bestmove P@a9"),
        ("no-such-program", "expected a program that can be started"),
        ("", "expected a program that can be started"),
    ],
)
def test_an_engine_that_misbehaves_is_refused(command: str, expected: str) -> None:
    with pytest.raises(ProbZeroError, match=expected):
        player = UciPlayer(EIGHT, "depth 1", command, lambda state: "")
        player.begin(EIGHT.start()[None], np.zeros(1, dtype=np.int64))
        player.choose(np.arange(1), 0)


def test_games_that_the_interface_does_not_know_are_refused() -> None:
    with pytest.raises(ProbZeroError, match="expected a game that the Universal Chess Interface knows"):
        UciPlayer(games.make("othello", size=6), "depth 1", toy(), lambda state: "")
