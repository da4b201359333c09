"""On a processor nothing that plays or measures imports torch, which takes longer than many of these jobs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from probzero.__main__ import main

SMOKE = Path(__file__).parents[2] / "config" / "smoke.yaml"
COMMON = ["--config", str(SMOKE), "--seed", "0"]
WITHOUT_TORCH = """
import sys
from probzero.__main__ import main
status = main(sys.argv[1:])
print(sorted({"torch", "triton"} & set(sys.modules)))
sys.exit(status)
"""


def imported(*words: str | Path) -> str:
    """Run a command in a process of its own; return which of torch's modules it imported."""
    shown = subprocess.run(
        [sys.executable, "-c", WITHOUT_TORCH, *map(str, words)], capture_output=True, text=True, check=False
    )
    assert shown.returncode == 0, shown.stderr
    return shown.stdout.splitlines()[-1]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("run")
    outputs = ["--checkpoint", folder / "0000.safetensors", "--optimizer", folder / "opt.safetensors"]
    assert main(["init", *COMMON, *map(str, outputs)]) == 0
    return folder


def test_self_play_blunders_positions_and_truth(run: Path) -> None:
    outputs = {"dataset": "bin", "games": "csv", "metrics": "json", "costs": "costs.json"}
    where = ["--iteration", "1", "--shard", "0", "--checkpoint", run / "0000.safetensors"]
    files = [word for name, kind in outputs.items() for word in (f"--{name}", run / f"shard.{kind}")]
    assert imported("selfplay", *COMMON, *where, *files) == "[]"
    assert imported("positions", *COMMON, "--output", run / "positions.csv") == "[]"
    inputs = [
        "--name",
        "iteration-0000",
        "--checkpoint",
        run / "0000.safetensors",
        "--positions",
        run / "positions.csv",
    ]
    files = [word for name in ("kept", "calibration", "perfect") for word in (f"--{name}", run / f"{name}.csv")]
    assert imported("truth", *COMMON, *inputs, *files) == "[]"
    measured = ["--variant", "one", "--positions", run / "positions.csv", "--checkpoints", run / "0000.safetensors"]
    files = ["--output", run / "measures.csv", "--costs", run / "costs.csv"]
    assert imported("measure", *COMMON, *measured, *files) == "[]"


def test_a_match(run: Path) -> None:
    player = f"iteration-0000={run / '0000.safetensors'}"
    words = ["--player", player, "--against", "random", "perfect", "--output", run / "match.csv"]
    assert imported("tournament", *COMMON, *words) == "[]"


def test_a_game_in_the_terminal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))  # where a game is kept to be gone on with
    assert imported("play", "network:8", "greedy") == "[]"


def test_games_and_configurations_need_none_either() -> None:
    program = (
        "import sys; from probzero import config, games; config.load(sys.argv[1]); "
        "game = games.make('othello', size=5); game.legal(game.start()[None]); assert 'torch' not in sys.modules"
    )
    assert subprocess.run([sys.executable, "-c", program, str(SMOKE)], check=False).returncode == 0
