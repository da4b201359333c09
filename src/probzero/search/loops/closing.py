# mypy: disable-error-code="no-untyped-def"
"""Closing what has nothing left to explore, compiled; `backends/tensor.py` has the same in tensor operations."""

from __future__ import annotations

from numba import njit


@njit(forceinline=True)
def _exhausted(graph, node):
    """Return whether every move of a node was explored and leads to a closed one; unexplored moves come last."""
    edge = graph.first_edge[node] + graph.edge_count[node]
    while edge > graph.first_edge[node]:
        edge -= 1
        child = graph.edge_child[edge]
        if child < 0 or not graph.closed[child]:
            return False
    return True


@njit(nogil=True)
def _close_parents(graph, node, most_moves, found):
    """Close the parents of a closed node where it was the last to be open; they join the `found` in `scratch`."""
    move = graph.first_parent[node]
    while move > 0:
        parent, slot = (move - 1) // most_moves, (move - 1) % most_moves
        if not graph.closed[parent] and _exhausted(graph, parent):
            graph.closed[parent] = True
            graph.scratch[found] = parent
            found += 1
        move = graph.next_parent[graph.first_edge[parent] + slot]
    return found


@njit(cache=True, nogil=True)
def close(graph, nodes, most_moves):
    """Close all parents with nothing left to explore of closed ones among nodes [T], their parents, and so on.

    Returns how many were closed: the first of `scratch` of the graph, each after all those below it.
    """
    found = 0
    for node in nodes:
        if graph.closed[node]:
            found = _close_parents(graph, node, most_moves, found)
    done = 0
    while done < found:
        found = _close_parents(graph, graph.scratch[done], most_moves, found)
        done += 1
    return found
