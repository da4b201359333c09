"""What it costs to reach a share of exact results, on paper."""

from __future__ import annotations

import pandas as pd

from probzero.report.truth import efficiency


def test_the_first_checkpoint_that_reaches_a_share_counts() -> None:
    # Raw: 95 % at iteration 2 (exactly: 570 of 600), lost again at 4; 98 % never. With 96 particles: 98 % untrained.
    truth = pd.DataFrame(
        [
            (0, 0, 0.5, 0), (2, 0, 570 / 600, 300), (4, 0, 0.9, 700),
            (0, 96, 0.99, 0), (2, 96, 0.99, 300), (4, 96, 1.0, 700),
        ],
        columns=["iteration", "particles", "kept_share", "leaf_evaluations"],
    )  # fmt: skip
    found = efficiency(truth)
    assert found[["particles", "threshold"]].to_numpy().tolist() == [[0, 0.95], [0, 0.98], [96, 0.95], [96, 0.98]]
    assert found.iteration.fillna(-1).tolist() == [2, -1, 0, 0]
    assert found.leaf_evaluations.fillna(-1).tolist() == [300, -1, 0, 0]
