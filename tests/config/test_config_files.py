"""Configuration files are read as they look, or refused; and the reference of all settings is current."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from probzero import config, study
from probzero.__main__ import main
from probzero.errors import ProbZeroError

ROOT = Path(__file__).parents[2]
CONFIGS = sorted((ROOT / "config").glob("*.yaml"))
SMOKE = (ROOT / "config" / "smoke.yaml").read_text(encoding="utf-8")


def read(folder: Path, text: str) -> Any:
    path = folder / "here.yaml"
    path.write_text(text, encoding="utf-8")
    data, where = config.read(path)
    assert where == str(path)
    return data


def refusal(folder: Path, text: str) -> str:
    with pytest.raises(ProbZeroError) as caught:
        read(folder, text)
    message = str(caught.value)
    assert "\n" not in message
    return message.replace(str(folder / "here.yaml"), "here.yaml")


def test_a_file_that_is_missing_or_broken_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ProbZeroError, match=r"absent\.yaml: expected a YAML file, found nothing"):
        config.load(tmp_path / "absent.yaml")
    broken = tmp_path / "broken.yaml"
    broken.write_text("game: [", encoding="utf-8")
    with pytest.raises(ProbZeroError, match=r"broken\.yaml: expected valid YAML or JSON") as caught:
        config.load(broken)
    assert "\n" not in str(caught.value)


def test_a_file_that_is_no_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / "here.yaml").write_bytes(b"name: \xff")
    with pytest.raises(ProbZeroError, match=r"here\.yaml: expected valid YAML or JSON, found 'utf-8' codec"):
        config.load(tmp_path / "here.yaml")


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.stem)
def test_committed_files_are_read_as_everybody_reads_them(path: Path) -> None:
    assert config.read(path) == (yaml.safe_load(path.read_text(encoding="utf-8")), str(path))


@pytest.mark.parametrize(
    ("text", "key", "times"),
    [
        ("name: a\nseeds: [0]\nname: b\n", "name", 2),
        ("base:\n  game: {name: othello, size: 5, size: 6}\n", "base.game.size", 2),
        ("a:\n- b: 1\n  b: 1\n  b: 1\n", "a.0.b", 3),
        ("a: {<<: {x: 1}, <<: {x: 2}}\n", "a.<<", 2),
        ('{"a": {"size": 5, "size": 5}}', "size", 2),
    ],
)
def test_a_key_given_twice_is_refused(text: str, key: str, times: int, tmp_path: Path) -> None:
    assert refusal(tmp_path, text) == f"configuration: here.yaml: {key}: expected one such key, found {times}"


def test_a_key_given_twice_is_refused_on_the_command_line_too() -> None:
    with pytest.raises(ProbZeroError, match=r"^configuration: --config: size: expected one such key, found 2$"):
        config.load('{"game": {"name": "othello", "size": 5, "size": 5}}', needs=("game",))


def test_a_merged_mapping_may_be_overridden(tmp_path: Path) -> None:
    text = "top:\n  one: &one {<<: &base {k: 1, l: 1}, k: 2}\nother: {<<: *one, l: 3}\nagain: *base\n"
    expected = {"top": {"one": {"k": 2, "l": 1}}, "other": {"k": 2, "l": 3}, "again": {"k": 1, "l": 1}}
    assert read(tmp_path, text) == expected


@pytest.mark.parametrize(
    ("text", "as_yaml"),
    [("010", 8), ("-010", -8), ("00", 0), ("0x10", 16), ("0b11", 3), ("1_000", 1000), ("1:30", 90), ("1:30.5", 90.5),
     ("1_0.5", 10.5), ("00.5", 0.5)],
)  # fmt: skip
def test_a_number_that_yaml_reads_otherwise_than_it_looks_is_refused(text: str, as_yaml: float, tmp_path: Path) -> None:
    assert yaml.safe_load(text) == as_yaml
    shown = f"expected a number in decimal digits, found {text}"
    assert refusal(tmp_path, f"game:\n  size: {text}\n") == f"configuration: here.yaml: game.size: {shown}"
    assert refusal(tmp_path, f"seeds: [0, {text}]\n") == f"configuration: here.yaml: seeds.1: {shown}"


@pytest.mark.parametrize("text", ["0", "-3", "+3", "10", "0.5", ".5", "5.", "1.0e-3", "-2.5E+10", "-.inf"])
def test_a_number_in_decimal_digits_is_read(text: str, tmp_path: Path) -> None:
    assert read(tmp_path, f"a: {text}\n") == {"a": float(text.replace(".inf", "inf"))}


@pytest.mark.parametrize("text", ["'010'", '"1_000"', "08", "1.2.3", "2020-01-01", "yes", "a: b"])
def test_what_is_no_number_is_left_to_the_check_of_its_key(text: str, tmp_path: Path) -> None:
    assert read(tmp_path, f"key:\n  {text}\n") == yaml.safe_load(f"key:\n  {text}\n")


@pytest.mark.parametrize(
    "text",
    ["a: [", "a: 1\n--- \nb: 2", "? [1, 2]\n: 3", "a: 2020-13-45", "a: !!int [1]", 'a: !!int "1.5"',
     "a: !!python/name:os", '{"a": 1,}', "{a: 1}", "[" * 5000, "a: " + "9" * 5000, "\x00", "*a"],
    ids=lambda text: repr(text[:12]),
)  # fmt: skip
def test_what_is_neither_yaml_nor_json_is_refused(text: str, tmp_path: Path) -> None:
    assert refusal(tmp_path, text).startswith("configuration: here.yaml: expected valid YAML or JSON, found ")


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e400"])
def test_json_numbers_that_are_not_finite_are_refused_by_key(number: str) -> None:
    raw = yaml.safe_load(SMOKE)
    raw["search"]["temperature"] = "HERE"
    with pytest.raises(
        ProbZeroError, match=r"--config: search\.temperature: expected a number above 0 and at most 100"
    ):
        config.load(json.dumps(raw).replace('"HERE"', number))


@pytest.mark.parametrize("number", [".nan", ".inf", "1.0e+400"])
def test_yaml_numbers_that_are_not_finite_are_refused_by_key(number: str, tmp_path: Path) -> None:
    path = tmp_path / "here.yaml"
    path.write_text(SMOKE.replace("temperature: 1.0", f"temperature: {number}"), encoding="utf-8")
    with pytest.raises(ProbZeroError, match=r"here\.yaml: search\.temperature: expected a number above 0"):
        config.load(path)


def test_the_committed_reference_has_the_settings_of_the_default_scale() -> None:
    """More seeds are committed; later settings have, in an older record, the values at which all is as before."""
    committed = config.load(ROOT / "results" / "reference" / "laptop" / "config.json").as_dict()
    default = config.load(ROOT / "config" / "laptop.yaml").as_dict()
    assert (default.pop("seeds"), committed.pop("seeds")) == ([0], [0, 1, 2])
    assert json.dumps(committed, sort_keys=True) == json.dumps(default, sort_keys=True)


def test_a_study_is_loaded_from_its_file(tmp_path: Path) -> None:
    found = study.load(ROOT / "config" / "study.yaml")
    assert (found.name, found.reference, len(found.variants)) == ("study", "probzero", 13)
    path = tmp_path / "twice.yaml"
    path.write_text((ROOT / "config" / "study.yaml").read_text(encoding="utf-8") + "name: again\n", encoding="utf-8")
    with pytest.raises(ProbZeroError, match=r"twice\.yaml: name: expected one such key, found 2"):
        study.load(path)


def test_the_reference_of_all_settings_is_current(tmp_path: Path) -> None:
    assert main(["config", "--document", str(tmp_path / "made.md")]) == 0
    committed = ROOT / "docs" / "configuration.md"
    again = "probzero config --document docs/configuration.md writes it again"
    assert (tmp_path / "made.md").read_text(encoding="utf-8") == committed.read_text(encoding="utf-8"), again


def test_the_reference_names_every_key_with_range_default_and_meaning() -> None:
    text = (ROOT / "docs" / "configuration.md").read_text(encoding="utf-8")
    for line in (
        "| `blocks` | a whole number from 1 to 64 | required | residual blocks |",
        '| `policy` | one of winner, visits, improved | `"winner"` | ',
        "| `othello` | `size` | 4, 5, 6, 8 |",
        "| `puct` | roots | visits | search, outcome, steps, mixed | `noise` |",
        '| `label` | a line of text, or nothing | `""` | what it is called; its name if left out |',
    ):
        assert line in text
    for name, field in config.Config.model_fields.items():
        for key in getattr(field.annotation, "model_fields", [name]):
            assert f"\n| `{key}` | " in text


@pytest.mark.parametrize(
    "arguments", [[], ["--config", SMOKE], ["--output", "a.json"]], ids=["none", "config", "output"]
)
def test_the_command_needs_something_to_do(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["config", *arguments]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "expected --config and --output, or --document" in line
