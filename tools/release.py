"""Make an archive for Zenodo of what is committed: source, results, and a checksum of every file.

    python tools/release.py [--repository URL] [--output dist]

The archive holds the files of the newest commit and `SHA256SUMS` (`sha256sum --check SHA256SUMS`); the same commit
gives the same bytes. `CITATION.cff` gets the day of the commit as date-released and, if it is given, the address as
repository-code. Work that is not committed is refused.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import io
import re
import subprocess
import sys
import tarfile
from pathlib import Path
from urllib.parse import urlparse

CITATION, SUMS = "CITATION.cff", "SHA256SUMS"


def git(top: Path, *arguments: str) -> str:
    return subprocess.run(["git", "-C", str(top), *arguments], capture_output=True, text=True, check=True).stdout


def committed(top: Path) -> tarfile.TarFile:
    """Return the files of the newest commit."""
    archive = subprocess.run(
        ["git", "-C", str(top), "archive", "--format=tar", "HEAD"], capture_output=True, check=True
    )
    return tarfile.open(fileobj=io.BytesIO(archive.stdout))


def cited(text: str, released: str, repository: str) -> str:
    """Return the citation with the day of the release and, if there is one, the address of the repository."""
    for key, value in (("date-released", released), ("repository-code", f'"{repository}"' if repository else "")):
        if value:
            text = re.sub(rf"^{key}:.*\n", "", text, flags=re.MULTILINE)
            text = re.sub(r"^(version:.*\n)", rf"\g<1>{key}: {value}\n", text, count=1, flags=re.MULTILINE)
    return text


def release(top: Path, output: Path, repository: str) -> Path:
    """Write the archive and its checksum; return the archive."""
    if git(top, "status", "--porcelain"):
        raise ValueError(f"{top}: expected everything committed, found changes")
    if repository and (urlparse(repository).scheme != "https" or not urlparse(repository).netloc):
        raise ValueError(f"--repository: expected an address that begins with https://, found {repository}")
    moment = int(git(top, "log", "-1", "--format=%ct"))
    day = git(top, "log", "-1", "--format=%cs").strip()
    whole = committed(top)
    citation = whole.extractfile(CITATION)
    assert citation is not None
    text = cited(citation.read().decode(), day, repository)
    (version,) = re.findall(r"^version: *(\S+)$", text, re.MULTILINE)
    name = f"probzero-{version}"
    sums, target = [], io.BytesIO()
    with tarfile.open(fileobj=target, mode="w", format=tarfile.PAX_FORMAT) as made:

        def add(member: tarfile.TarInfo, data: bytes | None) -> None:
            member.mtime, member.uid, member.gid, member.uname, member.gname = moment, 0, 0, "", ""
            member.pax_headers = {}
            if data is not None:
                member.size = len(data)
                sums.append(f"{hashlib.sha256(data).hexdigest()}  {member.name.removeprefix(f'{name}/')}\n")
            made.addfile(member, io.BytesIO(data) if data is not None else None)

        for member in whole.getmembers():
            found = whole.extractfile(member) if member.isfile() else None
            data = found.read() if found else None
            if member.name == CITATION:
                data = text.encode()
            member.name = f"{name}/{member.name}"
            add(member, data)
        add(tarfile.TarInfo(f"{name}/{SUMS}"), "".join(sums).encode())
    output.mkdir(parents=True, exist_ok=True)
    archive = output / f"{name}.tar.gz"
    archive.write_bytes(gzip.compress(target.getvalue(), 9, mtime=0))
    digest = hashlib.sha256(archive.read_bytes()).hexdigest()
    (output / f"{name}.tar.gz.sha256").write_text(f"{digest}  {archive.name}\n", encoding="utf-8")
    return archive


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--repository", default="", metavar="URL", help="where the source will be found")
    parser.add_argument("--output", type=Path, default=Path("dist"), metavar="FOLDER")
    given = parser.parse_args()
    try:
        archive = release(Path(__file__).resolve().parents[1], given.output, given.repository)
    except (ValueError, OSError) as error:
        print(f"release: error: {error}", file=sys.stderr)
        return 2
    print(f"{archive}: {archive.stat().st_size / 1e6:.1f} MB, {archive}.sha256 beside it")
    return 0


if __name__ == "__main__":
    sys.exit(main())
