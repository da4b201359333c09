"""The configuration of tournaments between given networks: whom it admits, and what it refuses in one line."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest
import yaml

from probzero import tournament
from probzero.errors import ProbZeroError

ROOT = Path(__file__).parents[2]
RAW: dict[str, Any] = yaml.safe_load((ROOT / "config" / "published.yaml").read_text(encoding="utf-8"))


def refusal(raw: Any) -> str:
    with pytest.raises(ProbZeroError) as caught:
        tournament.parse(raw, "here.yaml")
    assert "\n" not in str(caught.value)
    return str(caught.value)


def changed(*keys: str, value: Any) -> dict[str, Any]:
    raw = copy.deepcopy(RAW)
    inside = raw
    for key in keys[:-1]:
        inside = inside[key]
    inside[keys[-1]] = value
    return raw


def test_the_published_networks_meet_in_openings_enough_with_and_without_search() -> None:
    found = tournament.parse(RAW, "here.yaml")
    assert found.base.arena.openings >= 150 and found.base.arena.opening_plies == 6
    budgets = {name: {player.budget for player in players.values()} for name, players in found.players.items()}
    assert budgets == {"raw": {0}, "leaves-32": {32}, "leaves-96": {96}, "leaves-384": {384}}
    for players in found.players.values():
        assert {"iteration-0050", "iteration-0100", "iteration-0400"} <= set(players)
        assert all(player.network == name for name, player in players.items())
    assert found.measured and len(found.networks) == 8


def test_the_checkpoints_of_the_published_scale_meet_each_other_and_the_perfect_player_at_every_budget() -> None:
    found = tournament.load(ROOT / "config" / "paper-ratings.yaml")
    names = [f"iteration-{number:04}" for number in range(50, 401, 50)]
    assert list(found.players) == ["raw", "leaves-96", "leaves-1600"] and found.base.arena.opening_plies == 6
    for name, budget in zip(found.players, (0, 96, 1600), strict=True):
        players = found.players[name]
        assert list(players) == [*names, "perfect"] and {players[name].budget for name in names} == {budget}


def test_a_player_has_the_search_of_the_base_but_for_what_it_says() -> None:
    own = {"network": "iteration-0050", "budget": 8, "search": {"algorithm": "puct", "exploration": 2.0}}
    found = tournament.parse(changed("tournaments", "raw", "mine", value=own), "here.yaml")
    mine, base = found.searches["raw"]["mine"].search, found.base.search
    assert (mine.algorithm, mine.exploration) == ("puct", 2.0)
    assert mine.model_copy(update={"algorithm": "particle", "exploration": base.exploration}) == base


def test_what_changes_a_result_changes_the_fingerprint_and_nothing_else_does() -> None:
    first = tournament.parse(RAW, "here.yaml").fingerprint
    for keys, value in {
        ("base", "arena", "openings"): 3,
        ("base", "search", "temperature"): 2.0,
        ("tournaments", "raw", "iteration-0050", "budget"): 8,
        ("networks", "iteration-0050"): "another.pth",
    }.items():
        assert tournament.parse(changed(*keys, value=value), "here.yaml").fingerprint != first, keys
    assert tournament.parse(changed("base", "arena", "threads", value=2), "here.yaml").fingerprint == first


@pytest.mark.parametrize(
    ("keys", "value", "message"),
    [
        (("tournaments", "raw", "x"), {"network": "nobody", "budget": 0}, "tournaments.raw.x.network: expected one of"),
        (("tournaments", "raw", "x"), {"network": "iteration-0050", "budget": 12}, "x.budget: expected a multiple of"),
        (("tournaments", "alone"), {"x": {"network": "iteration-0050", "budget": 0}}, "expected two players at least"),
        (("base", "search", "colour"), 1, "colour"),
        (("tournaments", "raw", "x"), {"budget": 8}, "tournaments.raw.x.network: expected one of"),
        (("tournaments", "raw", "perfect"), {"budget": 8}, "raw.perfect: expected nothing: it plays perfectly"),
        (("name",), "reference", "expected a name that no folder of results has"),
        (("tournaments", "raw", "iteration-0050", "search"), {"splitting": "odd"}, "search.splitting: expected one of"),
    ],
)  # fmt: skip
def test_tournaments_that_cannot_be_played_are_refused(keys: tuple[str, ...], value: Any, message: str) -> None:
    assert message in refusal(changed(*keys, value=value))


def test_a_network_that_is_no_name_is_refused_by_its_key() -> None:
    said = refusal(changed("tournaments", "raw", "iteration-0050", "network", value=None))
    assert "tournaments.raw.iteration-0050.network: expected a name of lower-case letters" in said
    assert said.endswith("found None")
