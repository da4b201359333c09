"""The paper is made of the files of a run: all are needed, their numbers show, and equal files give equal bytes.

The same holds of the files of a comparison, if there is one; and what it found is told by rule.
"""

from __future__ import annotations

import json
import math
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import made_comparison
import pandas as pd
import pytest
import typst
import yaml

from probzero import config
from probzero.__main__ import main
from probzero.commands import paper
from probzero.errors import ProbZeroError
from probzero.report import style
from probzero.report.comparison import comparison_tables
from probzero.report.comparison_inputs import read_comparison
from probzero.report.comparison_text import write_tables

ROOT = Path(__file__).parent.parent

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
SHARES = {  # of iteration 0, iteration 2 and the ceiling: kept of 20, by source and particles
    ("random", 0): (9, 13, 17),
    ("selfplay", 0): (10, 12, 18),
    ("random", 8): (11, 15, 18),
    ("selfplay", 8): (12, 16, 19),
}


def kept_rows(discs: str) -> list[str]:
    """The rows of truth.csv, or with `discs` (",7") those of errors.csv."""
    lines = []
    for (source, particles), kept in {**SHARES, **summed()}.items():
        for player, iteration, leaves, count in zip(
            ("iteration-0000", "iteration-0002", "ceiling"), ("0", "2", ""), ("0", "2234", ""), kept, strict=True
        ):
            positions = 40 if source == "all" else 20
            share = count / positions
            bounds = f"{max(0.0, share - 0.1):.6g},{min(1.0, share + 0.1):.6g}"
            lines.append(
                f"{player},{iteration},{source},{particles}{discs},{positions},{count},{share:.6g},{bounds},{leaves}"
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
        "seed3/truth/positions.csv": "source,discs,own,opp,result,decisive,keeping,losing\n"
        "random,4,2176,4160,1,1,d3 c4,b1 a2\nrandom,5,64,14464,-1,0,d2 b4 d4,\nselfplay,5,1,2,1,1,a1,b2 c3 d4\n",
        "seed3/tables/truth.csv": "\n".join([f"player,iteration,source,particles,{columns}", *kept_rows(""), ""]),
        "seed3/tables/errors.csv": "\n".join(
            [f"player,iteration,source,particles,discs,{columns}", *kept_rows(",7"), ""]
        ),
        **{f"seed3/tables/{name}.csv": text for name, text in TABLES.items()},
    }
    for name, text in contents.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    draw(folder / "seed3" / "figures", paper.FIGURES)
    return folder


def draw(folder: Path, names: Sequence[str]) -> None:
    for name in names:
        with style.figure(style.SINGLE, 1.0) as (drawn, _):
            style.save(drawn, folder / f"{name}.png", folder / f"{name}.pdf")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_run(tmp_path_factory.mktemp("run"))


@pytest.fixture
def changing(made: Path, tmp_path: Path) -> Path:
    """A copy of the run, to be changed."""
    return copied(made, paper.needed(made, 3), tmp_path)


def copied(source: Path, paths: list[Path], target: Path) -> Path:
    for path in paths:
        copy = target / path.relative_to(source)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(path.read_bytes())
    return target


def words(folder: Path, selector: str, comparison: Path | None = None) -> str:
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

    walk(json.loads(typst.query(**paper.settings(folder, 3, comparison), selector=selector)))
    return "".join(found)


def test_equal_files_give_equal_bytes_wherever_they_are(made: Path, changing: Path) -> None:
    one, two = made / "paper.pdf", changing / "deeper" / "paper.pdf"
    assert main(["paper", "--run", str(made), "--seed", "3", "--output", str(one)]) == 0
    assert main(["paper", "--run", str(changing), "--seed", "3", "--output", str(two)]) == 0
    assert one.read_bytes().startswith(b"%PDF")
    assert one.read_bytes() == two.read_bytes() and b"CreationDate" not in one.read_bytes()


def test_the_abstract_tells_the_numbers_of_the_run(made: Path) -> None:
    said = words(made, "<abstract>")
    # worked out by hand from the tables above: 25, 31 and 35 of 40
    for number in (
        "8 games",
        "2,234 leaf evaluations",
        "62.5%",
        "77.5%",
        "37.5%",
        "87.5%",
        "+123 Elo",
        "−20 to +267",
    ):
        assert number in said, f"{number} in {said}"


