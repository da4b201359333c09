"""The paper is made of the files of a run: all are needed, their numbers show, and equal files give equal bytes."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
import typst
import yaml

from probzero.__main__ import main
from probzero.commands import paper
from probzero.errors import ProbZeroError
from probzero.report import style

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
    settings = yaml.safe_load((ROOT / "config" / "smoke.yaml").read_text(encoding="utf-8"))
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
    for name in paper.FIGURES:
        with style.figure(style.SINGLE, 1.0) as (drawn, _):
            style.save(
                drawn, folder / "seed3" / "figures" / f"{name}.png", folder / "seed3" / "figures" / f"{name}.pdf"
            )
    return folder


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_run(tmp_path_factory.mktemp("run"))


@pytest.fixture
def changing(made: Path, tmp_path: Path) -> Path:
    """A copy of the run, to be changed."""
    for path in paper.needed(made, 3):
        copy = tmp_path / path.relative_to(made)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(path.read_bytes())
    return tmp_path


def words(folder: Path, selector: str) -> str:
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

    walk(json.loads(typst.query(**paper.settings(folder, 3), selector=selector)))
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
