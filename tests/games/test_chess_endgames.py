"""Endgames of chess: their set-up, and tables beside published facts and a plain search by python-chess."""

from __future__ import annotations

from pathlib import Path

import chess
import numpy as np
import pytest
import yaml

from probzero import config, games, templates
from probzero.errors import ProbZeroError
from probzero.games.base import NO_VALUE
from probzero.games.checks import check_game
from probzero.games.random_play import play_by_seed
from probzero.truth.labels import Solver, best_moves
from probzero.truth.perfect import PerfectPlayer
from probzero.truth.positions import from_random_play

GAME = games.make("chess_endgames")
ENTRIES = templates.load("probzero.games.compiled.chess_tables")


def tables() -> np.ndarray:
    """By piece; mine or the other's; kings and piece. Made when they are first asked for, which takes seconds."""
    return GAME.tables[0].reshape(3, 2, 64, 64, 64)


def test_the_game_keeps_its_promises() -> None:
    check_game(GAME, count=4)


# Longest mates and numbers of positions as tables of others have them (both sides' view up to colour, no symmetry).
@pytest.mark.parametrize(
    ("kind", "moves", "positions", "wins", "losses"),
    [(0, 10, 144_508, 144_508, 200_896), (1, 16, 175_168, 175_168, 201_700), (2, 28, 163_328, 124_960, 97_604)],
    ids=["KQK", "KRK", "KPK"],
)
def test_tables_have_the_known_lengths_and_numbers(
    kind: int, moves: int, positions: int, wins: int, losses: int
) -> None:
    stronger, weaker = tables()[kind]
    assert (stronger.max() + 1) // 2 == weaker.max() // 2 == moves
    assert ((stronger >= -1).sum(), (stronger > 0).sum(), (weaker >= 0).sum()) == (positions, wins, losses)
    assert not (stronger[stronger >= 0] % 2 == 0).any() and not (weaker[weaker >= 0] % 2 == 1).any()


def plies_to_mate(board: chess.Board, most: int) -> int | None:
    """In how many plies, up to `most`, the player to move mates (odd) or is mated (even), by plain search."""
    if board.is_checkmate():
        return 0
    if most == 0 or not any(board.legal_moves) or board.is_insufficient_material():
        return None
    found = []
    for move in list(board.legal_moves):
        board.push(move)
        found.append(plies_to_mate(board, most - 1))
        board.pop()
    wins = [plies + 1 for plies in found if plies is not None and plies % 2 == 0]
    if wins:
        return min(wins)
    losses = [plies + 1 for plies in found if plies is not None]
    return max(losses) if len(losses) == len(found) else None


def test_mates_within_three_plies_are_those_of_a_plain_search() -> None:
    rng, entries = np.random.default_rng(1), GAME.tables[0]
    for plies in (1, 2, 3, 4, 5, -1):
        for place in rng.choice(np.flatnonzero(entries == plies), 12, replace=False):
            state = np.empty(8, dtype=np.int64)
            assert ENTRIES.state_of(int(place), state)
            assert plies_to_mate(chess.Board(GAME.to_text(state)), 3) == (plies if 1 <= plies <= 3 else None)
            assert (Solver(GAME).label(state[None], margins=True).margin == value_of(plies)).all()


def value_of(plies: int) -> int:
    """How a position is valued whose mover mates (odd plies) or is mated (even), or neither (−1)."""
    return 0 if plies < 0 else (127 - plies) * (1 if plies % 2 == 1 else -1)


def test_a_mate_that_comes_too_late_is_a_draw() -> None:
    board = "8/8/8/8/3k4/8/8/KR6 w - - {} 1"
    soon, late = (GAME.from_text(board.format(clock))[None] for clock in (0, 100 - 2))
    assert GAME.known(soon).max() > 0 and GAME.known(late).max() == 0


def wins_in_time(board: chess.Board) -> bool:
    """Whether the player to move wins before the fifty moves are over, by plain search; what follows a pawn's move is
    looked up, as no plies are counted there."""
    if board.halfmove_clock >= 100 or board.is_insufficient_material():
        return False
    for move in list(board.legal_moves):
        pawn = board.piece_type_at(move.from_square) == chess.PAWN
        board.push(move)
        if pawn:
            known = GAME.known(GAME.from_text(board.fen())[None])[0]
            won = board.is_checkmate() or ((known > NO_VALUE).any() and known.max() < 0)
        else:
            won = board.is_checkmate() or (board.halfmove_clock < 100 and loses_in_time(board))
        board.pop()
        if won:
            return True
    return False


