"""What makes AlphaZero's self-play vary: the temperature of moves, and noise, which belongs to self-play alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from alphazero_games import RULES, configured, played_in_order, settings, shard
from sealed import checkpoint_info, wide

from probzero import games
from probzero.__main__ import main
from probzero.arena.players import SearchPlayer
from probzero.learning.selfplay import temperature_at
from probzero.network.checkpoint import save_checkpoint
from probzero.network.inference import Evaluator
from probzero.network.model import build
from probzero.search.build import SearchFactory
from probzero.search.mcts import MctsSearch
from probzero.truth.measures import searched_moves

pytestmark = pytest.mark.usefixtures("one_thread")


def test_the_temperature_is_that_of_the_last_step_begun() -> None:
    schedule = settings(move_temperatures=[[0, 1.0], [10, 0.25], [15, 0.0]])
    found = [temperature_at(schedule, ply) for ply in (0, 9, 10, 14, 15, 99)]
    assert found == [1.0, 1.0, 0.25, 0.25, 0.0, 0.0]
    assert temperature_at(settings(), 7) == 1.0


def test_from_the_ply_where_the_temperature_is_zero_the_most_visited_move_is_played() -> None:
    found = shard(configured(games=5, move_temperatures=[[0, 1000.0], [4, 0.0]]))
    policy, _ = wide(found.samples, RULES)
    largest = [
        (ply, policy[row, move] == policy[row].max()) for row, (_, ply, _, move) in enumerate(played_in_order(found))
    ]
    assert all(best for ply, best in largest if ply >= 4)
    assert not all(best for ply, best in largest if ply < 4)


def test_noise_changes_self_play() -> None:
    quiet, noisy = (shard(configured(games=2, noise=noise)) for noise in (0.0, 0.5))
    assert quiet.samples.policy.tobytes() != noisy.samples.policy.tobytes()
    assert shard(configured(games=2, noise=0.5)).samples.policy.tobytes() == noisy.samples.policy.tobytes()


def test_the_noise_of_self_play_comes_once_a_ply_before_the_search(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[tuple[str, int]] = []
    add_noise, run = MctsSearch.add_noise, MctsSearch.run

    def noted_noise(self: MctsSearch, games: torch.Tensor, share: float, concentration: float, ply: int) -> None:
        assert (share, concentration) == (0.25, 0.7)
        calls.append(("noise", ply))
        add_noise(self, games, share, concentration, ply)

    def noted_run(self: MctsSearch, games: torch.Tensor, particles: int, batches: int, step: int) -> None:
        calls.append(("run", step))
        run(self, games, particles, batches, step)

    monkeypatch.setattr(MctsSearch, "add_noise", noted_noise)
    monkeypatch.setattr(MctsSearch, "run", noted_run)
    found = shard(configured(games=2, noise=0.25, noise_concentration=0.7))
    plies = range(max(found.games.plies))
    assert calls == [(name, ply) for ply in plies for name in ("noise", "run")]


def forbidden(*_: Any) -> None:
    raise AssertionError("noise belongs to self-play alone")


def test_players_and_measures_search_without_noise(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(MctsSearch, "add_noise", forbidden)
    config = configured(noise=0.5)
    evaluator = Evaluator(build(RULES.shape, config.network, 1), RULES, "cpu")
    factory = SearchFactory(RULES, evaluator, config.search, 5000, "capacity")
    states = torch.from_numpy(RULES.start()).repeat(2, 1)
    player = SearchPlayer(factory, 4, 4)
    player.begin(states, torch.arange(2))
    both = torch.arange(2)
    player.observe(both, player.choose(both, 0))
    player.choose(both, 1)
    assert len(searched_moves(factory, states, 4, [2, 4], 0)) == 2


def test_matches_and_measures_are_the_same_whatever_the_noise_of_self_play(tmp_path: Path) -> None:
    checkpoint = tmp_path / "0000.safetensors"
    quiet = configured().changed(game={"size": 4})
    game = games.make("othello", size=4)
    model = build(game.shape, quiet.network, 1)
    save_checkpoint(checkpoint, model, checkpoint_info(game, quiet.network, iteration=0))
    small = quiet.changed(
        arena={"openings": 2, "opening_plies": 2, "particles": 2, "batches": 4, "capacity": 5000},
        truth={"per_stratum": 2, "particles": 2, "batches": (4,), "capacity": 5000},
    )
    written = []
    for noise in (0.0, 0.5):
        config = json.dumps(small.changed(selfplay={"noise": noise}).as_dict())
        common = ["--config", config, "--seed", "0"]
        positions, match, measures = (tmp_path / f"{name}-{noise}.csv" for name in ("positions", "match", "measures"))
        assert main(["positions", *common, "--output", str(positions)]) == 0
        players = ["--player", f"iteration-0000={checkpoint}", "--against", "random"]
        assert main(["tournament", *common, *players, "--output", str(match)]) == 0
        inputs = ["--variant", "alphazero", "--positions", str(positions), "--checkpoints", str(checkpoint)]
        outputs = ["--output", str(measures), "--costs", str(tmp_path / "costs.csv")]
        assert main(["measure", *common, *inputs, *outputs]) == 0
        written.append((match.read_bytes(), measures.read_bytes()))
    assert written[0] == written[1]
