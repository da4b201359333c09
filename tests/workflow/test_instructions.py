"""The whole workflow at the smoke scale, told to use fewer instructions: every file but times has the same bytes.

Network, loops and arrays are told so, the trunk in training too. What is torch's alone in training (heads, losses and
optimiser) keeps the machine's instructions, as its bits depend on them (docs/processors.md).
"""

from __future__ import annotations

from pathlib import Path

import pytest
from processors import restricted
from test_workflow import RUN, SEED, snakemake

from probzero.network.compiled.target import available
from probzero.report.same_files import differences

OURS = ("PROBZERO_INSTRUCTIONS", "NPY_DISABLE_CPU_FEATURES", "NUMBA_CPU_NAME")


@pytest.mark.slow  # two runs of the workflow, and loops compiled anew for each kind of processor
def test_the_smoke_scale_has_the_same_bytes_under_all_fused_instructions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fused = [name for name, target in available().items() if target.fused]
    if len(fused) < 2:
        pytest.skip(f"this machine has {' and '.join(fused) or 'no fused'} instructions; AVX2 and AVX-512 are needed")
    for name in fused:
        for variable in OURS:
            monkeypatch.setenv(variable, restricted(name)[variable])
        shown = snakemake(tmp_path / name)
        assert shown.returncode == 0, shown.stdout
    first, *others = [tmp_path / name for name in fused]
    for folder in ("selfplay", "matches", "truth", "certificates", "checkpoints", "tables"):
        assert list((first / SEED / folder).rglob("*.*")), folder
    for other in others:
        found = differences(first / RUN, other / RUN)
        assert not {name: what for name, what in found.items() if what}
