"""Resignation: lost games end early, and some are played on to see how often that would have been wrong."""

from __future__ import annotations

from probzero.config import SelfPlay
from probzero.kinds import Array, space
from probzero.random_keys import key, uniform


class Resignation:
    """Who has given up among the games of a shard, G of them.

    The player to move resigns when the root's value is below `resign_below`. A share `play_on` of the games, chosen by
    their keys, goes on in spite of it; there, a player who would have resigned and did not lose is a false resignation.
    """

    def __init__(self, settings: SelfPlay, game_key: Array) -> None:
        self.threshold = settings.resign_below
        self.plays_on = uniform(game_key ^ key("play on")) < settings.play_on  # [G]
        self.resigned = space(game_key).zeros_like(self.plays_on)  # [G] the game ended so
        self.would = space(game_key).full_like(
            game_key, -1
        )  # [G] first ply at which the player to move would have; −1: none

    def now(self, games: Array, value: Array, ply: int) -> Array:
        """Return which of games [n], with root values [n], end here by resignation."""
        hopeless = value < self.threshold
        first = hopeless & (self.would[games] < 0)
        self.would[games[first]] = ply
        ends = hopeless & ~self.plays_on[games]
        self.resigned[games[ends]] = True
        return ends

    def metrics(self, result: Array) -> dict[str, int]:
        """Count resignations, given results [G] seen by the player who moved at ply 0."""
        checked = self.plays_on & (self.would >= 0)
        mine = space(result).where(self.would % 2 == 0, result, -result)  # for the player who would have resigned
        return {
            "resigned": int(self.resigned.sum()),
            "resignations_checked": int(checked.sum()),
            "false_resignations": int((checked & (mine >= 0)).sum()),
        }
