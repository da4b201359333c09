# mypy: disable-error-code="no-untyped-def"
"""New nodes and random games over the rules of a game, compiled; the tensor form is in `backends/tensor.py`."""

from __future__ import annotations

import numpy as np
from numba import njit

from probzero import templates, wdl

table = templates.load("probzero.search.loops.hashing")
mixed, uniform, insert = table.mixed, table.uniform, table.insert

rules = globals()["rules"]  # given by the loader
WORDS, MOVES = rules.WORDS, rules.MOVES
WIN, DRAW, LOSS, SIZE = wdl.WIN, wdl.DRAW, wdl.LOSS, wdl.SIZE


@njit(cache=True, nogil=True)
def open_nodes(graph, new, nodes, states, moves, counts):
    """`Backend.open_nodes` for the nodes `new` [m]: fill nodes, states, moves and counts with what goes on.

    Returns how many nodes and how many legal moves that is.
    """
    going = total = 0
    for node in new:
        state = graph.keys[node]
        count = rules.legal(state, moves[going])
        graph.evaluated[node] = True
        graph.rank[node] = rules.rank(state, moves[going], count)
        graph.closed[node] = count == 0
        if count == 0:
            result = rules.outcome(state)
            outcome = WIN if result > 0 else LOSS if result < 0 else DRAW
            for column in range(SIZE):
                for row in range(2):
                    graph.search[node, row, column] = graph.net[node, row, column] = column == outcome
            continue
        for slot in range(count, MOVES):
            moves[going, slot] = moves[going, 0]
        for word in range(WORDS):
            states[going, word] = state[word]
        nodes[going], counts[going] = node, count
        going += 1
        total += count
    return going, total


@njit(cache=True, nogil=True)
def expand(
    graph, slots, nodes, moves, counts, prior, value, reward, first, transpositions, scopes, held, children, scratch
):
    """`Backend.expand` for nodes [n]: fill in values and the edges from number `first` on, and enter the children.

    `slots` are those of the table of nodes, with room for the children; `children` [total, W + 1] and `scratch`
    [3, total] are room to work in. Returns the number of nodes like `insert`.
    """
    games, edge = len(graph.game_key), 0
    hashes, entries, added = scratch
    order = np.zeros(MOVES, np.int64)
    for row in range(len(nodes)):
        node = nodes[row]
        for outcome in range(SIZE):
            graph.search[node, 0, outcome] = graph.net[node, 0, outcome] = value[row, outcome]
            graph.search[node, 1, outcome] = graph.net[node, 1, outcome] = reward[row, outcome]
        for move in range(counts[row]):  # by falling prior, equal ones by action
            slot = move
            while slot > 0 and prior[row, order[slot - 1]] < prior[row, move]:
                order[slot] = order[slot - 1]
                slot -= 1
            order[slot] = move
        graph.first_edge[node], graph.edge_count[node] = first + edge, counts[row]
        scope = graph.keys[node, WORDS]
        for slot in range(counts[row]):
            action, child = moves[row, order[slot]], children[edge]
            graph.edge_action[first + edge], graph.edge_policy[first + edge] = action, prior[row, order[slot]]
            rules.play(graph.keys[node], action, child)
            salt = graph.game_key[scope % games]
            if not transpositions:
                scope, salt = scope % games + games * (scopes + edge), graph.key[node]
            child[WORDS] = scope
            state = np.uint64(0)
            for word in range(WORDS):
                state = mixed(np.uint64(child[word]), state)
            hashes[edge] = np.int64(mixed(np.uint64(salt), state))
            edge += 1
    held, fresh = insert(children, hashes, slots, graph.keys, held, entries, added)
    if held <= len(graph.keys):
        edge = 0
        for row in range(len(nodes)):
            for slot in range(counts[row]):
                child = entries[edge]
                graph.edge_child[first + edge] = ~child
                graph.next_parent[first + edge] = graph.first_parent[child]
                graph.first_parent[child] = nodes[row] * MOVES + slot + 1
                edge += 1
        for row in added[:fresh]:
            graph.key[entries[row]] = hashes[row]
    return held


@njit(cache=True, nogil=True)
def playouts(states, keys, salts, results):
    """`Backend.playouts`: fill results [n]; a draw at ply p is keyed by keys[n] ^ salts[p] and the action."""
    state, moves = np.zeros(WORDS, np.int64), np.zeros(MOVES, np.int64)
    for row in range(len(states)):
        for word in range(WORDS):
            state[word] = states[row, word]
        sign = 1
        for ply in range(len(salts)):
            count = rules.legal(state, moves)
            if count == 0:
                break
            first = mixed(np.uint64(keys[row] ^ salts[ply]), np.uint64(0))
            chosen, largest = moves[0], -1.0
            for slot in range(count):
                drawn = uniform(mixed(np.uint64(moves[slot]), first))
                if drawn > largest:
                    chosen, largest = moves[slot], drawn
            rules.play(state, chosen, state)
            sign = -sign
        results[row] = sign * rules.outcome(state)
