"""The numbers of the README and of docs/: tables between two comments, written anew from the committed results.

<!-- table: NAME -->
…
<!-- end -->
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import pandas as pd
from tabulate import tabulate

from probzero import config, files
from probzero.errors import bad
from probzero.report.study.inputs import RAW
from probzero.report.tables import read_written
from probzero.study import ABLATION, REFERENCE, ROLES, Description, descriptions

UNTRAINED = "iteration-0000"
BLOCK = re.compile(r"(<!-- table: (\S+) -->\n)(.*?)(<!-- end -->)", re.DOTALL)
Row = pd.Series  # of a table; a cell that was empty is NaN


def rewritten(text: str, results: Path, where: object) -> str:
    """Return a text with its tables made anew from the files below `results`; `where` is what errors call it."""
    whole = len(BLOCK.findall(text))
    if not whole == text.count("<!-- table: ") == text.count("<!-- end -->"):
        raise bad("text", where, "an end of every table", f"{text.count('<!-- table: ')} tables, {whole} of them whole")

    def made(block: re.Match[str]) -> str:
        if block[2] not in TABLES:
            raise bad("text", f"{where}: table {block[2]}", f"one of {', '.join(TABLES)}", "another")
        return f"{block[1]}{TABLES[block[2]](results)}\n{block[4]}"

    return BLOCK.sub(made, text)


def _expected(results: Path) -> str:
    """What a run at the default scale should give: the reference run's numbers."""
    folder = results / "reference" / "laptop"
    settings = files.read_json(folder / "config.json", config.KIND)
    names = ("differences", "truth", "perfect", "blunders", "efficiency", "certificates")
    tables = {name: read_written(folder / "seed0" / "tables" / f"{name}.csv", {}, seed=0) for name in names}
    truth = tables["truth"][tables["truth"]["source"] == "all"]
    last, particles = int(truth["iteration"].max()), settings["arena"]["particles"] * settings["arena"]["batches"]

    def elo(player: str, opponent: str) -> str:
        return _signed(_one(tables["differences"], player=player, opponent=opponent), "difference", "low", "high", 1, 0)

    def kept(budget: int) -> str:
        first, final = (_one(truth, iteration=number, particles=budget) for number in (0, last))
        return f"{_percent(first['kept_share'])} → {_percent(final['kept_share'])} % ({_range(final, 'share')})"

    def won(begins: str) -> str:
        row = _one(tables["perfect"], iteration=last, begins=begins)
        return f"{row['won']} of {row['games']}"

    def reached(threshold: float, budget: int) -> str:
        row = _one(tables["efficiency"], threshold=threshold, particles=budget)
        if pd.isna(row["iteration"]):
            return "not reached"
        return f"iteration {row['iteration']:.0f}, {row['leaf_evaluations'] / 1e6:.1f} million leaf evaluations"

    player, blunders = f"iteration-{last:04}", tables["blunders"]["blunders_per_game"]
    ceiling = truth[truth["player"] == "ceiling"]
    searched = [budget for budget in ceiling["particles"] if budget >= particles]
    rows = [
        (f"Elo of iteration {last} over the untrained network, {particles} particles a move", elo(player, UNTRAINED)),
        (f"Elo of the perfect player over iteration {last}", elo("perfect", player)),
        (f"exact result kept by the policy alone, untrained → iteration {last}", kept(RAW)),
    ]
    rows += [(f"the same with {budget} particles a move", kept(budget)) for budget in searched]
    rows += [
        (
            f"the same network trained on exact labels, with {', '.join(map(str, ceiling['particles']))} particles",
            f"{', '.join(map(_percent, ceiling['kept_share']))} %",
        ),
        ("won positions won against the perfect player, from the start", won("start")),
        ("the same from openings", won("openings")),
        (
            f"results given away per game of self-play, iteration 1 → {last}",
            f"{blunders.iloc[0]:.2f} → {blunders.iloc[-1]:.2f}",
        ),
    ]
    rows += _certified(tables["certificates"], last)
    for share, budget in zip((0.95, 0.98), searched, strict=True):
        rows.append((f"first keeps {100 * share:.0f} % with {budget} particles", reached(share, budget)))
    return _table(("what", "number to expect"), rows)


def _certified(table: pd.DataFrame, iteration: int) -> Iterator[tuple[str, str]]:
    """Yield which agents of a network no opponent can beat, and from how many won positions."""
    of_network = table[table["iteration"] == iteration]
    for source, draws, what in (
        ("start", 0, "no opponent can beat it from the start"),
        ("start", 1, "the same under each of the keys of random draws"),
        ("won", 0, "won positions of the opening from which no opponent can beat it"),
    ):
        rows = of_network[(of_network["source"] == source) & (of_network["draws"] == draws)].sort_values("particles")
        budgets = ["policy alone" if budget == RAW else f"{budget} particles" for budget in rows["particles"]]
        counts = [f"{held} of {agents}" for held, agents in zip(rows["certified"], rows["agents"], strict=True)]
        if len(rows):
            yield f"{what}: {', '.join(budgets)}", ", ".join(counts)


def _seeds(results: Path) -> str:
    """The last network of every committed seed of the default scale, and the mean of each column."""
    folder = results / "reference" / "laptop"
    settings = files.read_json(folder / "config.json", config.KIND)
    found = {seed: _last_network(folder / f"seed{seed}" / "tables", seed) for seed in settings["seeds"]}
    table = pd.DataFrame(found.values())
    means = [f"{mean:.1f}" for mean in table.mean()]
    rows = [
        (str(seed), *(f"{value:.1f}" if name.endswith("%") else f"{value:.0f}" for name, value in cells.items()))
        for seed, cells in found.items()
    ]
    return _table(("seed", *table.columns), [*rows, ("mean", *means)])


