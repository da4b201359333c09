"""probzero dataset: the published form there and back, and nothing that looks native afterwards."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from made_samples import FIVE, OBLONG, invented, same
from pipeline import Commands, files, refused, tiny
from sealed import MADE

from probzero.__main__ import main
from probzero.games.base import Game
from probzero.learning.dataset import read_samples, read_with_origin, write_samples


@pytest.mark.parametrize("game", [FIVE, OBLONG[0]], ids=lambda game: game.identity)
def test_samples_go_there_and_back(game: Game, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first, middle, last = (str(tmp_path / name) for name in ("a.safetensors", "a.bin", "b.safetensors"))
    write_samples(first, invented(game, 12), game, MADE)
    assert main(["dataset", "export", first, middle]) == 0
    options = ", ".join(f'"{key}": {value}' for key, value in game.options.items())
    config = f'{{"game": {{"name": "{game.name}", {options}}}}}'
    assert main(["dataset", "import", middle, last, "--config", config]) == 0
    samples, made = read_with_origin(last, game)
    assert same(samples, read_samples(first, game))
    assert (made.command, made.subject, made.seed) == ("dataset", "a.bin", None)
    assert f"12 samples of {game.identity}" in capsys.readouterr().out


def test_a_published_file_needs_its_game_and_is_none_of_ours(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_samples(tmp_path / "a.safetensors", invented(FIVE, 3), FIVE, MADE)
    assert main(["dataset", "export", str(tmp_path / "a.safetensors"), str(tmp_path / "a.bin")]) == 0
    assert main(["dataset", "import", str(tmp_path / "a.bin"), str(tmp_path / "b.safetensors")]) == 2
    assert "--config: expected the game of a published file" in capsys.readouterr().err
    assert not (tmp_path / "b.safetensors").exists()
    assert main(["dataset", "export", str(tmp_path / "a.bin"), str(tmp_path / "c.bin")]) == 2
    assert "expected a whole safetensors file" in capsys.readouterr().err


def test_training_refuses_what_was_imported(copy: Commands, capsys: pytest.CaptureFixture[str]) -> None:
    """The same samples, there and back: only their origin says that they are not of this run."""
    assert main(["dataset", "export", copy.path("shard0.safetensors"), copy.path("shard0.bin")]) == 0
    game = json.dumps({"game": json.loads(tiny())["game"]})
    assert main(["dataset", "import", copy.path("shard0.bin"), copy.path("shard0.safetensors"), "--config", game]) == 0
    capsys.readouterr()
    before = files(copy.folder)
    refused(copy.train("shard0.safetensors"), capsys, "shard0.safetensors: seed: expected seed 3, found no seed")
    assert files(copy.folder) == before
