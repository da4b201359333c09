"""A run beside the reference: what passes, what does not, and what is only shown."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sealed import MADE, made, rewrite_table
from simulated_games import simulate

from probzero import config, files
from probzero.arena import elo
from probzero.errors import ProbZeroError
from probzero.network.compiled import target as target_module
from probzero.origin import Origin
from probzero.report import check, spread, tables
from probzero.report.tables import read_written
from probzero.report.tournament import differences_table, pairings_table, ratings_table
from probzero.tables import TABLE, write_csv

CONFIGURATION = config.load(Path(__file__).parents[2] / "config" / "smoke.yaml").as_dict()


def write_run(folder: Path, seed: int = 0, last: float = 400) -> Path:
    """Write the tables of a run whose last checkpoint is worth `last` Elo and whose games depend on `seed`."""
    games, names = simulate(np.random.default_rng(seed), [0, 200, last], 20, 0.2, 40)
    ratings = elo.fit(games, names, names[0])
    iteration = np.arange(1, 9)
    learned = pd.DataFrame({name: 0.5 for name in tables.TRAINING} | {"iteration": iteration})
    played = pd.DataFrame({"iteration": iteration, "games": 16, "mean_plies": 20.0})
    spent = pd.DataFrame({"iteration": iteration, **dict.fromkeys(check.COSTS, 0.6)})
    made = {
        "training": learned, "selfplay": played, "costs": spent, "ratings": ratings_table(ratings),
        "differences": differences_table(ratings), "pairings": pairings_table(games, names),
    }  # fmt: skip
    for name, table in made.items():
        tables.write_table(table, table_of(folder, name), MADE)
    return configure(folder, CONFIGURATION)


def configure(folder: Path, settings: object) -> Path:
    files.write_json(folder / check.CONFIGURATION, settings, config.KIND, MADE)
    return folder


def table_of(folder: Path, name: str) -> Path:
    return folder / "seed0" / "tables" / f"{name}.csv"


def edit(folder: Path, name: str, **columns: object) -> None:
    rewrite_table(table_of(folder, name), lambda table: table.assign(**columns))


def verdict(found: pd.DataFrame, quantity: str) -> str:
    return found.loc[found["quantity"] == quantity, "verdict"].item()


@pytest.fixture
def reference(tmp_path):
    return write_run(tmp_path / "reference")


def test_a_run_equals_itself_byte_for_byte(reference):
    found = check.check(reference, reference)
    assert check.passed(found)
    bytes_rows = found[found["quantity"].str.startswith("bytes")]
    assert len(bytes_rows) == 5
    assert (bytes_rows["verdict"] == check.SAME).all()


def test_other_games_of_equal_players_pass_with_other_bytes(reference, tmp_path):
    found = check.check(write_run(tmp_path / "new", seed=1), reference)
    assert check.passed(found)
    assert verdict(found, "bytes of pairings.csv") == check.OTHER


def test_a_weaker_last_checkpoint_differs(reference, tmp_path):
    found = check.check(write_run(tmp_path / "new", seed=1, last=-200), reference)
    assert not check.passed(found)
    assert verdict(found, "rating difference iteration-0002 : iteration-0000") == check.DIFFERS
    assert verdict(found, "match score iteration-0002 : iteration-0000") == check.DIFFERS
    assert verdict(found, "match score iteration-0001 : iteration-0000") == check.INFORMATION


QUANTITIES = [("training", name, f"final {name}") for name in check.LEARNED] + [
    ("selfplay", "mean_plies", "final mean_plies")
]


@pytest.fixture
def three_seeds(reference):
    """A reference whose three seeds came to c − 0.01, c and c + 0.01 in each quantity: s = 0.01."""
    for seed, apart in ((1, -0.01), (2, 0.01)):
        shutil.copytree(reference / "seed0", reference / f"seed{seed}")
        for table in {table for table, _, _ in QUANTITIES}:
            columns = [column for name, column, _ in QUANTITIES if name == table]
            old = read_written(table_of(reference, table), dict.fromkeys([*columns, "iteration"], float), seed=0)
            if table == "selfplay":
                old["games"] = 16
            for column in columns:
                old[column] += apart
            tables.write_table(old, reference / f"seed{seed}" / "tables" / f"{table}.csv", made(seed=seed))
        for table in ("costs", "ratings", "differences", "pairings"):
            path = reference / f"seed{seed}" / "tables" / f"{table}.csv"
            tables.write_table(pd.read_csv(path), path, made(seed=seed))
    return reference


@pytest.mark.parametrize(("table", "column", "quantity"), QUANTITIES)
def test_each_tolerance_is_the_spread_of_the_seeds_and_has_an_inside_and_an_outside(
    three_seeds, tmp_path, table, column, quantity
):
    new = write_run(tmp_path / "new")
    middle = 20.0 if column == "mean_plies" else 0.5
    for value, expected in ((middle + 0.14, check.OK), (middle - 0.14, check.OK), (middle + 0.141, check.DIFFERS)):
        edit(new, table, **{column: value})
        found = check.check(new, three_seeds)
        assert verdict(found, quantity) == expected
        assert check.passed(found) == (expected == check.OK)


def test_seeds_of_equal_scores_leave_a_score_the_interval_of_its_games(three_seeds, tmp_path):
    """All three seeds have the same games, so that nothing lies between their scores."""
    pair = "match score iteration-0002 : iteration-0000"
    same_strength = check.check(write_run(tmp_path / "other games", seed=1), three_seeds)
    assert same_strength.loc[same_strength["quantity"] == pair, "new"].item() != (
        same_strength.loc[same_strength["quantity"] == pair, "reference"].item()
    )
    assert verdict(same_strength, pair) == check.OK
    weaker = check.check(write_run(tmp_path / "weaker", seed=1, last=-200), three_seeds)
    assert verdict(weaker, pair) == check.DIFFERS


def test_without_a_measured_spread_a_loss_is_shown_and_not_judged(reference, tmp_path):
    new = write_run(tmp_path / "new")
    edit(new, "training", policy_loss=5.0)
    found = check.check(new, reference)
    assert verdict(found, "final policy_loss") == check.INFORMATION and check.passed(found)


def test_the_number_of_games_is_no_matter_of_chance(reference, tmp_path):
    new = write_run(tmp_path / "new")
    edit(new, "selfplay", games=17)
    assert verdict(check.check(new, reference), "self-play games") == check.DIFFERS


def test_seeds_that_only_one_side_has_are_left_out(three_seeds, tmp_path):
    new = write_run(tmp_path / "new")
    assert set(check.check(new, three_seeds)["seed"]) == {"", "0"}
    (new / "seed0").rename(new / "seed9")
    with pytest.raises(ProbZeroError, match="expected the tables of one of seed0, seed1, seed2, found none"):
        check.check(new, three_seeds)


def networks(folder: Path, *contents: str) -> None:
    """Checkpoints of these bytes, the row of each in the tournament and what each kept, on the same positions."""
    for number, content in enumerate(contents):
        player = f"iteration-{number:04}"
        files_of = {
            f"checkpoints/{number:04}.safetensors": content,
            f"matches/{player}.csv": "games",
            f"truth/{player}/kept.csv": "kept",
            "truth/positions.csv": "positions",
        }
        for name, text in files_of.items():
            path = folder / "seed0" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)


def test_what_is_made_with_the_same_networks_must_be_the_same(reference, tmp_path):
    new = write_run(tmp_path / "new")
    networks(reference, "a", "b", "c")
    networks(new, "a", "another", "c")

    def followed() -> dict[str, str]:
        rows = check.check(new, reference)
        rows = rows[rows["quantity"].str.endswith(", of the same networks")]
        return {row.quantity.partition(",")[0]: row.verdict for row in rows.itertuples()}

    # The row of 0002 was played against 0001, which is another network here.
    same = {"matches/iteration-0000.csv", "truth/iteration-0000/kept.csv", "truth/iteration-0002/kept.csv"}
    assert followed() == dict.fromkeys(same, check.OK)
    (new / "seed0/truth/iteration-0002/kept.csv").write_text("less")
    assert followed()["truth/iteration-0002/kept.csv"] == check._same_or_not(False)
    (new / "seed0/truth/positions.csv").write_text("others")
    assert set(followed()) == {"matches/iteration-0000.csv"}


def test_other_bytes_are_a_fault_where_operations_are_fused_and_there_alone(monkeypatch):
    verdicts = {}
    for name, target in target_module.available().items():
        monkeypatch.setattr(check, "choose", lambda target=target: target)
        verdicts[name] = check._same_or_not(False)
        assert check._same_or_not(True) == check.OK
    assert verdicts.pop("plain") == check.OTHER and set(verdicts.values()) <= {check.DIFFERS}


def test_costs_are_shown_and_never_judged(reference, tmp_path):
    new = write_run(tmp_path / "new")
    edit(new, "costs", leaf_evaluations_per_second=1e6, network_share=0.01, cache_hit_share=0.0)
    found = check.check(new, reference)
    assert check.passed(found)
    costs = {"leaf_evaluations_per_second": "1000000", "network_share": "0.01", "cache_hit_share": "0"}
    for name, value in costs.items():
        (row,) = found[found["quantity"] == f"mean {name}"].to_dict("records")
        assert (row["new"], row["reference"], row["verdict"]) == (value, "0.6", check.INFORMATION)
    assert "bytes of costs.csv" not in found["quantity"].to_list()  # never the same


def changed(part: str, **values: object) -> dict:
    return {**CONFIGURATION, part: {**CONFIGURATION[part], **values}}


def test_another_configuration_differs_but_another_device_does_not(reference, tmp_path):
    new = write_run(tmp_path / "new")
    configure(new, changed("selfplay", device="cuda", threads=4))
    assert check.passed(check.check(new, reference))
    configure(new, CONFIGURATION | {"seeds": [1], "name": "smoke-seed1"})  # no settings
    assert check.passed(check.check(new, reference))
    configure(new, changed("selfplay", games=CONFIGURATION["selfplay"]["games"] + 1))
    assert verdict(check.check(new, reference), "configuration") == check.DIFFERS


def test_a_reference_that_was_recorded_before_a_setting_came_has_its_default(reference, tmp_path):
    truth = {key: value for key, value in CONFIGURATION["truth"].items() if key not in ("ceiling", "positions")}
    assert {key: CONFIGURATION["truth"][key] for key in ("ceiling", "positions")} == {"ceiling": "", "positions": ""}
    configure(reference, CONFIGURATION | {"truth": truth})
    assert check.passed(check.check(write_run(tmp_path / "new"), reference))


def test_twins_widen_a_tolerance_and_give_one_to_a_reference_of_one_seed(reference, tmp_path):
    """Three seeds with s = 0.01 allow 0.1404; three pairs of twins 0.04 apart 0.2336 (test_spread.py)."""
    new = write_run(tmp_path / "new")
    edit(new, "training", policy_loss=0.7)
    assert verdict(check.check(new, reference), "final policy_loss") == check.INFORMATION
    for apart, expected in ((0.02, check.DIFFERS), (0.04, check.OK)):
        values = {"one": (0.49, 0.50, 0.51), "other": (0.49 + apart, 0.50 + apart, 0.51 + apart)}
        runs = [
            (processor, seed, {"final policy_loss": value})
            for processor, found in values.items()
            for seed, value in enumerate(found)
        ]
        made_of = Origin(command="twins", subject="reference", settings=check.settings_of(reference))
        write_csv(tmp_path / "twins" / "reference.csv", spread.twins_table(runs), TABLE, made_of)
        assert verdict(check.check(new, reference), "final policy_loss") == expected


def test_a_pairing_that_was_not_played_differs(reference, tmp_path):
    new = write_run(tmp_path / "new")
    left_out = "not (player == 'iteration-0001' and opponent == 'iteration-0000')"
    rewrite_table(table_of(new, "pairings"), lambda table: table.query(left_out))
    found = check.check(new, reference)
    assert verdict(found, "match score iteration-0001 : iteration-0000") == check.DIFFERS


def test_the_text_names_every_row_and_counts(reference):
    text = check.as_text(check.check(reference, reference))
    assert "configuration" in text and "final policy_loss" in text
    assert text.endswith("5 ok, 0 outside the tolerance")


@pytest.mark.parametrize(
    ("missing", "message"),
    [
        ("config.json", r"config\.json: expected a file, found nothing"),
        ("seed0/tables/training.csv", r"training\.csv: expected a file, found nothing"),
        ("seed0/tables/costs.csv", r"costs\.csv: expected a file, found nothing"),
        ("seed0/tables/ratings.csv", None),
    ],
)
def test_a_missing_file_of_the_new_run_is_named(reference, tmp_path, missing, message):
    new = write_run(tmp_path / "new")
    (new / missing).unlink()
    if message is None:  # the ratings follow from differences and pairings; their bytes are only shown
        assert "missing" in check.check(new, reference)["new"].to_list()
        return
    with pytest.raises(ProbZeroError, match=message):
        check.check(new, reference)


@pytest.mark.parametrize("name", ["config.json", "seed0/tables/training.csv", "seed0/tables/pairings.csv"])
@pytest.mark.parametrize("place", ["new", "reference"])
def test_a_file_that_was_changed_by_hand_is_named_on_either_side(reference, tmp_path, name, place):
    new = write_run(tmp_path / "new")
    path = tmp_path / place / name
    path.write_bytes(path.read_bytes().replace(b"0", b"1", 1))
    with pytest.raises(ProbZeroError, match=rf"{place}/{name}: expected the file that was written"):
        check.check(new, reference)


def test_a_reference_without_tables_is_refused(reference, tmp_path):
    with pytest.raises(ProbZeroError, match=r"reference: .*expected seed<S>/tables, found none"):
        check.check(reference, tmp_path / "nothing")


def truth_table(folder: Path, kept: float) -> None:
    rows = {"iteration": [0, 4, 4], "source": "all", "particles": [0, 0, 96], "kept_share": [0.4, kept, 0.97]}
    table = pd.DataFrame(rows).assign(share_low=lambda t: t.kept_share - 0.02, share_high=lambda t: t.kept_share + 0.02)
    tables.write_table(table, table_of(folder, "truth"), MADE)


@pytest.mark.parametrize(("kept", "expected"), [(0.87, check.OK), (0.80, check.DIFFERS)])
def test_strength_against_exact_truth_is_checked(reference, tmp_path, kept, expected):
    new = write_run(tmp_path / "new")
    truth_table(reference, 0.89)
    truth_table(new, kept)
    found = check.check(new, reference)
    assert verdict(found, "exact result kept last checkpoint : 0 particles") == expected
    assert verdict(found, "exact result kept last checkpoint : 96 particles") == check.OK
