"""Commands end in files that are whole, or in status 2, one line and no file at all."""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from pipeline import Commands, files, refused, tiny
from published_form import published_state

from probzero import config
from probzero.__main__ import COMMANDS, GROUPS, main
from probzero.arena.players import SearchPlayer
from probzero.arena.simple_players import OnePlyPlayer
from probzero.commands import progress, train
from probzero.commands.arguments import player
from probzero.commands.tournament import _player
from probzero.errors import ProbZeroError
from probzero.files import SEALS

ROOT = Path(__file__).parents[2]


def test_the_commands_of_a_pipeline_leave_every_file(finished: Commands) -> None:
    assert files(finished.folder) == [
        "0000.safetensors", "0001.safetensors", "costs/shard0.json", "costs/shard1.json", "costs/train.json",
        "iteration-0001.csv", "opt0.safetensors", "opt1.safetensors",
        "shard0.csv", "shard0.json", "shard0.safetensors", "shard1.csv", "shard1.json", "shard1.safetensors",
        "train.json",
    ]  # fmt: skip


def test_metrics_name_their_iteration_and_shard(finished: Commands) -> None:
    shard = json.loads((finished.folder / "shard1.json").read_text(encoding="utf-8"))
    assert (shard["iteration"], shard["shard"], shard["games"]) == (1, 1, 2)
    training = json.loads((finished.folder / "train.json").read_text(encoding="utf-8"))
    assert (training["iteration"], training["samples"]) == (1, 64)


def test_costs_name_their_iteration_and_shard(finished: Commands) -> None:
    shard, training = (
        json.loads((finished.folder / "costs" / f"{name}.json").read_text(encoding="utf-8"))
        for name in ("shard1", "train")
    )
    assert (shard["iteration"], shard["shard"]) == (1, 1) and 0 < shard["network_seconds"] < shard["seconds"]
    assert set(training) == {"iteration", "seconds"} and training["iteration"] == 1 and training["seconds"] > 0


def test_a_command_run_twice_gives_the_same_bytes(finished: Commands, copy: Commands) -> None:
    assert copy.init() == 0 and copy.selfplay(1) == 0
    assert copy.train("shard0.safetensors", "shard1.safetensors") == 0 and copy.match() == 0
    made = [name for name in files(copy.folder) if not name.startswith("costs/")]
    assert len(made) == len(files(copy.folder)) - 2  # shard 0 was copied
    for name in made:
        assert (copy.folder / name).read_bytes() == (finished.folder / name).read_bytes(), name
    seals = copy.folder / SEALS  # of tables and metrics; files of tensors hold their own
    assert len(list(seals.iterdir())) == 4
    for seal in seals.iterdir():
        assert seal.read_bytes() == (finished.folder / SEALS / seal.name).read_bytes(), seal


def test_the_cache_changes_nothing_but_costs(finished: Commands, copy: Commands) -> None:
    without = Commands(copy.folder, tiny(search={"cache": False}))
    assert (
        without.selfplay(1) == 0
        and without.train("shard0.safetensors", "shard1.safetensors") == 0
        and without.match() == 0
    )
    for name in files(copy.folder):
        if not name.startswith("costs/"):
            assert (copy.folder / name).read_bytes() == (finished.folder / name).read_bytes(), name
    hits = [
        json.loads((commands.folder / "costs" / "shard1.json").read_text(encoding="utf-8"))["cache_hits"]
        for commands in (finished, without)
    ]
    assert hits[0] > 0 == hits[1]


def test_shards_of_one_iteration_play_different_games(finished: Commands) -> None:
    assert (finished.folder / "shard0.safetensors").read_bytes() != (
        finished.folder / "shard1.safetensors"
    ).read_bytes()


