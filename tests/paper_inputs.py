"""The files that the paper is made of, a run's and a study's, with invented numbers; and what the paper says.

A file of tests has the fixtures that it names: `made = paper_inputs.made`.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import made_study
import pandas as pd
import pytest
import typst
from sealed import copy, reseal, rewrite_table

from probzero import config, files
from probzero.__main__ import main
from probzero.origin import Origin
from probzero.report import paper, style
from probzero.report.study.inputs import read_results
from probzero.report.study.tables import study_tables
from probzero.report.tables import write_table
from probzero.study import descriptions

ROOT = Path(__file__).parent.parent
RIVAL = "alphazero"
BY = Origin(command="test", seed=3)

# Invented numbers. Iterations 0 and 2 and the ceiling; 40 decisive positions, 20 of each source.
TABLES = {
    "ratings": """\
player,iteration,rating,low,high,standard_error,bounded,field_low,field_high,games,score
iteration-0000,0,0,0,0,0,True,-40,40,8,0.25
iteration-0002,2,123.4,-20.1,266.9,60,True,50,190,8,0.625
perfect,,456.7,200,700,99,False,300,600,8,0.875
""",
    "differences": """\
player,opponent,difference,low,high,standard_error,bounded,superiority
iteration-0002,iteration-0000,123.4,-20.1,266.9,60,True,0.96
perfect,iteration-0000,456.7,200,700,99,False,0.99
perfect,iteration-0002,333.3,100,566.6,90,False,0.99
""",
    "pairings": """\
player,opponent,games,wins,draws,losses,score,score_low,score_high,distinct_games
iteration-0002,iteration-0000,4,3,0,1,0.75,0.3,0.95,4
perfect,iteration-0000,4,4,0,0,1,0.5,1,4
perfect,iteration-0002,4,3,0,1,0.75,0.3,0.95,4
""",
    "model": """\
parameter,estimate,lower,upper
first_move_advantage,-17.2,-80.4,45.9
draw_parameter,0.1,0.01,0.5
""",
    "calibration": """\
player,iteration,head,positions,brier,log_loss
iteration-0000,0,reward,60,0.64,1.05
iteration-0000,0,value,60,0.66,1.09
iteration-0002,2,reward,60,0.38,0.58
iteration-0002,2,value,60,0.53,0.88
ceiling,,reward,60,0.21,0.33
ceiling,,value,60,0.22,0.34
""",
    "reliability": """\
head,bin,predictions,mean_prediction,frequency,share_low,share_high,player
reward,0,90,0.01,0.02,0.001,0.03,iteration-0002
value,9,90,0.97,0.95,0.9,0.99,iteration-0002
""",
    "perfect": """\
player,iteration,begins,games,won,drawn,won_share,share_low,share_high
iteration-0000,0,start,2,0,0,0,0,0.66
iteration-0000,0,openings,4,1,0,0.25,0.05,0.7
iteration-0002,2,start,2,1,0,0.5,0.1,0.9
iteration-0002,2,openings,4,3,0,0.75,0.3,0.95
ceiling,,start,2,2,0,1,0.34,1
ceiling,,openings,4,4,0,1,0.51,1
""",
    "certificates": """\
player,iteration,source,particles,draws,agents,certified,positions,margin,holes,hole_plies,random_wins
iteration-0000,0,start,0,0,1,0,900,-25,70,2,0.6
iteration-0002,2,start,0,0,1,0,800,-3,7,8,0.9
iteration-0002,2,start,8,0,1,1,700,1,0,,1
iteration-0002,2,start,8,1,4,4,700,1,0,,1
iteration-0002,2,won,8,0,69,50,700,-21,31,0,0.98
""",
    "blunders": """\
blunders,blunders_per_game,games,games_without_blunder,iteration,moves,result_lost_per_game
16,4,4,1,1,84,3.5
10,2.5,4,2,2,85,2.25
""",
    "selfplay": """\
iteration,games,moves,leaf_evaluations,network_evaluations,cache_hits,samples,exhausted_roots,seconds,network_seconds
1,4,84,1000,900,100,300,10,2.5,1
2,4,85,1234,1100,134,310,12,2.5,1
""",
    "training": """\
