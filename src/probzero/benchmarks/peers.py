"""Self-play of other programs beside ours: in turns on one machine, so that its load meets all alike.

A program of a setting is started once, in as many processes as the setting has. For each line that a process reads it
plays a round and writes one line of JSON: leaf_evaluations, network_evaluations and the seconds that they took. A
setting's speed in a round is

    Σ evaluations of its processes / the longest time of any of them

and is given as median, lowest and highest over the rounds; a ratio is the median over rounds of ours over theirs in the
same round. The first round of all is not counted: programs compile and load in it.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from typing import IO, NamedTuple

import numpy as np
import pandas as pd

from probzero.errors import bad

COLUMNS = (
    "size", "system", "setting", "leaf_evaluations_per_second", "low", "high", "ratio",
    "network_evaluations_per_second", "network_ratio",
)  # fmt: skip
NOT_PLAYED = 3  # the status of a program that does not play this size
KEYS = ("leaf_evaluations", "network_evaluations", "seconds")


class Setting(NamedTuple):
    """One way to use one system."""

    system: str
    name: str
    commands: tuple[tuple[str, ...], ...]  # one for each process


class Rates(NamedTuple):
    leaves: float  # a second, answered by the network or by a cache
    network: float  # a second, answered by the network


class Player:
    """The running processes of a setting."""

    def __init__(self, setting: Setting) -> None:
        self.setting = setting
        self.processes: list[subprocess.Popen[str]] = []
        self.complaints: list[IO[str]] = []

    def __enter__(self) -> Player:
        for command in self.setting.commands:
            complaints = tempfile.TemporaryFile("w+")
            self.complaints.append(complaints)
            try:
                process = subprocess.Popen(
                    command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=complaints, text=True
                )
            except OSError as error:
                self.__exit__()
                raise bad("peer", self.setting.system, f"a program at {command[0]}", error.strerror) from None
            self.processes.append(process)
        return self

    def __exit__(self, *_: object) -> None:
        for process in self.processes:
            process.kill()
            process.communicate()
        for complaints in self.complaints:
            complaints.close()

    def play(self) -> Rates | None:
        """Play a round; None if the program does not play this size."""
        for process in self.processes:
            assert process.stdin is not None
            try:
                process.stdin.write("\n")
                process.stdin.flush()
            except BrokenPipeError:
                pass  # what it says at its end is told below
        played = [self._answer(number) for number in range(len(self.processes))]
        if any(answer is None for answer in played):
            return None
        leaves, network, seconds = zip(*(answer for answer in played if answer is not None), strict=True)
        return Rates(sum(leaves) / max(seconds), sum(network) / max(seconds))

    def _answer(self, number: int) -> list[float] | None:
        process, complaints = self.processes[number], self.complaints[number]
        assert process.stdout is not None
        line = process.stdout.readline()
        where = f"{self.setting.system}, {self.setting.name}"
        if not line and process.wait() == NOT_PLAYED:
            return None
        if not line:
            complaints.seek(0)
            said = complaints.read().strip().splitlines() or ["nothing"]
            raise bad("peer", where, "a line for each round", f"its end with status {process.returncode}: {said[-1]}")
        try:
            answer = json.loads(line)
            numbers = [float(answer[key]) for key in KEYS]
        except (ValueError, KeyError, TypeError):
            numbers = []
        if len(numbers) != len(KEYS) or not all(np.isfinite(numbers)) or min(numbers) <= 0:
            raise bad("peer", where, f"a line of JSON with numbers {', '.join(KEYS)} above 0", repr(line.strip()))
        return numbers


def compare(size: str, ours: Setting, others: Sequence[Setting], rounds: int) -> Iterator[dict[str, object]]:
    """Play rounds of all settings in turns; yield a row for ours and for each of the others that plays this size."""
    with ExitStack() as running:
        rates: dict[Setting, list[Rates]] = {}
        players = []
        for setting in (ours, *others):
            player = running.enter_context(Player(setting))
            if player.play() is None:  # loads and compiles
                print(f"{setting.system}, {setting.name}: does not play {size}, left out", flush=True)
            else:
                players.append(player)
                rates[setting] = []
        for number in range(rounds):
            for player in players[number % len(players) :] + players[: number % len(players)]:
                found = player.play()
                if found is None:
                    raise bad("peer", player.setting.system, "as many rounds as asked for", f"its end after {number}")
                rates[player.setting].append(found)
    for setting, found_rates in rates.items():
        yield row(size, setting, found_rates, rates[ours])


def row(size: str, setting: Setting, rates: Sequence[Rates], ours: Sequence[Rates]) -> dict[str, object]:
    """Return a row of the table from the rates of a setting and of ours in the same rounds."""
    leaves = [rate.leaves for rate in rates]
    return dict(
        zip(
            COLUMNS,
            (
                size,
                setting.system,
                setting.name,
                statistics.median(leaves),
                min(leaves),
                max(leaves),
                statistics.median(mine.leaves / rate.leaves for mine, rate in zip(ours, rates, strict=True)),
                statistics.median(rate.network for rate in rates),
                statistics.median(mine.network / rate.network for mine, rate in zip(ours, rates, strict=True)),
            ),
            strict=True,
        )
    )


def table(rows: Sequence[dict[str, object]]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=list(COLUMNS))
