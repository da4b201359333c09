"""probzero certify and probzero choose: what they write, that it is the same network's, and what they refuse."""

from __future__ import annotations

import json
import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
import yaml
from published_form import published_state
from sealed import checkpoint_info

from probzero import files
from probzero.__main__ import main
from probzero.arena.players import raw_moves
from probzero.config import Network, parse_part
from probzero.games import make
from probzero.network import checkpoint
from probzero.network.inference import Evaluator
from probzero.network.model import build
from probzero.report.certificates import certificate_summary, read_certificates
from probzero.search.build import SearchFactory
from probzero.tables import read_table
from probzero.truth.measures import searched_moves

ROOT = Path(__file__).parents[2]
GAME = make("othello", size=4)
NETWORK = Network(blocks=1, channels=8)
CHECK = runpy.run_path(str(ROOT / "tools" / "check_certificate.py"))["main"]


def settings() -> dict[str, Any]:
    raw = yaml.safe_load((ROOT / "config" / "smoke.yaml").read_text(encoding="utf-8"))
    return {**raw, "game": {"name": "othello", "size": 4}, "certify": {"won_phase": 5}}


@pytest.fixture
def network(tmp_path: Path) -> Path:
    """A network where a run would have it, beside its configuration."""
    path = tmp_path / "run" / "seed0" / "checkpoints" / "0001.safetensors"
    checkpoint.save_checkpoint(path, build(GAME.shape, NETWORK, 5), checkpoint_info(GAME, NETWORK))
    (tmp_path / "run" / "config.json").write_text(json.dumps(settings()))
    return path


def positions(folder: Path, text: str) -> Path:
    path = folder / "positions.csv"
    path.write_text(text)
    return path


