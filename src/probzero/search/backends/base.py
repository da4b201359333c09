"""What searches ask of a backend. Both backends give the same graphs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from probzero.errors import ProbZeroError, bad
from probzero.games.base import Game
from probzero.kinds import Array

if TYPE_CHECKING:
    from probzero.network.evaluation import Evaluation
    from probzero.search.graph import Graph
    from probzero.search.gumbel import GumbelSearch
    from probzero.search.key_table import KeyTable
    from probzero.search.mcts import MctsSearch


class Leaves(NamedTuple):
    """Nodes reached for the first time at which the game goes on."""

    nodes: Array  # [n]
    states: Array  # [n, W]
    moves: Array  # [n, K] legal actions by rising number, each row filled up with its first
    counts: Array  # [n] how many are legal
    total: int  # legal moves of all of them


class Descent(NamedTuple):
    """Where the particles of a batch went."""

    nodes: Array  # those that were split, each after all those below it, in the form that the backend's backup takes
    leaves: Array  # [L] nodes reached for the first time; on a device −1 fills up the room for more


class Paths(NamedTuple):
    """The way of one simulation of MCTS in each of n games."""

    roots: Array  # [n]
    games: Array  # [n]
    edges: Array  # [n, depth] taken from the root on; NO_EDGE after the last
    leaves: Array  # [n] where it ended: a node reached for the first time, or a finished game


class Backend(Protocol):
    """What searches ask for. Graphs are changed in place."""

    game: Game
    device: Any
    grows_tables: bool  # hash tables have few slots at first
    edges_per_node: int  # for how many edges a graph has room

    def zeros(self, *shape: int, dtype: str = "float32") -> Array:
        """Return zeros of that shape, of the kind and on the device of the backend."""

    def accept(self, array: Array) -> Array:
        """Return an array, wherever it lies, as one of the backend's."""

    def hash_rows(self, words: Array) -> Array:
        """Return `random_keys.mix` of the columns of int64 words [n, width]: hashes [n]."""

    def insert(self, table: KeyTable, keys: Array, hashes: Array) -> tuple[Array, Array]:
        """Do the work of `KeyTable.insert`, with room for all keys among the slots."""

    def enter(self, table: KeyTable, keys: Array, hashes: Array) -> Array:
        """Do the work of `KeyTable.enter`, with room for all keys among the slots."""

    def settle(self, table: KeyTable) -> None:
        """Do the work of `KeyTable.settle`: on a device the host waits for it."""

    def goes_on(self, graph: Graph, particles: Array) -> bool:
        """Return whether any of particles [n] are to be sent. A device is asked once a batch, and says here too if its
        graph has become too full."""

    def move_slots(self, taken: Array, slots: Array) -> None:
        """Put what slots hold into free `slots`, of which there are more; see `KeyTable`."""

    def open_nodes(self, graph: Graph, nodes: Array) -> Leaves:
        """Mark distinct new nodes [m] as evaluated and rank them; terminals get their true outcome and are closed.

        On a device nodes below 0 are none. Returns the others, whose estimate must follow."""

    def expand(self, graph: Graph, leaves: Leaves, evaluation: Evaluation) -> None:
        """Give the leaves their estimates, lay out their edges by falling prior and enter the children."""

    def descend(self, graph: Graph, roots: Array, particles: Array, most: int, splitting: str, salt: int) -> Descent:
        """Send particles [n], at most `most` each, down from roots [n], counting visits, until they reach leaves.

        No particles are sent from a root that is closed.

        Nodes are taken in order of rank, so that a node is split once, when all its parents have given what they have.
        Explored children have a share each, in proportion to policy_search; those that are closed have none. All
        unexplored moves together are one bucket, handed out one by one in order of prior and round again. If the search
        gives all moves that may have particles no weight at all, they share equally.
        """

    def backup(self, graph: Graph, nodes: Array, temperature: float) -> None:
        """Renew policies and values of the nodes of a `Descent`; see `kernels/backup`.

        A node that closes may be the last open one below parents that the particles did not come by. These are closed
        and renewed too, and so on upwards: after every backup a node is closed exactly if nothing is left to explore
        below it, so that the particles of an open node always have somewhere to go.
        """

    def renew(self, graph: Graph, nodes: Array, temperature: float) -> None:
        """Do the same for nodes [T], each after all those below it."""

    def winner_prob(self, values: Array, mask: Array, temperature: float) -> Array:
        """Return the weights [n, K] of children [n, K, 3] where mask [n, K]; see `kernels/winner_prob`."""

    def select(self, search: MctsSearch, roots: Array) -> Paths:
        """Follow the best scores (see `scores`) from roots [n] down; the edges taken are explored from then on.

        A root that stands there several times, side by side, is searched as often at once: each path leaves its virtual
        losses to the next."""

    def add_results(self, search: MctsSearch, paths: Paths, result: Array) -> None:
        """Carry results [n], seen by the players to move at the leaves, up their paths with alternating sign."""

    def select_improved(self, search: GumbelSearch, roots: Array, most: Array) -> Paths:
        """Follow paths by Gumbel AlphaZero's rules (see `gumbel`) from roots [n] down: one for every move that the
        present stage of its sequential halving considers, at most `most` [n]."""

    def improve(self, search: GumbelSearch, roots: Array) -> tuple[Array, Array]:
        """Return which moves of roots [n] to play, 1 for one and 0 for others, and their improved policy, [n, K]."""

    def playouts(self, states: Array, keys: Array) -> Array:
        """Return the results [n] (+1, 0, −1, for the players to move) of random games from states [n, W].

        At every ply the legal move with the largest draw is played, keyed by keys [n], ply and action."""


def lacks(form: str, setting: str, known: Iterable[str], found: str) -> ProbZeroError:
    """Return the error for something that a backend does not have."""
    return bad("search", setting, f"one of {', '.join(known)}, which the {form} form has", found)
