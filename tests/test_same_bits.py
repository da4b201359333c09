"""From a committed network the same files on every processor: self-play, a match, truth, certificates, byte by byte.

Each is made in a process that may use some instructions alone (`processors.restricted`): those of numpy, numba and the
compiled network. What torch computes, training, is not among them.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from processors import SWITCHES, restricted

from probzero.__main__ import main
from probzero.network.compiled.target import available, choose

ROOT = Path(__file__).parents[1]
NETWORK = ROOT / "results/reference/laptop/seed0/checkpoints/0060.safetensors"
FILES = ["certificate.json", "certificates.csv", "kept.csv", "match.csv", "shard.csv", "shard.safetensors"]
MAKE = """
import sys
from pathlib import Path
from probzero import config
from probzero.arena.match import play_match
from probzero.arena.openings import random_openings
from probzero.arena.players import SearchPlayer
from probzero.arena.simple_players import SCORES, OnePlyPlayer
from probzero.learning.dataset import write_samples
from probzero.learning.selfplay import play_shard
from probzero.network.checkpoint import load_weights
from probzero.network.inference import Evaluator
from probzero.origin import Origin
from probzero.search.build import SearchFactory
from probzero.truth.best_response import explore
from probzero.truth.certificate import NO_DRAWS, as_file, certificates, network_moves
from probzero.truth.labels import Solver
from probzero.truth.measures import kept_table
from probzero.truth.positions import from_random_play, labelled, states_of

folder, settings = Path(sys.argv[3]), config.load(sys.argv[1])
weights, info = load_weights(sys.argv[2])
game, evaluator = info.game, Evaluator(weights, info.game)
shard = play_shard(settings, evaluator, seed=0, iteration=1, shard=0)
write_samples(folder / "shard.safetensors", shard.samples, game, Origin(command="test"))
shard.games.to_csv(folder / "shard.csv")
factory = SearchFactory(game, evaluator, settings.search, 20_000, "capacity")
players = SearchPlayer(factory, 4, 8), OnePlyPlayer(game, SCORES["greedy"])
openings = random_openings(game, 4, 4, seed=2)
play_match(game, openings, ("one", players[0]), ("other", players[1]), ("match",)).to_csv(folder / "match.csv")
positions = labelled(game, from_random_play(game, 2, seed=5), "random", threads=1)
kept_table(factory, evaluator, positions, settings.truth, 0).to_csv(folder / "kept.csv")
late = states_of(game, positions[positions.phase == 15])
reach = explore(game, late, late[:, 0] > 0, network_moves(factory, evaluator, 4, 32, NO_DRAWS))
(folder / "certificate.json").write_bytes(as_file(reach, [0], {"particles": 32}))
certificates(reach, Solver(game, threads=1)).to_csv(folder / "certificates.csv")
assert len(late) and "torch" not in sys.modules
"""


def digests(folder: Path, **variables: str) -> dict[str, str]:
    """Make the files in a process with these variables; return their SHA-256."""
    folder.mkdir()
    kept = {name: value for name, value in os.environ.items() if name not in SWITCHES}
    made = subprocess.run(
        [sys.executable, "-c", MAKE, str(ROOT / "config" / "smoke.yaml"), str(NETWORK), str(folder)],
        env=kept | variables, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert made.returncode == 0, made.stderr
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(folder.glob("*.*"))}


@pytest.mark.slow  # loops are compiled anew for each kind of processor
def test_files_are_the_same_under_all_fused_instructions(tmp_path: Path) -> None:
    fused = [name for name, target in available().items() if target.fused]
    if len(fused) < 2:
        pytest.skip(f"this machine has {' and '.join(fused) or 'no fused'} instructions; AVX2 and AVX-512 are needed")
    found = [digests(tmp_path / name, **restricted(name)) for name in fused]
    assert list(found[0]) == FILES
    assert all(other == found[0] for other in found)


def test_files_are_the_same_with_the_network_and_numpy_restricted(tmp_path: Path) -> None:
    """The same without compiling anew: numba keeps the machine's own instructions."""
    fused = [name for name, target in available().items() if target.fused]
    if len(fused) < 2:
        pytest.skip(f"this machine has {' and '.join(fused) or 'no fused'} instructions; AVX2 and AVX-512 are needed")
    switches = [{k: v for k, v in restricted(name).items() if not k.startswith("NUMBA")} for name in fused]
    found = [digests(tmp_path / name, **variables) for name, variables in zip(fused, switches, strict=True)]
    assert list(found[0]) == FILES
    assert all(other == found[0] for other in found)


def test_a_row_of_the_committed_tournament_comes_out_with_its_bytes_here(tmp_path: Path) -> None:
    """Wherever it was played: docs/files.md says how."""
    if not choose().fused:
        pytest.skip("this machine has no fused operations")
    run = ROOT / "results" / "reference" / "othello4"
    settings = json.loads((run / "config.json").read_text(encoding="utf-8"))
    parts = json.dumps({part: settings[part] for part in ("experiment", "game", "search", "arena")})
    last, first = (
        f"{name}={run}/seed0/checkpoints/{name[-4:]}.safetensors" for name in ("iteration-0002", "iteration-0000")
    )
    named = [
        "--player",
        last,
        "--against",
        first,
        *settings["arena"]["anchors"],
        "--output",
        str(tmp_path / "iteration-0002.csv"),
    ]
    assert main(["tournament", "--config", parts, "--seed", "0", *named]) == 0
    assert (tmp_path / "iteration-0002.csv").read_bytes() == (run / "seed0/matches/iteration-0002.csv").read_bytes()
