"""A new run beside the reference: what must agree, how closely, and why not more closely.

On the machine and with the versions of the reference a rerun gives the same bytes. Elsewhere the last bit of a float
differs in training, one sampled move follows another and the run becomes a new draw of the same experiment. How far two
draws lie apart is measured, not judged: between the seeds of the reference, and between runs of one seed on several
processors where there are some (`report/spread.py`). Where both sides have intervals of their own, which tell of games
or positions, it is also enough that these overlap: seeds that happen to have the same score show no spread. A quantity
with neither (and fewer than three seeds) is shown and not judged. And what was played and measured with networks of the
same bytes must have the same bytes itself.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
from tabulate import tabulate

from probzero import config, files
from probzero.arena.names import iteration_of
from probzero.errors import bad
from probzero.network.compiled.target import choose
from probzero.report import spread
from probzero.report.same_files import is_cost
from probzero.report.tables import read_written

CONFIGURATION = "config.json"  # in the folder of a run, beside its seeds
COSTS_TABLE = "costs.csv"
LAST = 5  # iterations whose mean stands for "final": one iteration alone is noisy
OK, DIFFERS = "ok", "differs"
INFORMATION, SAME, OTHER = "information", "same bytes", "other bytes"  # shown, not judged
COLUMNS = ["seed", "quantity", "new", "reference", "tolerance", "verdict"]
LEARNED = (
    "policy_loss", "value_loss", "reward_loss", "policy_agreement", "value_accuracy", "reward_accuracy",
)  # fmt: skip
# These tell of the machine and of the cache: shown, not judged.
COSTS = ("leaf_evaluations_per_second", "network_share", "cache_hit_share")


@dataclass(frozen=True)
class Quantity:
    value: float
    low: float | None = None  # of a 95 % interval, where the table gives one
    high: float | None = None
    exact: bool = False  # set by the configuration, not by chance
    judged: bool = True

    def __str__(self) -> str:
        if self.low is None or self.high is None:
            return _number(self.value)
        return f"{_number(self.value)} [{_number(self.low)}, {_number(self.high)}]"


Quantities = dict[str, Quantity]
Row = tuple[str, str, str, str, str]


def check(new_dir: str | Path, reference_dir: str | Path) -> pd.DataFrame:
    """Return one row per quantity: seed, quantity, new, reference, tolerance, verdict (ok, differs, or shown only).

    Both folders hold `config.json` and `seed<S>/tables/*.csv`; what is compared are the seeds that both have.
    """
    new_dir, reference_dir = Path(new_dir), Path(reference_dir)
    seeds = sorted(path.parent.name for path in reference_dir.glob("seed[0-9]*/tables"))
    if not seeds:
        raise bad("reference", reference_dir, "seed<S>/tables", "none")
    both = [seed for seed in seeds if (new_dir / seed / "tables").is_dir()]
    if not both:
        raise bad("run", new_dir, f"the tables of one of {', '.join(seeds)}", "none")
    there = {seed: quantities(reference_dir / seed / "tables") for seed in seeds}
    draws = spread.draws_of(reference_dir, settings_of(reference_dir))
    of_seeds = by_quantity(there.values()) if len(seeds) >= spread.LEAST_SEEDS else draws.seeds
    rows = [("", *_configuration(new_dir, reference_dir))]
    for seed in both:
        here = quantities(new_dir / seed / "tables")
        parts = [
            _judged(here, there[seed], of_seeds, draws.twins),
            _costs(new_dir / seed / "tables", reference_dir / seed / "tables"),
            _bytes(new_dir / seed / "tables", reference_dir / seed / "tables"),
            _made_of_the_same(new_dir / seed, reference_dir / seed),
        ]
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


def settings_of(folder: Path) -> dict[str, str]:
    """Return the hashes of all settings of a run that can change a result, by part; what came later has its default."""
    path = folder / CONFIGURATION
    return config.parse(files.read_json(path, config.KIND), str(path)).fingerprints(config.PARTS)


def _configuration(new: Path, reference: Path) -> Row:
    here, there = (
        hashlib.sha256(json.dumps(settings_of(folder), sort_keys=True).encode()).hexdigest()[:12]
        for folder in (new, reference)
    )
    return ("configuration", here, there, "equal", OK if here == there else DIFFERS)


def by_quantity(runs: Iterable[Quantities]) -> dict[str, spread.Groups]:
    """Return what these runs, one group of seeds, tell of each quantity."""
    found: dict[str, list[float]] = {}
    for label, quantity in (item for run in runs for item in run.items()):
        found.setdefault(label, []).append(quantity.value)
    return {label: [values] for label, values in found.items()}


def _judged(
    new: Quantities, reference: Quantities, seeds: Mapping[str, spread.Groups], twins: Mapping[str, spread.Groups]
) -> Iterator[Row]:
    for label, there in reference.items():
        here = new.get(label)
        if here is None:
            yield (label, "missing", str(there), "present", DIFFERS)
            continue
        tolerance, holds = _tolerance(here, there, seeds.get(label, ()), twins.get(label, ()))
        verdict = INFORMATION if holds is None else OK if holds else DIFFERS
        yield (label, str(here), str(there), tolerance, verdict)


def _tolerance(
    new: Quantity, reference: Quantity, seeds: spread.Groups, twins: spread.Groups
) -> tuple[str, bool | None]:
    """Return the tolerance in words, and whether it holds; None if there is none."""
    if reference.exact:
        return "equal", new.value == reference.value
    if not reference.judged:
        return "", None
    tolerances, holds = [], []
    width = spread.allowed(seeds, twins)
    if width is not None:
        measured = f"{max(map(len, seeds))} seeds" + (f" on {max(map(len, twins))} processors" if twins else "")
        tolerances.append(f"at most {_number(width)} apart ({measured})")
        holds.append(abs(new.value - reference.value) <= width)
    if new.low is not None and new.high is not None and reference.low is not None and reference.high is not None:
        tolerances.append("intervals overlap")
        holds.append(new.low <= reference.high and reference.low <= new.high)
    return " or ".join(tolerances), any(holds) if holds else None


def quantities(tables: Path) -> Quantities:
    """Return what the tables of a seed tell: the end of learning, self-play, the tournament, exact truth."""
    return {**_training(tables), **_selfplay(tables), **_tournament(tables), **_truth(tables)}


def _training(tables: Path) -> Quantities:
    table = _read(tables / "training.csv", dict.fromkeys(LEARNED, float)).tail(LAST)
    return {f"final {name}": Quantity(table[name].mean()) for name in LEARNED}


def _selfplay(tables: Path) -> Quantities:
    table = _read(tables / "selfplay.csv", dict.fromkeys(("games", "mean_plies"), float))
    games, plies = table["games"].sum(), table["mean_plies"].tail(LAST).mean()
    return {"self-play games": Quantity(games, exact=True), "final mean_plies": Quantity(plies)}


def _costs(new: Path, reference: Path) -> Iterator[Row]:
    first, second = (_read(folder / COSTS_TABLE, dict.fromkeys(COSTS, float)) for folder in (new, reference))
    for name in COSTS:
        yield (f"mean {name}", _number(first[name].mean()), _number(second[name].mean()), "", INFORMATION)


def _tournament(tables: Path) -> Quantities:
    """The headline, the last checkpoint against the first, then the score of every pairing.

    Scores between checkpoints in the middle of learning tell how fast a run happened to learn: they are shown only.
    """
    ratings = _estimates(tables / "differences.csv", "difference", "low", "high")
    players = {name for two in ratings for name in two if iteration_of(name) is not None}
    last, first = max(players), min(players)  # their numbers have four digits
    pair = last, first
    found = {f"rating difference {' : '.join(pair)}": Quantity(*ratings[pair])} if pair in ratings else {}
    scores = _estimates(tables / "pairings.csv", "score", "score_low", "score_high")
    return found | {
        f"match score {' : '.join(two)}": Quantity(*score, judged=last in two) for two, score in scores.items()
    }


def _truth(tables: Path) -> Quantities:
    """The last checkpoint against exact truth, by search budget; large boards, never solved, have no such table."""
    if not (tables / "truth.csv").is_file():
        return {}
    shares = dict.fromkeys(("kept_share", "share_low", "share_high"), float)
    table = _read(tables / "truth.csv", {"iteration": object, "source": str, "particles": int, **shares})
    last = table[(table["iteration"] == table["iteration"].max()) & (table["source"] == "all")]
    return {
        f"exact result kept last checkpoint : {int(row.particles)} particles": Quantity(*row[list(shares)])
        for _, row in last.iterrows()
    }


Estimates = dict[tuple[str, str], tuple[float, float, float]]  # of two players: value, low, high


def _estimates(path: Path, *columns: str) -> Estimates:
    table = _read(path, {"player": str, "opponent": str, **dict.fromkeys(columns, float)})
    value, low, high = (table[column] for column in columns)
    pairs = zip(table["player"], table["opponent"], strict=True)
    return dict(zip(pairs, zip(value, low, high, strict=True), strict=True))


def _read(path: Path, columns: Mapping[str, type]) -> pd.DataFrame:
    """Return a table of the seed in whose folder it lies."""
    return read_written(path, columns, seed=int(path.parents[1].name.removeprefix("seed")))


def _bytes(new: Path, reference: Path) -> Iterator[Row]:
    for path in sorted(path for path in reference.glob("*.csv") if not is_cost(Path(path.name))):
        here, there = (_digest(found) for found in (new / path.name, path))
        yield (f"bytes of {path.name}", here, there, "", SAME if here == there else OTHER)


def _made_of_the_same(new: Path, reference: Path) -> Iterator[Row]:
    """What was played and measured with networks of the same bytes must have the same bytes: evaluations have the same
    bits on every processor with fused operations. Elsewhere it is only shown."""
    checkpoints = sorted(reference.glob("checkpoints/*.safetensors"))
    same = {path.stem for path in checkpoints if _digest(path) == _digest(new / "checkpoints" / path.name)}
    numbers = [path.stem for path in checkpoints if path.stem.isdigit()]
    positions = reference / "truth" / "positions.csv"
    measured = (
        [*reference.glob("truth/*/*.csv")] if _digest(positions) == _digest(new / "truth" / "positions.csv") else []
    )
    for path in sorted([*reference.glob("matches/iteration-*.csv"), *measured]):
        name = path.relative_to(reference)
        player = (path.stem if name.parts[0] == "matches" else name.parts[1]).removeprefix("iteration-")
        needed = (
            [player] if player not in numbers or name.parts[0] != "matches" else numbers[: numbers.index(player) + 1]
        )
        if same.issuperset(needed):
            here, there = _digest(new / name), _digest(path)
            yield (f"{name}, of the same networks", here, there, "same bytes", _same_or_not(here == there))


def _same_or_not(same: bool) -> str:
    if same:
        return OK
    return DIFFERS if choose().fused else OTHER


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()[:12] if path.is_file() else "missing"


def _number(value: float) -> str:
    return f"{value:.4g}" if abs(value) < 1e4 else f"{value:.0f}"
