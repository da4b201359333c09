"""The one exception users see: a single line saying what, where, expected and found."""

from __future__ import annotations


class ProbZeroError(Exception):
    """Bad input of any kind. The command line prints the message alone and exits with status 2."""


def bad(what: str, where: object, expected: object, found: object) -> ProbZeroError:
    """Return the error for an input that is not what it should be, in the one wording used everywhere."""
    return ProbZeroError(" ".join(f"{what}: {where}: expected {expected}, found {found}".splitlines()))
