"""The configuration of tournaments between given networks: which networks, and who plays with which search and budget.

Nothing is learned here. The networks are checkpoints of ours or files of the published project, which are imported.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from probzero import config
from probzero.config import Config
from probzero.config.fields import Name, Section, Words
from probzero.config.wording import validated
from probzero.errors import bad
from probzero.study import overlaid

PARTS = ("experiment", "game", "search", "arena", "truth", "certify")  # of a run, what playing and measuring need


PERFECT = "perfect"  # the player that needs no network


class Player(Section):
    """A player of a tournament; `perfect` has no network and no budget."""

    network: Name | Literal[""] = Field(default="", description="one of the networks; none for `perfect`")
    budget: int = Field(
        default=0, ge=0, le=1_000_000, description="leaf evaluations or simulations a move; 0: the raw policy"
    )
    search: dict[Any, Any] = Field(default={}, description="settings of the search in which it differs from the base")


class TournamentsFile(Section):
    """Tournaments of given networks; in each, everybody meets everybody in the same openings."""

    name: Name = Field(description="results go to `results/NAME/`")
    base: dict[Any, Any] = Field(description="a run's experiment, game, search, arena, truth and certify")
    networks: dict[Name, Words] = Field(min_length=1, description="files by name, seen from the networks' folder")
    measured: bool = Field(
        default=False, description="whether every network is measured against exact truth and certified too"
    )
    tournaments: dict[Name, dict[Name, Player]] = Field(min_length=1, description="players by tournament and name")


@dataclass(frozen=True)
class Tournaments:
    """Tournaments, checked: every player's network is there and its search is whole."""

    name: str
    base: Config
    networks: dict[str, str]
    measured: bool
    players: dict[str, dict[str, Player]]  # by tournament and name
    searches: dict[str, dict[str, Config]]  # the same players' settings

    @property
    def fingerprint(self) -> str:
        """Return a short hash of all settings that can change a result."""
        searches = {
            name: {player: found.fingerprints(PARTS) for player, found in players.items()}
            for name, players in self.searches.items()
        }
        played = {name: {who: found.model_dump() for who, found in part.items()} for name, part in self.players.items()}
        text = json.dumps([self.networks, self.measured, played, searches], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:12]


def load(path: str | Path) -> Tournaments:
    """Read tournaments: the path of a YAML or JSON file, or a JSON object as text."""
    return parse(*config.read(path))


def parse(raw: Any, where: str) -> Tournaments:
    """Check plain data; return networks, players and their settings."""
    file = validated(TournamentsFile, raw, where)
    if file.name in config.TAKEN:
        raise bad("configuration", f"{where}: name", config.FREE_NAME, file.name)
    base = config.parse(file.base, f"{where}: base", PARTS)
    searches: dict[str, dict[str, Config]] = {}
    for tournament, players in file.tournaments.items():
        if len(players) < 2:
            raise bad("configuration", f"{where}: tournaments.{tournament}", "two players at least", len(players))
        searches[tournament] = {}
        for name, player in players.items():
            place = f"{where}: tournaments.{tournament}.{name}"
            if name == PERFECT and player != Player():
                raise bad(
                    "configuration", place, "nothing: it plays perfectly", player.model_dump(exclude_defaults=True)
                )
            if name != PERFECT and player.network not in file.networks:
                raise bad("configuration", f"{place}.network", f"one of {', '.join(file.networks)}", player.network)
            if player.budget % base.arena.particles:
                expected = f"a multiple of {base.arena.particles}, the particles of a batch"
                raise bad("configuration", f"{place}.budget", expected, player.budget)
            changed = overlaid(file.base, {"search": player.search})
            searches[tournament][name] = config.parse(changed, place, PARTS)
    return Tournaments(file.name, base, dict(file.networks), file.measured, dict(file.tournaments), searches)