def loses_in_time(board: chess.Board) -> bool:
    if not any(board.legal_moves) or board.is_insufficient_material():
        return False
    for move in list(board.legal_moves):
        board.push(move)
        holds = not wins_in_time(board)
        board.pop()
        if holds:
            return False
    return True


def test_pawns_win_as_long_as_a_move_of_theirs_begins_the_count_again() -> None:
    states = from_random_play(GAME, 400, seed=8)
    pawns = states[(GAME.phase(states) == 3) & (np.array([int(own).bit_count() for own in states[:, 0]]) == 2)]
    won = pawns[GAME.known(pawns).max(1) > 0][:60]
    found = []
    for clock in (96, 99):  # four plies are left, then one
        late = won.copy()
        late[:, -1] |= clock << 8
        found.append(GAME.known(late).max(1) > 0)
        expected = [wins_in_time(chess.Board(GAME.to_text(state))) for state in late]
        np.testing.assert_array_equal(found[-1], expected)
    assert 10 < found[0].sum() < 60 and found[1].sum() < found[0].sum()
    assert (127 - GAME.known(won).max(1)[found[1]] > 1).all(), "nobody mates there: a pawn's move keeps the win"


def test_the_perfect_player_mates_in_as_few_moves_as_there_are() -> None:
    """King and rook in the corner against a king in the middle, and the longest of all such mates."""
    place = int(np.argmax(tables()[1, 0]))
    own, opp, rook = place >> 12, place >> 6 & 63, place & 63
    state = np.zeros((1, 8), dtype=np.int64)
    state[0, [0, 1, 5, 6]] = 1 << own | 1 << rook, 1 << opp, 1 << rook, 1 << own | 1 << opp
    GAME.check_states(state)
    solver, plies = Solver(GAME), 0
    while not GAME.finished(state)[0]:
        good = best_moves(solver.label(state, margins=True))[0]
        state = GAME.play(state, np.flatnonzero(good)[:1])
        plies += 1
    assert plies == tables()[1, 0].max() == 31 and GAME.outcome(state)[0] == -1
    PerfectPlayer(GAME)


def test_positions_that_are_set_up_are_of_all_three_tables_and_both_sides() -> None:
    states = from_random_play(GAME, 100, seed=0)
    assert set(GAME.phase(states).tolist()) == {1, 2, 3}
    own = np.array([int(state[0]).bit_count() for state in states])
    assert 60 < (own == 2).sum() < 240  # the piece is the mover's or the other's
    assert (states[:, -1] == 0).all() and (GAME.known(states) != NO_VALUE).any(1).all()


def test_placements_leave_no_king_to_be_taken_and_no_game_that_is_over() -> None:
    states = play_by_seed(GAME, 500, GAME.set_up, 3).states
    assert not GAME.finished(states[-1]).any()
    GAME.check_states(states[-1])
    assert [GAME.legal(rows[:1]).sum() for rows in states[:2]] == [6, 64]


def test_positions_of_other_pieces_are_in_no_table() -> None:
    state = GAME.from_text("8/8/3k4/8/8/3KRR2/8/8 w - - 0 1")[None]
    with pytest.raises(ProbZeroError, match="a position of king and queen, rook or pawn against king, found none"):
        GAME.known(state)


@pytest.mark.parametrize(("part", "key"), config.CHANCE)
def test_openings_that_stop_within_the_set_up_are_refused(part: str, key: str) -> None:
    raw = yaml.safe_load((Path(__file__).parents[2] / "config" / "smoke.yaml").read_text(encoding="utf-8"))
    raw |= {"game": {"name": "chess_endgames"}, "arena": {**raw["arena"], "anchors": ["random", "perfect"]}}
    for section, name in config.CHANCE:
        raw[section] = {**raw[section], name: 3 if (section, name) == (part, key) else 4}
    with pytest.raises(ProbZeroError, match=f"{part}.{key}: expected at least 4 plies, in which the pieces are set up"):
        config.parse(raw)
