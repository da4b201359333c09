"""How variants are shown: the names, ideas and roles that stand beside their settings in a study's record."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from probzero import files
from probzero.errors import bad

REFERENCE, RIVAL, BASELINE, ABLATION = ROLES = ("reference", "rival", "baseline", "ablation")


@dataclass(frozen=True)
class Description:
    label: str  # its name in figures and text
    short: str  # the same where there is little room
    idea: str  # of an ablation: the idea that it does without
    change: str  # of an ablation: what it has instead
    role: str  # one of ROLES; the finding is about the first rival


def described(path: str | Path) -> dict[str, Description]:
    """Return the variants of a study's record (`config.json`), in its order."""
    record = files.read_json(path)
    if not isinstance(record, dict) or not isinstance(record.get("variants"), dict):
        raise bad("study", path, "an object with variants", type(record).__name__)
    if record.get("reference") not in record["variants"]:
        raise bad("study", f"{path}: reference", f"one of {', '.join(record['variants'])}", record.get("reference"))
    return {name: _description(name, part, record, path) for name, part in record["variants"].items()}


def _description(name: str, part: Mapping[str, Any] | None, record: Mapping[str, Any], path: str | Path) -> Description:
    given = {field.name: part[field.name] for field in fields(Description) if part and field.name in part}
    label = given.get("label", name)
    role = REFERENCE if name == record["reference"] else ABLATION
    found = Description(**{"label": label, "short": label, "idea": "", "change": "", "role": role, **given})
    where = f"{path}: variants.{name}.role"
    if found.role not in ROLES:
        raise bad("study", where, f"one of {', '.join(ROLES)}", found.role)
    if found.role == REFERENCE and name != record["reference"]:
        raise bad("study", where, f"another role than reference, which {record['reference']} has", found.role)
    return found
