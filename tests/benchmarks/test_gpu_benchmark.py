"""The benchmark of a GPU, on a pretended one: every row is there, and the page that is sent back."""

from __future__ import annotations

from pathlib import Path

import interpreted  # noqa: F401 (before anything that imports triton)
import pytest
from pretend_device import DEVICE
from pretend_kernels import use

from probzero import config
from probzero.__main__ import main
from probzero.benchmarks import gpu
from probzero.commands import bench_gpu
from probzero.network import dense
from probzero.report.tables import read_written

SMALL = config.load(Path(__file__).parents[2] / "config" / "smoke.yaml").changed(
    game={"size": 4}, selfplay={"particles": 2, "capacity": 20_000}
)

pytestmark = pytest.mark.usefixtures("one_thread")


def test_table_and_page_say_all_of_a_card(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    use(monkeypatch)
    monkeypatch.setattr(dense, "CHUNK_OF_GPU", dense.CHUNK)
    monkeypatch.setattr(gpu, "NODES", (10,))
    monkeypatch.setattr(gpu, "weighing", lambda game, device: iter(()))  # tried with the interpreter below
    monkeypatch.setattr(gpu, "BATCHES", 2)
    bench_gpu.write(SMALL, DEVICE, tmp_path / "gpu.csv", games=(2, 4))
    table = read_written(tmp_path / "gpu.csv", {"part": str, "case": str, "quantity": str, "value": float})
    kernels = table[table.part.isin(["descend", "place", "backup"])]
    assert set(zip(kernels.part, kernels.quantity, strict=True)) == {
        (part, form) for part in ("descend", "place", "backup") for form in ("kernel", "plain torch")
    }
    assert (kernels.value > 0).all()
    played = table[table.part == "self-play"]
    assert set(played.case) == {"2 games", "4 games"}
    shares = played[played.quantity.str.startswith("share")]
    assert len(shares) == 6 and ((shares.value > 0) & (shares.value < 1)).all()
    assert (played[played.quantity == "most memory"].value == 1).all()
    page = (tmp_path / "gpu.md").read_text(encoding="utf-8")
    assert "a pretended card, 16 GiB" in page and "| self-play" in page
    assert "leaf evaluations" in capsys.readouterr().out


def test_winner_prob_is_timed_beside_plain_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    from pretend_kernels import interpret

    interpret(monkeypatch)
    monkeypatch.setattr(gpu, "REPEATS", 2)
    rows = list(gpu.weighing(gpu.game_of(SMALL), DEVICE, nodes=(5,)))
    assert [(row.quantity, row.unit) for row in rows] == [("kernel", "ms"), ("plain torch", "ms")]
    assert all(row.value > 0 for row in rows)


def test_a_machine_without_a_gpu_says_so_in_one_line(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    assert main(["bench-gpu"]) == 2
    said = capsys.readouterr()
    assert said.out == "" and said.err.count("\n") == 1
    assert "device: cuda: expected a CUDA device of this machine, found none" in said.err


def test_a_configuration_without_a_place_for_the_table_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench-gpu", "--config", "config/gpu.yaml"]) == 2
    assert "expected --config and --output, or neither" in capsys.readouterr().err