def _last_network(tables: Path, seed: int) -> dict[str, float]:
    """Return what the last network of a seed keeps and is certified for, by the heads of `_seeds`."""
    truth, proofs = (read_written(tables / f"{name}.csv", {}, seed=seed) for name in ("truth", "certificates"))
    last = truth["iteration"].max()
    kept = truth[(truth["iteration"] == last) & (truth["source"] == "all")].sort_values("particles")
    cells = {f"{_agent(row.particles)}, %": 100 * row.kept_share for row in kept.itertuples()}
    proofs = proofs[proofs["iteration"] == last].sort_values(["draws", "particles"])
    for source, what in (("start", "as Black"), ("won", "openings")):
        for row in proofs[proofs["source"] == source].itertuples():
            drawn = ", keys" if row.draws else ""
            cells[f"{what}, {_agent(row.particles)}{drawn}, of {row.agents}"] = row.certified
    return cells


def _agent(budget: int) -> str:
    return "raw" if budget == RAW else str(budget)


def _study(results: Path, roles: Collection[str]) -> str:
    """What the variants of these roles came to in the study."""
    study = _StudyTables.read(results / "reference" / "study")
    label = next(found.label for found in study.described.values() if found.role == REFERENCE)

    def row(name: str) -> tuple[str, ...]:
        learns, spent = _one(study.accounting, variant=name)["games"] > 0, study.cost_of(name)
        return (
            f"`{name}`",
            *(_share(_found(study.final, variant=name, particles=budget)) for budget in (RAW, study.largest)),
            study.elo_of(name),
            f"{spent['network_calls']:,.0f}" if learns else "–",
            f"{spent['selfplay_seconds'] / 60:.1f}" if learns else "–",
        )

    searched = f"{study.largest} leaf evaluations a move, %"
    heads = ("variant", "policy alone, %", searched, f"Elo to {label}", "network calls", "self-play, min")
    return _table(heads, [row(name) for name in study.names if study.described[name].role in roles])


def _settings(results: Path) -> str:
    """What one changed setting did, beside the default's settings."""
    study = _StudyTables.read(results / "reference" / "settings")

    def row(name: str) -> tuple[str, ...]:
        measured = [_one(study.final, variant=name, particles=budget) for budget in (RAW, study.largest)]
        return (
            f"`{name}`",
            study.described[name].change,
            *(f"{_percent(found['share'])} %" for found in measured),
            *(_signed(found, "lead", "lead_high", "lead_low", -100, 1) for found in measured),
            study.elo_of(name),
        )

    searched = f"{study.largest} particles"
    less = ("policy, less default", f"{searched}, less default", "Elo to default")
    return _table(("variant", "what is different", "policy alone", searched, *less), map(row, study.names))


TABLES: dict[str, Callable[[Path], str]] = {
    "expected": _expected,
    "seeds": _seeds,
    "systems": lambda results: _study(results, [role for role in ROLES if role != ABLATION]),
    "study": lambda results: _study(results, ROLES),
    "settings": _settings,
}


class _StudyTables(NamedTuple):
    described: dict[str, Description]
    final: pd.DataFrame
    elo: pd.DataFrame
    accounting: pd.DataFrame
    costs: pd.DataFrame

    @classmethod
    def read(cls, folder: Path) -> _StudyTables:
        tables = (read_written(folder / "tables" / f"{name}.csv", {"variant": str}) for name in cls._fields[1:])
        return cls(descriptions(folder / "config.json"), *tables)

    @property
    def names(self) -> list[str]:
        return self.final["variant"].unique().tolist()

    @property
    def largest(self) -> int:
        return int(self.final["particles"].max())

    def cost_of(self, name: str) -> Row:
        """Return what a variant had cost in the end."""
        return self.costs[self.costs["variant"] == name].sort_values("iteration").iloc[-1]

    def elo_of(self, name: str) -> str:
        return _signed(_one(self.elo, variant=name), "rating", "rating_low", "rating_high", 1, 0)


def _found(table: pd.DataFrame, **values: object) -> Row | None:
    """Return the one row that has these values, if there is one."""
    rows = table[pd.concat([table[name] == value for name, value in values.items()], axis=1).all(axis=1)]
    return rows.iloc[0] if len(rows) == 1 else None


def _one(table: pd.DataFrame, **values: object) -> Row:
    if (row := _found(table, **values)) is None:
        raise bad("table", ", ".join(f"{name} {value}" for name, value in values.items()), "one row", "none or several")
    return row


def _percent(share: float) -> str:
    return f"{100 * share:.1f}"


def _range(row: Row, name: str) -> str:
    return f"{_percent(row[f'{name}_low'])}–{_percent(row[f'{name}_high'])}"


def _share(row: Row | None) -> str:
    return "–" if row is None else f"{_percent(row['share'])} ({_range(row, 'share')})"


def _signed(row: Row, value: str, low: str, high: str, scale: float, digits: int) -> str:
    """Return a difference with its interval; 0 has none."""
    number, *ends = (f"{scale * row[name]:+.{digits}f}".replace("-", "−") for name in (value, low, high))
    return "0" if row[value] == 0 else f"{number} ({ends[0]} to {ends[1]})"


def _table(heads: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    return tabulate(rows, list(heads), tablefmt="github", disable_numparse=True)
