"""Exported networks give the same answers in other programs, and say what they are."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnxruntime
import pytest

from probzero import games
from probzero.__main__ import main
from probzero.config import Network
from probzero.errors import ProbZeroError
from probzero.front_ends import export as exporting
from probzero.front_ends import networks
from probzero.front_ends.export import Outputs, difference, export, run_onnx, run_torchscript
from probzero.front_ends.plain_steps import Step
from probzero.games.base import Game
from probzero.network.checkpoint import CheckpointInfo, load_weights
from probzero.network.model import build
from probzero.network.weights import Weights
from probzero.origin import Origin

ROOT = Path(__file__).parents[2]
FIVE, FOUR = games.make("othello", size=5), games.make("connect_four", width=4, height=5)
COMMITTED = networks.committed()


def runtime(path: Path, planes: np.ndarray) -> Outputs:
    session = onnxruntime.InferenceSession(str(path))
    return dict(
        zip([output.name for output in session.get_outputs()], session.run(None, {"planes": planes}), strict=True)
    )


def drawn(game: Game, **settings: object) -> tuple[Weights, CheckpointInfo]:
    """A network with random weights, and norms that have seen something."""
    network = Network(**{"blocks": 1, "channels": 8, **settings})  # type: ignore[arg-type]
    model = build(game.shape, network, 5)
    weights = model.weights()
    rng = np.random.default_rng(2)
    arrays = {
        name: rng.uniform(0.5, 1.5, array.shape).astype(array.dtype) if "running" in name else array
        for name, array in weights.arrays.items()
    }
    return weights._replace(arrays=arrays), CheckpointInfo(Origin(command="test"), game, network)


@pytest.mark.parametrize(
    ("game", "settings"),
    [
        (FIVE, {}),
        (FIVE, {"policy_hidden": 6, "blocks": 3}),
        (FIVE, {"reward": False}),
        (FOUR, {"value": "support", "support": 7}),
    ],
    ids=["plain", "policy with a hidden layer", "no reward head", "value as a distribution, a board that is no square"],
)
def test_other_programs_give_the_same_answers(game: Game, settings: dict[str, object], tmp_path: Path) -> None:
    weights, info = drawn(game, **settings)
    for form, file in (("onnx", "a.onnx"), ("torchscript", "a.pt")):
        assert export(tmp_path / file, form, weights, info) < 1e-5
    assert difference(weights, info, lambda planes: runtime(tmp_path / "a.onnx", planes)) < 1e-5


def test_the_committed_network_agrees_too_and_any_number_of_positions_goes_in(tmp_path: Path) -> None:
    weights, info = load_weights(COMMITTED)
    for form, file in (("onnx", "a.onnx"), ("torchscript", "a.pt")):
        assert main(["export", str(COMMITTED), "--format", form, "--output", str(tmp_path / file)]) == 0
    assert difference(weights, info, lambda planes: runtime(tmp_path / "a.onnx", planes)) < 1e-5
    for count in (1, 3):
        planes = FIVE.encode(np.tile(FIVE.start(), (count, 1)))
        for run, file in ((runtime, "a.onnx"), (run_onnx, "a.onnx"), (run_torchscript, "a.pt")):
            assert {name: array.shape for name, array in run(tmp_path / file, planes).items()} == {
                "policy": (count, 26), "value": (count, 3), "reward": (count, 3),
            }  # fmt: skip


def test_the_file_says_what_it_is_and_its_example_is_right(tmp_path: Path) -> None:
    weights, info = drawn(FIVE)
    export(tmp_path / "a.onnx", "onnx", weights, info)
    session = onnxruntime.InferenceSession(str(tmp_path / "a.onnx"))
    told = json.loads(session.get_modelmeta().custom_metadata_map["probzero"])
    assert told["game"] == {"name": "othello", "size": 5} and told["input"]["shape"] == ["n", 2, 5, 5]
    assert "own discs, opposing discs" in told["input"]["meaning"]
    assert told["actions"][13] == "d3" and told["actions"][25] == "pass" and len(told["actions"]) == 26
    assert [told["actions"][action] for action in told["start"]["legal"]] == ["b1", "a2", "d3", "c4"]
    given = runtime(tmp_path / "a.onnx", np.array([told["start"]["planes"]], np.float32))
    for name, output in given.items():
        assert np.abs(output[0] - told["start"][name]).max() < 1e-5


def test_equal_networks_give_equal_bytes(tmp_path: Path) -> None:
    weights, info = drawn(FIVE)
    for name in ("a.onnx", "b.onnx"):
        export(tmp_path / name, "onnx", weights, info)
    assert (tmp_path / "a.onnx").read_bytes() == (tmp_path / "b.onnx").read_bytes()


def test_a_file_that_does_not_agree_is_not_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    weights, info = drawn(FIVE)
    steps = exporting.steps

    def wrong(given: Weights) -> tuple[list[Step], list[str]]:
        listed, names = steps(given)
        return [
            step._replace(arrays=tuple(array * np.float32(1.01) for array in step.arrays)) for step in listed
        ], names

    monkeypatch.setattr(exporting, "steps", wrong)
    with pytest.raises(ProbZeroError, match="a file that agrees to 1e-05, found a difference"):
        export(tmp_path / "a.onnx", "onnx", weights, info)
    assert list(tmp_path.iterdir()) == []


def test_without_the_package_onnx_it_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "onnx.helper", None)
    assert main(["export", "--output", str(tmp_path / "a.onnx")]) == 2
    assert "pip install 'probzero[export]'" in capsys.readouterr().err and list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("words", [["random"], ["absent.safetensors"], ["--format", "pickle"]], ids=" ".join)
def test_what_cannot_be_exported_is_one_line(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["export", *words]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_the_examples_of_the_document_run_without_this_package(tmp_path: Path) -> None:
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "export.md").read_text(encoding="utf-8"), re.DOTALL)
    assert len(blocks) == 2
    weights, info = load_weights(COMMITTED)
    export(tmp_path / "network.onnx", "onnx", weights, info)
    export(tmp_path / "network.pt", "torchscript", weights, info)
    said = []
    for block in blocks:
        program = block + "\nimport sys\nassert 'probzero' not in sys.modules\n"
        command = [sys.executable, "-I", "-W", "ignore", "-c", program]
        said.append(subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True).stdout)
    first, second = (dict(re.findall(r"(\w\d): ([\d.]+)", shown)) for shown in said)
    assert first.keys() == {"b1", "a2", "d3", "c4"}
    assert all(float(first[move]) == pytest.approx(float(second[move]), abs=2e-3) for move in first)
