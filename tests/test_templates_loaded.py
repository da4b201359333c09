"""Compiled loops are kept on disk for each game, and never taken for those of another game or of older sources.

Everything happens in processes of their own, over a copy of the sources with a template more: a count of leaves.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from probzero import templates
from probzero.errors import ProbZeroError

LOOPS = '''
import numpy as np
from numba import njit

from probzero import wdl

legal, play, MOVES, WORDS = rules.legal, rules.play, rules.MOVES, rules.WORDS
LOSS = wdl.LOSS


@njit(cache=True)
def leaves(state, depth):
    """Leaves after `depth` plies; a finished game is one."""
    moves, after = np.zeros(MOVES, dtype=np.int64), np.zeros(WORDS, dtype=np.int64)
    count = legal(state, moves)
    if depth == 0 or count == 0:
        return 1
    total = 0
    for move in moves[:count]:
        play(state, move, after)
        total += leaves(after, depth - 1)
    return total


@njit(cache=True)
def loss():
    return LOSS
'''

# A line for each game: its name, the leaves after four plies, the number of a loss, and whether both were on disk.
COUNT = """
import sys
import numpy as np
from probzero import templates

OPTIONS = {"othello": ("size",), "connect_four": ("width", "height")}
STARTS = {"othello-4": (576, 1056), "othello-8": (34628173824, 68853694464)}

def count(game):
    name, *numbers = game.split("-")
    options = dict(zip(OPTIONS[name], map(int, numbers)))
    rules = templates.load(f"probzero.games.compiled.{name}", game, **options)
    loops = templates.load("probzero.loops", game, rules=rules)
    found = loops.leaves(np.array(STARTS.get(game, (0, 0))), 4), loops.loss()
    hits = [len(loop.stats.cache_hits) for loop in (loops.leaves, loops.loss)]
    line = game, *map(str, found), ("compiled", "partly", "loaded")[sum(hits)]
    print(" ".join(line) + "\\n", end="", flush=True)
"""
EACH = COUNT + "\nfor game in sys.argv[1:]: count(game)"
FORKS = (
    COUNT
    + """
import os
for game in sys.argv[1:]:
    if os.fork() == 0:
        count(game)
        os._exit(0)
    assert os.wait()[1] == 0
"""
)
THREADS = (
    COUNT
    + """
import threading
import numba
before, together = numba.config.CACHE_DIR, threading.Barrier(8)
def one(game):
    together.wait()
    count(game)
