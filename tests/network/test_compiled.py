"""Compiled layers: the same bits under all instructions, code that is kept and never taken for other code's."""

from __future__ import annotations

import ast
import importlib
import inspect
import json
import math
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import llvmlite.binding as llvm
import numpy as np
import pytest
from processors import restricted
from test_network import FIVE, OBLONG, SQUARE, random_positions, trained_looking

from probzero import templates
from probzero.errors import ProbZeroError
from probzero.games.base import Game
from probzero.network import probabilities
from probzero.network.compiled import forward, library
from probzero.network.compiled.forward import CompiledNet, write_heads, write_trunk
from probzero.network.compiled.layers import Board, mirrored, panels
from probzero.network.compiled.library import Library, Write, compiled, key
from probzero.network.compiled.target import VARIABLE, Target, available, choose, said, targets
from probzero.network.compiled.training_passes import write_training
from probzero.network.compiled.writer import write_sequence
from probzero.network.weights import Weights
from probzero.network.winograd import axis

FUSED = [target for target in available().values() if target.fused]
AHEAD = {
    "aarch64-unknown-linux-gnu": "neon",
    "x86_64-unknown-linux-gnu": "avx512",
    "riscv64-unknown-linux-gnu": "plain",
}


def planes_of(game: Game, count: int = 77) -> np.ndarray:
    return game.encode(random_positions(game, count)[0].numpy())


def small(channels: int, game: Game = FIVE, **heads: object) -> Weights:
    return trained_looking(game, 2, channels, **heads).weights()


@pytest.mark.skipif(len(FUSED) < 2, reason="this machine has one set of fused instructions, no two")
@pytest.mark.parametrize(
    ("game", "channels"),
    [(FIVE, 48), (FIVE, 50), (FIVE, 7), (SQUARE[0], 20), (SQUARE[3], 24), (OBLONG[0], 13), (OBLONG[1], 16)],
    ids=str,
)
def test_all_fused_instructions_give_the_same_bits(game: Game, channels: int) -> None:
    weights, planes = small(channels, game), planes_of(game)
    first, *others = (CompiledNet(weights, target)(planes) for target in FUSED)
    for other in others:
        assert all(np.array_equal(a, b) for a, b in zip(first, other, strict=True))


@pytest.mark.parametrize("heads", [{}, {"policy_hidden": 13}, {"value": "support", "reward": False}], ids=str)
def test_plain_instructions_give_the_same_within_rounding(heads: dict) -> None:
    weights, planes = small(20, **heads), planes_of(FIVE)
    best, plain = (CompiledNet(weights, target)(planes) for target in (choose(), available()["plain"]))
    for a, b in zip(best, plain, strict=True):
        np.testing.assert_allclose(a, b, rtol=0, atol=2e-5)


def test_how_many_packs_go_together_changes_no_bit(monkeypatch: pytest.MonkeyPatch) -> None:
    weights, planes = small(16), planes_of(FIVE, 100)
    whole = CompiledNet(weights)(planes)
    monkeypatch.setattr(forward, "BLOCK", 2)
    assert all(np.array_equal(a, b) for a, b in zip(whole, CompiledNet(weights)(planes), strict=True))


def test_a_network_without_blocks_is_its_stem_and_heads() -> None:
    """With a block whose second norm has weight and bias 0 nothing is added to the stem."""
    weights = trained_looking(FIVE, 1, 8).weights()
    silent = dict(weights.arrays)
    silent |= {name: value * 0 for name, value in silent.items() if name.startswith("blocks.0.second_norm.") and
               name.endswith((".weight", ".bias"))}  # fmt: skip
    none = {name: value for name, value in weights.arrays.items() if not name.startswith("blocks.")}
    bare = CompiledNet(Weights(weights.shape, weights.config.model_copy(update={"blocks": 0}), none))
    planes = planes_of(FIVE, 20)
    for a, b in zip(bare(planes), CompiledNet(weights._replace(arrays=silent))(planes), strict=True):
        np.testing.assert_allclose(a, b, rtol=0, atol=1e-6)


@pytest.mark.parametrize("triple", AHEAD)
def test_code_for_other_processors_compiles(triple: str) -> None:
    """Compiled, not run."""
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    target = next(iter(targets(triple).values()))
    assert target.name == AHEAD[triple]
    jobs = (
        (write_trunk, (Board(4, 5), 2, 6)),
        (write_heads, (20, 5, 6, 32, 0, 3, 3)),
        (write_training, (Board(4, 5), 2, 6)),
    )
    for write, parameters in jobs:
        functions, code = compiled(write, parameters, target, jit=False).split(b"\n", 1)
        assert json.loads(functions) and code.startswith(b"\x7fELF")


