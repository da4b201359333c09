"""The program that plays by mctx: its rules, with numpy in the place of JAX; and, where its environment is, a round."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "workflow" / "peers" / "mctx_selfplay.py"
PYTHON = ROOT / ".venv-peers" / "bin" / "python"


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("mctx_selfplay", SCRIPT)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.jnp = np  # type: ignore[attr-defined]
    module.jax = SimpleNamespace(lax=SimpleNamespace(population_count=np.bitwise_count))  # type: ignore[attr-defined]
    return module


@pytest.mark.parametrize(
    ("size", "expected"),
    [(4, [4, 12, 44, 128, 424, 1256, 3624, 9116, 20044]), (5, [4, 12, 50, 186, 866, 3974, 19994])],
)
def test_its_rules_give_the_published_perft_numbers(script: ModuleType, size: int, expected: list[int]) -> None:
    """A pass is a ply, and a finished game stays one leaf."""
    game = script.SmallOthello(size)
    states, finished, counts = game.start(1), 0, []
    for _ in expected:
        row, action = np.nonzero(game.legal(states))
        states, over, _ = game.play(script.Bits(*(bits[row] for bits in states)), action)
        counts.append(len(row) + finished)
        finished += int(over.sum())
        states = script.Bits(*(bits[~over] for bits in states))
    assert counts == expected


def test_a_finished_game_is_won_by_whoever_has_more_discs_and_nobody_has_one_before(script: ModuleType) -> None:
    game = script.SmallOthello(4)
    # The top row, by bits. A disc at 3 turns the two between it and the one at 0; beside three of them, one must pass.
    before = script.Bits(np.array([0b0001, 0b0001], np.uint32), np.array([0b0110, 0b1110], np.uint32))
    after, over, reward = game.play(before, np.array([3, 16]))
    assert (after.own[0], after.opp[0]) == (0, 0b1111), "seen by the other player"
    assert over.tolist() == [True, True] and reward.tolist() == [1, -1], "four against none; one against three"
    _, over, reward = game.play(game.start(1), np.array([1]))
    assert not over[0] and reward[0] == 0


def test_planes_are_those_of_the_mover_first(script: ModuleType) -> None:
    planes = script.SmallOthello(5).planes(script.SmallOthello(5).start(1))
    assert planes.shape == (1, 5, 5, 2)
    assert np.argwhere(planes[0, ..., 0]).tolist() == [[1, 2], [2, 1]]  # Black, to move
    assert np.argwhere(planes[0, ..., 1]).tolist() == [[1, 1], [2, 2]]


@pytest.mark.system
@pytest.mark.skipif(not PYTHON.is_file(), reason="needs .venv-peers, which `make bench-peers` sets up")
@pytest.mark.parametrize("size", [5, 8])
@pytest.mark.parametrize("policy", ["gumbel", "puct"])
def test_it_answers_every_line(size: int, policy: str) -> None:
    asked = f"--game othello --size {size} --policy {policy} --blocks 1 --channels 4 --policy-hidden 8 --games 3"
    asked += " --simulations 4 --moves 2 --threads 1"
    ended = subprocess.run([PYTHON, SCRIPT, *asked.split()], input="\n\n", capture_output=True, text=True, check=True)
    answers = [json.loads(line) for line in ended.stdout.splitlines()]
    assert [answer["leaf_evaluations"] for answer in answers] == [3 * 2 * (4 + 1)] * 2


@pytest.mark.parametrize("asked", ["--game chess --size 8", "--game othello --size 6"])
def test_what_it_does_not_play_it_says_by_its_status(asked: str) -> None:
    rest = "--policy puct --blocks 1 --channels 4 --policy-hidden 0 --games 3 --simulations 4 --moves 2 --threads 1"
    ended = subprocess.run([sys.executable, SCRIPT, *asked.split(), *rest.split()], capture_output=True, check=False)
    assert ended.returncode == 3
