"""What a study found is told by rule: the paper's words and tables follow the numbers and their intervals."""

from __future__ import annotations

import re
from pathlib import Path

import paper_inputs
import pytest
from made_study import RECORD
from paper_inputs import RIVAL, change, words

made, study, changed = paper_inputs.made, paper_inputs.study, paper_inputs.changed

BETTER, WORSE, OPEN = (4.0, 0.5, 7.5), (-4.0, -7.5, -0.5), (1.0, -2.5, 4.5)  # points or Elo, with the interval
UNKNOWN = (4.0, None, None)
Difference = tuple[float, float | None, float | None]
ABLATIONS = [name for name, settings in RECORD["variants"].items() if settings["role"] == "ablation"]
NOTHING = "no effect could be shown by the policy alone, with search or in Elo."


def against(folder: Path, variant: str, raw: Difference | None, searched: Difference, elo: Difference) -> None:
    """Let ProbZero be ahead of a variant by this; what is written of Elo is the variant's own."""
    for particles, points in ((0, raw), (96, searched)):
        if points is None:
            continue
        shares = [None if value is None else value / 100 for value in points]
        found = dict(zip(("lead", "lead_low", "lead_high"), shares, strict=True))
        change(folder, "final", {"variant": variant, "particles": particles}, found)
    value, high, low = (None if value is None else -value for value in elo)
    rating = {"rating": value, "rating_low": low, "rating_high": high, "game_sd": 1.0}
    change(folder, "elo", {"variant": variant}, rating)


def effect(folder: Path, variant: str, raw: Difference, searched: Difference, elo: Difference) -> None:
    for kind, found, scale in (("raw", raw, 100), ("searched", searched, 100), ("elo", elo, 1)):
        names = (f"{kind}_effect", f"{kind}_effect_low", f"{kind}_effect_high")
        values = [None if value is None else value / scale for value in found]
        change(folder, "ablations", {"variant": variant}, dict(zip(names, values, strict=True)))
    change(folder, "elo", {"variant": variant}, {"game_sd": 1.0})


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
    said, summary = words(made, "<finding>", changed), words(made, "<results-in-short>", changed)
    verdicts = (
        "ProbZero is better",
        "AlphaZero is better",
        "no difference could be shown",
        "nothing is known of the difference",
    )
    assert tuple(said.count(f"{verdict}: ProbZero − AlphaZero is ") for verdict in verdicts) == counts, said
    assert (said.count(", zero excluded"), said.count(", zero included")) == (counts[0] + counts[1], counts[2])
    assert conclusion in said
    assert "No claim has a verdict yet" in summary and "In an earlier comparison with AlphaZero" in summary
    assert short in summary, summary
    abstract = words(made, "<abstract>", changed)  # the same, with the numbers of the searched measure alone
    clauses = re.sub(r" ?\([^()]*\)", "", short).partition("; nothing in it")[0].strip("; .")
    assert f"at equal budgets, {clauses}" in abstract or f"; {clauses}" in abstract, abstract
    assert abstract.count("points (") == 1 and ": with search ProbZero − AlphaZero is " in abstract
    for told in (summary, abstract):
        assert ("nothing in it shows ProbZero to be better" in told) == (counts[0] == 0)


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
    assert "in Elo (+4, +1 to +8, narrower than" in words(made, "<results-in-short>", changed)
    assert "−4 ± 4†" in words(made, "figure", changed)


@pytest.mark.parametrize(
    ("shown", "expected"),
    [
        (
            {},
            [
                "Of 4 ideas none could be shown to help by at least one measure, and none to harm.",
                f"beside no-bootstrap and no-reward, {NOTHING}",
                "Of these 24 intervals none excludes zero.",
            ],
        ),
        (
            {"root-only": (BETTER, OPEN, BETTER), "no-reward": (WORSE, OPEN, UNKNOWN)},
            [
                "whole-tree targets could be shown to help by at least one measure, and reward bootstrap to harm.",
                "whole-tree targets: beside root-only, it helps by the policy alone (+4.0 points, +0.5 to +7.5)"
                " and in Elo (+4, +1 to +8); no effect could be shown with search.",
                f"winner_prob policy targets: beside visit-policy, {NOTHING}",
                f"reward bootstrap: beside no-bootstrap, {NOTHING} And beside no-reward,"
                " it harms by the policy alone (−4.0 points, −7.5 to −0.5); no effect could be shown with search;"
                " nothing is known of the effect in Elo.",
                "Of these 24 intervals 3 exclude zero.",
            ],
        ),
    ],
    ids=["open", "mixed"],
)
def test_what_each_idea_does_follows_the_numbers(
    shown: dict[str, tuple[Difference, ...]], expected: list[str], made: Path, changed: Path
) -> None:
    for variant in ABLATIONS:
        effect(changed, variant, *shown.get(variant, (OPEN, OPEN, OPEN)))
    said = words(made, "<ideas>", changed)
    for sentence in expected:
        assert sentence in said, f"{sentence} in {said}"


def test_the_tables_of_the_study_show_its_numbers(made: Path, changed: Path) -> None:
    against(changed, RIVAL, BETTER, OPEN, WORSE)
    shares = {"share": 0.8125, "share_low": 0.775, "share_high": 0.85, "seed_sd": 0.01}
    change(changed, "final", {"variant": RIVAL, "particles": 0}, shares)
    change(changed, "elo", {"variant": RIVAL}, {"seed_sd": 12.0, "game_sd": 1.0})
    said = words(made, "figure", changed)
    assert "AlphaZero81.3 (77.5–85.0)+4.0 ± 3.5" in said
    assert "+1.0 ± 3.5+4 ± 4121" in said  # searched lead; AlphaZero's Elo; seed and game standard deviation
