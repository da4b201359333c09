"""The table of other programs beside ours, with stand-ins for them: what is divided by what, and what is refused."""

from __future__ import annotations

import json
import sys
import warnings
from pathlib import Path

import pytest
import torch

from probzero import config, games
from probzero.__main__ import main
from probzero.benchmarks import peers, rivals
from probzero.benchmarks.peers import Rates, Setting
from probzero.commands import bench_peers
from probzero.config import Network
from probzero.errors import ProbZeroError
from probzero.tables import read_table

CONFIG = Path(__file__).parents[2] / "config" / "smoke.yaml"


def stand_in(*lines: object, end: int = 0, says: str = "") -> tuple[str, ...]:
    """A program that answers with these lines, one for each that it reads, and then ends."""
    texts = [line if isinstance(line, str) else json.dumps(line) for line in lines]
    code = f"import sys\nfor answer in {texts!r}:\n    input(); print(answer, flush=True)\n"
    return sys.executable, "-c", code + f"print({says!r}, file=sys.stderr)\nsys.exit({end})"


def played(leaves: float, network: float, seconds: float) -> dict[str, float]:
    return {"leaf_evaluations": leaves, "network_evaluations": network, "seconds": seconds}


def test_rows_by_hand() -> None:
    warm = played(1, 1, 1)
    first = stand_in(warm, played(300, 200, 2), played(400, 200, 2), played(100, 100, 1))
    second = stand_in(warm, played(100, 100, 4), played(100, 100, 1), played(100, 100, 1))
    other = stand_in(warm, played(50, 50, 1), played(100, 100, 1), played(20, 20, 2))
    mine = Setting("ours", "two", (first, second))
    # ours: 400 in 4 s, 500 in 2 s, 200 in 1 s; of them by the network 300, 300, 200; theirs 50, 100, 10 a second
    rows = list(peers.compare("small", mine, [Setting("theirs", "one", (other,))], rounds=3))
    assert list(rows[0].values()) == ["small", "ours", "two", 200, 100, 250, 1, 150, 1]
    # the ratios of the rounds: 100 / 50, 250 / 100, 200 / 10; of the network 75 / 50, 150 / 100, 200 / 10
    assert list(rows[1].values()) == ["small", "theirs", "one", 50, 10, 100, 2.5, 50, 1.5]


def test_the_columns_are_the_promised_ones() -> None:
    row = peers.row("5x5", Setting("ours", "", ()), [Rates(2, 1)], [Rates(2, 1)])
    promised = "size, system, setting, leaf_evaluations_per_second, low, high, ratio, network_evaluations_per_second"
    assert list(peers.table([row]).columns) == [*promised.split(", "), "network_ratio"]


def test_a_program_that_does_not_play_a_size_is_left_out(capfd: pytest.CaptureFixture[str]) -> None:
    mine = Setting("ours", "", (stand_in(*[played(1, 1, 1)] * 3),))
    rows = list(peers.compare("8x8", mine, [Setting("small", "one", (stand_in(end=peers.NOT_PLAYED),))], rounds=2))
    assert [row["system"] for row in rows] == ["ours"]
    assert capfd.readouterr().out == "small, one: does not play 8x8, left out\n"


@pytest.mark.parametrize(
    ("answers", "end", "complaint"),
    [
        ([], 1, "its end with status 1: no such library"),
        ([played(1, 1, 1)], 0, "its end with status 0: no such library"),
        (["ready"], 0, "found 'ready'"),
        (['{"leaf_evaluations": 5}'], 0, "above 0"),
        ([played(0, 1, 1)], 0, "above 0"),
        ([played(1, 1, float("nan"))], 0, "above 0"),
        (["[1, 2, 3]"], 0, "above 0"),
    ],
)
def test_what_is_no_answer_is_refused_in_one_line(answers: list[object], end: int, complaint: str) -> None:
    broken = Setting("theirs", "one", (stand_in(*answers, end=end, says="Traceback\nno such library"),))
    mine = Setting("ours", "", (stand_in(*[played(1, 1, 1)] * 5),))
    with pytest.raises(ProbZeroError, match=complaint) as error:
        list(peers.compare("5x5", mine, [broken], rounds=1))
    assert "\n" not in str(error.value)


