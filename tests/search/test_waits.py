"""On a device a batch launches as much and waits as often however deep the search is and however many games there are.

Counted on a device that is only pretended (`pretend_device`), which refuses what lies elsewhere."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

import interpreted  # noqa: F401 (before anything that imports triton)
import pytest
import torch
from pretend_device import DEVICE, Count, counting
from pretend_kernels import use

from probzero import games as known_games
from probzero.config import Network, Search
from probzero.games.base import Game, list_moves
from probzero.network import dense
from probzero.network.inference import Evaluation, Evaluator
from probzero.network.model import build
from probzero.random_keys import key, mix
from probzero.search.build import SearchFactory

README = (Path(__file__).parents[2] / "kernels" / "README.md").read_text(encoding="utf-8")
RULES = {
    "othello": known_games.make("othello", size=5),
    "connect four": known_games.make("connect_four", width=7, height=6),
    "go": known_games.make("go", size=4, komi=0, longest=40),
}
SETTINGS = Search(splitting="systematic", temperature=1.0, cache=True)
PARTICLES = 2
WAITS = {"tolist": 3}  # goes_on, open_nodes, and the cache

pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.fixture(autouse=True)
def on_the_device(monkeypatch: pytest.MonkeyPatch) -> None:
    use(monkeypatch)
    monkeypatch.setattr(dense, "CHUNK_OF_GPU", 4 * dense.CHUNK)


class Sure(Evaluator):
    """A network that is sure of one move of each position, so that a search goes deep."""

    whole, network = Count(), Count()  # of the last call, and what of it is the network's

    def __call__(self, states: Any, moves: Any) -> Evaluation:
        with counting() as self.whole:
            return self.surely(states, moves)

    def surely(self, states: Any, moves: Any) -> Evaluation:
        with counting() as self.network:
            found = super().__call__(states, moves)
        chosen = mix(*states.unbind(1), 5) % 1000 % moves.shape[1]
        best = moves.gather(1, chosen[:, None])
        sure = (moves == best).to(torch.float32)
        return found._replace(prior=sure / sure.sum(1, keepdim=True))


def searched(rules: Game, games: int, settings: Search = SETTINGS) -> Any:
    model = build(rules.shape, Network(blocks=1, channels=16), seed_key=1)
    factory = SearchFactory(rules, Sure(model, rules, DEVICE), settings, 1000 * games, "capacity")
    keys = torch.tensor([key("waits", game) for game in range(games)])
    return factory.start(torch.from_numpy(rules.start()).repeat(games, 1), keys)


class Batch(NamedTuple):
    """What one batch asked of the device."""

    search: int  # launches, without those of the network
    kernels: dict[str, int]  # of these Triton's
    network: int  # launches
    waits: Counter[str]
    depth: int  # plies to the deepest leaf


def counted(search: Any, batches: int) -> Batch:
    """Search with so many batches; return what the last of them asked of the device."""
    graph, every = search.graph, torch.arange(search.graph.games, device=DEVICE)
    search.run(every, PARTICLES, batches - 1, 0)
    roots, evaluator = (
        graph.root[every],
        getattr(search.evaluate, "evaluate", search.evaluate),
    )  # behind the cache, if there is one
    with counting() as count:
        sent = PARTICLES * ~graph.closed[roots]
        assert graph.backend.goes_on(graph, sent)
        search.simulate(roots, sent, PARTICLES, 7)
    reached = graph.rank[: graph.nodes].cpu() * graph.evaluated[: graph.nodes].cpu()
    launches, whole, network = (each.launches for each in (count, evaluator.whole, evaluator.network))
    kernels = {name: number for name, number in launches.items() if name.endswith("_kernel")}
    depth = int(reached.max() - graph.rank[roots].cpu().max())
    return Batch(launches.total() - whole.total(), kernels, network.total(), count.waits, depth)


@pytest.mark.parametrize("game", ["connect four", "go"])  # whose ranks are plies
def test_launches_and_waits_do_not_grow_with_depth(game: str) -> None:
    early, late = (counted(searched(RULES[game], 16), batches) for batches in (5, 24))
    assert early.depth == 5 and late.depth >= 20
    assert early[:4] == late[:4] and late.waits == WAITS
    # Places in the tables of the cache and of the graph.
    assert late.kernels == {"descend_kernel": 1, "place_kernel": 2, "backup_kernel": 1}


def test_launches_and_waits_do_not_grow_with_games(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dense, "CHUNK_OF_GPU", 48 * dense.CHUNK)  # room for all leaves; see below
    few, many = (counted(searched(RULES["othello"], games), 4) for games in (16, 1024))
    assert few[:4] == many[:4] and many.waits == WAITS


@pytest.mark.parametrize(
    "settings",
    [{"splitting": "multinomial"}, {"cache": False}, {"transpositions": False}, {"budget": "leaves"}],
    ids=str,
)
def test_nor_does_a_setting_make_the_host_wait_more(settings: dict[str, Any]) -> None:
    search = searched(RULES["othello"], 4, SETTINGS.model_copy(update=settings))
    assert sum(counted(search, 3).waits.values()) <= 3


def test_an_evaluation_launches_the_same_for_every_chunk_and_waits_for_nothing() -> None:
    rules = RULES["othello"]
    evaluator, launches = Evaluator(build(rules.shape, Network(blocks=10, channels=50), 1), rules, DEVICE), []
    for chunks in (2, 3, 4):  # one has no need to put parts together
        states = torch.from_numpy(rules.start()).repeat(chunks * 4 * dense.CHUNK, 1)
        moves = list_moves(rules.legal(states), rules.most_moves)
        states, moves = states.to(DEVICE), moves.to(DEVICE)
        with counting() as count:
            evaluator(states, moves)
        assert not count.waits
        launches.append(count.launches.total())
    each = launches[1] - launches[0]
    once = launches[0] - 2 * each
    assert launches[2] == once + 4 * each
    assert f"| network of 10 × 50 | {once}, and {each} for each chunk of 960 positions |" in README


@pytest.mark.parametrize("game", RULES)
def test_the_table_in_the_readme_of_the_kernels_is_right(game: str) -> None:
    batch = counted(searched(RULES[game], 8), 4)
    assert f"| {RULES[game].identity} | {batch.search} | 4 | 3 |" in README
