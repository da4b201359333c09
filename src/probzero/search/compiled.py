# mypy: disable-error-code="no-untyped-def"
"""The sequential form of the inner loops of graphs and particles, compiled for processors (MCTS: `compiled_mcts`).

On a GPU a batch is a few large tensor operations (`table`, `descent`). On a processor the same operations are so small
that calling them costs more than doing them: 20 games spend over half of their time on calls. So there the same
arrays are walked node by node in machine code. Both forms give the same graphs; tests hold both to a slow third.

Compiled functions that call each other stand in one file: numba's cache on disk does not notice changes in others.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from probzero import wdl

WIN, DRAW, LOSS = wdl.WIN, wdl.DRAW, wdl.LOSS
EMPTY = 0  # a free slot of a hash table; that of entry k holds k + 1
GOLDEN = np.uint64(0x9E3779B97F4A7C15)
FIRST = np.uint64(0xBF58476D1CE4E5B9)
SECOND = np.uint64(0x94D049BB133111EB)
U11, U27, U30, U31 = np.uint64(11), np.uint64(27), np.uint64(30), np.uint64(31)


@njit(cache=True, nogil=True)
def insert(keys, hashes, slots, held, count, entries, added):
    """`KeyTable.insert` for keys [n, width]: fill entries [n] and added [n]; return the number of entries and of added.

    Stops with a count above len(held) when the table is full, having stored what fits.
    """
    mask = len(slots) - 1
    fresh = 0
    for row in range(len(keys)):
        slot = hashes[row] & mask
        while True:
            if slots[slot] == EMPTY:
                if count >= len(held):
                    return count + 1, fresh
                slots[slot] = count + 1
                held[count] = keys[row]
                entries[row] = count
                added[fresh] = row
                fresh += 1
                count += 1
                break
            entry = slots[slot] - 1
            same = True
            for column in range(keys.shape[1]):
                same &= held[entry, column] == keys[row, column]
            if same:
                entries[row] = entry
                break
            slot = (slot + 1) & mask
    return count, fresh


@njit(cache=True, nogil=True)
def _mixed(word, state):
    word = (word ^ state) + GOLDEN
    word = (word ^ (word >> U30)) * FIRST
    word = (word ^ (word >> U27)) * SECOND
    return word ^ (word >> U31)


@njit(cache=True, nogil=True)
def mix_rows(words, hashes):
    """Fill hashes [n] with `random_keys.mix` of the columns of words [n, width]."""
    for row in range(len(words)):
        state = np.uint64(0)
        for column in range(words.shape[1]):
            state = _mixed(np.uint64(words[row, column]), state)
        hashes[row] = np.int64(state)


@njit(cache=True, nogil=True)
def _runs(origin, opp, shift, ahead, behind, steps):
    """`Othello._runs` along one line, towards higher bits and towards lower ones."""
    ahead, behind = ahead & opp, behind & opp
    up, down = (origin << shift) & ahead, (origin >> shift) & behind
    for _ in range(steps):
        up |= (up << shift) & ahead
        down |= (down >> shift) & behind
    return up, down


@njit(cache=True, nogil=True)
def _placements(own, opp, lines, board, steps):
    """`Othello.placements` of one position."""
    ends = np.int64(0)
    for line in range(len(lines)):
        shift, ahead, behind = lines[line]
        up, down = _runs(own, opp, shift, ahead, behind, steps)
        ends |= ((up << shift) & ahead) | ((down >> shift) & behind)
    return ends & ~(own | opp) & board


@njit(cache=True, nogil=True)
def _flanked(own, opp, lines, steps, below, above):
    """Fill below and above [4] with the opposing discs that runs from our own discs reach along each line."""
    for line in range(len(lines)):
        shift, ahead, behind = lines[line]
        below[line], above[line] = _runs(own, opp, shift, ahead, behind, steps)


@njit(cache=True, nogil=True)
def _turned(square, opp, lines, steps, below, above):
    """Return the discs that a disc of ours on `square`, a single bit, turns; `_flanked` gives below and above [4]."""
    turned = np.int64(0)
    for line in range(len(lines)):
        shift, ahead, behind = lines[line]
        up, down = _runs(square, opp, shift, ahead, behind, steps)
        turned |= (up & above[line]) | (down & below[line])
    return turned


@njit(cache=True, nogil=True)
def reach(nodes, lines, board, steps, keys, evaluated, closed, rank, search, net, boards, legal):
    """`expansion.reach`: fill boards [3, m] (nodes, own, opp) and legal [m, N² + 1] with what goes on.

    Returns how many nodes and how many legal moves that is.
    """
    squares = legal.shape[1] - 1
    going = moves = 0
    for node in nodes:
        own, opp = keys[node, 0], keys[node, 1]
        mine = _placements(own, opp, lines, board, steps)
        passes = mine == 0 and _placements(opp, own, lines, board, steps) != 0
        count = margin = discs = 0
        for square in range(squares):
            may, ours, theirs = (mine >> square) & 1, (own >> square) & 1, (opp >> square) & 1
            legal[going, square] = may
            count += may
            margin += ours - theirs
            discs += ours + theirs
        legal[going, squares] = passes
        evaluated[node] = True
        rank[node] = 2 * discs + (mine != 0)
        closed[node] = mine == 0 and not passes
        if closed[node]:
            outcome = WIN if margin > 0 else LOSS if margin < 0 else DRAW
            for column in range(search.shape[2]):
                for row in range(search.shape[1]):
                    search[node, row, column] = net[node, row, column] = column == outcome
            continue
        boards[0, going], boards[1, going], boards[2, going] = node, own, opp
        going += 1
        moves += count + passes
    return going, moves


@njit(cache=True, nogil=True)
def settle(
    nodes, prior, value, reward, legal, first, lines, steps, transpositions, worlds, game_key, slots, keys, count,
    key, search, net, first_edge, edge_count, edge_action, edge_policy, edge_child, child_keys, scratch,
):  # fmt: skip
    """`expansion.settle` for nodes [n]: fill in values and the edges from number `first` on, and enter the children.

    `child_keys` [moves, 3] and `scratch` [3, moves] are room to work in. Returns the number of nodes, as `insert` does.
    """
    squares = legal.shape[1] - 1
    order = np.zeros(legal.shape[1], np.int64)
    games = len(game_key)
    hashes, entries, added = scratch
    below, above = np.zeros((2, len(lines)), np.int64)
    edge = 0
    for row in range(len(nodes)):
        node = nodes[row]
        for outcome in range(value.shape[1]):
            search[node, 0, outcome] = net[node, 0, outcome] = value[row, outcome]
            search[node, 1, outcome] = net[node, 1, outcome] = reward[row, outcome]
        own, opp, place = keys[node, 0], keys[node, 1], keys[node, 2]
        moves = 0
        for action in range(squares + 1):
            if legal[row, action]:
                slot = moves
                while slot > 0 and prior[row, order[slot - 1]] < prior[row, action]:
                    order[slot] = order[slot - 1]
                    slot -= 1
                order[slot] = action
                moves += 1
        first_edge[node], edge_count[node] = first + edge, moves
        _flanked(own, opp, lines, steps, below, above)
        for slot in range(moves):
            action = order[slot]
            edge_action[first + edge], edge_policy[first + edge] = action, prior[row, action]
            square = np.int64(1) << action if action < squares else np.int64(0)
            turned = _turned(square, opp, lines, steps, below, above)
            salt = game_key[place % games]
            if not transpositions:
                place, salt = place % games + games * (worlds + edge), key[node]
            child_keys[edge, 0], child_keys[edge, 1], child_keys[edge, 2] = opp & ~turned, own | square | turned, place
            state = _mixed(np.uint64(child_keys[edge, 0]), np.uint64(0))
            state = _mixed(np.uint64(child_keys[edge, 1]), state)
            hashes[edge] = np.int64(_mixed(np.uint64(salt), state))
            edge += 1
    count, fresh = insert(child_keys, hashes, slots, keys, count, entries, added)
    if count <= len(keys):
        for edge in range(len(entries)):
            edge_child[first + edge] = ~entries[edge]
        for row in added[:fresh]:
            key[entries[row]] = hashes[row]
    return count


@njit(cache=True, nogil=True)
def _uniform(word):
    return np.float64(word >> U11) * 2.0**-53


@njit(cache=True, nogil=True)
def _divide(share, count, volume, drawn_key, systematic):
    """Turn weights share[: len(count)] into particle counts; see `splitting` for the two schemes."""
    total = 0.0
    for slot in range(len(count)):
        total += share[slot]
        share[slot] = total  # from here on the running sum
        count[slot] = 0
    if total == 0:
        return
    if systematic:
        drawn = _uniform(_mixed(drawn_key, np.uint64(0)))
        before = 0
        for slot in range(len(count)):
            upto = min(volume, np.int64(share[slot] / total * volume + drawn))
            count[slot] = upto - before
            before = upto
        return
    first = _mixed(drawn_key, np.uint64(0))
    for particle in range(volume):
        drawn = _uniform(_mixed(np.uint64(particle), first))
        for slot in range(len(count)):
            if drawn < share[slot] / total:
                count[slot] += 1
                break


@njit(cache=True, nogil=True)
def descend(
    roots, particles, salt, systematic, key, rank, evaluated, closed, visits, volume,
    first_edge, edge_count, edge_child, edge_policy, edge_visits, heads, following, touched, leaves,
):  # fmt: skip
    """`descent.descend`: fill leaves, and touched from its end (a game's nodes by falling rank); return how many.

    `heads` [ranks] (all −1) and `following` [M] are lists of waiting nodes, one for each rank.
    """
    split = found = 0
    share = np.zeros(128)
    counts = np.zeros(128, np.int64)
    for game in range(len(roots)):
        root = roots[game]
        volume[root] = particles[game]
        heads[rank[root]] = root
        following[root] = -1
        for level in range(rank[root], len(heads)):
            while heads[level] >= 0:
                node = heads[level]
                heads[level] = following[node]
                split += 1
                touched[-split] = node
                waiting = volume[node]
                volume[node] = 0
                visits[node] += waiting
                edges = edge_count[node]
                first = first_edge[node]
                weighty = False
                untried = 0
                for slot in range(edges):
                    child = edge_child[first + slot]
                    untried += child < 0
                    may = child < 0 or not closed[child]
                    share[slot] = edge_policy[first + slot] if may else 0.0
                    weighty |= share[slot] > 0
                if not weighty:
                    for slot in range(edges):
                        child = edge_child[first + slot]
                        share[slot] = 1.0 if child < 0 or not closed[child] else 0.0
                count = counts[:edges]
                _divide(share, count, waiting, np.uint64(key[node] ^ salt), systematic)
                bucket = 0
                for slot in range(edges):
                    if edge_child[first + slot] < 0:
                        bucket += count[slot]
                place = 0
                for slot in range(edges):
                    child = edge_child[first + slot]
                    given = count[slot]
                    if child < 0:
                        given = bucket // untried + (place < bucket % untried)
                        place += 1
                        child = ~child
                    if given == 0:
                        continue
                    edge_child[first + slot] = child  # explored from now on
                    edge_visits[first + slot] += given
                    if not evaluated[child]:
                        if volume[child] == 0:
                            leaves[found] = child
                            found += 1
                        volume[child] += given
                    elif closed[child]:  # a shared child that was closed from elsewhere: nothing to do below it
                        visits[child] += given
                    else:
                        if volume[child] == 0:
                            following[child] = heads[rank[child]]
                            heads[rank[child]] = child
                        volume[child] += given
    for leaf in leaves[:found]:
        visits[leaf] += volume[leaf]
        volume[leaf] = 0
    return split, found
