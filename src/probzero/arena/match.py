"""Matches between two players: each opening is played twice, with sides swapped, all games side by side."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pandas as pd
import torch

from probzero.arena.openings import Openings, random_openings
from probzero.arena.players import Player
from probzero.config import Config
from probzero.games.othello import Othello, move_names, othello
from probzero.random_keys import key

Progress = Callable[[str], None]
Named = tuple[str, Player]


def play_matches(
    config: Config, seed: int, player: Named, against: Sequence[Named], progress: Progress | None = None
) -> pd.DataFrame:
    """Play one player against each of the others; return a row per game (see `play_match`)."""
    rules, arena = othello(config.game.size), config.arena
    openings = random_openings(
        rules, arena.openings, arena.opening_plies, key(config.experiment, seed, "openings", arena.opening_plies)
    )
    frames = []
    for opponent in against:
        frames.append(play_match(rules, openings, player, opponent, (config.experiment, seed)))
        if progress is not None:
            progress(opponent[0])
    return pd.concat(frames, ignore_index=True)


def play_match(
    rules: Othello, openings: Openings, first: Named, second: Named, keys: tuple[str | int, ...]
) -> pd.DataFrame:
    """Play every opening twice; `first` moves first in the first game of each pair and second in the other.

    Columns: first and second (who moves first in the game, opening included), opening, opening_moves, moves, plies,
    margin and result for `first`.
    """
    pairs, plies = openings.moves.shape
    own = torch.from_numpy(openings.own).repeat_interleave(2)
    opp = torch.from_numpy(openings.opp).repeat_interleave(2)
    games = torch.arange(2 * pairs)
    game_keys = torch.tensor([key(*keys, "match", first[0], second[0], int(game)) for game in games])
    opening_turn = games % 2
    own, opp, played = play_out(rules, own, opp, opening_turn, (first[1], second[1]), game_keys)
    count = (played >= 0).sum(1)
    margin = rules.margin(own, opp)
    margin = torch.where((count + plies) % 2 == 0, margin, -margin)  # Black moves at even plies, passes included
    first_is_black = (opening_turn == 0) == (plies % 2 == 0)
    return pd.DataFrame(
        {
            "first": [first[0] if yes else second[0] for yes in first_is_black.tolist()],
            "second": [second[0] if yes else first[0] for yes in first_is_black.tolist()],
            "opening": (games // 2).tolist(),
            "opening_moves": [move_names(rules.size, openings.moves[game // 2]) for game in games.tolist()],
            "moves": [move_names(rules.size, row[row >= 0]) for row in played.numpy()],
            "plies": (count + plies).tolist(),
            "margin": margin.tolist(),
            "result": margin.sign().tolist(),
        }
    )


def play_out(
    rules: Othello,
    own: torch.Tensor,
    opp: torch.Tensor,
    opening_turn: torch.Tensor,
    players: tuple[Player, Player],
    keys: torch.Tensor,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Play positions [G] to their ends; opening_turn [G] says which of the two players moves first in each game.

    Returns the final positions (own, opp) [G], seen by whoever would be to move, and the actions [G, plies], −1 after
    the end.
    """
    own, opp = own.clone(), opp.clone()
    for player in players:
        player.begin(own, opp, keys)
    games = torch.arange(len(own))
    moves: list[torch.Tensor] = []
    going = games[rules.legal(own, opp).any(1)]
    while len(going):
        action = torch.full_like(games, -1)
        for side, player in enumerate(players):
            turn = going[(opening_turn[going] + len(moves)) % 2 == side]
            if len(turn):
                action[turn] = player.choose(turn, len(moves))
        for player in players:
            player.observe(going, action[going])
        own[going], opp[going] = rules.place(own[going], opp[going], action[going])
        moves.append(action)
        going = going[rules.legal(own[going], opp[going]).any(1)]
    return own, opp, torch.stack(moves, dim=1) if moves else games[:, None][:, :0]