def refusal(capsys: pytest.CaptureFixture[str], *arguments: Any) -> str:
    assert main([str(argument) for argument in arguments]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    return said


def test_a_network_is_certified_with_every_budget_and_its_certificate_holds(network: Path, tmp_path: Path) -> None:
    table, proof = tmp_path / "certificates" / "iteration-0001.csv", tmp_path / "proof.json.gz"
    budgets = ["--particles", "0,8", "--won", "0", "--keyed", "8", "--keys", "2"]
    told = ["--name", "iteration-0001", "--output", str(table), "--certificate", str(proof)]
    assert main(["certify", str(network), *budgets, *told]) == 0
    rows = read_certificates([table], seed=None, iteration=1)
    start = rows[rows.source == "start"]
    assert list(zip(start.particles, start.key, strict=True)) == [(0, -1), (8, -1), (8, 0), (8, 1)]
    assert (start.moves_first == 0).all() and (start.exact == 1).all()  # White wins, so White is the agent
    won = rows[rows.source == "won"]
    assert len(won) and (won.moves_first == 1).all() and (won.exact == 1).all()
    assert ((rows.holes == 0) == (rows.certified == 1))[rows.exact == 1].all()
    summary = certificate_summary(rows)
    assert summary.agents.sum() == len(rows) and summary.certified.sum() == rows.certified.sum()
    assert CHECK([str(proof)]) == 0
    before = table.read_bytes(), proof.read_bytes()
    assert main(["certify", str(network), *budgets, *told]) == 0
    assert (table.read_bytes(), proof.read_bytes()) == before
    proof.write_bytes(proof.read_bytes()[:-9] + b"123456789")
    assert CHECK([str(proof)]) == 1  # its seal lies beside it


def test_moves_are_chosen_for_every_position_and_budget(network: Path, tmp_path: Path) -> None:
    # The start, and what lies before White after Black's b1 and a2: numbers as anybody would write them.
    start = [int(word) for word in GAME.start()]
    lines = [start, *GAME.play(np.array([start, start]), np.array([1, 4])).tolist()]
    given = positions(tmp_path, "opp,own\n" + "".join(f"{opp},{own}\n" for own, opp in lines))
    output = tmp_path / "moves.csv"
    assert main(["choose", str(network), str(given), "--particles", "0,8", "--output", str(output)]) == 0
    files.read(output, "table")
    table = pd.read_csv(output)
    assert list(table.columns) == ["own", "opp", "particles", "move"]
    assert table[["own", "opp"]].to_numpy().tolist() == lines * 2
    model, _ = checkpoint.load_checkpoint(network)
    evaluator = Evaluator(model, GAME, torch.device("cpu"))
    factory = SearchFactory(GAME, evaluator, parse_part("search", settings()["search"], "here"), 10_000, "capacity")
    states = np.array(lines)
    raw, searched = raw_moves(evaluator, GAME, states), searched_moves(factory, states, 4, [2], 0)[0]
    assert table.move.tolist() == [GAME.move_name(int(move)) for move in np.concatenate([raw, searched])]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("own,opp\n", "expected a row, found a header alone"),
        ("own\n1\n", "column opp: expected present"),
        ("own,opp\n1,x\n", "line 2: column opp: expected a whole number, not negative, found 'x'"),
        ("own,opp\n1,-2\n", "line 2: column opp: expected a whole number, not negative, found '-2'"),
        ("own,opp\n1,2.0\n", "line 2: column opp: expected a whole number, not negative, found '2.0'"),
        ("own,opp\n1,99999999999999999999\n", "line 2: column opp: expected 64 bits"),
        ("own,opp\n1,2", "expected an end of line"),
        ("own,opp\n576,1056\n1,65536\n", "expected discs on the 4×4 board only"),
        ("own,opp\n576,1056\n96,32\n", "expected at most one disc per square"),
        ("own,opp\n576,1056\n65535,0\n", "line 3: expected a game that goes on, found xxxx/xxxx/xxxx/xxxx"),
    ],
)
def test_positions_that_are_none_are_refused_in_one_line(
    text: str, found: str, network: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "moves.csv"
    assert found in refusal(capsys, "choose", network, positions(tmp_path, text), "--output", output)
    assert not output.exists()


@pytest.mark.parametrize(
    ("budgets", "found"),
    [
        ("6", "--particles: expected different multiples of 4, or 0, found 6"),
        ("-4", "--particles: expected different multiples of 4, or 0, found -4"),
        ("0,0", "--particles: expected different multiples of 4, or 0, found 0"),
        ("many", "expected whole numbers separated by commas, found 'many'"),
    ],
)
def test_budgets_that_are_none_are_refused(
    budgets: str, found: str, network: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = positions(tmp_path, "own,opp\n576,1056\n")
    assert found in refusal(capsys, "choose", network, given, f"--particles={budgets}", "--output", tmp_path / "m.csv")
    assert found in refusal(capsys, "certify", network, f"--particles={budgets}", "--output", tmp_path / "c.csv")


def test_a_network_of_no_run_needs_a_configuration_and_one_of_another_seed_is_refused(
    network: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lonely = tmp_path / "network.safetensors"
    lonely.write_bytes(network.read_bytes())
    said = refusal(capsys, "certify", lonely, "--output", tmp_path / "c.csv")
    assert "expected a file config.json in the folder of its run, or --config, found neither" in said
    assert "expected seed 3, found seed 0" in refusal(
        capsys, "certify", network, "--seed", 3, "--output", tmp_path / "c.csv"
    )


def test_a_game_that_nobody_solves_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    six = make("othello", size=6)
    path = tmp_path / "six.safetensors"
    checkpoint.save_checkpoint(path, build(six.shape, NETWORK, 5), checkpoint_info(six, NETWORK))
    raw = settings()
    raw["arena"]["anchors"] = ["random"]
    large = json.dumps({**raw, "game": {"name": "othello", "size": 6}})
    said = refusal(capsys, "certify", path, "--config", large, "--output", tmp_path / "c.csv")
    assert "expected a game that can be solved, found one that is too large" in said


def test_a_run_is_set_beside_published_networks(network: Path, tmp_path: Path) -> None:
    small = {"arena": {"checkpoints": [0, 1]}, "certify": {"batches": [1]}, "seeds": [0]}
    raw = settings()
    told = {**raw, **small, "arena": {**raw["arena"], **small["arena"]}}
    (tmp_path / "run" / "config.json").write_text(json.dumps(told))
    first = network.with_name("0000.safetensors")
    checkpoint.save_checkpoint(first, build(GAME.shape, NETWORK, 6), checkpoint_info(GAME, NETWORK, iteration=0))
    theirs = tmp_path / "weights_iter_10.pth"
    torch.save(published_state(1, 4, 4), theirs)
    output = tmp_path / "published"
    line = ["compare-published", "--run", str(tmp_path / "run"), "--published", str(theirs), "--output", str(output)]
    assert main(line) == 0
    table = read_table(output / "published.csv", {"system": str, "games": int, "kept": int, "decisive": int})
    games = raw["selfplay"]["games"] * raw["selfplay"]["shards"]
    assert table.groupby("system")["games"].unique().map(list).to_dict() == {
        "probzero": [0, games],
        "published": [200],
    }
    assert sorted(table["particles"].unique()) == [0, 4]
    # Every decisive position of 4×4 up to symmetry: the same for all, and no network without search keeps them all.
    raw_ones = table[table["particles"] == 0]
    assert table["decisive"].nunique() == 1 and (raw_ones["kept"] < raw_ones["decisive"]).all()
    assert (output / "published.png").is_file() and (output / "published.pdf").is_file()
