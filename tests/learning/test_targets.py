"""Whole-tree targets agree with a slow extraction from a slow search."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from oracles.connect_four_search import ConnectFourSearch
from oracles.slow_search import SlowSearch
from sealed import wide
from searching import invented, played, searching

from probzero import games, wdl
from probzero.config import Targets
from probzero.learning.dataset import Samples
from probzero.learning.targets import extract, renormalised

RULES = games.make("othello", size=5)
START = tuple(RULES.start().tolist())
CONNECT_FOUR = games.make("connect_four", width=4, height=4)
SLOW = {
    "othello 5": (RULES, lambda *given: SlowSearch(5, *given)),
    "connect four 4x4": (CONNECT_FOUR, lambda *given: ConnectFourSearch(4, 4, *given)),
}


def by_state(samples: Samples) -> dict[tuple[int, ...], int]:
    return {tuple(state): row for row, state in enumerate(samples.states.tolist())}


@pytest.mark.parametrize("name", SLOW)
def test_one_game_gives_the_targets_of_the_slow_extraction(name: str) -> None:
    rules, slow_search = SLOW[name]
    search = searching(games=1, rules=rules, keys=[0])
    slow = slow_search(invented(rules), int(search.graph.game_key[0]), rules.start())
    game = torch.tensor([0])
    ply = 0
    while not slow.nodes[slow.root].terminal:
        search.run(game, 6, 4, ply)
        slow.run(6, 4, ply)
        action = played(search, game, 0.2, ply)
        search.advance(game, action)
        slow.advance(int(action))
        ply += 1
    samples = extract(search.graph, 1.0, Targets(), search.graph.root)
    rows, (policy, mask) = by_state(samples), wide(samples, rules)
    expected = slow.settled()
    assert len(expected) == len(rows) == len(samples.weight)
    with_reward = 0
    for node, weights, reward in expected:
        row = rows[node.position]
        explored = node.actions[: node.tried]
        assert list(np.flatnonzero(mask[row])) == sorted(explored)
        assert policy[row][explored].tolist() == pytest.approx(weights, abs=2e-5)
        assert samples.value[row].tolist() == pytest.approx(node.target, abs=2e-5)
        assert samples.weight[row] == node.visits
        assert bool(samples.valid[row]) == (reward is not None)
        if reward is not None:
            with_reward += 1
            assert samples.reward[row].tolist() == pytest.approx(reward, abs=2e-4)
    assert 0 < with_reward < len(expected)
    drawn = samples.reward[:, wdl.DRAW] > 0.5
    assert drawn.sum() > 30 or rules is RULES  # there a draw needs squares that stay empty


def test_equal_positions_of_several_games_become_one_sample() -> None:
    search = searching(games=4)
    games = torch.arange(4)
    search.run(games, 6, 3, 0)
    visits = int(search.graph.visits[search.graph.root].sum())
    samples = extract(search.graph, 1.0, Targets(), search.graph.root)
    rows = by_state(samples)
    assert len(rows) == len(samples.weight)
    assert samples.weight[rows[START]] == visits == 4 * 18


def test_without_a_terminal_in_the_graph_no_reward_target_is_valid() -> None:
    search = searching(games=1)
    search.run(torch.tensor([0]), 2, 2, 0)
    samples = extract(search.graph, 1.0, Targets(), search.graph.root)
    assert len(samples.valid) and not samples.valid.any() and not samples.reward.any()


def test_weights_as_small_as_float32_goes_still_sum_to_one() -> None:
    weight = torch.tensor([[1.0, 3e-42, 1e-42], [0.5, 0.0, 0.0], [0.2, 0.3, 0.5], [1.0, 0.0, 0.0]])
    has = torch.tensor([[False, True, True], [False, True, True], [True, True, False], [False, False, False]])
    expected = [[0, 0.75, 0.25], [0, 0.5, 0.5], [0.4, 0.6, 0], [0, 0, 0]]
    assert torch.allclose(renormalised(weight, has), torch.tensor(expected), atol=1e-3)
    assert renormalised(weight, has).sum(1).tolist() == pytest.approx([1, 1, 1, 0])
