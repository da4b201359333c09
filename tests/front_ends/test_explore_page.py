"""A page that needs no server: whole, the same bytes twice, and nothing in it comes from elsewhere."""

from __future__ import annotations

import base64
import json
import re
from pathlib import Path
from typing import Any

import pytest
from exploring import ROOT, SMALL, STATIC, answers

from probzero import files
from probzero.__main__ import main
from probzero.errors import ProbZeroError
from probzero.front_ends.explore import page

RECORD = "matches/iteration-0012"


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("page") / "page.html"
    given = ["--particles", "32", "--record", f"{RECORD}/0", f"{RECORD}/1", "certificates/iteration-0000/0"]
    assert main(["explore", str(SMALL), *given, "--export", str(path)]) == 0
    return path


def inside(text: str) -> dict[str, Any]:
    (data,) = re.findall(r'<script type="application/json" id="embedded">(.*?)</script>', text, re.DOTALL)
    return json.loads(data)


def test_the_same_games_give_the_same_bytes(exported: Path) -> None:
    told = inside(exported.read_text())
    chosen = page.chosen(answers(), "", [game["id"] for one in told["records"] for game in told["games"][one["id"]]])
    assert page.whole(page.collect(answers(), chosen)).encode() == files.read(exported, "page")


def test_every_position_of_the_games_is_there_with_thoughts_and_truth(exported: Path) -> None:
    data, asked = inside(exported.read_text()), answers()
    assert set(data["games"]) == {one["id"] for one in data["records"]}
    for game in (game for games in data["games"].values() for game in games):
        for position in asked.line(game["from"] or "", game["moves"]):
            told = data["positions"][position["at"]]
            assert told["position"]["owner"] == list(position["owner"])
            if not position["over"]:
                assert told["thoughts"] == json.loads(json.dumps(asked.thoughts(position["at"], 32)))
                assert told["truth"] == asked.truth(position["at"])


def test_the_search_is_told_where_a_result_was_given_away(exported: Path) -> None:
    data, asked = inside(exported.read_text()), answers()
    mistakes = set()
    for game in (game for games in data["games"].values() for game in games):
        line = asked.line(game["from"] or "", game["moves"])
        for position, move in zip(line, game["moves"].split(), strict=False):
            truth = asked.truth(position["at"])
            if truth and any(one["move"] == move and not one["keeps"] for one in truth["moves"]):
                mistakes.add(position["at"])
    with_flow = {at for at, told in data["positions"].items() if "flow" in told}
    assert mistakes and mistakes <= with_flow and len(with_flow) <= len(mistakes) + 3


def test_the_page_loads_nothing_and_holds_the_modules_as_they_are(exported: Path) -> None:
    text = exported.read_text()
    assert re.findall(r'(?:src|href)="(?!data:)', text) == []
    assert "default-src 'none'" in text
    (found,) = re.findall(r'<script type="importmap">(.*?)</script>', text, re.DOTALL)
    modules = json.loads(found)["imports"]
    assert modules.keys() == {f"explore/{path.name}" for path in STATIC.glob("*.js")}
    for name, address in modules.items():
        told = base64.b64decode(address.removeprefix("data:text/javascript;base64,"))
        assert told == (STATIC / name.removeprefix("explore/")).read_bytes()


def test_nothing_in_the_data_can_end_its_script() -> None:
    written = page.whole({"about": "</script><script>alert(1)</script>"})
    assert "alert(1)</script>" not in written and inside(written) == {"about": "</script><script>alert(1)</script>"}


def test_a_few_of_the_networks_own_games_are_chosen_without_a_word() -> None:
    asked = answers()
    chosen = page.chosen(asked, asked.player, [])
    assert list(chosen) == [RECORD, "certificates/iteration-0012"]
    opponents = [game["second"] if game["first"] == asked.player else game["first"] for game in chosen[RECORD]]
    assert len(opponents) == len(set(opponents)) > 5
    with pytest.raises(ProbZeroError, match="recorded games of nobody"):
        page.chosen(asked, "nobody", [])


def test_the_files_of_the_page_are_installed_with_the_package(tmp_path: Path) -> None:
    from setuptools import Distribution
    from setuptools.command.build_py import build_py
    from setuptools.config.pyprojecttoml import apply_configuration

    whole = apply_configuration(Distribution({"src_root": str(ROOT)}), str(ROOT / "pyproject.toml"))
    assert whole.package_data["probzero.front_ends.explore"] == ["static/*"]
    package = {"packages": ["probzero.front_ends.explore"], "package_dir": {"": str(ROOT / "src")}}
    command = build_py(Distribution({**package, "package_data": whole.package_data}))
    command.build_lib = str(tmp_path)
    command.ensure_finalized()
    found = {Path(name).name for _, _, _, names in command.data_files for name in names}
    assert found == {path.name for path in STATIC.iterdir()} >= {"index.html", "style.css", "app.js"}


def test_modules_of_the_page_are_short_and_name_no_game() -> None:
    for path in STATIC.iterdir():
        text = path.read_text()
        assert len(text.splitlines()) <= 300, path.name
        assert not re.search(r"othello|connect.?four|chess|reversi", text, re.IGNORECASE), path.name
