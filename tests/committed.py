"""The studies of the repository, as Snakemake reads them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml
from snakemake.utils import update_config  # type: ignore[import-untyped]

from probzero import study
from probzero.study import Study

CONFIG = Path(__file__).parent.parent / "config"


def plain(*overlays: str, name: str = "study") -> dict[str, Any]:
    """Return a study with other files laid over it, as plain data."""
    raw: dict[str, Any] = {}
    for part in (name, *overlays):
        update_config(raw, yaml.safe_load((CONFIG / f"{part}.yaml").read_text(encoding="utf-8")))
    return raw


def parsed(*overlays: str, name: str = "study") -> Study:
    return study.parse(plain(*overlays, name=name), "here.yaml")
