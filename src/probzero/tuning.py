"""Equal tuning: as many random configurations of each of several systems, drawn from one space for what they share.

The draws are keyed, so that a space says once and for all what is tried. What is drawn is a study like any other, with
a variant for each system and number, `alphazero-03`.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from pydantic import Field

from probzero.config.fields import Name, Section, Seed, Words
from probzero.config.wording import validated
from probzero.errors import bad
from probzero.random_keys import key
from probzero.study import overlaid

Choices = dict[str, list[Any]]  # of settings, as `section.key`


class Space(Section):
    """What is tried."""

    name: Name = Field(description="the study of all that is tried; results go to `results/NAME/`")
    study: Words = Field(description="the study whose systems are tuned, a file beside this one")
    draws: int = Field(ge=1, le=99, description="configurations of each system")
    seed: Seed = Field(description="the seed they are all tried with, and the key of the draws")
    change: dict[Any, Any] = Field(description="what is laid over the base of the study")
    shared: Choices = Field(description="values of settings that all systems share")
    own: dict[Name, Choices] = Field(min_length=1, description="values of further settings, by system")
    alike: dict[Name, Name] = Field(
        default={}, description="variants of a study that take a system's pick too, as they are compared with it"
    )

    def settings(self, system: str) -> Iterator[tuple[str, list[Any]]]:
        """Yield the settings of a system and their values, those that all share first."""
        yield from self.shared.items()
        yield from self.own[system].items()


def parse(raw: Any, where: str) -> Space:
    """Check plain data; return the space."""
    space = validated(Space, raw, where)
    for variant, system in space.alike.items():
        if system not in space.own:
            raise bad("configuration", f"{where}: alike.{variant}", f"one of {', '.join(space.own)}", system)
    for system in space.own:
        for setting, values in space.settings(system):
            if setting.count(".") != 1 or not values:
                expected = "section.key with the values to draw from"
                raise bad("configuration", f"{where}: {system}", expected, f"{setting}: {values}")
    return space


def drawn(space: Space, system: str, number: int) -> dict[str, Any]:
    """Return the settings that draw `number` gives a system; what all share is drawn for all alike."""
    return {
        setting: values[
            key("tuning", space.seed, number, "" if setting in space.shared else system, setting) % len(values)
        ]
        for setting, values in space.settings(system)
    }


def study_of(space: Space, study: Mapping[str, Any]) -> dict[str, Any]:
    """Return the study of all that is tried, as plain data: each system of `study` with each of its draws."""
    _refuse_unknown(space.own, study, space.study)
    variants = {}
    for system in space.own:
        for number in range(space.draws):
            variant = applied(study["variants"][system], drawn(space, system, number))
            role = {"role": "ablation", "label": f"{system} {number}"}
            variants[f"{system}-{number:02}"] = {**variant, **role, "repetitions": 0}
    first = next(iter(variants))
    variants[first].pop("role")  # the reference of a study is named by it
    return {
        "name": space.name,
        "reference": first,
        "seeds": [space.seed],
        "budget_differs_in": list(study.get("budget_differs_in", [])),
        "base": overlaid(dict(study["base"]), space.change),
        "variants": variants,
    }


def _refuse_unknown(systems: Iterable[str], study: Mapping[str, Any], where: str) -> None:
    for system in systems:
        if system not in study["variants"]:
            raise bad("configuration", f"{where}: variants", f"{system} among them", ", ".join(study["variants"]))


def applied(variant: Mapping[str, Any] | None, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return a variant with these settings in the place of its own."""
    changed = copy.deepcopy(dict(variant or {}))
    for setting, value in settings.items():
        section, _, name = setting.partition(".")
        changed.setdefault(section, {})[name] = value
    return changed


def picked(
    space: Space, study: Mapping[str, Any], picks: Mapping[str, int], rival: str, only_rival: bool = False
) -> dict[str, Any]:
    """Return a study with the picks of its systems laid over them and over what is like them; all seeds for the rival.

    With `only_rival` the other systems that were tuned leave, but for the reference.
    """
    found = copy.deepcopy(dict(study))
    _refuse_unknown(picks, study, "the study to lay picks over")
    for system, number in picks.items():
        if only_rival and system not in (rival, study["reference"]):
            del found["variants"][system]
        else:
            for name in (system, *(name for name, of in space.alike.items() if of == system)):
                if name in study["variants"]:
                    found["variants"][name] = applied(study["variants"][name], drawn(space, system, number))
    found["variants"][rival]["repetitions"] = 0
    return found
