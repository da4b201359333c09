"""Problems solved by the rules alone: against composed ones, against tables of endgames and against python-chess."""

from __future__ import annotations

from pathlib import Path

import chess
import numpy as np
import pandas as pd
import pytest
from sealed import checkpoint_info

from probzero import games
from probzero.__main__ import main
from probzero.config import Network
from probzero.network.checkpoint import save_checkpoint
from probzero.network.model import build
from probzero.truth.positions import from_random_play
from probzero.truth.problems import problems, solved

CHESS, ENDGAMES = games.make("chess"), games.make("chess_endgames")
MORPHY = "kbK5/pp6/1P6/8/8/8/8/R7 w - - 0 1"  # Paul Morphy's problem: 1.Ra6, and mate follows


def mates(board: chess.Board, moves: int) -> list[chess.Move]:
    """The first moves that mate within so many moves whatever the reply, by plain search."""
    found = []
    for move in list(board.legal_moves):
        board.push(move)
        if board.is_checkmate():
            found.append(move)
        elif moves > 1 and any(board.legal_moves):
            for reply in list(board.legal_moves):
                board.push(reply)
                holds = not mates(board, moves - 1)
                board.pop()
                if holds:
                    break
            else:
                found.append(move)
        board.pop()
    return found


def test_a_composed_problem_is_solved_by_its_key() -> None:
    needed, ways, first = solved(CHESS, CHESS.from_text(MORPHY)[None], 2)
    assert (needed[0], ways[0], CHESS.move_name(int(first[0]))) == (2, 1, "a1a6")
    assert solved(CHESS, CHESS.from_text(MORPHY)[None], 1)[0][0] == 0
    assert [move.uci() for move in mates(chess.Board(MORPHY), 2)] == ["a1a6"]


def test_wins_of_at_most_three_moves_are_those_of_the_tables() -> None:
    states = from_random_play(ENDGAMES, 600, seed=5)
    best = ENDGAMES.known(states).max(1).astype(int)
    exact = np.where(best > 0, (127 - best + 1) // 2, 0)
    needed, ways, first = solved(ENDGAMES, states, 3)
    np.testing.assert_array_equal(needed, np.where(exact <= 3, exact, 0))
    assert all((needed == moves).any() for moves in (1, 2, 3))
    won = needed > 0
    assert (ENDGAMES.known(states)[won, first[won]] == best[won]).all() and (ways[won] >= 1).all()


@pytest.fixture(scope="module")
def of_random_games() -> pd.DataFrame:
    return problems(CHESS, (1, 2), 4, seed=3)


def test_problems_of_random_games_have_one_key_alone(of_random_games: pd.DataFrame) -> None:
    assert of_random_games["moves"].tolist() == [1] * 4 + [2] * 4 and of_random_games["position"].is_unique
    for row in of_random_games.itertuples():
        board = chess.Board(row.position)
        assert row.moves == 1 or not mates(board, row.moves - 1)
        assert [move.uci().removesuffix("q") for move in mates(board, row.moves)] == [row.key]


@pytest.mark.slow
def test_problems_of_three_moves_too() -> None:
    found = problems(CHESS, (3,), 2, seed=3)
    for row in found.itertuples():
        board = chess.Board(row.position)
        assert not mates(board, 2)
        assert [move.uci().removesuffix("q") for move in mates(board, 3)] == [row.key]


def test_searches_are_set_side_by_side_at_equal_budgets(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    network, path = Network(blocks=1, channels=8, policy_hidden=8), tmp_path / "0000.safetensors"
    save_checkpoint(path, build(ENDGAMES.shape, network, 1), checkpoint_info(ENDGAMES, network))
    where = ["--output", str(tmp_path / "found"), "--moves", "1", "--each", "3", "--particles", "8,600"]
    assert main(["problems", str(path), "--of", "chess_endgames", *where]) == 0
    set_of = pd.read_csv(tmp_path / "found" / "problems.csv")
    table = pd.read_csv(tmp_path / "found" / "solved.csv")
    assert set(set_of["moves"]) == {1} and len(set_of) == 3
    assert table["search"].tolist() == ["ucb1", "puct", "particle"] * 2
    assert table["particles"].tolist() == [8] * 3 + [600] * 3 and (table["problems"] == 3).all()
    assert (table["solved"] == 3)[table["particles"] == 600].all(), (
        "a mate in one is found by whoever looks at all moves"
    )
    assert "of 3 in 1 moves" in capsys.readouterr().out


def test_what_cannot_be_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["problems", "perfect", "--output", str(tmp_path)]) == 2
    assert "expected a checkpoint, or the folder of a run" in capsys.readouterr().err
    assert main(["problems", "x", "--each", "0", "--output", str(tmp_path)]) == 2
