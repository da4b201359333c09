"""Every command that a page shows can be typed: its targets, options and files are there. Quick ones are run."""

from __future__ import annotations

import re
import runpy
import shlex
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

import pytest

from probzero.__main__ import COMMANDS, _module, main

ROOT = Path(__file__).parents[1]
PAGES = sorted(
    [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")]
    + [ROOT / folder / "README.md" for folder in ("results", "config", "kernels")]
)
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
TARGETS = set(re.search(r"^\.PHONY: ((?:.*\\\n)*.*)$", MAKEFILE, re.MULTILINE)[1].replace("\\", " ").split())  # type: ignore[index]
VARIABLES = set(re.findall(r"\$[({](?:value |patsubst )?([A-Z][A-Z_]*)", MAKEFILE))
CONFIGS = {path.stem for path in (ROOT / "config").glob("*.yaml")}
MADE_UP = {"NAME", "…", "<scale>"}  # what a page writes for a name of the reader's own
STRANGERS = {  # programs of others, which nothing here can judge
    "apt-get", "conda", "git", "npm", "pip", "printf", "sha256sum", "source",
}  # fmt: skip
QUICK = {"--help", "solve"}  # commands that are run as they are shown


class Shown(NamedTuple):
    """A command on a page."""

    page: Path
    words: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.page.relative_to(ROOT)}: {' '.join(self.words)}"


def commands_of(text: str) -> Iterator[list[str]]:
    """Return the words of each command of a block: comments, prompts and variables before it are left out."""
    for line in text.replace("\\\n", " ").splitlines():
        words = shlex.split(line, comments=True)
        while words:
            ends = [place for place, word in enumerate(words) if word in ("|", "&&", ";")]
            command, words = (words[: ends[0]], words[ends[0] + 1 :]) if ends else (words, [])
            while command and re.fullmatch(r"[A-Z_]+=\S*", command[0]):
                command = command[1:]
            if command:
                yield [command[0].removeprefix(".venv/bin/"), *command[1:]]


def shown_in_blocks() -> Iterator[Shown]:
    for page in PAGES:
        for block in re.findall(r"^```(?:sh)?\n(.*?)^```$", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE):
            if re.match(r"(\.venv/bin/)?(make|probzero|snakemake|[A-Z_]+=|pip|apt-get|conda|python3?) ?", block):
                yield from (Shown(page, tuple(words)) for words in commands_of(block))


def shown_in_words() -> Iterator[Shown]:
    """Return what stands between backticks in a sentence and begins as a command does; it may lack arguments."""
    for page in PAGES:
        text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
        for span in re.findall(r"`((?:\.venv/bin/)?(?:make|probzero) [^`]+)`", text):
            yield from (Shown(page, tuple(words)) for words in commands_of(re.sub(r"\s+", " ", span)))


BLOCKS, WORDS = sorted(set(shown_in_blocks())), sorted(set(shown_in_words()))


def shown(program: str, found: list[Shown]) -> list[Shown]:
    return [command for command in found if command.words[0] == program]


def test_pages_show_commands_of_these_programs_alone() -> None:
    ours = {"make", "probzero", "snakemake", "python", "python3", "pytest", "ruff", "snakefmt"}
    assert [str(command) for command in BLOCKS if command.words[0] not in ours | STRANGERS] == []
    assert len(shown("make", BLOCKS)) > 20 and len(shown("probzero", BLOCKS)) > 15  # the pages were read


@pytest.mark.parametrize("command", shown("make", BLOCKS + WORDS), ids=str)
def test_make_has_the_target_the_variables_and_what_they_name(command: Shown) -> None:
    targets = [word for word in command.words[1:] if "=" not in word]
    assert set(targets) - MADE_UP <= TARGETS, "no such target"
    for name, value in (word.split("=", 1) for word in command.words[1:] if "=" in word):
        assert name in VARIABLES, f"the Makefile has no {name}"
        if name in ("SCALE", "STUDY", "TOURNAMENT") and value not in MADE_UP:
            assert value in CONFIGS, f"no config/{value}.yaml"
        if name == "SIZE" and value not in MADE_UP:
            study = next((word[6:] for word in command.words if word.startswith("STUDY=")), "factorial")
            assert f"{study}{value}" in CONFIGS, f"no config/{study}{value}.yaml"


