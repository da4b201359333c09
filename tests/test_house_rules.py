"""The rules of the house that no linter knows: every setting is used, nobody asks for an algorithm by name."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin

import pytest
import yaml

from probzero import arms, config, templates
from probzero.config import Config, sections
from probzero.config.fields import Section
from probzero.kernels.descend import splitting
from probzero.learning import targets
from probzero.network import values

ROOT = Path(__file__).parents[1]
SOURCES = sorted([*(ROOT / "src" / "probzero").rglob("*.py"), *(ROOT / "kernels").rglob("*.py")])
WORKFLOW = [ROOT / "Snakefile", *sorted((ROOT / "workflow").rglob("*.smk"))]
MOST_LINES = 300

# Settings that are nowhere other than their default in our configurations, and why they are there.
UNCHANGED = {
    "selfplay.device": "for machines with a GPU",
    "training.device": "for machines with a GPU",
    "arena.device": "for machines with a GPU",
    "truth.device": "for machines with a GPU",
    "selfplay.resign_below": "resignation of the published AlphaZero, for longer games than those of our boards",
    "selfplay.play_on": "the same",
    "targets.root_share": "mixed value targets of the published AlphaZero",
    "targets.steps": "n-step value targets of the published min–max AlphaZero",
    "network.support": "the distribution over a support of the published min–max AlphaZero",
}
# The same of single values of a choice.
UNUSED_VALUES = {"targets.value": {"steps"}, "search.splitting": {"middle"}}  # the second is that of certified agents


def section_of(annotation: Any) -> type[Section] | None:
    found = get_args(annotation) if get_origin(annotation) in (Union, UnionType) else (annotation,)
    return next((part for part in found if isinstance(part, type) and issubclass(part, Section)), None)


def written() -> Iterator[tuple[str, Any]]:
    """Setting and value of everything that a configuration of ours says, studies and their variants included."""
    for path in sorted((ROOT / "config").glob("*.yaml")):
        raw = yaml.safe_load(path.read_text(encoding="utf-8"))
        for whole in (raw, raw.get("base", {}), *(raw.get("variants") or {}).values()):
            for part, section in (whole or {}).items():
                if isinstance(section, dict):
                    yield from ((f"{part}.{key}", value) for key, value in section.items())


def settings() -> Iterator[tuple[str, Any]]:
    """Every setting and its field; the options of games are theirs."""
    for part, field in Config.model_fields.items():
        section = section_of(field.annotation)
        if section is not None and section is not sections.Game:
            yield from ((f"{part}.{name}", found) for name, found in section.model_fields.items())


def test_every_setting_is_used_in_some_configuration() -> None:
    said = list(written())
    unused = {
        name for name, field in settings() if not any(key == name and value != field.default for key, value in said)
    }
    assert unused == set(UNCHANGED), "a setting that nobody uses goes, or says here why it stays"


def test_every_value_of_a_choice_is_used_in_some_configuration() -> None:
    said = list(written())
    for name, field in settings():
        if get_origin(field.annotation) is Literal and not name.endswith(".device"):
            chosen = {field.default, *(value for key, value in said if key == name)}
            assert set(get_args(field.annotation)) - chosen == UNUSED_VALUES.get(name, set()), name


@pytest.mark.parametrize("path", [*SOURCES, *WORKFLOW], ids=lambda path: str(path.relative_to(ROOT)))
def test_no_module_is_long(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= MOST_LINES


def test_nobody_but_the_configuration_asks_for_an_algorithm_by_name() -> None:
    asking = {
        str(path.relative_to(ROOT))
        for path in SOURCES
        if re.search(r"\bARMS\[|algorithm ==|algorithm in\b|algorithm !=", path.read_text(encoding="utf-8"))
    }
    assert asking == {"src/probzero/config/sections.py"}


def test_the_form_of_a_search_is_chosen_in_one_place() -> None:
    """The network has forms of its own; nobody else asks where it computes."""
    asking = {
        str(path.relative_to(ROOT / "src" / "probzero"))
        for path in SOURCES
        if re.search(r"device\.type|== CPU\b|use_triton", path.read_text(encoding="utf-8"))
    }
    assert {name for name in asking if not name.startswith("network/")} == {"devices.py", "search/build.py"}


def test_no_game_is_named_outside_games() -> None:
    names = re.compile(r"othello|connect.?four|reversi|bitboard|\bdiscs?\b|\bstones?\b", re.IGNORECASE)
    apart = ROOT / "src" / "probzero" / "games"
    naming = {
        str(path.relative_to(ROOT))
        for path in [*SOURCES, *WORKFLOW]
        if apart not in path.parents and names.search(re.sub(r'"""[\s\S]*?"""|#.*', "", path.read_text("utf-8")))
    }
    assert naming == {"src/probzero/network/published.py"}, "whose networks are of one game"


def test_one_game_is_known_to_its_rules_and_to_the_interface_made_for_it_alone() -> None:
    """Not even comments and pages know of chess elsewhere."""
    package = ROOT / "src" / "probzero"
    kinds = (".py", ".js", ".html", ".css", ".md")
    written = [path for folder in (package, ROOT / "kernels") for path in folder.rglob("*") if path.suffix in kinds]
    knowing = {str(path.relative_to(ROOT)) for path in written if "chess" in path.read_text("utf-8").lower()}
    outside = {path for path in knowing if not path.startswith("src/probzero/games/")}
    interface = {f"src/probzero/front_ends/{name}.py" for name in ("uci", "uci_board", "uci_client", "uci_search")}
    assert outside == {*interface, "src/probzero/commands/uci.py"}


def offered(section: type[Section], name: str) -> set[str]:
    annotation = section.model_fields[name].annotation
    return set(get_args(annotation))


def test_everything_that_a_configuration_may_name_is_there_and_nothing_else() -> None:
    assert set(targets.NODES) == offered(sections.Targets, "nodes") == set(arms.offered("nodes"))
    improved = {"improved"}  # that of `search/gumbel.py`
    assert set(targets.POLICIES) | improved == offered(sections.Targets, "policy") == set(arms.offered("policy"))
    played = {"outcome", "search", "mixed", "steps"}  # those of `played_moves.value_targets`
    assert set(targets.VALUES) | played == offered(sections.Targets, "value") == set(arms.offered("value"))
    assert set(values._TO_WDL) == set(values._TARGETS) == offered(sections.Network, "value")
    loops = templates.load("probzero.search.loops.splitting")
    assert set(splitting.SPLITTERS) == set(loops.SPLITTERS) == offered(sections.Search, "splitting")


@pytest.mark.parametrize(("key", "value"), [("nodes", "leaves"), ("policy", "best"), ("value", "luck")])
def test_a_target_that_is_not_there_is_refused_in_plain_words(key: str, value: str) -> None:
    raw = yaml.safe_load((ROOT / "config" / "smoke.yaml").read_text(encoding="utf-8"))
    with pytest.raises(Exception, match=rf"targets\.{key}: expected one of .*, found '?{value}"):
        config.parse({**raw, "targets": {key: value}})


def test_constants_that_compiled_loops_repeat_are_those_of_the_rest() -> None:
    from probzero.kernels.place import slots
    from probzero.search import graph, scores

    paths, hashing = (templates.load(f"probzero.search.loops.{name}") for name in ("paths", "hashing"))
    assert (paths.PUCT_BASE, paths.NO_EDGE) == (scores.PUCT_BASE, graph.NO_EDGE)
    assert (hashing.EMPTY, hashing.ENTRY_BITS) == (slots.EMPTY, slots.ENTRY_BITS)
