"""The settings that are timed beside ours: what each program is asked to do, and how it was found to be fastest.

Every program gets the same board, the same blocks and channels, and one core a process. mctx keeps its whole tree in
arrays that each step of a backup copies, so its cost of a leaf grows with the simulations of a search: it is timed at
our budget, and at a small one at which it is at its best. docs/notes/bench-peers.md has what else was tried.
"""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path

import torch
from torch import Tensor, nn

from probzero.benchmarks.peers import Setting
from probzero.benchmarks.search import game_of
from probzero.config import Config, Network
from probzero.games.base import Shape
from probzero.network.model import HEAD_CHANNELS

PROCESSES = 2
SHORT_SEARCH, MANY_GAMES = 32, 128  # simulations and games with which mctx is fastest
ROUND = 15_000  # leaf evaluations of a process of mctx in a round, about


def size_of(config: Config) -> str:
    shape, network, play = game_of(config).shape, config.network, config.selfplay
    board, budget = f"{shape.height}x{shape.width}", f"{play.particles} x {play.batches}"
    return f"{board}, {network.blocks}x{network.channels}, {games_of(config)} games, {budget}"


def games_of(config: Config) -> int:
    """Return the games of an iteration, which ours shares out between its shards; others play as many in a process."""
    return config.selfplay.shards * config.selfplay.games


def ours(config: Config) -> Setting:
    """Return our shards, side by side as the workflow runs them."""
    text = json.dumps(config.changed(selfplay={"threads": 1}).as_dict())
    program = (sys.executable, "-m", "probzero.benchmarks.shard", text)
    commands = tuple((*program, str(shard)) for shard in range(PROCESSES))
    return Setting("ours", f"particles, {config.selfplay.games} games, {_cores(PROCESSES, 1)}", commands)


def mctx(config: Config, program: tuple[str, ...]) -> Iterator[Setting]:
    """Yield the settings of mctx; `program` is its interpreter and workflow/peers/mctx_selfplay.py."""
    games, budget = games_of(config), config.selfplay.particles * config.selfplay.batches
    for policy in ("gumbel", "puct"):
        yield _mctx(config, program, policy, games, budget, PROCESSES, 1)
        yield _mctx(config, program, policy, MANY_GAMES, SHORT_SEARCH, PROCESSES, 1)
    yield _mctx(config, program, "gumbel", MANY_GAMES, SHORT_SEARCH, 1, PROCESSES)


def _mctx(
    config: Config, program: tuple[str, ...], policy: str, games: int, simulations: int, processes: int, threads: int
) -> Setting:
    shape, network = game_of(config).shape, config.network
    asked = {
        "game": config.game.name, "size": shape.height, "policy": policy, "blocks": network.blocks,
        "channels": network.channels, "policy-hidden": network.policy_hidden, "games": games,
        "simulations": simulations, "moves": max(1, round(ROUND / (games * simulations))), "threads": threads,
    }  # fmt: skip
    command = (*program, *(text for key, value in asked.items() for text in (f"--{key}", str(value))))
    name = f"{policy}, {games} games, {simulations} simulations, {_cores(processes, threads)}"
    return Setting("mctx", name, (command,) * processes)


def published(config: Config, program: Path, folder: Path) -> Iterator[Setting]:
    """Yield the settings of the published program, whose network is written to `folder`."""
    shape, play, games = game_of(config).shape, config.selfplay, games_of(config)
    path = folder / "network.pt"
    write_plain(shape, config.network, path)
    for processes, threads in ((PROCESSES, 1), (1, PROCESSES)):
        asked = {
            "game": config.game.name, "size": shape.height, "network": path, "games": games,
            "particles": play.particles, "batches": play.batches, "threads": threads,
        }  # fmt: skip
        command = (str(program), *(text for key, value in asked.items() for text in (f"--{key}", str(value))))
        name = f"particles, {games} games, {_cores(processes, threads)}"
        yield Setting("published C++", name, (command,) * processes)


def _cores(processes: int, threads: int) -> str:
    return f"{processes} process{'es' * (processes > 1)} of {threads} thread{'s' * (threads > 1)}"


class PlainNet(nn.Module):
    """A network of our size by the library's convolutions, without batch norms; outcomes as probabilities."""

    def __init__(self, shape: Shape, network: Network) -> None:
        super().__init__()
        channels, features = network.channels, HEAD_CHANNELS * shape.squares
        self.stem = nn.Conv2d(shape.planes, channels, 3, padding=1)
        self.first = nn.ModuleList(nn.Conv2d(channels, channels, 3, padding=1) for _ in range(network.blocks))
        self.second = nn.ModuleList(nn.Conv2d(channels, channels, 3, padding=1) for _ in range(network.blocks))
        self.heads = nn.ModuleList(nn.Conv2d(channels, HEAD_CHANNELS, 1) for _ in range(3))
        widths = (features, network.policy_hidden or channels, shape.actions)
        hidden = nn.Sequential(nn.Linear(*widths[:2]), nn.ReLU(), nn.Linear(*widths[1:]))
        self.policy = hidden if network.policy_hidden else nn.Linear(features, shape.actions)
        self.value, self.reward = (
            nn.Sequential(nn.Linear(features, channels), nn.ReLU(), nn.Linear(channels, 3)) for _ in range(2)
        )

    def forward(self, planes: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        x = self.stem(planes).relu()
        for first, second in zip(self.first, self.second, strict=True):
            x = (x + second(first(x).relu())).relu()
        policy, value, reward = (head(x).relu().flatten(1) for head in self.heads)
        return self.policy(policy), self.value(value).softmax(1), self.reward(reward).softmax(1)


def write_plain(shape: Shape, network: Network, path: Path) -> None:
    """Write an untrained network as frozen TorchScript, with which libtorch is fastest."""
    # torch would rather have us use another form, which the program does not read
    with torch.random.fork_rng(devices=[]), torch.no_grad(), warnings.catch_warnings(action="ignore"):
        torch.random.default_generator.manual_seed(0)
        example = torch.zeros(1, shape.planes, shape.height, shape.width)
        traced = torch.jit.trace(PlainNet(shape, network).eval(), example)
        torch.jit.save(torch.jit.freeze(traced), str(path))