@pytest.mark.parametrize("command", shown("probzero", BLOCKS), ids=str)
def test_probzero_takes_the_arguments(
    command: Shown, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = list(command.words[1:])
    if arguments[0] not in QUICK:  # those are run below
        monkeypatch.setattr(import_module(f"probzero.commands.{_module(arguments[0])}"), "run", lambda args: None)
        assert main(arguments) == 0, capsys.readouterr().err


@pytest.mark.parametrize("command", shown("probzero", WORDS), ids=str)
def test_probzero_has_the_command_and_the_options(command: Shown, capsys: pytest.CaptureFixture[str]) -> None:
    name, *rest = command.words[1:]
    if name.startswith("--") or name in MADE_UP | {"COMMAND"}:
        return
    assert name in COMMANDS
    with pytest.raises(SystemExit):
        main([name, "--help"])
    options = {word.split("=")[0] for word in rest if word.startswith("--")}
    assert options <= set(re.findall(r"--[a-z][a-z-]*", capsys.readouterr().out))


@pytest.mark.parametrize("command", shown("snakemake", BLOCKS), ids=str)
def test_snakemake_knows_the_options_and_finds_the_files(command: Shown) -> None:
    from snakemake.cli import get_argument_parser

    words = re.sub(r"--executor \S+ ?", "", " ".join(command.words[1:])).split()  # a plugin that need not be there
    found, unknown = get_argument_parser().parse_known_args(words)
    of_plugins = ("--kubernetes-", "--slurm-")
    assert [word for word in unknown if word.startswith("--") and not word.startswith(of_plugins)] == []
    files = [Path(path) for path in found.configfile or []]
    files += [Path(folder, "config.yaml") for folder in found.profile or []]
    assert [path for path in files if path.stem not in MADE_UP and not (ROOT / path).is_file()] == []


@pytest.mark.parametrize(
    "command", [*shown("python", BLOCKS), *shown("python3", BLOCKS), *shown("pytest", BLOCKS)], ids=str
)
def test_programs_and_tests_that_are_called_are_there(command: Shown) -> None:
    files = [word for word in command.words if re.match(r"(tools|tests|workflow)/", word)]
    assert all((ROOT / file).exists() for file in files) and (files or "-m" in command.words)


def test_a_page_that_shows_an_option_which_is_not_there_is_found(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["solve", "start", "--no-such-option"]) == 2 and "--no-such-option" in capsys.readouterr().err


@pytest.mark.parametrize("command", [one for one in shown("probzero", BLOCKS) if one.words[1] in QUICK], ids=str)
def test_a_quick_command_runs(
    command: Shown, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(ROOT)
    assert main(list(command.words[1:])) == 0
    assert re.search(r" · [+−-]\d+ · (\w\d [+−-]\d+(, )?)+", capsys.readouterr().out)  # margin, and that of each move


def test_the_checker_of_certificates_is_called_as_the_pages_say(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (called,) = {one.words for one in shown("python3", BLOCKS) if one.words[1] == "tools/check_certificate.py"}
    (proof,) = (ROOT / "results/reference/othello4/seed0/certificates").glob("*.json.gz")
    (tmp_path / called[2]).write_bytes(proof.read_bytes())
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", list(called[1:]))
    with pytest.raises(SystemExit) as ended:
        runpy.run_path(str(ROOT / called[1]), run_name="__main__")
    assert not ended.value.code, capsys.readouterr()
    assert "holds: from one start the agent wins" in capsys.readouterr().out
