"""From finished studies to a verdict on each claim: the commands, on made-up measures of the studies as configured."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import made_study
import pandas as pd
import pytest
import yaml
from sealed import made

from probzero import files, study
from probzero.__main__ import main
from probzero.report.certificates import KIND as CERTIFICATES
from probzero.report.evidence import contrasts
from probzero.report.evidence.outcomes import read_outcomes
from probzero.report.study.inputs import MEASURED
from probzero.report.tables import write_table
from probzero.tables import write_csv

ROOT = Path(__file__).parents[2]


def finished(folder: Path, name: str) -> Path:
    """A study of our configuration with two seeds, as far as outcomes and costs go."""
    raw: dict[str, Any] = yaml.safe_load((ROOT / "config" / f"{name}.yaml").read_text(encoding="utf-8"))
    raw["seeds"] = [0, 1]
    for variant in raw["variants"].values():
        variant.pop("repetitions", None)
    top = folder / name
    assert main(["config", "--config", json.dumps(raw), "--output", str(top / "config.json")]) == 0
    for variant in study.load(top / "config.json").variants:
        like = "uct" if variant == "uct" else "probzero"
        for seed in (0, 1):
            place = top / variant / f"seed{seed}"
            table = made_study.measures(like, seed, (10,), (0, 96)).assign(variant=variant)
            write_csv(place / "measures.csv", table, MEASURED, made(seed=seed))
            costs = made_study.costs(like, seed, (10,)).assign(variant=variant)
            write_csv(place / "costs.csv", costs, files.COSTS, made(seed=seed))
    return top


def test_every_claim_gets_its_row_from_the_files_of_the_studies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(contrasts, "REPLICATES", 50)
    studies = [finished(tmp_path, name) for name in ("factorial", "rivals")]
    outcomes = tmp_path / "outcomes.safetensors"
    assert main(["outcomes", "--studies", *(f"{at.name}={at}" for at in studies), "--output", str(outcomes)]) == 0
    found = read_outcomes(outcomes)
    assert len(found.arms) == 16 + 11 and found.lost.shape == (2 * (2 * 27 - 1), made_study.POSITIONS.sum())
    table = tmp_path / "verdicts.csv"
    arguments = ["--outcomes", str(outcomes), "--rivals", str(studies[1]), "--output", str(table)]
    assert main(["verdicts", *arguments]) == 0
    rows = pd.read_csv(table, dtype={"claim": str})
    assert list(rows.columns) == ["claim", "contrast", "estimate", "low", "high", "p_holm", "equivalent", "verdict"]
    assert set(rows["claim"]) == set("1234567")
    # All arms were made up alike, but for the draws: nothing can be told, and each primary contrast is there.
    assert len(rows[rows["p_holm"].notna()]) == 4
    assert rows[rows["claim"] == "7"]["contrast"].iloc[0] == "probzero / alphazero"  # the first rival with all seeds
    assert (rows[rows["claim"] == "4"]["estimate"] == 1).all()
    assert rows[rows["claim"].isin(["5", "6"])]["verdict"].tolist() == ["cannot be told"] * 2
    assert "claim 1 · tree / roots" in capsys.readouterr().out
    more = picks(tmp_path, "gumbel"), tmp_path / "machine.json"
    assert main(["verdicts", *arguments, "--picks", str(more[0]), "--machine", str(more[1])]) == 0
    rows = pd.read_csv(table, dtype={"claim": str})
    assert rows[rows["claim"] == "7"]["contrast"].iloc[0] == "probzero / gumbel"
    # Which certificates are then asked for: of three arms at most two seeds are there.
    errors = {arm: found.of(arm, 96, [0, 1]).mean() for arm in found.arms if arm.startswith("factorial/")}
    capsys.readouterr()
    asked = ["openings", "names", "--outcomes", str(outcomes), "--picks", str(more[0]), "--study"]
    assert main([*asked, "factorial=here"]) == 0
    cells = [name.split("/")[1] for name in (min(errors, key=errors.__getitem__), max(errors, key=errors.__getitem__))]
    expected = [f"here/seed{seed}/certificates/{cell}.csv" for cell in cells for seed in (0, 1)]
    assert capsys.readouterr().out.split() == expected
    assert main([*asked, f"rivals={tmp_path}"]) == 0
    assert capsys.readouterr().out.split() == [
        f"{tmp_path}/seed{seed}/certificates/{name}.csv" for name in ("probzero", "gumbel") for seed in (0, 1)
    ]
    files.write(studies[1] / "config.json", (studies[1] / "config.json").read_bytes(), "configuration",
                made(settings={"study": "another"}))  # fmt: skip
    assert main(["verdicts", *arguments]) == 2
    assert "rivals: expected a file made with the settings at hand (another)" in capsys.readouterr().err


def picks(folder: Path, rival: str) -> Path:
    """A table of what was tried, in which this rival has the smallest error of the others."""
    rows = [(name, 0, 1, 0.01 if name == rival else 0.02, 0.1) for name in ("probzero", "alphazero", "gumbel")]
    table = pd.DataFrame(rows, columns=["system", "draw", "picked", "error", "raw_error"])
    write_table(table, folder / "picks.csv", made())
    return folder / "picks.csv"


def test_won_openings_are_counted_by_arm_seed_and_budget(tmp_path: Path) -> None:
    paths = []
    for seed, certified in ((0, [1, 0, 0, 1, 1]), (1, [1, 1, 1, 0, 0])):
        path = tmp_path / f"seed{seed}" / "certificates" / "gumbel.csv"
        rows = [("start", 0), ("won", 0), ("won", 0), ("won", 96), ("won", 96)]
        table = pd.DataFrame(rows, columns=["source", "particles"]).assign(
            player="gumbel", position="x", line="", key=-1, moves_first=1, positions=3, decisions=2, exact=1,
            result=[1 if held else -1 for held in certified], certified=certified, holes=0, hole_plies=-1,
            random_wins=1.0, random_draws=0.0,
        )  # fmt: skip
        write_csv(path, table, CERTIFICATES, made(seed=seed).about("gumbel"))
        paths.append(str(path))
    assert main(["openings", "table", "--certificates", *paths, "--output", str(tmp_path / "openings.csv")]) == 0
    found = pd.read_csv(tmp_path / "openings.csv")
    assert list(found.itertuples(index=False, name=None)) == [
        ("gumbel", 0, 0, 0, 2), ("gumbel", 1, 0, 2, 2), ("gumbel", 0, 96, 2, 2), ("gumbel", 1, 96, 0, 2),
    ]  # fmt: skip


def test_progress_is_told_of_every_tournament_that_is_rated(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    top = tmp_path / "published"
    assert main(["config", "--config", str(ROOT / "config/published.yaml"), "--output", str(top / "config.json")]) == 0
    table = {"player": ["iteration-0400"], "opponent": ["iteration-0050"], "difference": 20.0, "low": -10.0,
             "high": 50.0, "standard_error": 15.0, "superiority": 0.9}  # fmt: skip
    for name in ("raw", "leaves-96"):
        write_table(pd.DataFrame(table), top / name / "tables" / "differences.csv", made())
    output = tmp_path / "verdicts.csv"
    assert main(["verdicts", "--progress", f"published={top}", "--output", str(output)]) == 0
    rows = pd.read_csv(output, dtype={"claim": str})
    assert rows[rows["claim"] == "5"]["contrast"].tolist() == [
        f"published, {name}, Elo of iteration 400 − 50" for name in ("raw", "leaves-96")
    ]
    assert "claim 5, published, leaves-384 · not rated yet" in capsys.readouterr().out


def test_tuning_is_drawn_from_the_command_line_and_what_it_lacks_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    space, output = str(ROOT / "config" / "tuning.yaml"), tmp_path / "tuning.json"
    assert main(["tuning", "draw", "--space", space, "--output", str(output)]) == 0
    assert len(study.load(output).variants) == 36
    assert main(["tuning", "apply", "--space", space, "--output", str(output)]) == 2
    assert "tuning: --picks: expected given with apply, found nothing" in capsys.readouterr().err
