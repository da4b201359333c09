# mypy: disable-error-code="no-untyped-def"
"""Tables of endgames by retrograde analysis: in how many plies the player to move mates, or is mated.

An entry stands for a state of two kings and one piece, with no plies counted: see `place_of`.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from probzero import templates

words = templates.load("probzero.games.compiled.bits")
board = templates.load("probzero.games.compiled.chess_board")
chess = templates.load("probzero.games.compiled.chess")
count, number = words.count, words.number
WORDS, OWN, OPP, KINGS, NOTES = board.WORDS, board.OWN, board.OPP, board.KINGS, board.NOTES
PAWNS, KNIGHTS, DIAGONAL, STRAIGHT = board.PAWNS, board.KNIGHTS, board.DIAGONAL, board.STRAIGHT
NEAR, ZERO, ONE = board.NEAR, board.ZERO, board.ONE

MOVES = chess.MOVES
QUEEN, ROOK, PAWN = 0, 1, 2
ENTRIES = 3 * 2 * 64 * 64 * 64  # piece; mine or the other's; own king, opposing king and piece
OPEN, NONE = -1, -2  # neither side mates (or not known yet); no position
DRAWN = -1  # in the place of an entry: the position after a move is a draw


@njit
def place_of(state):
    """Return the entry of a state, DRAWN for two kings alone or with a minor piece, NONE if it is in no table."""
    own, opp, kings = np.uint64(state[OWN]), np.uint64(state[OPP]), np.uint64(state[KINGS])
    piece = (own | opp) & ~kings
    if count(piece) > 1 or count(kings) != 2:
        return NONE
    if piece & np.uint64(state[PAWNS]):
        kind = PAWN
    elif piece & np.uint64(state[STRAIGHT]):
        kind = QUEEN if piece & np.uint64(state[DIAGONAL]) else ROOK
    else:
        return DRAWN
    place = np.int64(2 * kind + (1 if piece & opp else 0))
    for bit in (own & kings, opp & kings, piece):
        place = place * 64 + np.int64(number(bit))
    return place


@njit
def state_of(place, state):
    """Write the state of an entry; return whether it is a position."""
    piece, opposing, own = place & 63, place >> 6 & 63, place >> 12 & 63
    kind, is_opp = place >> 19, place >> 18 & 1
    if own in (opposing, piece) or opposing == piece or NEAR[own] >> np.uint64(opposing) & ONE:
        return False
    if kind == PAWN and not 8 <= piece < 56:
        return False
    bit = np.int64(1) << piece
    state[:] = 0
    state[OWN], state[OPP] = np.int64(1) << own, np.int64(1) << opposing
    state[KINGS] = state[OWN] | state[OPP]
    state[OPP if is_opp else OWN] |= bit
    if kind == PAWN:
        state[PAWNS] = bit
    else:
        state[STRAIGHT] = bit
        if kind == QUEEN:
            state[DIAGONAL] = bit
    return not chess.waits_in_check(state)


@njit(cache=True, nogil=True)
def successors(plies, first, after):
    """Write where the moves of every entry lead: after[first[i]:first[i + 1]] for entry i. Fill plies [ENTRIES].

    ENTRIES is added where a pawn moves, with which the count of plies without progress begins again. Entries that are
    mated get 0 plies, other positions OPEN, and what is no position NONE. Returns how many moves there are.
    """
    state, following, moves = np.empty(WORDS, np.int64), np.empty(WORDS, np.int64), np.empty(MOVES, np.int64)
    held = 0
    for place in range(ENTRIES):
        first[place] = held
        if not state_of(place, state):
            plies[place] = NONE
            continue
        found = chess.legal(state, moves)
        plies[place] = 0 if found == 0 and chess.outcome(state) < 0 else OPEN
        for slot in range(found):
            chess.play(state, moves[slot], following)
            after[held] = place_of(following)
            if after[held] != DRAWN and following[NOTES] >> chess.CLOCK == 0:
                after[held] += ENTRIES
            held += 1
    first[ENTRIES] = held
    return held


@njit(cache=True, nogil=True)
def settle(plies, first, after):
    """Fill in plies by rising number: odd ones lead to mate, even ones to being mated. OPEN stays with draws."""
    ply, idle = 0, 0
    while idle < 2:
        ply, changed = ply + 1, False
        for place in range(ENTRIES):
            if plies[place] != OPEN or first[place] == first[place + 1]:
                continue
            reached, lost = False, True
            for slot in range(first[place], first[place + 1]):
                there = -1 if after[slot] == DRAWN else plies[after[slot] % ENTRIES]
                reached = reached or there == ply - 1
                lost = lost and there >= 0 and there & 1 == 1 and there < ply
            if reached and (ply & 1 == 1 or lost):
                plies[place] = ply
                changed = True
        idle = 0 if changed else idle + 1


@njit(cache=True, nogil=True)
def settle_progress(plies, first, after, left):
    """Fill left [ENTRIES] of decided entries with the plies to mate or to a pawn's move that keeps the win, where one
    side takes the shortest way and the other the longest; OPEN elsewhere."""
    for place in range(ENTRIES):
        left[place] = 0 if plies[place] == 0 else OPEN
    ply, idle = 0, 0
    while idle < 2:
        ply, changed = ply + 1, False
        for place in range(ENTRIES):
            if plies[place] <= 0 or left[place] != OPEN or plies[place] & 1 != ply & 1:
                continue
            reached, held_up = False, True
            for slot in range(first[place], first[place + 1]):
                there = -1 if after[slot] == DRAWN else after[slot] % ENTRIES
                if there >= 0 and plies[there] >= 0 and plies[there] & 1 != ply & 1:
                    moved = after[slot] >= ENTRIES
                    reached = reached or (moved and ply == 1) or (not moved and left[there] == ply - 1)
                    held_up = held_up and left[there] != OPEN
            if reached and (ply & 1 == 1 or held_up):
                left[place] = ply
                changed = True
        idle = 0 if changed else idle + 1


@njit(cache=True, nogil=True)
def values(states, plies, left, last, largest, found):
    """Fill found [n, A] with the values of the legal moves of states [n, WORDS]: ± (largest − plies to mate), or 0.

    Nobody wins where neither mate nor a pawn's move that keeps the win can come by ply `last` without progress. Returns
    the first row that is in no table, or −1."""
    following, moves = np.empty(WORDS, np.int64), np.empty(MOVES, np.int64)
    for row in range(len(states)):
        for slot in range(chess.legal(states[row], moves)):
            chess.play(states[row], moves[slot], following)
            place = place_of(following)
            if place == NONE:
                return row
            there = -1 if place == DRAWN else plies[place]
            if there < 0 or (following[NOTES] >> chess.CLOCK) + left[place] > last:
                found[row, moves[slot]] = 0
            else:
                value = largest - there - 1
                found[row, moves[slot]] = value if there & 1 == 0 else -value
    return -1
