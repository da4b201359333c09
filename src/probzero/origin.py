"""Where a file comes from: the command, the settings, the seed and the iteration that made it.

Every file of a run carries its origin, and whoever reads it says what it expects: a checkpoint of the iteration before,
a dataset of the same seed. A file that lies in the wrong place is then refused instead of being learned from.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from probzero.errors import bad


class Origin(BaseModel):
    """What made a file; None, or a part of the settings that is not named, is what the command does not know of."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    command: str
    settings: dict[str, str] = {}  # by part of the configuration, the hash of what can change a result
    seed: int | None = None
    iteration: int | None = None
    shard: int | None = None
    subject: str | None = None  # the player, the variant or whatever else a file is about

    def as_dict(self) -> dict[str, Any]:
        return self.model_dump(exclude_none=True)

    def about(self, subject: str) -> Origin:
        """Return the origin of one of several files that a command writes."""
        return self.model_copy(update={"subject": subject})

    def at(self, iteration: int | None) -> Origin:
        return self.model_copy(update={"iteration": iteration})


def parse(raw: Any, what: str, where: object) -> Origin:
    """Return the origin that stands in a file, or refuse it."""
    try:
        return Origin.model_validate(raw)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise bad(what, f"{where}: origin{place and '.'}{place}", "the origin of a file", first["msg"]) from None


def expect(found: Origin, what: str, where: object, settings: Mapping[str, str] | None = None, **wanted: Any) -> None:
    """Refuse a file whose origin differs in anything that is wanted and not None.

    Of the settings only those parts are compared that both know: a dataset depends on other parts than training does.
    """
    for name, value in wanted.items():
        if value is not None and getattr(found, name) != value:
            raise bad(what, f"{where}: {name}", _named(name, value), _named(name, getattr(found, name)))
    for part, value in (settings or {}).items():
        if found.settings.get(part, value) != value:
            raise bad(
                what, f"{where}: {part}", f"a file made with the settings at hand ({value})",
                f"one made with others ({found.settings[part]}); delete it, and it is made anew",
            )  # fmt: skip


def _named(name: str, value: Any) -> str:
    return f"{name} {value}" if value is not None else f"no {name}"
