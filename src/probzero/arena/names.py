"""What players, and the records of their games, are called."""

from __future__ import annotations

import re
from pathlib import Path

CEILING = "ceiling"  # what the network trained on exact labels is called
MATCHES = "matches"  # the kind of a record of games


def iteration_of(player: str) -> int | None:
    """Return 40 for "iteration-0040", None for a player that is not a checkpoint."""
    found = re.fullmatch(r"iteration-(\d+)", player)
    return int(found.group(1)) if found else None


def iteration_of_file(checkpoint: Path) -> int | None:
    """Return 40 for the checkpoint "0040.safetensors", None for one that has another name."""
    return int(checkpoint.stem) if re.fullmatch(r"\d{4}", checkpoint.stem) else None