def bench(tmp_path: Path, *arguments: object) -> int:
    return main(["bench-peers", "--config", str(CONFIG), "--output", str(tmp_path / "peers.csv"), *map(str, arguments)])


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--published", "nowhere"], "PUBLISHED: expected a program that can be run, found nowhere"),
        (["--published", CONFIG], "PUBLISHED: expected a program that can be run"),
        (["--mctx", "nowhere", CONFIG], "--mctx: expected an interpreter, found nowhere"),
        (["--mctx", sys.executable, "nowhere"], "--mctx: expected a program, found nowhere"),
        (["--rounds", "0"], "--rounds: expected a whole number above 0, found 0"),
    ],
)
def test_bad_input_ends_in_one_line_and_writes_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[object], complaint: str
) -> None:
    assert bench(tmp_path, *arguments) == 2
    said = capsys.readouterr().err
    assert complaint in said and said.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_ours_beside_a_stand_in_that_reads_the_network(tmp_path: Path) -> None:
    """Two real shards of the smoke scale, and a program that takes the arguments of a build of the published code."""
    program = tmp_path / "selfplay"
    program.write_text(
        f"#!{sys.executable}\nimport argparse, sys\nparser = argparse.ArgumentParser()\n"
        "for name in ('game', 'network'): parser.add_argument('--' + name, required=True)\n"
        "for name in ('size', 'games', 'particles', 'batches', 'threads'):\n"
        "    parser.add_argument('--' + name, required=True, type=int)\n"
        "network = open(parser.parse_args().network, 'rb').read()\n"
        "for _ in sys.stdin:\n    leaves = len(network)\n"
        '    print(f\'{{"leaf_evaluations": {leaves}, "network_evaluations": {leaves}, "seconds": 2}}\', flush=True)\n'
    )
    program.chmod(0o755)
    assert bench(tmp_path, "--published", program, "--rounds", "1") == 0
    found = read_table(tmp_path / "peers.csv", {"system": str, "setting": str, "ratio": float, "network_ratio": float})
    assert found.system.tolist() == ["ours", "published C++", "published C++"]
    assert [text.split(", ")[-1] for text in found.setting] == [
        "2 processes of 1 thread", "2 processes of 1 thread", "1 process of 2 threads",
    ]  # fmt: skip
    two, one = found.ratio[1:]  # one process gives half of what two of them give
    assert one == pytest.approx(2 * two, rel=1e-4)
    assert 0 < found.network_evaluations_per_second[0] <= found.leaf_evaluations_per_second[0]


def _load(path: Path) -> torch.jit.ScriptModule:
    with warnings.catch_warnings(action="ignore"):
        return torch.jit.load(path)


def test_what_mctx_is_asked_for() -> None:
    paper = config.load(CONFIG.parent / "paper.yaml")
    asked = list(rivals.mctx(paper, ("python", "script")))
    assert rivals.size_of(paper) == "5x5, 10x50, 20 games, 8 x 60" and "10 games" in rivals.ours(paper).name
    same = [setting for setting in asked if "20 games, 480 simulations" in setting.name]
    assert [setting.name.split(",")[0] for setting in same] == ["gumbel", "puct"]
    for setting in asked:
        command = setting.commands[0]
        values = dict(zip(command[2::2], command[3::2], strict=True))
        assert (values["--blocks"], values["--channels"], values["--size"]) == ("10", "50", "5")
        assert len(setting.commands) * int(values["--threads"]) == 2, "two cores, like ours"


@pytest.mark.parametrize("hidden", [0, 7])
def test_the_network_for_the_published_program_has_the_size_of_ours(tmp_path: Path, hidden: int) -> None:
    from probzero.network.model import build

    shape, network = games.make("othello", size=5).shape, Network(blocks=2, channels=6, policy_hidden=hidden)
    plain = rivals.PlainNet(shape, network)
    kernels = [tensor.numel() for tensor in plain.parameters() if tensor.ndim > 1]
    ours = [tensor.numel() for tensor in build(shape, network, 0).parameters() if tensor.ndim > 1]
    assert sum(kernels) == sum(ours)
    rivals.write_plain(shape, network, tmp_path / "network.pt")
    policy, value, reward = _load(tmp_path / "network.pt")(torch.ones(3, 2, 5, 5))
    assert policy.shape == (3, 26)
    for outcomes in (value, reward):
        assert outcomes.sum(1) == pytest.approx(torch.ones(3))


def test_the_largest_board_is_a_configuration_that_another_process_can_read() -> None:
    largest = bench_peers._on_largest(config.load(CONFIG.with_name("laptop.yaml")), 20)
    assert config.parse(largest.as_dict()).game.options == {"size": 8}