def test_a_command_needs_no_more_of_the_configuration_than_it_says(tmp_path: Path) -> None:
    parts = {name: json.loads(tiny())[name] for name in ("experiment", "game", "network")}
    assert Commands(tmp_path, json.dumps(parts)).init() == 0


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"game": {"size": 7}}, "game.size: expected one of 4, 5, 6, 8, found 7"),
        ({"network": {"depth": 3}}, "network.depth: expected no such key"),
        ({"network": {"blocks": 0}}, "network.blocks: expected a whole number from 1 to 64, found 0"),
    ],
)
def test_a_bad_configuration_writes_nothing(
    changes: dict[str, Any], expected: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    refused(Commands(tmp_path, tiny(**changes)).init(), capsys, "--config", expected)
    assert files(tmp_path) == []


def test_a_missing_configuration_file_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    refused(Commands(tmp_path, "absent.yaml").init(), capsys, "absent.yaml: expected a YAML file, found nothing")


def test_a_missing_checkpoint_is_named(copy: Commands, capsys: pytest.CaptureFixture[str]) -> None:
    before = files(copy.folder)
    refused(copy.selfplay(1, "absent.safetensors"), capsys, "absent.safetensors: expected a file, found nothing")
    assert files(copy.folder) == before


def test_a_corrupt_checkpoint_is_refused(copy: Commands, capsys: pytest.CaptureFixture[str]) -> None:
    path = copy.folder / "0000.safetensors"
    data = bytearray(path.read_bytes())
    data[-3] ^= 0xFF
    path.write_bytes(bytes(data))
    before = files(copy.folder)
    refused(copy.selfplay(1), capsys, str(path))
    assert files(copy.folder) == before


def test_a_checkpoint_for_another_board_is_refused(copy: Commands, capsys: pytest.CaptureFixture[str]) -> None:
    other = Commands(copy.folder, tiny(game={"size": 5}))
    before = files(copy.folder)
    refused(
        other.selfplay(1), capsys, "game: expected {'name': 'othello', 'size': 5}, found {'name': 'othello', 'size': 4}"
    )
    assert files(copy.folder) == before


def test_a_truncated_dataset_is_refused(copy: Commands, capsys: pytest.CaptureFixture[str]) -> None:
    path = copy.folder / "shard0.safetensors"
    path.write_bytes(path.read_bytes()[:-4])
    before = files(copy.folder)
    refused(copy.train("shard0.safetensors"), capsys, str(path), "expected a whole safetensors file", "made anew")
    assert files(copy.folder) == before


def test_a_dataset_with_nan_is_refused(copy: Commands, capsys: pytest.CaptureFixture[str]) -> None:
    path = copy.folder / "shard0.safetensors"
    data = bytearray(path.read_bytes())
    data[-4:] = np.float32("nan").tobytes()
    path.write_bytes(bytes(data))
    refused(copy.train("shard0.safetensors"), capsys, str(path), "checksum")


@pytest.mark.parametrize("what", ["a weight", "the optimiser's state", "a metric"])
def test_a_training_that_diverges_writes_nothing(
    what: str, copy: Commands, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def diverging(model: torch.nn.Module, *arguments: Any) -> tuple[dict[str, torch.Tensor], dict[str, Any]]:
        state, metrics = real(model, *arguments)
        if what == "a weight":
            next(model.parameters()).data.view(-1)[0] = float("nan")
        elif what == "a metric":
            metrics["value_loss"] = float("nan")
        else:
            next(moment for name, moment in state.items() if name != "step").view(-1)[0] = float("inf")
        return state, metrics

    real = train.train
    monkeypatch.setattr(train, "train", diverging)
    before = files(copy.folder)
    refused(
        copy.train("shard0.safetensors"), capsys, "training: iteration 1: ", "expected finite numbers, found NaN or"
    )
    assert files(copy.folder) == before


@pytest.mark.parametrize("text", ['{"x":' + "[" * 100_000, "[" * 100_000, "{", "NaN", ""], ids=range(5))
def test_a_search_that_is_no_json_is_one_line(text: str, copy: Commands, capsys: pytest.CaptureFixture[str]) -> None:
    refused(copy.match("--search", f"random={text}"), capsys, "search: --search random: expected readable JSON")
    assert not (copy.folder / "iteration-0001.csv").exists()


@pytest.fixture
def imported(copy: Commands, capsys: pytest.CaptureFixture[str]) -> Commands:
    """A run whose network was replaced by one of the same size that comes from elsewhere."""
    torch.save(published_state(1, 8, 4), copy.folder / "weights_iter_50.pth")
    assert main(["import", copy.path("weights_iter_50.pth"), "--output", copy.path("0000.safetensors")]) == 0
    shown = capsys.readouterr()
    assert shown.err == ""
    assert shown.out.startswith("imported weights_iter_50.pth · iteration 50 · 1 × 8 network for 4×4 boards · rules: ")
    return copy


def test_a_run_refuses_an_imported_network(imported: Commands, capsys: pytest.CaptureFixture[str]) -> None:
    before = files(imported.folder)
    for status in (
        lambda: imported.selfplay(1),
        lambda: imported.train("shard0.safetensors"),
        lambda: imported.truth(),
        lambda: main(["tournament", *imported.common, "--player", f"a={imported.path('0000.safetensors')}",
                      "--against", "random", "--output", imported.path("m")]),
    ):  # fmt: skip
        refused(
            status(),
            capsys,
            "imported: expected a network of our own runs, found one imported from weights_iter_50.pth",
        )
        assert files(imported.folder) == before


def test_matches_and_truth_take_an_imported_network_that_is_asked_for(
    imported: Commands, finished: Commands, capsys: pytest.CaptureFixture[str]
) -> None:
    (imported.folder / "0001.safetensors").write_bytes((finished.folder / "0001.safetensors").read_bytes())
    assert imported.match("--imported") == 0
    capsys.readouterr()
    refused(imported.truth("--imported"), capsys, "positions.csv: expected")


def test_what_is_no_published_network_leaves_no_checkpoint(copy: Commands, capsys: pytest.CaptureFixture[str]) -> None:
    output = ["--output", copy.path("new.safetensors")]
    before = files(copy.folder)
    refused(main(["import", copy.path("0000.safetensors"), *output]), capsys, "expected a whole zip archive")
    refused(main(["import", copy.path("absent.pth"), "--trusted", *output]), capsys, "expected a file, found nothing")
    refused(main(["import", copy.path("0000.safetensors")]), capsys, "--output")
    assert files(copy.folder) == before


@pytest.mark.skipif(torch.cuda.is_available(), reason="this machine has CUDA")
@pytest.mark.parametrize("part", ["selfplay", "training", "arena"])
def test_cuda_where_there_is_none_is_refused(
    part: str, finished: Commands, copy: Commands, capsys: pytest.CaptureFixture[str]
) -> None:
    wishful = Commands(copy.folder, tiny(**{part: {"device": "cuda"}}))
    (copy.folder / "0001.safetensors").write_bytes((finished.folder / "0001.safetensors").read_bytes())
    before = files(copy.folder)
    status = {"selfplay": lambda: wishful.selfplay(1), "training": lambda: wishful.train("shard0.safetensors"),
              "arena": wishful.match}[part]()  # fmt: skip
    refused(status, capsys, "cuda: expected a CUDA device of this machine, found none")
    assert files(copy.folder) == before


def test_a_full_tree_says_which_setting_is_too_small(copy: Commands, capsys: pytest.CaptureFixture[str]) -> None:
    small = Commands(copy.folder, tiny(selfplay={"capacity": 10}))
    before = files(copy.folder)
    refused(small.selfplay(1), capsys, "selfplay.capacity", "10")
    assert files(copy.folder) == before


def test_an_unknown_command_is_one_line_without_a_traceback() -> None:
    command = [sys.executable, "-m", "probzero", "conquer"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    shown = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert shown.returncode == 2 and shown.stdout == ""
    (line,) = shown.stderr.splitlines()
    assert line.startswith("probzero: error: ") and "'conquer'" in line


@pytest.mark.parametrize(
    "arguments", [["init"], ["init", "--seed", "x"], ["tournament", "--player", "nobody"], ["--no"]]
)
def test_wrong_arguments_are_one_line(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    refused(main(arguments), capsys)


def test_games_that_are_missing_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    outputs = [f"--{name}={tmp_path / name}.csv" for name in ("ratings", "differences", "pairings", "model")]
    arguments = ["--config", tiny(), "--matches", str(tmp_path / "absent.csv"), "--players", "a", "b", "--seed", "0"]
    status = main(["elo", *arguments, *outputs])
    refused(status, capsys, "absent.csv: expected a file, found nothing")
    assert files(tmp_path) == []


def test_metrics_that_are_missing_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    absent = str(Path("seed7", "matches", "iteration-0000.csv"))
    refused(main(["report", "--config", tiny(), "--seed", "7", "--run", str(tmp_path)]), capsys, absent)
    assert files(tmp_path) == []


def test_a_disk_that_refuses_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    output = str(tmp_path / "file" / "config.json")  # a folder is wanted where a file is
    refused(main(["config", "--config", tiny(), "--output", output]), capsys)


def test_the_written_configuration_is_the_one_that_was_read(tmp_path: Path) -> None:
    output = tmp_path / "config.json"
    assert main(["config", "--config", tiny(), "--output", str(output)]) == 0
    assert config.load(output) == config.load(tiny())


def test_the_help_has_every_command_in_its_group_and_the_exit_codes(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    lines = capsys.readouterr().out.splitlines()
    for title, group in GROUPS.items():
        under = lines[lines.index(f"{title}:") + 1 :][: len(group)]
        assert [line.split()[0] for line in under] == list(group)
    assert len(COMMANDS) == sum(map(len, GROUPS.values()))  # no name in two groups
    assert {line.split()[0] for line in lines[lines.index("exit codes:") + 1 :]} == {"0", "1", "2", "130", "141"}
    assert max(map(len, lines)) <= 120


@pytest.mark.parametrize("command", GROUPS["Use it"])
def test_what_people_use_has_examples_that_call_it(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main([command, "--help"])
    shown = capsys.readouterr().out
    _, _, examples = shown.partition("\nexamples:\n")
    assert re.search(rf"^  probzero {command}( |$)", examples, re.MULTILINE)
    assert f"\n{COMMANDS[command][0].upper()}{COMMANDS[command][1:]}.\n" in shown  # ONNX and GTP keep their capitals


def test_alone_it_says_five_things_that_a_person_may_want(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0
    shown = capsys.readouterr().out
    named = re.findall(r"^  probzero ([a-z]+)", shown, re.MULTILINE)
    assert all(name in GROUPS["Use it"] for name in named) and "make reproduce" in shown


def test_whoever_reads_no_further_ends_a_command_with_one_line() -> None:
    program = (
        "import os, sys\nfrom probzero.__main__ import main\nfrom probzero import __main__\n"
        "__main__.WELCOME = 'many words ' * 100_000\nsys.exit(main([]))"
    )
    reading, writing = os.pipe()
    os.close(reading)
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    ended = subprocess.run(
        [sys.executable, "-c", program], stdout=writing, stderr=subprocess.PIPE, text=True, env=environment, check=False
    )
    os.close(writing)
    assert ended.returncode == 141
    assert ended.stderr == "probzero: nobody reads the output any more\n"


def test_every_command_has_a_module_and_a_help_text(capsys: pytest.CaptureFixture[str]) -> None:
    for command in COMMANDS:
        with pytest.raises(SystemExit) as ended:
            main([command, "--help"])
        assert ended.value.code == 0
        assert "--" in capsys.readouterr().out


def test_a_player_without_a_file_is_uct_only_with_a_search_of_its_own() -> None:
    smoke = config.load(ROOT / "config" / "smoke.yaml")
    settings = smoke.changed(search={"algorithm": "ucb1"})
    uct = settings.search
    asked = argparse.Namespace(seed=0, imported=False, budget=[], learned=[])
    assert isinstance(_player(settings, "random", None, None, asked), OnePlyPlayer)
    assert isinstance(_player(settings, "uct", None, uct, asked), SearchPlayer)
    with pytest.raises(ProbZeroError, match="player: nonsense"):
        _player(settings, "nonsense", None, None, asked)
    with pytest.raises(ProbZeroError, match="ucb1, which needs no network, found particle"):
        _player(settings, "probzero", None, smoke.search, asked)


def test_a_player_is_a_name_and_a_path() -> None:
    assert player("iteration-0004=a=b.safetensors") == ("iteration-0004", Path("a=b.safetensors"))


def test_time_left_is_judged_by_the_newest_checkpoints(tmp_path: Path) -> None:
    now = 1_700_000_000
    for number, at in enumerate([0, 60, 5000, 5060, 5120]):  # the run rested between 1 and 2
        path = tmp_path / f"{number:04}.safetensors"
        path.touch()
        os.utime(path, (now + at, now + at))
    # Iteration 5 of 9 is in progress and has overrun its minute: four more remain.
    assert progress.time_left(path, 5, 9) == "about 4 min of learning left"
    assert progress.time_left(path, 5, None) == ""
    assert progress.time_left(tmp_path / "0000.safetensors", 1, 9) == ""
    assert progress.time_left(path, 5, 4) == ""  # games after the last iteration


def test_games_after_the_last_iteration_are_told_as_such() -> None:
    assert [progress.where(iteration, 4) for iteration in (4, 5)] == ["iteration 4/4", "after iteration 4"]
