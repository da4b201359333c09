"""One of our shards as a program, to be timed beside those of others (see `peers`).

    python -m probzero.benchmarks.shard CONFIGURATION SHARD

For each line that it reads it plays the shard once, with an untrained network and with new games each time, its samples
included, and writes one line of JSON.
"""

from __future__ import annotations

import json
import sys

from probzero import config
from probzero.benchmarks.peers import KEYS
from probzero.benchmarks.search import evaluator_of, played


def main(source: str, shard: str) -> None:
    setting = config.load(source)
    evaluator = evaluator_of(setting)
    for number, _ in enumerate(sys.stdin):
        done = played(setting, evaluator, iteration=number + 1, shard=int(shard))
        print(json.dumps({key: done[key] for key in KEYS}), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
