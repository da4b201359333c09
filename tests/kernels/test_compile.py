"""The kernels compile ahead of time for NVIDIA and AMD targets, without a GPU and without spilling registers."""

from __future__ import annotations

import csv
import os
import re
import struct
import subprocess
import sys
from pathlib import Path

import pytest

from probzero.errors import ProbZeroError
from probzero.kernels import compile_report

TARGETS = ("sm_80", "sm_90", "sm_100", "gfx942")
BLOCKS = (16, 32, 64)
KERNELS = ("winner_prob", "backup", "descend_systematic")
OTHERS = ("winner_prob_tempered", "backup_tempered", "descend_middle", "descend_multinomial")  # for the largest block


def run_report(folder: Path) -> subprocess.CompletedProcess[str]:
    """Run the report in a process of its own, as triton compiles nothing once the interpreter is chosen."""
    inherited = {name: value for name, value in os.environ.items() if name != "TRITON_INTERPRET"}
    path = os.pathsep.join(path for path in sys.path if path)
    command = [sys.executable, "-m", "probzero.kernels.compile_report"]
    return subprocess.run(
        [*command, "--output", str(folder / "report.csv"), "--assembly", str(folder / "assembly")],
        env=inherited | {"PYTHONPATH": path, "TRITON_CACHE_DIR": str(folder / "cache")},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("compiled")
    finished = run_report(folder)
    assert finished.returncode == 0, finished.stderr
    print(finished.stdout)
    return folder


@pytest.fixture(scope="module")
def rows(folder) -> list[dict[str, str]]:
    with (folder / "report.csv").open(encoding="utf-8") as table:
        return list(csv.DictReader(table))


def test_every_kernel_compiles_for_every_target_and_block(rows):
    compiled = [(row["kernel"], row["target"], int(row["block"])) for row in rows]
    expected = {(kernel, target, block) for kernel in KERNELS for target in TARGETS for block in BLOCKS}
    expected |= {(kernel, target, 64) for kernel in OTHERS for target in TARGETS}
    expected |= {(kernel, target, 128) for kernel in ("place_3", "place_5") for target in TARGETS}
    assert set(compiled) == expected
    assert len(compiled) == len(expected)


def test_no_kernel_spills_registers_or_needs_a_stack(rows):
    assert [row for row in rows if int(row["spills"]) or int(row["stack_bytes"])] == []


def test_registers_stay_within_the_targets_limits(rows):
    # 255 registers a thread is NVIDIA's limit, 512 (with the accumulation registers) that of gfx942.
    for row in rows:
        assert 0 < int(row["registers"]) <= (512 if row["target"] == "gfx942" else 255), row


@pytest.mark.parametrize("kernel", ["backup", "descend_systematic"])
def test_kernels_keep_the_order_of_their_reads_and_writes(kernel, folder, rows):
    # What is written of a node is read for another one soon after. So: a barrier in the loop; no load through the
    # read-only path (.nc) and no asynchronous, pipelined load; one warp, as AMD's barrier doesn't wait for memory.
    assert {row["num_warps"] for row in rows if row["kernel"].startswith(kernel)} == {"1"}
    for name in ("sm_80", "sm_90", "sm_100"):
        ptx = (folder / "assembly" / f"{kernel}-64-{name}.s").read_text(encoding="utf-8")
        assert re.search(r"bar\.(warp\.)?sync", ptx)
        assert not re.search(r"\.nc\b|cp\.async", ptx)
    assert "; wave barrier" in (folder / "assembly" / f"{kernel}-64-gfx942.s").read_text(encoding="utf-8")


def test_descend_fuses_no_product_with_a_sum(folder):
    # A processor's loop rounds after each: then both split particles alike. Triton's own default would fuse them.
    for name in ("sm_80", "sm_90", "sm_100"):
        ptx = (folder / "assembly" / f"descend_systematic-64-{name}.s").read_text(encoding="utf-8")
        assert "mul.rn.f64" in ptx or "mul.f64" in ptx
        assert "fma.rn.f64" not in re.sub(r"(?s)div\.rn\.f64.*?\n", "", ptx)


def test_double_precision_constants_survive_compilation(folder):
    # 1e-200, 1e-300 and 1e-305 would be 0 in float32. PTX writes float64 constants as 0d and 16 hexadecimal digits.
    ptx = (folder / "assembly" / "backup-16-sm_80.s").read_text(encoding="utf-8").upper()
    for constant in (1e-12, 1e-200, 1e-300, 1e-305):
        assert "0D" + struct.pack(">d", constant).hex().upper() in ptx, constant


def test_the_report_refuses_to_run_in_the_interpreter(monkeypatch):
    monkeypatch.setenv("TRITON_INTERPRET", "1")
    with pytest.raises(ProbZeroError, match="TRITON_INTERPRET: expected unset"):
        compile_report.report()


def test_a_tool_whose_wording_has_changed_is_noticed():
    with pytest.raises(ProbZeroError, match="expected one match of"):
        compile_report._read_amdgcn("no metadata here")