@pytest.mark.parametrize("name", [path.name for path in paper.needed(Path(), 3)])
def test_every_file_is_needed_and_named_when_missing(
    name: str, changing: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (missing,) = [path for path in paper.needed(changing, 3) if path.name == name]
    missing.unlink()
    output = changing / "paper.pdf"
    assert main(["paper", "--run", str(changing), "--seed", "3", "--output", str(output)]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line == f"probzero: error: paper: {missing}: expected a file, found nothing"
    assert not output.exists()


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("config.json", '"blocks": 2', '"blocks": 3'),
        ("truth/positions.csv", "d3 c4,b1 a2", "d3,b1 a2 c4"),
        ("truth/ceiling.json", "332", "331"),
        ("tables/ratings.csv", "123.4", "124.4"),
        ("tables/differences.csv", "123.4", "124.4"),
        ("tables/pairings.csv", "perfect,iteration-0002,4,3,0,1,0.75", "perfect,iteration-0002,4,3,0,1,0.7"),
        ("tables/model.csv", "-17.2", "-18.2"),
        ("tables/truth.csv", "all,8,40,31,0.775", "all,8,40,31,0.785"),
        ("tables/errors.csv", "iteration-0002,2,all,0,7,40,25", "iteration-0002,2,all,0,8,40,25"),
        ("tables/calibration.csv", "0.53", "0.54"),
        ("tables/reliability.csv", "value,9", "value,0"),
        ("tables/perfect.csv", "openings,4,3", "openings,5,3"),
        ("tables/blunders.csv", "2.5,4", "2.6,4"),
        ("tables/selfplay.csv", "1234", "1235"),
        ("tables/training.csv", "2,512", "2,513"),
    ],
)
def test_a_number_that_changes_changes_the_paper(name: str, old: str, new: str, made: Path, changing: Path) -> None:
    path = changing / name if name == "config.json" else changing / "seed3" / name
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")
    assert paper.compile_pdf(changing, 3) != paper.compile_pdf(made, 3)


