"""Writing files: whole or not at all, and nothing left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from probzero import files
from probzero.errors import ProbZeroError

WRITER = """
import sys, time
from probzero import files
with files.replacing(sys.argv[1]) as temporary:
    temporary.write_text("half")
    print("writing", flush=True)
    time.sleep(600)
"""


def test_a_file_is_whole_or_absent_and_nothing_else_is_left(tmp_path: Path) -> None:
    target = tmp_path / "new" / "table.csv"
    with pytest.raises(ZeroDivisionError), files.replacing(target) as temporary:
        temporary.write_text("half")
        _ = 1 / 0
    assert list(target.parent.iterdir()) == []
    files.write_text(target, "whole\n")
    with pytest.raises(ZeroDivisionError), files.replacing(target) as temporary:
        temporary.write_text("half")
        _ = 1 / 0
    assert list(target.parent.iterdir()) == [target]
    assert target.read_text() == "whole\n"
    assert target.stat().st_mode & 0o777 == 0o666 & ~_umask()


def test_a_killed_writer_leaves_nothing_once_the_file_is_written_again(tmp_path: Path) -> None:
    target, other = tmp_path / "table.csv", tmp_path / "other-table.csv"
    with subprocess.Popen([sys.executable, "-c", WRITER, str(target)], stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout is not None and writer.stdout.readline() == "writing\n"
        assert not target.exists()
        writer.send_signal(signal.SIGKILL)
    assert len(list(tmp_path.iterdir())) == 1 and not target.exists()
    files.write_text(target, "whole\n")
    assert list(tmp_path.iterdir()) == [target]
    assert target.read_text() == "whole\n"
    with files.replacing(other) as temporary:
        temporary.write_text("other\n")
        files.write_text(target, "again\n")  # what belongs to another file stays
    assert other.read_text() == "other\n"


def test_of_two_writers_the_later_one_wins_and_the_other_says_so(tmp_path: Path) -> None:
    target = tmp_path / "table.csv"
    with pytest.raises(ProbZeroError, match=r"table\.csv.*one writer at a time"), files.replacing(target) as temporary:
        temporary.write_text("earlier\n")
        files.write_text(target, "later\n")
    assert list(tmp_path.iterdir()) == [target]
    assert target.read_text() == "later\n"


def _umask() -> int:
    found = os.umask(0)
    os.umask(found)
    return found
