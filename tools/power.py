"""How large an effect the study sees: the share of simulated studies in which a contrast of errors is told from none.

Errors vary by position (gamma with shape 0.3: most positions are easy) and by arm and seed (lognormal), as in the
committed comparison: an error of 3 % with 96 leaf evaluations and 0.93 points between seeds. A contrast counts as seen
if its p-value is below 0.05 / 4, what Holm asks of the smallest of four.

    python tools/power.py            tables for docs/protocol.md, a minute
"""

from __future__ import annotations

import argparse

import numpy as np

from probzero.report.evidence import contrasts

ERROR, BETWEEN_SEEDS, SHAPE = 0.03, 0.31, 0.3  # 0.93 points of 3


def simulated(draw: np.random.Generator, ratio: float, pairs: int, seeds: int, positions: int) -> np.ndarray:
    """Return what 2·pairs arms lost [arms, S, P]; the first of each pair errs `ratio` times as often."""
    difficulty = draw.gamma(SHAPE, 1 / SHAPE, positions)
    luck = draw.lognormal(-(BETWEEN_SEEDS**2) / 2, BETWEEN_SEEDS, (2 * pairs, seeds, 1))
    times = np.tile([ratio, 1.0], pairs)[:, None, None]
    return draw.random((2 * pairs, seeds, positions)) < np.minimum(ERROR * difficulty * luck * times, 1)


def power(ratio: float, pairs: int, seeds: int, positions: int, times: int) -> float:
    """Return the share of simulated studies in which the contrast is seen."""
    seen = 0
    weights = np.tile([1 / pairs, -1 / pairs], pairs)
    for number in range(times):
        draw = np.random.default_rng([number, pairs, seeds])
        lost = simulated(draw, ratio, pairs, seeds, positions).astype(np.float32)
        seen += (
            contrasts.of_errors(lost, weights, np.zeros(positions, int), draw).p < contrasts.LEVEL / contrasts.PRIMARY
        )
    return seen / times


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--positions", type=int, default=4000)
    parser.add_argument("--times", type=int, default=40, help="simulated studies of each row")
    args = parser.parse_args()
    contrasts.REPLICATES = 300
    ratios = (1.0, 0.9, 0.8, 0.7, 0.6)
    print("pairs seeds " + " ".join(f"{ratio:5}" for ratio in ratios))
    for pairs, seeds in ((8, 8), (4, 8), (1, 8), (1, 24)):
        found = [power(ratio, pairs, seeds, args.positions, args.times) for ratio in ratios]
        print(f"{pairs:5} {seeds:5} " + " ".join(f"{share:5.2f}" for share in found), flush=True)


if __name__ == "__main__":
    main()
