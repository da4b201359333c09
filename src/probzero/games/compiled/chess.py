# mypy: disable-error-code="no-untyped-def"
"""Chess, one state at a time; the rules, the words of a state and the numbers of moves are in `probzero.games.chess`.

Moves are legal as they are made: no move is tried and taken back. What attacks the king allows squares to answer on
(`answers`), what is pinned stays on its line (`LINES`), and the king's own squares are tested without the king.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from probzero import templates

words = templates.load("probzero.games.compiled.bits")
board = templates.load("probzero.games.compiled.chess_board")
count, lowest, number = words.count, words.lowest, words.number
nearest, sliders_along, attacked = board.nearest, board.sliders_along, board.attacked
view_along, turned = board.view_along, board.turned
WORDS, OWN, OPP, PAWNS, KNIGHTS = board.WORDS, board.OWN, board.OPP, board.PAWNS, board.KNIGHTS
DIAGONAL, STRAIGHT, KINGS, NOTES = board.DIAGONAL, board.STRAIGHT, board.KINGS, board.NOTES
RAYS, NEAR, LEAPS, HITS, LINES, JUMP_TO = board.RAYS, board.NEAR, board.LEAPS, board.HITS, board.LINES, board.JUMP_TO
STEPS, ZERO, ONE, ALL = board.STEPS, board.ZERO, board.ONE, board.ALL

MOVES, ACTIONS = 218, 64 * 73
KNIGHT, BELOW = 56, 64  # planes of a move, after those of lines: knights' leaps, promotions to less than a queen
OWN_SHORT, OWN_LONG, OPP_SHORT, OPP_LONG = 1, 2, 4, 8  # castling rights, in the notes
PASSANT, CLOCK = 4, 8  # lowest bits of the file behind a double step, from 1, and of the plies without progress
LAST = 100  # plies without progress that end a game
PROGRESS = 128  # most steps of pawns (16 × 6) and pieces (32): see `rank`
LIGHT = np.uint64(0x55AA55AA55AA55AA)
ROW = np.uint64(0xFF)


@njit
def _threats(state, king, held):
    """Return where other pieces may go to end all checks (all squares if there is none), and which are pinned."""
    own, opp = np.uint64(state[OWN]), np.uint64(state[OPP])
    answers, pinned = ALL, ZERO
    checks = (LEAPS[king] & opp & np.uint64(state[KNIGHTS])) | (HITS[king] & opp & np.uint64(state[PAWNS]))
    if checks:
        answers = checks if count(checks) == 1 else ZERO
    for direction in range(8):
        sliders = sliders_along(state, direction) & opp
        ray = RAYS[direction, king]
        if not ray & sliders:
            continue
        first = nearest(direction, ray & held)
        if sliders >> np.uint64(first) & ONE:
            answers &= ray ^ RAYS[direction, first]
        elif own >> np.uint64(first) & ONE:
            behind = RAYS[direction, first] & held
            if behind and sliders >> np.uint64(nearest(direction, behind)) & ONE:
                pinned |= ONE << np.uint64(first)
    return answers, pinned


@njit
def _passant_is_legal(state, square, taken, king, held, passed):
    """Return whether a pawn may take another in passing: both leave their row, which may open it to the king."""
    opp = np.uint64(state[OPP]) ^ taken
    held = (held ^ taken ^ (ONE << np.uint64(square))) | passed
    # The taken pawn is still among the pawns, but no longer among the opposing pieces.
    return not attacked(state, king, held, opp)


@njit
def _pawn(state, square, answers, king, held, moves, found):
    """Add the moves of the pawn on a square whose line, if it is pinned, is part of `answers`."""
    opp, here = np.uint64(state[OPP]), square * 73
    last = square >= 48
    ahead = square + 8
    left = right = push = False
    if not held >> np.uint64(ahead) & ONE:
        push = bool(answers >> np.uint64(ahead) & ONE)
        if push:
            moves[found] = here
            found += 1
        if square < 16 and not held >> np.uint64(ahead + 8) & ONE and answers >> np.uint64(ahead + 8) & ONE:
            moves[found] = here + 1
            found += 1
    file = square & 7
    passant = ((state[NOTES] >> PASSANT) & 15) - 1  # its file
    if file < 7:
        right = bool(opp & answers & (ONE << np.uint64(square + 9)))
        if not right and square >> 3 == 4 and passant == file + 1:
            taken = ONE << np.uint64(square + 1)
            if _passant_is_legal(state, square, taken, king, held, taken << np.uint64(8)):
                right = True
        if right:
            moves[found] = here + 7
            found += 1
    if file > 0:
        left = bool(opp & answers & (ONE << np.uint64(square + 7)))
        if not left and square >> 3 == 4 and passant == file - 1:
            taken = ONE << np.uint64(square - 1)
            if _passant_is_legal(state, square, taken, king, held, taken << np.uint64(8)):
                left = True
        if left:
            moves[found] = here + 49
            found += 1
    if last:
        for kind in range(3):
            for way in range(3):
                if (left, push, right)[way]:
                    moves[found] = here + BELOW + 3 * kind + way
                    found += 1
    return found


@njit
def _king(state, king, held, checked, moves, found):
    own, opp = np.uint64(state[OWN]), np.uint64(state[OPP])
    without = held ^ (ONE << np.uint64(king))
    short = not checked and state[NOTES] & OWN_SHORT and not held >> np.uint64(5) & np.uint64(3)
    long = not checked and state[NOTES] & OWN_LONG and not held >> np.uint64(1) & np.uint64(7)
    for direction in range(8):
        near = RAYS[direction, king] & NEAR[king] & ~own
        if near:
            target = nearest(direction, near)
            if not attacked(state, target, without, opp):
                moves[found] = king * 73 + direction * 7
                found += 1
                if direction == 2 and short and not attacked(state, 6, without, opp):
                    moves[found] = king * 73 + direction * 7 + 1
                    found += 1
                if direction == 6 and long and not attacked(state, 2, without, opp):
                    moves[found] = king * 73 + direction * 7 + 1
                    found += 1
    return found


@njit
def _going_on(state, moves):
    """Write the legal moves of a game that no count ends."""
    own, opp = np.uint64(state[OWN]), np.uint64(state[OPP])
    held = own | opp
    king = np.int64(number(own & np.uint64(state[KINGS])))
    answers, pinned = _threats(state, king, held)
    knights, diagonal, straight = np.uint64(state[KNIGHTS]), np.uint64(state[DIAGONAL]), np.uint64(state[STRAIGHT])
    pawns, found, waiting = np.uint64(state[PAWNS]), 0, own
    while waiting:
        bit = lowest(waiting)
        waiting ^= bit
        square = np.int64(number(bit))
        if square == king:
            found = _king(state, king, held, answers != ALL, moves, found)
            continue
        allowed = answers & LINES[king, square] if pinned & bit else answers
        if pawns & bit:
            found = _pawn(state, square, allowed, king, held, moves, found)
        elif knights & bit:
            targets = LEAPS[square] & allowed & ~own
            if targets:
                for jump in range(8):
                    target = JUMP_TO[square, jump]
                    if target >= 0 and targets >> np.uint64(target) & ONE:
                        moves[found] = square * 73 + KNIGHT + jump
                        found += 1
        else:
            for direction in range(8):
                if (diagonal if direction & 1 else straight) & bit:
                    targets = view_along(direction, square, held) & allowed & ~own
                    while targets:
                        target = nearest(direction, targets)
                        targets &= ~(ONE << np.uint64(target))
                        distance = abs(target - square) // abs(STEPS[direction])
                        moves[found] = square * 73 + direction * 7 + distance - 1
                        found += 1
    return found


@njit
def _material_is_short(state):
    """Return whether nobody can be mated: kings, and one minor piece or bishops of one colour of squares."""
    if np.uint64(state[PAWNS] | state[STRAIGHT]):
        return False
    knights, bishops = count(np.uint64(state[KNIGHTS])), np.uint64(state[DIAGONAL])
    if knights:
        return knights == 1 and bishops == ZERO
    return (bishops & LIGHT) == ZERO or (bishops & ~LIGHT) == ZERO


@njit(forceinline=True)
def legal(state, moves):
    if (state[NOTES] >> CLOCK) >= LAST or _material_is_short(state):
        return 0
    return _going_on(state, moves)


@njit(forceinline=True)
def hand_over(state):
    """Let the other player see the board."""
    state[OWN], state[OPP] = state[OPP], state[OWN]
    for word in range(NOTES):
        state[word] = np.int64(turned(np.uint64(state[word])))
    notes = state[NOTES]
    state[NOTES] = (notes & ~np.int64(15)) | (notes >> 2 & 3) | ((notes & 3) << 2)


@njit(forceinline=True)
def target_of(move):
    """Return the square a move leads to."""
    square, plane = move // 73, move % 73
    if plane < KNIGHT:
        return square + STEPS[plane // 7] * (plane % 7 + 1)
    if plane < BELOW:
        return JUMP_TO[square, plane - KNIGHT]
    return square + 7 + (plane - BELOW) % 3


@njit
def play(state, move, out):
    source, plane, target = move // 73, move % 73, target_of(move)
    own, opp = np.uint64(state[OWN]), np.uint64(state[OPP])
    pawns, knights = np.uint64(state[PAWNS]), np.uint64(state[KNIGHTS])
    diagonal, straight, kings = np.uint64(state[DIAGONAL]), np.uint64(state[STRAIGHT]), np.uint64(state[KINGS])
    notes = state[NOTES]
    here, there = ONE << np.uint64(source), ONE << np.uint64(target)
    is_pawn, is_king = bool(pawns & here), bool(kings & here)
    taken = there & opp
    if is_pawn and not taken and (source ^ target) & 7:
        taken = there >> np.uint64(8)  # in passing
    opp &= ~taken
    pawns, knights, diagonal, straight = pawns & ~taken, knights & ~taken, diagonal & ~taken, straight & ~taken
    own = own ^ here | there
    if is_pawn:
        pawns ^= here
        if target < 56:
            pawns |= there
        elif plane < BELOW:
            diagonal, straight = diagonal | there, straight | there
        elif plane < BELOW + 3:
            knights |= there
        elif plane < BELOW + 6:
            diagonal |= there
        else:
            straight |= there
    elif is_king:
        kings = kings ^ here | there
        if abs(target - source) == 2:
            rook = (ONE << np.uint64(7)) | (ONE << np.uint64(5)) if target == 6 else ONE | (ONE << np.uint64(3))
            own, straight = own ^ rook, straight ^ rook
    else:
        if knights & here:
            knights = knights ^ here | there
        if diagonal & here:
            diagonal = diagonal ^ here | there
        if straight & here:
            straight = straight ^ here | there
    rights = notes & 15
    if is_king:
        rights &= ~(OWN_SHORT | OWN_LONG)
    for square, right in ((7, OWN_SHORT), (0, OWN_LONG), (63, OPP_SHORT), (56, OPP_LONG)):
        if source == square or target == square:
            rights &= ~right
    clock = 0 if is_pawn or taken else (notes >> CLOCK) + 1
    passant = 0
    if is_pawn and target == source + 16:  # noted only if there is a pawn that might take it
        row = (ROW << np.uint64(24)) & opp & pawns
        beside = ((there << ONE) | (there >> ONE)) & row
        if beside:
            passant = (source & 7) + 1
    out[OWN], out[OPP], out[PAWNS], out[KNIGHTS] = np.int64(own), np.int64(opp), np.int64(pawns), np.int64(knights)
    out[DIAGONAL], out[STRAIGHT], out[KINGS] = np.int64(diagonal), np.int64(straight), np.int64(kings)
    out[NOTES] = rights | (passant << PASSANT) | (clock << CLOCK)
    hand_over(out)


@njit
def outcome(state):
    """Return −1 if the player to move is mated, else 0: mate counts even with the last ply of the fiftieth move."""
    own, opp = np.uint64(state[OWN]), np.uint64(state[OPP])
    king = np.int64(number(own & np.uint64(state[KINGS])))
    if not attacked(state, king, own | opp, opp):
        return 0
    return -1 if _going_on(state, np.empty(MOVES, np.int64)) == 0 else 0


@njit
def rank(state, moves, found):
    """Return how far the game is: by steps of pawns and pieces taken, then by plies without either."""
    left = count(np.uint64(state[OWN]) | np.uint64(state[OPP]))
    for row in range(1, 7):
        pawns = np.uint64(state[PAWNS]) >> np.uint64(8 * row) & ROW
        left += (7 - row) * count(pawns & (np.uint64(state[OWN]) >> np.uint64(8 * row)))
        left += row * count(pawns & (np.uint64(state[OPP]) >> np.uint64(8 * row)))
    return (PROGRESS - left) * (LAST + 1) + (state[NOTES] >> CLOCK)


@njit
def waits_in_check(state):
    """Return whether the player who is not to move could lose the king: then the position is none."""
    other = state.copy()
    hand_over(other)
    own, opp = np.uint64(other[OWN]), np.uint64(other[OPP])
    return attacked(other, np.int64(number(own & np.uint64(other[KINGS]))), own | opp, opp)
