"""Further readers of the same kinds of files, which look at other things than the first ones do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from kinds_of_files import GAME, KINDS, ROOT, Kind
from sealed import write_metrics

from probzero import config, files
from probzero.commands.verdicts import DIFFERENCES
from probzero.front_ends.explore.records import Records
from probzero.front_ends.networks import search_of
from probzero.origin import Origin
from probzero.report import claims
from probzero.report.evidence.outcomes import collect
from probzero.report.evidence.verdicts import budget_rows, progress_rows
from probzero.report.iteration_costs import SELFPLAY, collect_selfplay_costs
from probzero.report.tables import read_written
from probzero.tables import TABLE, write_csv

NETWORKS = ("iteration-0000", "iteration-0001", "iteration-0002")


def _on_the_page(kind: str, folder: str) -> Kind:
    """The games of a record, as the page in the browser shows them."""
    first = KINDS[kind]
    record = f"{folder}/{Path(first.name).stem}"
    return Kind(f"{folder}/{first.name}", first.write, lambda path, _: Records(GAME, path.parents[1]).games(record))


def _write_differences(path: Path, by: Origin) -> None:
    """Of a tournament of checkpoints and of one of budgets."""
    pairs = [(later, earlier) for later in NETWORKS for earlier in NETWORKS if later > earlier]
    pairs += [(player, "raw") for player in ("particles-8", "particles-96", "particles-1600")]
    numbers = {"difference": 90.5, "low": 40.25, "high": 140.75, "standard_error": 25.5, "superiority": 0.99}
    rows = [{"player": player, "opponent": opponent, **numbers} for player, opponent in pairs]
    write_csv(path, pd.DataFrame(rows), TABLE, by.about("differences"))


def _read_differences(path: Path, wanted: dict[str, Any]) -> Any:
    found = read_written(path, DIFFERENCES)
    with np.errstate(all="ignore"):  # of numbers that nobody measured
        return progress_rows(found, "ours"), budget_rows(found)


def _write_claimed(path: Path, by: Origin) -> None:
    table = pd.DataFrame({"player": ["a", "a"], "particles": [0, 96], "kept_share": [0.75, 0.875]})
    write_csv(path, table, TABLE, by)


def _write_run(path: Path, by: Origin) -> None:
    settings = config.load(ROOT / "config" / "smoke.yaml").as_dict()
    files.write_json(path, settings, config.KIND, by)


def _read_run(path: Path, wanted: dict[str, Any]) -> Any:
    """What is played with, and what is claimed of it."""
    found = search_of(path.parent / "seed0" / "checkpoints" / "0001.safetensors")
    return found, claims._name_and_seed(path)


OTHERS = {
    "games on the page": _on_the_page("match record", "matches"),
    "best responses on the page": _on_the_page("certificates", "certificates"),
    "costs of self-play": Kind(
        "shard0.json",
        lambda path, by: write_metrics(path, {"iteration": 1, "shard": 0, **dict.fromkeys(SELFPLAY, 2.5)}, files.COSTS),
        lambda path, wanted: collect_selfplay_costs([path], **wanted),
    ),
    "measures for outcomes": Kind(
        "measures.csv", KINDS["measures"].write, lambda path, wanted: collect([("study", path)])
    ),
    "differences for verdicts": Kind("differences.csv", _write_differences, _read_differences),
    "table behind a claim": Kind(
        "tables/some.csv",
        _write_claimed,
        lambda path, _: claims.number(
            claims.Cell(table="some.csv", row={"player": "a", "particles": 96}, column="kept_share"), path
        ),
    ),
    "record of a run beside a network": Kind("config.json", _write_run, _read_run),
}
READERS = {**KINDS, **OTHERS}
SEALED_READERS = [name for name, kind in READERS.items() if kind.sealed]
