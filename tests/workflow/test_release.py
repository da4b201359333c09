"""The archive for Zenodo: what is committed, with checksums, the same bytes each time."""

from __future__ import annotations

import hashlib
import runpy
import subprocess
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

RELEASE: dict[str, Any] = runpy.run_path(str(Path(__file__).parents[2] / "tools" / "release.py"))
release: Callable[..., Path] = RELEASE["release"]
CITATION = "cff-version: 1.2.0\ntitle: A work\nversion: 1.2.3\ndate-released: 2001-01-01\n"


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    top = tmp_path / "work"
    (top / "results").mkdir(parents=True)
    (top / "CITATION.cff").write_text(CITATION)
    (top / "results" / "table.csv").write_text("a,b\n1,2\n")
    commit(top, "init", "-q")
    commit(top, "add", ".")
    commit(top, "commit", "-qm", "All")
    return top


def commit(top: Path, *arguments: str) -> None:
    who = ["-c", "user.name=A", "-c", "user.email=a@example.org"]
    day = {
        "GIT_COMMITTER_DATE": "2020-02-03T04:05:06Z",
        "GIT_AUTHOR_DATE": "2020-02-03T04:05:06Z",
        "PATH": "/usr/bin:/bin",
    }
    subprocess.run(["git", *who, *arguments], cwd=top, env=day, check=True)


def contents(archive: Path) -> dict[str, bytes]:
    with tarfile.open(archive) as opened:
        return {member.name: opened.extractfile(member).read() for member in opened if member.isfile()}  # type: ignore[union-attr]


def test_the_archive_holds_every_file_and_its_checksum(repository: Path, tmp_path: Path) -> None:
    found = contents(release(repository, tmp_path / "dist", ""))
    assert set(found) == {f"probzero-1.2.3/{name}" for name in ("CITATION.cff", "results/table.csv", "SHA256SUMS")}
    sums = dict(reversed(line.split("  ")) for line in found["probzero-1.2.3/SHA256SUMS"].decode().splitlines())
    for name in ("CITATION.cff", "results/table.csv"):
        assert sums.pop(name) == hashlib.sha256(found[f"probzero-1.2.3/{name}"]).hexdigest()
    assert not sums


def test_the_citation_gets_day_and_address(repository: Path, tmp_path: Path) -> None:
    found = contents(release(repository, tmp_path / "dist", "https://example.org/probzero"))
    citation = yaml.safe_load(found["probzero-1.2.3/CITATION.cff"])
    assert str(citation["date-released"]) == "2020-02-03"
    assert citation["repository-code"] == "https://example.org/probzero"
    assert (citation["title"], citation["version"]) == ("A work", "1.2.3")


def test_the_same_commit_gives_the_same_bytes(repository: Path, tmp_path: Path) -> None:
    first = release(repository, tmp_path / "first", "").read_bytes()
    (repository / "results" / "table.csv").touch()
    assert release(repository, tmp_path / "second", "").read_bytes() == first
    beside = (tmp_path / "first" / "probzero-1.2.3.tar.gz.sha256").read_text()
    assert beside == f"{hashlib.sha256(first).hexdigest()}  probzero-1.2.3.tar.gz\n"


def test_work_that_is_not_committed_is_refused(repository: Path, tmp_path: Path) -> None:
    (repository / "results" / "more.csv").write_text("1\n")
    with pytest.raises(ValueError, match="expected everything committed, found changes"):
        release(repository, tmp_path / "dist", "")
    assert not (tmp_path / "dist").exists()


@pytest.mark.parametrize("address", ["example.org", "http://example.org", "https://", "file:///etc"])
def test_an_address_that_is_none_is_refused(repository: Path, tmp_path: Path, address: str) -> None:
    with pytest.raises(ValueError, match="an address that begins with https://"):
        release(repository, tmp_path / "dist", address)