iteration,samples,seconds
1,512,1.5
2,512,1.5
""",
}
START = "...../.ox../.xo../...../....."
POSITIONS = f"source,phase,position,result,decisive,keeping,losing\nrandom,4,{START},1,1,d3 c4,b1 a2\n"
SHARES = {  # of iteration 0, iteration 2 and the ceiling: kept of 20, by source and particles
    ("random", 0): (9, 13, 17),
    ("selfplay", 0): (10, 12, 18),
    ("random", 8): (11, 15, 18),
    ("selfplay", 8): (12, 16, 19),
}


def kept_rows(phase: str) -> list[str]:
    """The rows of truth.csv, or with `phase` (",7") those of errors.csv."""
    lines = []
    for (source, particles), kept in {**SHARES, **summed()}.items():
        for player, iteration, leaves, count in zip(
            ("iteration-0000", "iteration-0002", "ceiling"), ("0", "2", ""), ("0", "2234", ""), kept, strict=True
        ):
            positions = 40 if source == "all" else 20
            share = count / positions
            bounds = f"{max(0.0, share - 0.1):.6g},{min(1.0, share + 0.1):.6g}"
            lines.append(
                f"{player},{iteration},{source},{particles}{phase},{positions},{count},{share:.6g},{bounds},{leaves}"
            )
    return lines


def summed() -> dict[tuple[str, int], tuple[int, ...]]:
    pairs = {particles: (SHARES["random", particles], SHARES["selfplay", particles]) for particles in (0, 8)}
    return {("all", particles): tuple(a + b for a, b in zip(*pair, strict=True)) for particles, pair in pairs.items()}


def make_run(folder: Path, **changes: Any) -> Path:
    """Write the files that the paper names, and no other, for seed 3; `changes` go to the configuration."""
    settings = config.load(ROOT / "config" / "smoke.yaml").as_dict()
    for name, value in {"seeds": [3], **changes}.items():
        settings[name] = {**settings[name], **value} if isinstance(value, dict) else value
    columns = "positions,kept,kept_share,share_low,share_high,leaf_evaluations"
    contents = {
        "config.json": json.dumps(settings),
        "seed3/truth/ceiling.json": json.dumps({"positions": 332, "samples": 2000}),
        # of the two decisive positions a random move keeps one in 1/2 and one in 1/4 of the cases: 37.5 % on average
        "seed3/truth/positions.csv": f"{POSITIONS}random,5,{START},-1,0,d2 b4 d4,\n"
        f"selfplay,5,{START},1,1,a1,b2 c3 d4\n",
        "seed3/tables/truth.csv": "\n".join([f"player,iteration,source,particles,{columns}", *kept_rows(""), ""]),
        "seed3/tables/errors.csv": "\n".join(
            [f"player,iteration,source,particles,phase,{columns}", *kept_rows(",7"), ""]
        ),
        **{f"seed3/tables/{name}.csv": text for name, text in TABLES.items()},
    }
    for name, text in contents.items():
        by = BY.about(Path(name).stem) if "tables" in name else BY
        files.write(folder / name, text.encode(), paper.kind_of(folder / name), by)
    draw(folder / "seed3" / "figures", paper.FIGURES)
    return folder


def draw(folder: Path, names: Sequence[str]) -> None:
    for name in names:
        with style.figure(style.SINGLE, 1.0) as (drawn, _):
            style.save(drawn, folder / name, BY)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_run(tmp_path_factory.mktemp("run"))


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Measures and ratings are made up, the tables are those of the report."""
    folder = tmp_path_factory.mktemp("study")
    variants, seeds = list(made_study.WORTH), range(3)
    record = made_study.write_record(folder / "config.json", variants)
    inputs = made_study.write_inputs(folder, variants, seeds, (0, 12), (0, 96))
    for name, table in study_tables(read_results(*inputs, descriptions(record))).items():
        write_table(table, folder / "tables" / f"{name}.csv", BY)
    files.write(folder / "positions.csv", POSITIONS.encode(), paper.kind_of(folder / "positions.csv"), BY)
    draw(folder / "figures", paper.STUDY_FIGURES)
    return folder


@pytest.fixture
def changed(study: Path, tmp_path: Path) -> Path:
    """A copy of the study, to be changed."""
    return copied(study, paper.study_files(study), tmp_path / "study")


def copied(source: Path, paths: list[Path], target: Path) -> Path:
    for path in paths:
        copy(path, target / path.relative_to(source))
    return target


def change(folder: Path, table: str, where: dict[str, Any], values: dict[str, float | None]) -> None:
    """Put values in the place of those of the one row that `where` names."""

    def changed(rows: pd.DataFrame) -> pd.DataFrame:
        chosen = pd.concat([rows[column] == value for column, value in where.items()], axis=1).all(axis=1)
        assert chosen.sum() == 1
        for column, value in values.items():
            rows[column] = rows[column].astype(object)
            rows.loc[chosen, column] = math.nan if value is None else value
        return rows

    rewrite_table(folder / "tables" / f"{table}.csv", changed)


def replace(path: Path, *pairs: tuple[str, str]) -> None:
    """Put other texts in the place of those that stand in a file, and seal it anew."""

    def changed(data: bytes) -> bytes:
        for old, new in pairs:
            assert old.encode() in data, old
            data = data.replace(old.encode(), new.encode())
        return data

    reseal(path, changed)


def arguments(run: Path, output: Path, study: Path | None = None, *more: str) -> list[str]:
    named = [*([] if study is None else ["--study", str(study)]), *more]
    return ["paper", "--run", str(run), *named, "--seed", "3", "--output", str(output)]


def refusal(capsys: pytest.CaptureFixture[str], run: Path, study: Path | None = None, *more: str) -> str:
    """The one line that the command says when it refuses these files; check that it leaves no paper behind."""
    output = (study or run) / "paper.pdf"
    assert main(arguments(run, output, study, *more)) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert not output.exists()
    return line


def words(folder: Path, selector: str, study: Path | None = None, **beside: Path) -> str:
    """The text of an element of the paper."""
    found: list[str] = []

    def walk(part: Any) -> None:
        if isinstance(part, dict):
            found.extend([part["text"]] if part.get("func") in ("text", "raw") else [])
            found.append(" " if part.get("func") == "space" else "")  # one that must not break is no text, so "5%"
            walk([value for key, value in part.items() if key != "text"])
        elif isinstance(part, list):
            for item in part:
                walk(item)

    walk(json.loads(typst.query(**paper.settings(folder, 3, paper.Beside(study, **beside)), selector=selector)))
    return "".join(found)
