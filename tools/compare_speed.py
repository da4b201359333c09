"""Compare the speed of two versions of ProbZero, each in processes of its own that take turns.

    OMP_NUM_THREADS=1 python tools/compare_speed.py BEFORE/src AFTER/src [rounds] [inference|training|selfplay ...]

Prints processor seconds of each version (the median of the rounds) and their ratio: other work on the machine hardly
changes these. One thread, untrained networks, 5×5 Othello.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys

SET_UP = """
import sys, time
from pathlib import Path
import torch
torch.set_num_threads(1)
import numpy as np
import probzero
from probzero import config, games
from probzero.config import Network
from probzero.games.base import list_moves
from probzero.network.inference import Evaluator
from probzero.network.model import build
game = games.make("othello", size=5)
blocks, channels, count = map(int, sys.argv[1:4])
model = build(game.shape, Network(blocks=blocks, channels=channels), 0)

def positions(count):
    draws = np.random.default_rng(0)
    squares = draws.integers(0, 3, (count, 25))
    states = torch.from_numpy(np.stack([((squares == disc) << np.arange(25)).sum(1) for disc in (1, 2)], axis=1))
    legal = draws.random((count, 26)) < 0.3
    legal[:, 25] |= ~legal.any(1)
    return states, torch.from_numpy(list_moves(legal, game.most_moves))

def spent(work, repeats):
    work()
    began = time.process_time()
    for _ in range(repeats):
        work()
    print((time.process_time() - began) / repeats)
"""

PROGRAMS = {
    "inference": """
evaluator, asked = Evaluator(model.eval(), game, "cpu"), positions(count)
spent(lambda: evaluator(*asked), 6000 // count)
""",
    "training": """
from probzero.learning.training import _AdamW
states, _ = positions(count)
planes, optimizer = game.encode(states), _AdamW(model.train(), {}, 1e-3, 1e-4)
draws = torch.Generator().manual_seed(1)

def step():
    outputs = model(planes)
    targets = [torch.rand(output.shape, generator=draws).softmax(-1) for output in outputs]
    loss = -sum((t * output.log_softmax(-1)).sum(-1).mean() for t, output in zip(targets, outputs))
    model.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()

spent(step, 12)
""",
    "selfplay": """
from probzero.learning.selfplay import play_shard
name, batches = ("laptop", 3) if channels == 48 else ("paper", 12)
scale = config.load(Path(probzero.__file__).parents[2] / "config" / f"{name}.yaml")  # what this version reads
few = scale.changed(selfplay={"games": count, "particles": 8, "batches": batches})
evaluator = Evaluator(model.eval(), game, "cpu")
play_shard(few.changed(selfplay={"games": 1, "batches": 1}), evaluator, seed=0, iteration=0, shard=0)
began = time.process_time()
shard = play_shard(few, evaluator, seed=0, iteration=1, shard=0)
print((time.process_time() - began) / shard.metrics["leaf_evaluations"])
print(shard.costs["network_seconds"] / shard.costs["seconds"], file=sys.stderr)
""",
}

CASES = {
    "inference": [(4, 48, 16), (4, 48, 48), (4, 48, 114), (4, 48, 528), (10, 50, 48), (10, 50, 114), (10, 50, 528)],
    "training": [(4, 48, 128), (10, 50, 512)],
    "selfplay": [(4, 48, 112), (10, 50, 20)],
}


def main() -> None:
    sources, rounds = sys.argv[1:3], int((sys.argv[3:4] or ["5"])[0])
    for kind in sys.argv[4:] or PROGRAMS:
        for case in CASES[kind]:
            found: list[list[float]] = [[], []]
            shares: list[list[str]] = [[], []]
            for _ in range(rounds):
                for times, share, source in zip(found, shares, sources, strict=True):
                    shown = subprocess.run(
                        [sys.executable, "-c", SET_UP + PROGRAMS[kind], *map(str, case)], check=True, text=True,
                        env=os.environ | {"PYTHONPATH": source}, capture_output=True,
                    )  # fmt: skip
                    times.append(float(shown.stdout))
                    share.extend(shown.stderr.split()[-1:] if kind == "selfplay" else [])
            before, after = (statistics.median(times) for times in found)
            ratios = [a / b for a, b in zip(*found, strict=True)]
            network = " ".join(f"{statistics.median(map(float, share)):.3f}" for share in shares if share)
            spread = f"{statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})"
            print(f"{kind} {case[0]}x{case[1]}, {case[2]}: {before:.3e} {after:.3e} {spread} {network}", flush=True)


if __name__ == "__main__":
    main()