def test_the_environment_chooses_among_what_the_machine_has(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in available():
        monkeypatch.setenv(VARIABLE, name)
        assert choose().name == name
    monkeypatch.setenv(VARIABLE, "sse9")
    with pytest.raises(ProbZeroError, match=f"^processor: {VARIABLE}: expected one of .*plain, .*, found sse9$"):
        choose()


def test_what_the_network_is_compiled_for_is_said_and_slower_code_is_called_so() -> None:
    named = targets("x86_64-unknown-linux-gnu")
    assert said(named["avx2"]) == "network compiled for avx2"
    assert said(named["plain"]).startswith("network compiled for plain vectors: slower than")


@pytest.mark.parametrize("write", [write_trunk, write_heads, write_training, write_sequence])
def test_what_is_written_follows_from_files_in_the_name_of_the_code_alone(write: Write) -> None:
    """All that the functions of its file take from other modules of ours comes from a file that is part of the key."""
    own = Path(str(inspect.getsourcefile(write)))
    tree = ast.parse(own.read_text(encoding="utf-8"))
    functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    reached, names = [write.__name__], set[str]()
    for function in reached:
        used = {node.id for node in ast.walk(functions[function]) if isinstance(node, ast.Name)}
        reached += [name for name in used & functions.keys() if name not in reached]
        names |= used
    modules = {
        alias.name: node.module or ""
        for node in tree.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
        if alias.name in names
    }
    ours = {importlib.import_module(module) for module in modules.values() if module.startswith("probzero")}
    assert {Path(str(module.__file__)) for module in ours} <= {own, *library.SOURCES}


def test_machine_code_is_kept_and_damaged_code_is_made_anew(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(templates, "folder", lambda name: tmp_path)
    arguments = write_heads, available()["plain"], 9, 4, 3, 32, 0, 3
    Library(*arguments)
    (kept,) = tmp_path.iterdir()
    first = kept.read_bytes()
    monkeypatch.setattr(library, "compiled", lambda *_: pytest.fail("compiled although it was kept"))
    assert Library(*arguments).addresses.keys() == {"heads", "policy", "hidden", "output"}
    monkeypatch.undo()
    monkeypatch.setattr(templates, "folder", lambda name: tmp_path)
    kept.write_bytes(first[:-1] + bytes([first[-1] ^ 1]))
    Library(*arguments)
    assert kept.read_bytes()[:32] == first[:32] and len(list(tmp_path.iterdir())) == 1


def test_two_processes_may_keep_the_same_code_at_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """So do the shards of the first iteration after a fresh clone."""
    monkeypatch.setattr(templates, "folder", lambda name: tmp_path)

    def meanwhile(stored: bytes) -> bytes:
        monkeypatch.undo()
        monkeypatch.setattr(templates, "folder", lambda name: tmp_path)
        Library(*arguments)  # as another process would, while this one writes
        return library._sealed(stored)

    arguments = write_heads, available()["plain"], 9, 4, 3, 32, 0, 3
    monkeypatch.setattr(library, "_sealed", meanwhile)
    assert Library(*arguments).addresses.keys() == {"heads", "policy", "hidden", "output"}
    (kept,) = tmp_path.iterdir()
    assert library._read(kept) is not None


def test_code_that_cannot_be_kept_is_used_all_the_same(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(templates, "folder", lambda name: tmp_path)

    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    assert Library(write_heads, available()["plain"], 9, 4, 3, 32, 0, 3).addresses
    assert list(tmp_path.iterdir()) == []


def test_code_is_kept_under_a_name_of_all_it_depends_on(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    plain = available()["plain"]
    base = key(write_heads, (9, 4), plain)
    assert key(write_heads, (9, 4), plain) == base
    others: list[tuple] = [(write_trunk, (9, 4), plain), (write_heads, (9, 5), plain)]
    others += [(write_heads, (9, 4), Target("plain", plain.triple, "", "", 8, 4, fused=False))]
    names = {key(*other) for other in others} | {base}
    changed = tmp_path / library.SOURCES[0].name
    changed.write_bytes(library.SOURCES[0].read_bytes() + b"\n")
    monkeypatch.setattr(library, "SOURCES", [changed, *library.SOURCES[1:]])
    names.add(key(write_heads, (9, 4), plain))
    monkeypatch.setattr(library, "version", "another")
    assert len(names | {key(write_heads, (9, 4), plain)}) == 6


def test_vectors_cover_every_column_once() -> None:
    for columns in (1, 3, 7, 26, 48, 50, 129):
        covered = [first + lane for panel in panels(columns, 16) for first, width in panel for lane in range(width)]
        assert covered == list(range(columns))


@pytest.mark.parametrize("length", range(1, 12))
def test_mirrored_rows_differ_in_signs_alone(length: int) -> None:
    rows = axis(length).inputs
    pairs = mirrored(rows)
    assert len({*pairs, *pairs.values()}) == 2 * len(pairs)
    for i, j in pairs.items():
        np.testing.assert_allclose(abs(rows[i]), abs(rows[j]), rtol=0, atol=1e-11)


def test_powers_are_those_of_the_library_to_the_last_but_one_bit() -> None:
    ends = templates.load("probzero.network.probabilities")
    for x in [0.0, *-np.logspace(-12, math.log10(690), 500)]:
        assert ends.power(x) == pytest.approx(math.exp(x), rel=5e-16)
    assert ends.power(-800.0) == 0.0 and math.isnan(ends.power(math.nan))
    assert probabilities.FACTORS[-2:] == (1.0, 1.0)


DIGEST = """
import hashlib, sys
import numpy as np
from probzero import games
from probzero.network.checkpoint import load_weights
from probzero.network.inference import Evaluator
from probzero.games.base import list_moves
from probzero.games.random_play import play_by_seed
weights, info = load_weights(sys.argv[1])
game = info.game
states = play_by_seed(game, 12, 18, 1).states.reshape(-1, game.words)
states = states[~game.finished(states)]
found = Evaluator(weights, game)(states, list_moves(game.legal(states), game.most_moves))
assert "torch" not in sys.modules
print(hashlib.sha256(b"".join(part.tobytes() for part in found)).hexdigest())
"""


@pytest.mark.parametrize("instructions", ["avx2", "avx512"])
def test_evaluations_of_a_committed_network_are_the_same_under_these_instructions(instructions: str) -> None:
    if instructions not in available():
        pytest.skip(f"this machine has no {instructions}")
    network = Path(__file__).parents[2] / "results/reference/laptop/seed0/checkpoints/0060.safetensors"
    digests = [
        subprocess.run([sys.executable, "-c", DIGEST, str(network)], env=os.environ | variables, capture_output=True,
                       text=True, check=True).stdout
        for variables in ({}, restricted(instructions))
    ]  # fmt: skip
    assert digests[0] == digests[1]