def test_a_table_without_its_column_is_one_line(changing: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = changing / "seed3" / "tables" / "calibration.csv"
    path.write_text(path.read_text(encoding="utf-8").replace("brier", "score"), encoding="utf-8")
    status = main(["paper", "--run", str(changing), "--seed", "3", "--output", str(changing / "paper.pdf")])
    (line,) = capsys.readouterr().err.splitlines()
    assert status == 2 and "brier" in line
    assert not (changing / "paper.pdf").exists()


def test_another_board_without_other_players_and_without_games_from_the_start_compiles(tmp_path: Path) -> None:
    folder = make_run(tmp_path, game={"size": 4}, arena={"anchors": []}, truth={"games_from_start": 0})
    tables = folder / "seed3" / "tables"
    for name, unwanted in {
        "ratings": "perfect",
        "differences": "perfect",
        "pairings": "perfect",
        "perfect": ",start,",
    }.items():
        path = tables / f"{name}.csv"
        lines = [line for line in path.read_text(encoding="utf-8").splitlines() if unwanted not in line]
        path.write_text("\n".join([*lines, ""]), encoding="utf-8")
    assert "4 × 4 Othello" in words(folder, "<abstract>")
    assert paper.compile_pdf(folder, 3).startswith(b"%PDF")


@pytest.mark.parametrize(
    ("value", "digits", "expected"),
    [
        (0.0, 1, "0.0"),
        (0.05, 2, "0.05"),
        (-0.004, 2, "0.00"),
        (-3.14159, 3, "−3.142"),
        (99.95, 1, "100.0"),
        (7.5, 0, "8"),
    ],
)
def test_numbers_are_rounded_and_padded(value: float, digits: int, expected: str, made: Path) -> None:
    assert written(f"fixed({value}, {digits})", made) == expected
    assert math.isclose(float(expected.replace("−", "-")), value, abs_tol=0.5 * 10**-digits + 1e-9)


@pytest.mark.parametrize(
    ("value", "expected"), [(0, "0"), (999, "999"), (1000, "1,000"), (1234567, "1,234,567"), (-123456, "−123,456")]
)
def test_thousands_are_set_apart(value: int, expected: str, made: Path) -> None:
    assert written(f"grouped({value})", made) == expected


def test_a_wrong_source_is_a_clear_error(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paper, "SOURCE", tmp_path / "paper.typ")
    with pytest.raises(ProbZeroError, match=r"paper\.typ: expected a file, found nothing"):
        paper.compile_pdf(made, 3)


def written(expression: str, folder: Path) -> str:
    """What a function of run.typ makes of a number."""
    settings = paper.settings(folder, 3)
    functions = paper.SOURCE.with_name("run.typ").resolve().relative_to(settings["root"]).as_posix()
    document = f'#import "/{functions}": *\n#metadata({expression}) <it>'.encode()
    return json.loads(typst.query(**{**settings, "input": document}, selector="<it>", field="value", one=True))


# The comparison. Invented too: points and ratings are made up, its tables are those of the report.
RIVAL = "alphazero"
BETTER, WORSE, OPEN = (4.0, 0.5, 7.5), (-4.0, -7.5, -0.5), (1.0, -2.5, 4.5)  # points or Elo, with the interval
UNKNOWN = (4.0, None, None)
Difference = tuple[float, float | None, float | None]


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("comparison")
    variants, seeds = list(made_comparison.WORTH), range(3)
    points, ratings = [], []
    for seed in seeds:
        for variant in variants:
            points.append(folder / f"{variant}-{seed}.csv")
            made_comparison.points(variant, seed, (0, 12), (0, 96)).to_csv(points[-1], index=False)
        ratings.append(folder / f"ratings-{seed}.csv")
        made_comparison.ratings(seed, variants).to_csv(ratings[-1], index=False)
    write_tables(comparison_tables(read_comparison(points, ratings, "probzero")), "probzero", folder / "tables")
    settings = yaml.safe_load((ROOT / "config" / "comparison.yaml").read_text(encoding="utf-8"))
    (folder / "config.json").write_text(json.dumps(settings), encoding="utf-8")
    (folder / "positions.csv").write_text(
        "source,discs,own,opp,result,decisive,keeping,losing\nrandom,4,2176,4160,1,1,d3 c4,b1 a2\n", encoding="utf-8"
    )
    draw(folder / "figures", paper.COMPARISON_FIGURES)
    return folder


@pytest.fixture
def changed(compared: Path, tmp_path: Path) -> Path:
    """A copy of the comparison, to be changed."""
    return copied(compared, paper.compared(compared), tmp_path / "compared")


def change(folder: Path, table: str, where: dict[str, Any], values: dict[str, float | None]) -> None:
    """Put values in the place of those of the one row that `where` names."""
    path = folder / "tables" / f"{table}.csv"
    rows = pd.read_csv(path)
    chosen = pd.concat([rows[column] == value for column, value in where.items()], axis=1).all(axis=1)
    assert chosen.sum() == 1
    for column, value in values.items():
        rows[column] = rows[column].astype(object)
        rows.loc[chosen, column] = math.nan if value is None else value
    rows.to_csv(path, index=False)


def against(folder: Path, variant: str, raw: Difference | None, searched: Difference, elo: Difference) -> None:
    """Let ProbZero be ahead of a variant by this; what is written of Elo is the variant's own."""
    for particles, points in ((0, raw), (96, searched)):
        if points is None:
            continue
        shares = [None if value is None else value / 100 for value in points]
        found = dict(zip(("lead", "lead_t_low", "lead_t_high"), shares, strict=True))
        change(folder, "final", {"variant": variant, "particles": particles}, found)
    value, high, low = (None if value is None else -value for value in elo)
    rating = {"rating": value, "rating_t_low": low, "rating_t_high": high, "game_sd": 1.0}
    change(folder, "elo", {"variant": variant}, rating)


def effect(folder: Path, variant: str, raw: Difference, searched: Difference, elo: Difference) -> None:
    for kind, found, scale in (("raw", raw, 100), ("searched", searched, 100), ("elo", elo, 1)):
        names = (f"{kind}_effect", f"{kind}_t_low", f"{kind}_t_high")
        values = [None if value is None else value / scale for value in found]
        change(folder, "ablations", {"variant": variant}, dict(zip(names, values, strict=True)))
    change(folder, "elo", {"variant": variant}, {"game_sd": 1.0})


def test_without_a_comparison_the_paper_says_so(made: Path) -> None:
    assert "a comparison with AlphaZero at equal budgets is not part of this document" in words(made, "<abstract>")
    assert "A comparison with AlphaZero at equal budgets, and ablations" in words(made, "<compared-or-not>")
    assert "Comparison with AlphaZero" not in words(made, "heading")
    assert "Compared searches" not in words(made, "strong")


def test_a_comparison_is_a_section_of_its_own_run(made: Path, compared: Path, tmp_path: Path) -> None:
    output = tmp_path / "paper.pdf"
    arguments = ["--run", str(made), "--comparison", str(compared), "--seed", "3", "--output", str(output)]
    assert main(["paper", *arguments]) == 0
    assert output.read_bytes().startswith(b"%PDF")
    assert "Comparison with AlphaZero and ablations" in words(made, "heading", compared)
    assert "Compared searches" in words(made, "strong", compared)
    said = words(made, "<provenance>", compared)
    assert "a separate run, made by make comparison in the folder results/comparison" in said
    assert "results/reference/comparison" in said and "3 seeds (0, 1 and 2)" in said
    for selector in ("<abstract>", "<compared-or-not>"):
        assert "not part of this document" not in words(made, selector, compared)


def test_another_size_of_the_comparison_names_its_command(made: Path, changed: Path) -> None:
    path = changed / "config.json"
    path.write_text(
        path.read_text(encoding="utf-8").replace('"name": "comparison"', '"name": "comparison-full"'), "utf-8"
    )
    assert "made by make comparison SIZE=-full in the folder results/comparison-full" in words(
        made, "<provenance>", changed
    )


def test_what_is_equal_and_what_it_cost_is_told(made: Path, changed: Path) -> None:
    costs: dict[str, float | None] = {"network_calls": 3 * 3420, "selfplay_seconds": 252, "training_seconds": 42}
    change(changed, "accounting", {"variant": RIVAL}, costs)
    for variant, leaves, seeds in (("probzero", 1234567, 3), (RIVAL, 2345678, 2)):
        reached: dict[str, float | None] = {"leaf_evaluations": leaves, "seeds_reaching": seeds}
        change(changed, "efficiency", {"variant": variant, "threshold": 0.95}, reached)
    equal, cost = words(made, "<equal>", changed), words(made, "<spending>", changed)
    # 12 iterations of 256 games and 90,000 samples; 40 leaf evaluations a move, AlphaZero × 0.9, no-dag × 1.15
    for number in ("64 leaf evaluations a move", "3,072 games", "1,080,000 samples", "40.0 leaf", "0.90 to 1.15 times"):
        assert number in equal, f"{number} in {equal}"
    # ProbZero: 126 s of self-play and 168 s of training
    for number in ("3.00 times as many calls", "2.00 times as long in self-play and 1.00 times"):
        assert number in cost, f"{number} in {cost}"
    assert "first keeps 95% of exact results after 1,234,567 leaf evaluations of self-play (3 of 3 seeds)" in cost
    assert "AlphaZero after 2,345,678 leaf evaluations of self-play (2 of 3 seeds)" in cost


def test_a_share_that_no_seed_reaches_is_said_not_to_be_reached(made: Path, changed: Path) -> None:
    for variant in ("probzero", RIVAL):
        reached: dict[str, float | None] = {"leaf_evaluations": None, "seconds": None, "seeds_reaching": 0}
        change(changed, "efficiency", {"variant": variant, "threshold": 0.95}, reached)
    assert words(made, "<spending>", changed).count("in none of 3 seeds") == 2


@pytest.mark.parametrize(
    ("found", "counts", "conclusion", "short"),
    [
        (
            (BETTER, BETTER, BETTER),
            (3, 0, 0, 0),
            "By every measure ProbZero is better than AlphaZero here.",
            "ProbZero is better by the policy alone (+4.0 points, +0.5 to +7.5),"
            " with search (+4.0 points, +0.5 to +7.5) and in Elo (+4, +1 to +8).",
        ),
        (
            (WORSE, WORSE, WORSE),
            (0, 3, 0, 0),
            "By every measure AlphaZero is better than ProbZero here: for ProbZero this is a negative result.",
            "AlphaZero is better by the policy alone (−4.0 points, −7.5 to −0.5),"
            " with search (−4.0 points, −7.5 to −0.5) and in Elo (−4, −8 to −1);"
            " nothing in it shows ProbZero to be better.",
        ),
        (
            (OPEN, OPEN, OPEN),
            (0, 0, 3, 0),
            "So the comparison does not show ProbZero to be better than AlphaZero, nor worse.",
            "no difference could be shown by the policy alone (+1.0 points, −2.5 to +4.5),"
            " with search (+1.0 points, −2.5 to +4.5) or in Elo (+1, −3 to +5);"
            " nothing in it shows ProbZero to be better.",
        ),
        (
            (OPEN, WORSE, OPEN),
            (0, 1, 2, 0),
            "No measure shows ProbZero to be better: for ProbZero this is a negative result.",
            "AlphaZero is better with search (−4.0 points, −7.5 to −0.5);"
            " no difference could be shown by the policy alone (+1.0 points, −2.5 to +4.5) or in Elo (+1, −3 to +5);"
            " nothing in it shows ProbZero to be better.",
        ),
        (
            (OPEN, BETTER, OPEN),
            (1, 0, 2, 0),
            "No measure shows AlphaZero to be better.",
            "ProbZero is better with search (+4.0 points, +0.5 to +7.5); no difference could be shown",
        ),
        (
            (BETTER, OPEN, WORSE),
            (1, 1, 1, 0),
            "The measures disagree",
            "(+4.0 points, +0.5 to +7.5); AlphaZero is better in Elo (−4, −8 to −1); no difference could be shown",
        ),
        (
            (UNKNOWN, UNKNOWN, UNKNOWN),
            (0, 0, 0, 3),
            "does not show ProbZero to be better",
            "nothing is known of the difference by the policy alone (+4.0 points, interval unknown)",
        ),
    ],
    ids=["better", "worse", "open", "worse once", "better once", "mixed", "one seed"],
)
def test_the_finding_follows_the_numbers(
    found: tuple[Difference, ...], counts: tuple[int, ...], conclusion: str, short: str, made: Path, changed: Path
) -> None:
    against(changed, RIVAL, *found)
    said, abstract = words(made, "<finding>", changed), words(made, "<abstract>", changed)
    verdicts = (
        "ProbZero is better",
        "AlphaZero is better",
        "no difference could be shown",
        "nothing is known of the difference",
    )
    assert tuple(said.count(f"{verdict}: ProbZero − AlphaZero is ") for verdict in verdicts) == counts, said
    assert (said.count(", zero excluded"), said.count(", zero included")) == (counts[0] + counts[1], counts[2])
    assert conclusion in said
    assert short in abstract, abstract
    assert ("nothing in it shows ProbZero to be better" in abstract) == (counts[0] == 0)
    assert "These numbers are of one seed. In a separate comparison with AlphaZero at equal budgets" in abstract


def test_what_the_other_systems_are_worth_follows_the_numbers(made: Path, changed: Path) -> None:
    against(changed, "alphazero-minmax", OPEN, WORSE, BETTER)
    against(changed, "uct", None, WORSE, BETTER)  # it has no policy
    said = words(made, "<other-systems>", changed)
    better, worse = "ProbZero is better in Elo (+4, +1 to +8)", "is better with search (−4.0 points, −7.5 to −0.5)"
    assert f"beside UCT, {better}; UCT {worse}." in said
    assert f"beside AlphaZero, min–max, {better}; AlphaZero, min–max {worse}; no difference" in said


def test_an_interval_narrower_than_the_chance_of_games_is_marked(made: Path, changed: Path) -> None:
    against(changed, RIVAL, OPEN, OPEN, BETTER)  # ± 3.5; with 3 seeds a game sd of 3.1 would give ± 3.508
    assert "narrower" not in words(made, "<finding>", changed)
    change(changed, "elo", {"variant": RIVAL}, {"game_sd": 3.1})
    assert "zero excluded, but narrower than the chance of games" in words(made, "<finding>", changed)
    assert "in Elo (+4, +1 to +8, narrower than" in words(made, "<abstract>", changed)
    assert "−4 ± 4†" in words(made, "figure", changed)


def test_what_each_idea_does_follows_the_numbers(made: Path, changed: Path) -> None:
    for variant in ("root-only", "visit-policy", "no-bootstrap", "no-reward", "multinomial", "no-reuse", "no-dag"):
        effect(changed, variant, OPEN, OPEN, OPEN)
    nothing = "no effect could be shown by the policy alone, with search or in Elo."
    said = words(made, "<ideas>", changed)
    for expected in (
        "Of 3 ideas none could be shown to help by at least one measure, and none to harm.",
        f"beside no-bootstrap and no-reward, {nothing}",
        "Of these 21 intervals none excludes zero.",
    ):
        assert expected in said, f"{expected} in {said}"
    effect(changed, "root-only", BETTER, OPEN, BETTER)
    effect(changed, "no-reward", WORSE, OPEN, UNKNOWN)
    said = words(made, "<ideas>", changed)
    for expected in (
        "whole-tree targets could be shown to help by at least one measure, and reward bootstrap to harm.",
        "whole-tree targets: beside root-only, it helps by the policy alone (+4.0 points, +0.5 to +7.5) and in Elo"
        " (+4, +1 to +8); no effect could be shown with search.",
        f"winner_prob policy targets: beside visit-policy, {nothing}",
        f"reward bootstrap: beside no-bootstrap, {nothing} And beside no-reward,"
        " it harms by the policy alone (−4.0 points, −7.5 to −0.5); no effect could be shown with search;"
        " nothing is known of the effect in Elo.",
        "Of these 21 intervals 3 exclude zero.",
    ):
        assert expected in said, f"{expected} in {said}"


def test_the_tables_of_the_comparison_show_its_numbers(made: Path, changed: Path) -> None:
    against(changed, RIVAL, BETTER, OPEN, WORSE)
    shares = {"share": 0.8125, "share_t_low": 0.775, "share_t_high": 0.85, "seed_sd": 0.01}
    change(changed, "final", {"variant": RIVAL, "particles": 0}, shares)
    change(changed, "elo", {"variant": RIVAL}, {"seed_sd": 12.0, "game_sd": 1.0})
    said = words(made, "figure", changed)
    assert "AlphaZero81.3 (77.5–85.0)+4.0 ± 3.5" in said
    assert "+1.0 ± 3.5+4 ± 4121" in said  # searched lead; AlphaZero's Elo; seed and game standard deviation


@pytest.mark.parametrize("name", [str(path) for path in paper.compared(Path())])
def test_every_file_of_a_comparison_is_needed(
    name: str, made: Path, changed: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (changed / name).unlink()
    output = changed / "paper.pdf"
    arguments = ["--run", str(made), "--comparison", str(changed), "--seed", "3", "--output", str(output)]
    assert main(["paper", *arguments]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line == f"probzero: error: paper: {changed / name}: expected a file, found nothing"
    assert not output.exists()


@pytest.mark.parametrize("table", paper.COMPARISON_TABLES)
def test_every_table_of_a_comparison_is_read(table: str, made: Path, compared: Path, changed: Path) -> None:
    assert paper.compile_pdf(made, 3, changed) == paper.compile_pdf(made, 3, compared)  # wherever it is
    shown = {"final": "share", "elo": "rating", "ablations": "raw_effect", "accounting": "games", "efficiency": "seeds"}
    path = changed / "tables" / f"{table}.csv"
    rows = pd.read_csv(path)
    rows.loc[rows["variant"].isin([RIVAL, "root-only"]), shown[table]] *= 2
    rows.to_csv(path, index=False)
    assert paper.compile_pdf(made, 3, changed) != paper.compile_pdf(made, 3, compared)


def test_a_comparison_without_alphazero_is_refused(
    made: Path, changed: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = changed / "tables" / "final.csv"
    rows = pd.read_csv(path)
    rows[rows["variant"] != RIVAL].to_csv(path, index=False)
    output = changed / "paper.pdf"
    arguments = ["--run", str(made), "--comparison", str(changed), "--seed", "3", "--output", str(output)]
    assert main(["paper", *arguments]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "no comparison of probzero with alphazero" in line
    assert not output.exists()


def test_a_comparison_of_two_systems_alone_compiles(made: Path, changed: Path) -> None:
    for path in (changed / "tables").iterdir():
        rows = pd.read_csv(path)
        rows[rows["variant"].isin(["probzero", RIVAL])].to_csv(path, index=False)
    assert "Ablations" not in words(made, "heading", changed)
    assert paper.compile_pdf(made, 3, changed).startswith(b"%PDF")


def test_the_workflow_names_the_sources_and_the_comparison_that_is_kept(compared: Path, tmp_path: Path) -> None:
    shutil.copy(ROOT / "Snakefile", tmp_path)
    shutil.copytree(ROOT / "workflow", tmp_path / "workflow")
    for name in ("src", "config", "paper", "environment.yml"):
        (tmp_path / name).symlink_to(ROOT / name)
    kept = tmp_path / "results" / "reference" / "comparison"
    plan = [sys.executable, "-m", "snakemake", "--snakefile", str(tmp_path / "Snakefile"), "--directory", str(tmp_path),
            "--configfile", str(ROOT / "config" / "smoke.yaml"), "--cores", "1", "--dry-run", "-p"]  # fmt: skip
    for there in (False, True):
        if there:
            copied(compared, paper.compared(compared), kept)
        shown = subprocess.run(plan, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=True).stdout
        rule = shown.partition("rule paper:")[2].partition("\nrule ")[0]
        assert (f"--comparison {kept} --output" in rule) == there
        for path in (tmp_path / "paper").iterdir():
            assert (f"{path}" in rule) == (path.suffix in (".typ", ".bib")), path
        assert all((str(path) in rule) == there for path in paper.compared(kept))
