"""A new run beside the reference: what must agree, how closely, and why not more closely.

On the machine and with the versions of the reference a rerun gives the same bytes. Elsewhere the last bit of a float
differs, one sampled move follows another and the run becomes a new draw of the same experiment. So numbers are judged
by tolerances, and equality of bytes is reported but not asked for. The widths below that are not intervals are
judgements made before the spread between seeds was measured, wide enough for chance and narrow enough for mistakes.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
from tabulate import tabulate

from probzero import config, files
from probzero.errors import bad
from probzero.report.same_files import is_cost
from probzero.report.tables import TRAINING, read_written

CONFIGURATION = "config.json"  # in the folder of a run, beside its seeds
COSTS_TABLE = "costs.csv"
LAST = 5  # iterations whose mean stands for "final": one iteration alone is noisy
OK, DIFFERS = "ok", "differs"
INFORMATION, SAME, OTHER = "information", "same bytes", "other bytes"  # shown, not judged
COLUMNS = ["seed", "quantity", "new", "reference", "tolerance", "verdict"]


@dataclass(frozen=True)
class Tolerance:
    kind: str  # relative, absolute, or overlap: 95 % intervals at most `width` apart
    width: float
    reason: str

    def __str__(self) -> str:
        if self.kind == "overlap":
            return "intervals overlap" if self.width == 0 else f"intervals at most {self.width:g} apart"
        return "equal" if self.width == 0 else f"{self.kind} {self.width:g}"


TOLERANCES = {
    "rating difference": Tolerance(
        "overlap", 0, "two estimates of one number; asking for overlap leaves room for the spread between training runs"
    ),
    "match score": Tolerance(
        "overlap", 0.05, "judged for the last checkpoint alone, and with some slack: scores between checkpoints in the "
        "middle of learning tell how fast a run happened to learn; they are shown only"
    ),
    "exact result kept": Tolerance(
        "overlap", 0, "shares of the last checkpoint on sets drawn alike; each has its own 95 % interval"
    ),
    "policy_loss": Tolerance("relative", 0.10, "a wrong target, mask or weight moves a loss by more than this"),
    "value_loss": Tolerance("relative", 0.10, "as policy_loss"),
    "reward_loss": Tolerance("relative", 0.10, "as policy_loss"),
    "policy_agreement": Tolerance("absolute", 0.03, "more than chance, less than a mistake in the targets"),
    "value_accuracy": Tolerance("absolute", 0.03, "as policy_agreement"),
    "reward_accuracy": Tolerance("absolute", 0.03, "as policy_agreement"),
    "games": Tolerance("absolute", 0, "set by the configuration, not by chance"),
    "mean_plies": Tolerance("absolute", 0.5, "games differ, their lengths little: the board fills up"),
}  # fmt: skip
# These tell of the machine and of the cache: shown, not judged.
COSTS = ("leaf_evaluations_per_second", "network_share", "cache_hit_share")


def check(new_dir: str | Path, reference_dir: str | Path) -> pd.DataFrame:
    """Return one row per quantity: seed, quantity, new, reference, tolerance, verdict (ok, differs, or shown only).

    Both folders hold `config.json` and `seed<S>/tables/*.csv`; every seed of the reference has to be in the new run.
    """
    new_dir, reference_dir = Path(new_dir), Path(reference_dir)
    seeds = sorted(path.parent.name for path in reference_dir.glob("seed[0-9]*/tables"))
    if not seeds:
        raise bad("reference", reference_dir, "seed<S>/tables", "none")
    rows = [("", *_configuration(new_dir, reference_dir))]
    for seed in seeds:
        new, reference = new_dir / seed / "tables", reference_dir / seed / "tables"
        parts = [part(new, reference) for part in (_training, _selfplay, _costs, _tournament, _truth, _bytes)]
        rows += [(seed.removeprefix("seed"), *row) for part in parts for row in part]
    return pd.DataFrame(rows, columns=COLUMNS)


def passed(rows: pd.DataFrame) -> bool:
    """Say whether nothing differs by more than its tolerance."""
    return bool((rows["verdict"] != DIFFERS).all())


def as_text(rows: pd.DataFrame) -> str:
    """Return the check for a terminal, with a last line that counts."""
    table = tabulate(rows.to_dict("list"), headers="keys", tablefmt="simple", disable_numparse=True)
    counts = rows["verdict"].value_counts()
    return f"{table}\n\n{counts.get(OK, 0)} ok, {counts.get(DIFFERS, 0)} outside the tolerance"


Row = tuple[str, str, str, str, str]


def _configuration(new: Path, reference: Path) -> Row:
    here, there = (
        configuration_hash(files.read_json(folder / CONFIGURATION, config.KIND)) for folder in (new, reference)
    )
    return ("configuration", here, there, "equal", OK if here == there else DIFFERS)


def configuration_hash(configuration: dict) -> str:
    """Return a short hash of all settings that can change a result."""
    if not isinstance(configuration, dict):
        raise bad("configuration", CONFIGURATION, "an object", type(configuration).__name__)
    prints = config.fingerprints(configuration, configuration.keys())
    return hashlib.sha256(json.dumps(prints, sort_keys=True).encode()).hexdigest()[:12]


def _training(new: Path, reference: Path) -> Iterator[Row]:
    names = [name for name in TRAINING if name in TOLERANCES]
    first, second = (
        _read(folder / "training.csv", dict.fromkeys(names, float)).tail(LAST) for folder in (new, reference)
    )
    for name in names:
        yield _near(name, f"final {name}", first[name].mean(), second[name].mean())


def _selfplay(new: Path, reference: Path) -> Iterator[Row]:
    columns = dict.fromkeys(("games", "mean_plies"), float)
    first, second = (_read(folder / "selfplay.csv", columns) for folder in (new, reference))
    yield _near("games", "self-play games", first["games"].sum(), second["games"].sum())
    plies = (table["mean_plies"].tail(LAST).mean() for table in (first, second))
    yield _near("mean_plies", "final mean_plies", *plies)


def _costs(new: Path, reference: Path) -> Iterator[Row]:
    first, second = (_read(folder / COSTS_TABLE, dict.fromkeys(COSTS, float)) for folder in (new, reference))
    for name in COSTS:
        yield (f"mean {name}", _number(first[name].mean()), _number(second[name].mean()), "", INFORMATION)


def _tournament(new: Path, reference: Path) -> Iterator[Row]:
    """The headline, the last checkpoint against the first, then the score of every pairing."""
    players = _read(reference / "ratings.csv", {"player": str, "iteration": object}).dropna(subset="iteration")
    ordered = players.sort_values("iteration")["player"].tolist()
    first, last = ordered[0], ordered[-1]
    here, there = (_estimates(folder / "differences.csv", "difference", "low", "high") for folder in (new, reference))
    yield _overlap("rating difference", (last, first), here, there)
    here, there = (
        _estimates(folder / "pairings.csv", "score", "score_low", "score_high") for folder in (new, reference)
    )
    for pair in there:
        yield _overlap("match score", pair, here, there, judged=last in pair)


def _truth(new: Path, reference: Path) -> Iterator[Row]:
    """The last checkpoint against exact truth, by search budget; large boards, never solved, have no such table."""
    if not (reference / "truth.csv").is_file():
        return
    shares = dict.fromkeys(("kept_share", "share_low", "share_high"), float)
    columns = {"iteration": object, "source": str, "particles": int, **shares}
    found: list[Estimates] = []
    for folder in (new, reference):
        table = _read(folder / "truth.csv", columns)
        last = table[(table["iteration"] == table["iteration"].max()) & (table["source"] == "all")]
        budgets = [("last checkpoint", f"{int(particles)} particles") for particles in last["particles"]]
        rows = zip(*(last[name] for name in shares), strict=True)
        found.append(dict(zip(budgets, rows, strict=True)))
    here, there = found
    for pair in there:
        yield _overlap("exact result kept", pair, here, there)


Estimates = dict[tuple[str, str], tuple[float, float, float]]  # of two players: value, low, high


def _estimates(path: Path, *columns: str) -> Estimates:
    table = _read(path, {"player": str, "opponent": str, **dict.fromkeys(columns, float)})
    value, low, high = (table[column] for column in columns)
    pairs = zip(table["player"], table["opponent"], strict=True)
    return dict(zip(pairs, zip(value, low, high, strict=True), strict=True))


def _overlap(name: str, pair: tuple[str, str], new: Estimates, reference: Estimates, judged: bool = True) -> Row:
    tolerance, label = TOLERANCES[name], f"{name} {pair[0]} : {pair[1]}"
    if pair not in new or pair not in reference:
        found = (_interval(*estimates[pair]) if pair in estimates else "missing" for estimates in (new, reference))
        return (label, next(found), next(found), "present", DIFFERS)
    here, there = new[pair], reference[pair]
    if not judged:
        return (label, _interval(*here), _interval(*there), "", INFORMATION)
    apart = max(here[1] - there[2], there[1] - here[2])  # negative where the intervals overlap
    return (label, _interval(*here), _interval(*there), str(tolerance), OK if apart <= tolerance.width else DIFFERS)


def _read(path: Path, columns: Mapping[str, type]) -> pd.DataFrame:
    """Return a table of the seed in whose folder it lies."""
    return read_written(path, columns, seed=int(path.parents[1].name.removeprefix("seed")))


def _near(name: str, label: str, new: float, reference: float) -> Row:
    tolerance = TOLERANCES[name]
    allowed = tolerance.width * (abs(reference) if tolerance.kind == "relative" else 1)
    verdict = OK if abs(new - reference) <= allowed else DIFFERS
    return (label, _number(new), _number(reference), str(tolerance), verdict)


def _bytes(new: Path, reference: Path) -> Iterator[Row]:
    for path in sorted(path for path in reference.glob("*.csv") if not is_cost(Path(path.name))):
        here, there = (_digest(found) for found in (new / path.name, path))
        yield (f"bytes of {path.name}", here, there, "", SAME if here == there else OTHER)


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()[:12] if path.is_file() else "missing"


def _number(value: float) -> str:
    return f"{value:.4g}" if abs(value) < 1e4 else f"{value:.0f}"


def _interval(value: float, low: float, high: float) -> str:
    return f"{_number(value)} [{_number(low)}, {_number(high)}]"
