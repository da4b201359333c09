"""AlphaZero's self-play: targets and resignations worked out on paper, and whole games that keep to them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch
import yaml
from slow_othello import SlowOthello

from probzero.__main__ import main
from probzero.arena.players import SearchPlayer
from probzero.config import Config, SelfPlay, Targets, parse
from probzero.errors import ProbZeroError
from probzero.games.othello import othello, parse_moves
from probzero.learning.dataset import Samples, read_samples, write_samples
from probzero.learning.played import PlayedMoves
from probzero.learning.resignation import Resignation
from probzero.learning.selfplay import Shard, play_shard, temperature_at
from probzero.network.checkpoint import CheckpointInfo, save_checkpoint
from probzero.network.inference import Evaluator
from probzero.network.model import build
from probzero.random_keys import key
from probzero.search.build import SearchFactory
from probzero.search.choice import Moves
from probzero.search.mcts import MctsSearch
from probzero.truth.measures import searched_moves

pytestmark = pytest.mark.usefixtures("one_thread")

SMOKE = Path(__file__).parent.parent / "config" / "smoke.yaml"
WIN, DRAW, LOSS = [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]
RULES = othello(5)
VALUES = {0: [0.2, -0.4, 0.6, -0.8], 1: [0.5, 0.1]}  # the root's, ply by ply, of a game of four plies and one of two
VISITS = [3.0, 1.0, 0.0]


class Position(NamedTuple):
    own: int
    opp: int
    legal: list[int]


def first_positions(plies: int) -> list[Position]:
    """The positions of a game in which everybody plays the first move that leaves the other a choice of three."""
    board, found = SlowOthello.from_bitboards(5, *RULES.start()), []
    for _ in range(plies):
        found.append(Position(*board.bitboards(), board.legal_moves()))
        board = next(after for move in board.legal_moves() if len((after := board.after(move)).legal_moves()) >= 3)
    return found


def noted() -> PlayedMoves:
    """Both games as self-play notes them; they begin alike, and the second comes first."""
    moves = PlayedMoves(RULES)
    for ply, position in enumerate(first_positions(4)):
        games = [game for game in (1, 0) if ply < len(VALUES[game])]
        action = torch.tensor([[*position.legal[:3], 0]]).expand(len(games), -1)  # the last column is padding
        weight = torch.tensor([[*VISITS, 0.0]], dtype=torch.float64).expand(len(games), -1)
        own, opp = (torch.full((len(games),), side) for side in position[:2])
        value = torch.tensor([VALUES[game][ply] for game in games], dtype=torch.float64)
        moves.note(torch.tensor(games), own, opp, Moves(action, weight > 0, weight), value)
    return moves


def samples(settings: Targets, result: tuple[int, int] = (1, -1)) -> Samples:
    """Samples of both games; results are those of the players who moved first."""
    return noted().samples(torch.tensor(result), settings)


def values_of(settings: Targets, game: int, result: tuple[int, int] = (1, -1)) -> list[list[float]]:
    """The value targets of one game, ply by ply."""
    rows = [[1, 3, 4, 5], [0, 2]][game]  # noted as game 1, 0 at ply 0 and at ply 1, then game 0 alone
    return samples(settings, result).value[rows].tolist()


def close(found: list[list[float]], expected: list[list[float]]) -> bool:
    return np.allclose(found, expected, atol=1e-6)


def test_the_outcome_is_seen_by_the_player_to_move() -> None:
    outcome = Targets(value="outcome")
    assert values_of(outcome, 0) == [WIN, LOSS, WIN, LOSS]
    assert values_of(outcome, 1) == [LOSS, WIN]
    assert values_of(outcome, 0, (0, 1)) == [DRAW] * 4
    assert values_of(outcome, 1, (0, 1)) == [WIN, LOSS]


def test_the_value_of_the_search_is_a_triple_without_draws() -> None:
    search = Targets(value="search")
    assert close(values_of(search, 0), [[0.6, 0, 0.4], [0.3, 0, 0.7], [0.8, 0, 0.2], [0.1, 0, 0.9]])
    assert close(values_of(search, 1), [[0.75, 0, 0.25], [0.55, 0, 0.45]])


def test_outcome_and_search_are_mixed_by_the_share_of_the_root() -> None:
    mixed = Targets(value="mixed", root_share=0.25)
    assert close(values_of(mixed, 0), [[0.9, 0, 0.1], [0.075, 0, 0.925], [0.95, 0, 0.05], [0.025, 0, 0.975]])
    assert close(values_of(mixed, 0, (0, 1))[:1], [[0.15, 0.75, 0.1]])
    assert close(values_of(Targets(value="mixed", root_share=0.0), 0), [WIN, LOSS, WIN, LOSS])
    assert values_of(Targets(value="mixed", root_share=1.0), 0) == values_of(Targets(value="search"), 0)


def test_one_step_ahead_the_other_player_speaks() -> None:
    steps = Targets(value="steps", steps=1)
    assert close(values_of(steps, 0), [[0.7, 0, 0.3], [0.2, 0, 0.8], [0.9, 0, 0.1], LOSS])
    assert close(values_of(steps, 1), [[0.45, 0, 0.55], WIN])


def test_two_steps_ahead_the_same_player_speaks() -> None:
    steps = Targets(value="steps", steps=2)
    assert close(values_of(steps, 0), [[0.8, 0, 0.2], [0.1, 0, 0.9], WIN, LOSS])
    assert values_of(steps, 1) == [LOSS, WIN]  # it ends before


def test_three_steps_ahead_only_the_first_position_has_a_root_to_ask() -> None:
    assert close(values_of(Targets(value="steps", steps=3), 0), [[0.9, 0, 0.1], LOSS, WIN, LOSS])


@pytest.mark.parametrize("steps", [4, 5, 200])
def test_beyond_the_end_of_the_game_there_is_only_its_outcome(steps: int) -> None:
    assert values_of(Targets(value="steps", steps=steps), 0, (0, 1)) == [DRAW] * 4


def test_policies_are_shares_of_visits_over_all_legal_moves() -> None:
    found = samples(Targets(value="outcome"))
    for row, ply in zip([1, 3, 4, 5], range(4), strict=True):
        legal = first_positions(4)[ply].legal
        assert len(legal) >= 3
        expected = np.zeros(26)
        expected[legal[:3]] = [0.75, 0.25, 0]
        assert found.policy[row].tolist() == pytest.approx(expected.tolist())
        assert np.flatnonzero(found.mask[row]).tolist() == legal


def test_every_position_played_is_a_sample_of_its_own(tmp_path: Path) -> None:
    found = samples(Targets(value="mixed"))
    assert len(found) == 6
    assert found.board[0].tolist() == found.board[1].tolist() and found.board[2].tolist() == found.board[3].tolist()
    for row, ply in zip([1, 3, 4, 5], range(4), strict=True):
        own, opp, _ = first_positions(4)[ply]
        assert found.board[row].tolist() == [word >> square & 1 for word in (own, opp) for square in range(25)]
    assert found.weight.tolist() == [1] * 6 and not found.valid.any() and not found.reward.any()
    write_samples(tmp_path / "played.bin", found, 5)
    assert len(read_samples(tmp_path / "played.bin", 5)) == 6


def test_a_root_value_a_hair_beyond_a_win_is_a_win() -> None:
    moves = noted()
    moves.value[0] = torch.tensor([1 + 1e-9, -1 - 1e-9], dtype=torch.float64)
    found = moves.samples(torch.tensor([1, -1]), Targets(value="search"))
    assert found.value[:2].tolist() == [WIN, LOSS] and (found.value >= 0).all()


def settings(**changes: Any) -> SelfPlay:
    """Settings of self-play, those given and the rest as in the smoke scale."""
    return configured(**changes).selfplay


def configured(search: dict[str, Any] | None = None, targets: dict[str, Any] | None = None, **selfplay: Any) -> Config:
    """AlphaZero at the smoke scale with a tiny network."""
    raw = yaml.safe_load(SMOKE.read_text(encoding="utf-8"))
    raw["network"] = {"blocks": 1, "channels": 8, "reward": False}
    raw["search"].update({"algorithm": "puct", "transpositions": False, **(search or {})})
    raw["targets"] = {"nodes": "roots", "policy": "visits", "value": "outcome", **(targets or {})}
    sizes = {"games": 12, "particles": 4, "batches": 6, "random_plies": 5, "exploration": 0.0, "capacity": 50_000}
    raw["selfplay"].update({**sizes, **selfplay})
    return parse(raw)


def keys(count: int) -> torch.Tensor:
    return torch.tensor([key("resignation", game) for game in range(count)])


def rows(*numbers: float) -> torch.Tensor:
    return torch.tensor(numbers, dtype=torch.float64)


def test_the_player_to_move_resigns_below_the_threshold_and_not_at_it() -> None:
    resignation = Resignation(settings(resign_below=-0.5, play_on=0.0), keys(5))
    ends = resignation.now(torch.tensor([4, 0, 2]), rows(-0.6, -0.5, 0.9), 0)
    assert ends.tolist() == [True, False, False]
    assert resignation.resigned.tolist() == [False, False, False, False, True]
    assert resignation.now(torch.tensor([0, 2]), rows(0.5, -0.51), 1).tolist() == [False, True]
    assert resignation.metrics(torch.tensor([1, 1, 1, -1, -1])) == {
        "resigned": 2,
        "resignations_checked": 0,  # nobody played on, so nobody knows
        "false_resignations": 0,
    }


def test_in_games_that_are_played_on_nobody_resigns_but_who_would_have_is_remembered() -> None:
    resignation = Resignation(settings(resign_below=-0.5, play_on=1.0), keys(6))
    everybody = torch.arange(6)
    # Games 0, 3 and 5: the first player would have; games 1 and 2: the second; game 4: nobody.
    assert not resignation.now(everybody, rows(-0.6, 0, 0, -0.7, 0, -0.9), 0).any()
    assert not resignation.now(everybody, rows(0, -0.8, -0.9, 0, 0, -0.9), 1).any()
    assert not resignation.now(everybody, rows(0, -0.8, 0, 0, 0, 0), 2).any()
    assert resignation.would.tolist() == [0, 1, 1, 0, -1, 0] and not resignation.resigned.any()
    # Seen by the first player: 0 lost as foreseen; in 1 the second player won in spite of it; in 2 it lost; 3 was
    # drawn; in 5 the first player, who was hopeless first, won.
    assert resignation.metrics(torch.tensor([-1, -1, 1, 0, 1, 1])) == {
        "resigned": 0,
        "resignations_checked": 5,
        "false_resignations": 3,
    }


def test_the_share_of_games_played_on_is_chosen_by_their_keys() -> None:
    many = keys(4000)
    resignation = Resignation(settings(resign_below=-0.5, play_on=0.25), many)
    ends = resignation.now(torch.arange(4000), torch.full((4000,), -0.9), 3)
    assert float((~ends).double().mean()) == pytest.approx(0.25, abs=0.03)
    alone = Resignation(settings(resign_below=-0.5, play_on=0.25), many[:7])
    assert alone.now(torch.arange(7), torch.full((7,), -0.9), 3).tolist() == ends[:7].tolist()
    metrics = resignation.metrics(-torch.ones(4000, dtype=torch.int64))
    assert metrics["resigned"] + metrics["resignations_checked"] == 4000
    assert metrics["false_resignations"] == metrics["resignations_checked"]  # ply 3 is the second player's, who won


def test_false_resignations_are_those_of_games_played_on_alone() -> None:
    resignation = Resignation(settings(resign_below=-0.5, play_on=0.5), keys(40))
    resignation.now(torch.arange(40), torch.full((40,), -0.9), 0)
    on = int(resignation.plays_on.sum())
    assert 0 < on < 40
    wrong = resignation.metrics(torch.ones(40, dtype=torch.int64))  # every first player would have won
    assert wrong == {"resigned": 40 - on, "resignations_checked": on, "false_resignations": on}
    assert resignation.metrics(-torch.ones(40, dtype=torch.int64))["false_resignations"] == 0


def test_a_threshold_of_minus_one_is_never_fallen_short_of() -> None:
    resignation = Resignation(settings(resign_below=-1.0, play_on=0.0), keys(3))
    assert not resignation.now(torch.arange(3), rows(-1.0, -0.999, 1.0), 0).any()
    assert resignation.would.tolist() == [-1, -1, -1]


def test_the_temperature_is_that_of_the_last_step_begun() -> None:
    schedule = settings(move_temperatures=[[0, 1.0], [10, 0.25], [15, 0.0]])
    found = [temperature_at(schedule, ply) for ply in (0, 9, 10, 14, 15, 99)]
    assert found == [1.0, 1.0, 0.25, 0.25, 0.0, 0.0]
    assert temperature_at(settings(), 7) == 1.0


def shard(config: Config, seed: int = 0) -> Shard:
    return play_shard(config, Evaluator(build(5, config.network, 1), 5, "cpu"), seed=seed, iteration=1, shard=0)


def rows_of(found: Shard) -> list[Any]:
    """The table of games, row by row."""
    return list(found.games.itertuples())


def replayed(found: Shard) -> list[list[tuple[SlowOthello, int]]]:
    """Every game of a shard: the positions after its opening and the moves played there; the last has none (−1)."""
    games = []
    for row in rows_of(found):
        board = SlowOthello.start(5)
        for move in parse_moves(5, row.opening_moves):
            board = board.after(move)
        game = []
        for move in parse_moves(5, row.moves):
            assert move in board.legal_moves()
            game.append((board, move))
            board = board.after(move)
        games.append([*game, (board, -1)])
    return games


def played_in_order(found: Shard) -> Iterator[tuple[int, int, SlowOthello, int]]:
    """Game, ply, position and move of every move played, in the order of the samples."""
    games = replayed(found)
    for ply in range(max(map(len, games)) - 1):
        for number, game in enumerate(games):
            if ply < len(game) - 1:
                yield number, ply, *game[ply]


def planes(board: SlowOthello) -> list[float]:
    return [float(word >> square & 1) for word in board.bitboards() for square in range(25)]


@pytest.fixture(scope="module")
def resigning() -> Shard:
    """Games in which players give up early, half of them played on."""
    return shard(configured(resign_below=-0.1, play_on=0.5))


def test_a_shard_has_a_sample_for_every_move_played(resigning: Shard) -> None:
    metrics = resigning.metrics
    assert metrics["samples"] == metrics["moves"] == len(resigning.samples) == resigning.games.plies.sum()
    for row, (_, _, board, move) in enumerate(played_in_order(resigning)):
        assert resigning.samples.board[row].tolist() == planes(board)
        assert np.flatnonzero(resigning.samples.mask[row]).tolist() == board.legal_moves()
        visits = resigning.samples.policy[row]
        assert visits[move] > 0 and visits.sum() == pytest.approx(1)


def test_a_resigned_game_stops_early_and_the_player_to_move_has_lost(resigning: Shard) -> None:
    given_up = 0
    for row, game in zip(rows_of(resigning), replayed(resigning), strict=True):
        last = game[-1][0]
        black_to_move = (len(row.opening_moves.split()) + row.plies) % 2 == 0
        assert row.margin == (last.margin() if black_to_move else -last.margin())
        if row.resigned:
            given_up += 1
            assert last.legal_moves(), "the game could have gone on"
            assert row.result == (-1 if black_to_move else 1)
        else:
            assert not last.legal_moves() and row.result == np.sign(row.margin)
    assert 0 < given_up < len(resigning.games)
    metrics = resigning.metrics
    assert given_up == metrics["resigned"] and metrics["black_wins"] == (resigning.games.result > 0).sum()
    assert 0 <= metrics["false_resignations"] <= metrics["resignations_checked"] <= len(resigning.games) - given_up


def test_outcomes_in_the_samples_are_those_of_the_games_resigned_ones_among_them(resigning: Shard) -> None:
    for row, (game, ply, _, _) in enumerate(played_in_order(resigning)):
        record = rows_of(resigning)[game]
        black_to_move = (len(record.opening_moves.split()) + ply) % 2 == 0
        result = record.result if black_to_move else -record.result
        assert resigning.samples.value[row].tolist() == {1: WIN, 0: DRAW, -1: LOSS}[int(result)]


def test_a_game_ends_where_its_root_value_first_falls_short(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[tuple[list[int], list[float]]] = []
    plain = Resignation.now

    def listening(self: Resignation, games: torch.Tensor, value: torch.Tensor, ply: int) -> torch.Tensor:
        said.append((games.tolist(), value.tolist()))
        return plain(self, games, value, ply)

    monkeypatch.setattr(Resignation, "now", listening)
    found = shard(configured(games=6, resign_below=-0.1, play_on=0.0))
    assert found.metrics["resigned"] > 0
    for row in rows_of(found):
        heard = [value[games.index(row.game)] for games, value in said if row.game in games]
        short = [ply for ply, value in enumerate(heard) if value < -0.1]
        assert short == ([row.plies] if row.resigned else [])


def test_games_that_all_end_before_a_move_are_refused() -> None:
    with pytest.raises(ProbZeroError, match=r"selfplay\.resign_below: expected a value that lets games be played"):
        shard(configured(games=2, resign_below=1.0, play_on=0.0))


@pytest.mark.parametrize("algorithm", ["puct", "particle"])
def test_without_a_threshold_every_game_is_played_to_its_end(algorithm: str) -> None:
    search = {"algorithm": algorithm}
    targets = {"value": "search"}
    found = shard(configured(search, targets, games=4, resign_below=-1.0, play_on=0.0))
    assert not found.games.resigned.any()
    assert (found.metrics["resigned"], found.metrics["resignations_checked"]) == (0, 0)
    assert not any(game[-1][0].legal_moves() for game in replayed(found))


def test_from_the_ply_where_the_temperature_is_zero_the_most_visited_move_is_played() -> None:
    found = shard(configured(games=5, move_temperatures=[[0, 1000.0], [4, 0.0]]))
    largest = [
        (ply, found.samples.policy[row, move] == found.samples.policy[row].max())
        for row, (_, ply, _, move) in enumerate(played_in_order(found))
    ]
    assert all(best for ply, best in largest if ply >= 4)
    assert not all(best for ply, best in largest if ply < 4)


def test_noise_changes_self_play() -> None:
    quiet, noisy = (shard(configured(games=2, noise=noise)) for noise in (0.0, 0.5))
    assert quiet.samples.policy.tobytes() != noisy.samples.policy.tobytes()
    assert shard(configured(games=2, noise=0.5)).samples.policy.tobytes() == noisy.samples.policy.tobytes()


def test_the_noise_of_self_play_comes_once_a_ply_before_the_search(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[tuple[str, int]] = []
    add_noise, run = MctsSearch.add_noise, MctsSearch.run

    def noted_noise(self: MctsSearch, games: torch.Tensor, share: float, concentration: float, ply: int) -> None:
        assert (share, concentration) == (0.25, 0.7)
        calls.append(("noise", ply))
        add_noise(self, games, share, concentration, ply)

    def noted_run(self: MctsSearch, games: torch.Tensor, particles: int, batches: int, step: int) -> None:
        calls.append(("run", step))
        run(self, games, particles, batches, step)

    monkeypatch.setattr(MctsSearch, "add_noise", noted_noise)
    monkeypatch.setattr(MctsSearch, "run", noted_run)
    found = shard(configured(games=2, noise=0.25, noise_concentration=0.7))
    plies = range(max(found.games.plies))
    assert calls == [(name, ply) for ply in plies for name in ("noise", "run")]


def forbidden(*_: Any) -> None:
    raise AssertionError("noise belongs to self-play alone")


def test_players_and_measures_search_without_noise(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(MctsSearch, "add_noise", forbidden)
    config = configured(noise=0.5)
    factory = SearchFactory(RULES, Evaluator(build(5, config.network, 1), 5, "cpu"), config.search, 5000, "capacity")
    own, opp = (torch.full((2,), side) for side in RULES.start())
    player = SearchPlayer(factory, 4, 4)
    player.begin(own, opp, torch.arange(2))
    games = torch.arange(2)
    player.observe(games, player.choose(games, 0))
    player.choose(games, 1)
    assert len(searched_moves(factory, own, opp, 4, [2, 4], 0)) == 2


def test_matches_and_points_are_the_same_whatever_the_noise_of_self_play(tmp_path: Path) -> None:
    checkpoint = tmp_path / "0000.safetensors"
    quiet = replace(configured(), game=replace(configured().game, size=4))
    save_checkpoint(checkpoint, build(4, quiet.network, 1), CheckpointInfo("smoke", 0, 0, 4, quiet.network))
    small = replace(
        quiet,
        arena=replace(quiet.arena, openings=2, opening_plies=2, particles=2, batches=4, capacity=5000),
        truth=replace(quiet.truth, per_stratum=2, particles=2, batches=(4,), capacity=5000),
    )
    written = []
    for noise in (0.0, 0.5):
        config = json.dumps(replace(small, selfplay=replace(small.selfplay, noise=noise)).as_dict())
        common = ["--config", config, "--seed", "0"]
        positions, match, points = (tmp_path / f"{name}-{noise}.csv" for name in ("positions", "match", "points"))
        assert main(["positions", *common, "--output", str(positions)]) == 0
        players = ["--player", f"iteration-0000={checkpoint}", "--against", "random"]
        assert main(["match", *common, *players, "--output", str(match)]) == 0
        inputs = ["--variant", "alphazero", "--positions", str(positions), "--checkpoints", str(checkpoint)]
        assert main(["points", *common, *inputs, "--output", str(points)]) == 0
        written.append((match.read_bytes(), points.read_bytes()))
    assert written[0] == written[1]