threads = [threading.Thread(target=one, args=(game,)) for game in sys.argv[1:] for _ in range(8 // len(sys.argv[1:]))]
for thread in threads: thread.start()
for thread in threads: thread.join()
assert numba.config.CACHE_DIR == before and numba.config.CACHE_LOCATOR_CLASSES == ""
"""
)
# Published counts for Othello; all columns stay open for four plies on 7×6.
LEAVES = {"othello-4": 128, "othello-8": 244, "connect_four-7-6": 7**4}
SMALL = "connect_four-7-6"


class Copy:
    """A copy of the package, and processes that run over it."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.package = folder, folder / "src" / "probzero"
        shutil.copytree(templates.PACKAGE, self.package, ignore=shutil.ignore_patterns("__pycache__"))
        (self.package / "loops.py").write_text(LOOPS)
        (self.package / "wdl.py").write_text("WIN, DRAW, LOSS = 0, 1, 2")  # without torch processes start sooner

    def start(self, *games: str, program: str = EACH, **environment: str) -> subprocess.Popen[str]:
        # No .pyc: they would hide an edit within a second of the one before.
        own = {"PYTHONPATH": str(self.folder / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
        kept = {key: value for key, value in os.environ.items() if not key.startswith("NUMBA_")}
        cache = {"NUMBA_CACHE_DIR": str(self.folder / "cache")}
        return subprocess.Popen(
            [sys.executable, "-c", program, *games],
            env={key: value for key, value in {**kept, **own, **cache, **environment}.items() if value},
            cwd=self.folder,
            stdout=subprocess.PIPE,
            text=True,
        )

    def count(self, *games: str, program: str = EACH, **environment: str) -> list[str]:
        return end(self.start(*games, program=program, **environment))

    def edit(self, path: str, old: str, new: str) -> None:
        text = (self.package / path).read_text()
        assert text.count(old) == 1
        (self.package / path).write_text(text.replace(old, new))


def end(process: subprocess.Popen[str]) -> list[str]:
    output = process.communicate()[0]
    assert process.returncode == 0
    return output.splitlines()


def lines(*games: str, how: str) -> list[str]:
    return [f"{game} {LEAVES[game]} 2 {how}" for game in games]


@pytest.fixture
def copy(tmp_path: Path) -> Copy:
    return Copy(tmp_path)


def test_what_one_process_compiled_another_loads_whatever_the_order_of_games(copy: Copy) -> None:
    games = list(LEAVES)
    for game in games:
        assert copy.count(game) == lines(game, how="compiled")
    for order in (games, games[::-1]):
        assert copy.count(*order) == lines(*order, how="loaded")


def test_an_edit_of_the_rules_is_noticed_and_undone_the_old_code_is_found(copy: Copy) -> None:
    rules, line = "games/compiled/connect_four.py", "for column in range({}WIDTH):\n        if"
    assert copy.count(SMALL) == lines(SMALL, how="compiled")
    copy.edit(rules, line.format(""), line.format("1, "))  # nobody plays in the first column
    assert copy.count(SMALL) == [f"{SMALL} {6**4} 2 compiled"]
    assert copy.count(SMALL) == [f"{SMALL} {6**4} 2 loaded"]
    copy.edit(rules, line.format("1, "), line.format(""))
    assert copy.count(SMALL) == lines(SMALL, how="loaded")


def test_an_edit_of_a_constant_is_noticed(copy: Copy) -> None:
    assert copy.count(SMALL) == lines(SMALL, how="compiled")
    copy.edit("wdl.py", "LOSS = 0, 1, 2", "LOSS = 0, 1, 7")
    assert copy.count(SMALL) == [f"{SMALL} {LEAVES[SMALL]} 7 compiled"]


def test_an_edit_while_a_process_runs_is_for_the_next_process(copy: Copy) -> None:
    # The stamp is taken with the first template: what was edited after it must not be kept under it.
    rules = copy.package / "games/compiled/connect_four.py"
    edit = f"""
from pathlib import Path
templates.load("probzero.games.compiled.bits")
rules = Path({str(rules)!r})
rules.write_text(rules.read_text().replace("range(WIDTH):\\n        if", "range(1, WIDTH):\\n        if"))
count(sys.argv[1])
"""
    assert copy.count(SMALL, program=COUNT + edit) == lines(SMALL, how="compiled")
    assert copy.count(SMALL) == [f"{SMALL} {6**4} 2 compiled"]


def test_processes_at_once_from_an_empty_cache(copy: Copy) -> None:
    pair = ("connect_four-7-6", "othello-4")
    orders = (pair, pair[::-1], pair)
    for order, process in [(order, copy.start(*order)) for order in orders]:
        found = end(process)
        assert [line.rsplit(" ", 1)[0] for line in found] == [line.strip() for line in lines(*order, how="")]
    assert copy.count(*pair) == lines(*pair, how="loaded")


@pytest.mark.parametrize("program", [FORKS, THREADS], ids=["forks", "threads"])
def test_forks_and_threads_from_an_empty_cache(copy: Copy, program: str) -> None:
    pair = ("connect_four-7-6", "othello-4")
    found = {line.rsplit(" ", 1)[0] for line in copy.count(*pair, program=program)}
    assert found == {line.strip() for line in lines(*pair, how="")}
    assert copy.count(*pair) == lines(*pair, how="loaded")


def test_a_package_that_cannot_be_written_to_is_compiled_at_home(copy: Copy) -> None:
    (copy.package / "__pycache__").touch()  # a file: not even root can make a folder there
    home, nothing = copy.folder / "home", {"NUMBA_CACHE_DIR": ""}
    assert copy.count(SMALL, HOME=str(home), **nothing) == lines(SMALL, how="compiled")
    assert copy.count(SMALL, HOME=str(home), **nothing) == lines(SMALL, how="loaded")
    assert len(list((home / ".cache" / "probzero").glob("compiled-*"))) == 1


def test_without_a_place_to_keep_code_every_process_compiles_and_leaves_nothing(copy: Copy) -> None:
    (copy.folder / "cache").touch()
    temporary = copy.folder / "temporary"
    temporary.mkdir()
    for _ in range(2):
        assert copy.count(SMALL, TMPDIR=str(temporary)) == lines(SMALL, how="compiled")
    assert list(temporary.iterdir()) == []


def test_by_itself_code_is_kept_in_the_package(copy: Copy) -> None:
    assert copy.count(SMALL, NUMBA_CACHE_DIR="") == lines(SMALL, how="compiled")
    assert len(list((copy.package / "__pycache__").glob("compiled-*"))) == 1


def test_a_template_with_a_fault_leaves_no_trace(copy: Copy) -> None:
    (copy.package / "faulty.py").write_text("import numba\n1 / 0\n")
    program = """
import sys
import numba
from probzero import templates
before = numba.config.CACHE_DIR
for _ in range(2):
    try: templates.load("probzero.faulty", "chess")
    except ZeroDivisionError: print("refused")
assert numba.config.CACHE_DIR == before and numba.config.CACHE_LOCATOR_CLASSES == ""
assert "probzero.faulty_chess" not in sys.modules
"""
    assert copy.count(program=program) == ["refused", "refused"]


def test_one_template_is_not_loaded_for_one_game_with_different_globals() -> None:
    template, game = "probzero.games.compiled.connect_four", "connect_four-of-this-test"
    once = templates.load(template, game, width=4, height=4)
    assert templates.load(template, game, width=4, height=4) is once
    with pytest.raises(ProbZeroError, match="expected to be loaded with the same globals each time"):
        templates.load(template, game, width=5, height=4)
