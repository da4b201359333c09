# mypy: disable-error-code="no-untyped-def"
"""Chess endgames, one state at a time: four plies set the pieces up, then chess is played."""

from __future__ import annotations

import numpy as np
from numba import njit

from probzero import templates

words = templates.load("probzero.games.compiled.bits")
board = templates.load("probzero.games.compiled.chess_board")
chess = templates.load("probzero.games.compiled.chess")
count, number, attacked, turned = words.count, words.number, board.attacked, board.turned
WORDS, OWN, OPP, KINGS, NOTES = board.WORDS, board.OWN, board.OPP, board.KINGS, board.NOTES
PAWNS, DIAGONAL, STRAIGHT, NEAR, ZERO, ONE = (
    board.PAWNS,
    board.DIAGONAL,
    board.STRAIGHT,
    board.NEAR,
    board.ZERO,
    board.ONE,
)

MOVES, PLACE = chess.MOVES, chess.ACTIONS
CHOOSE = PLACE + 64  # after the placements on 64 squares: queen, rook, pawn for oneself, then for the other
ACTIONS = CHOOSE + 6
KIND = 16  # lowest bit, in the notes, of the piece that is still to be placed: 1 to 6, as they are chosen
SET_UP = 4  # plies: a piece is chosen, the other's king, one's own king and the piece are placed
QUEEN, ROOK, PAWN = 0, 1, 2
INNER = ~((np.uint64(0xFF) << np.uint64(56)) | np.uint64(0xFF))


@njit(forceinline=True)
def is_set_up(state):
    return state[NOTES] >> KIND == 0 and state[KINGS] != 0


@njit
def _place(state, square, out):
    """Put the next king or piece on a square, and let the other player see the board."""
    for word in range(WORDS):
        out[word] = state[word]
    bit, kings = np.int64(1) << square, count(np.uint64(state[KINGS]))
    kind = (state[NOTES] >> KIND) - 1
    if kings < 2:
        out[OWN], out[KINGS] = out[OWN] | bit, out[KINGS] | bit
    else:
        side = OWN if kind >= 3 else OPP  # who chose is not the one who places
        out[side] |= bit
        if kind % 3 == QUEEN:
            out[DIAGONAL] |= bit
        if kind % 3 != PAWN:
            out[STRAIGHT] |= bit
        else:
            out[PAWNS] |= bit
        out[NOTES] = 0
    chess.hand_over(out)


@njit
def _free(state, square, after, moves):
    """Return whether the next king or piece may stand on a square: nobody's king can be taken, and the game goes on."""
    held = np.uint64(state[OWN] | state[OPP])
    if held >> np.uint64(square) & ONE:
        return False
    kings = np.uint64(state[KINGS])
    if count(kings) < 2:
        return (NEAR[square] & kings) == ZERO
    kind = (state[NOTES] >> KIND) - 1
    if kind % 3 == PAWN and not INNER >> np.uint64(square) & ONE:
        return False
    _place(state, square, after)
    return not chess.waits_in_check(after) and chess.legal(after, moves) > 0


@njit
def legal(state, moves):
    if is_set_up(state):
        return chess.legal(state, moves)
    if state[NOTES] >> KIND == 0:
        for kind in range(6):
            moves[kind] = CHOOSE + kind
        return 6
    after, room = np.empty(WORDS, np.int64), np.empty(MOVES, np.int64)
    found = 0
    for square in range(64):
        if _free(state, square, after, room):
            moves[found] = PLACE + square
            found += 1
    return found


@njit
def play(state, move, out):
    if move < PLACE:
        chess.play(state, move, out)
    elif move < CHOOSE:
        _place(state, move - PLACE, out)
    else:
        for word in range(WORDS):
            out[word] = 0
        out[NOTES] = (move - CHOOSE + 1) << KIND


@njit
def outcome(state):
    return chess.outcome(state)


@njit
def rank(state, moves, found):
    """Return the plies of the set-up, and after it those of chess on top."""
    if is_set_up(state):
        return SET_UP + chess.rank(state, moves, found)
    return 0 if state[NOTES] >> KIND == 0 else 1 + count(np.uint64(state[KINGS]))
