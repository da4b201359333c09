"""A conda that makes environments in no time: it answers what Snakemake asks, and its Pythons tell who they are."""

from __future__ import annotations

import sys
from pathlib import Path

ANSWERS = """#!/usr/bin/env bash
set -eu
case "$1" in
    --version) echo "conda 26.7.1" ;;
    info) echo '{{"conda_prefix": "{base}", "platform": "linux-64"}}' ;;
    config) echo '{{"get": {{"channel_priority": "strict"}}}}' ;;
    clean) ;;
    env)  # env create ... --file FILE --prefix FOLDER
        folder="${{@: -1}}"
        mkdir -p "$folder/bin"
        cp "{base}/python" "$folder/bin/python"
        printf '%s\\n' "${{PIP_CONSTRAINT:-none}}" > "$folder/constraint" ;;
    *) echo "stand-in for conda: unexpected: $*" >&2; exit 1 ;;
esac
"""

# As conda does it: the new environment takes the place on PATH of the one that was active, wherever that is.
ACTIVATION = """
if [ -n "${CONDA_PREFIX:-}" ]; then old=$CONDA_PREFIX/bin; PATH=${PATH/$old/$1/bin}; else PATH=$1/bin:$PATH; fi
export PATH CONDA_PREFIX="$1"
"""

# Whatever it is asked to do, it writes to the files after --output and --machine who it is and what it was told.
PYTHON = """#!/usr/bin/env bash
while [ $# -gt 0 ]; do
    case "$1" in
        --output|--machine)
            printf '%s\\n' "$(dirname "$(dirname "$0")")" "${PYTHONNOUSERSITE:-none}" "${PYTHONPATH:-none}" > "$2" ;;
    esac
    shift
done
"""


class StandInConda:
    """The installation in `base`, and an environment beside it that somebody may have activated."""

    def __init__(self, folder: Path) -> None:
        self.base, self.active = folder / "base", folder / "active"
        for prefix in (self.base, self.active):
            (prefix / "bin").mkdir(parents=True)
        self._write(self.base / "bin" / "conda", ANSWERS.format(base=self.base))
        self._write(self.base / "bin" / "activate", ACTIVATION)
        for path in (self.base / "python", self.active / "bin" / "python"):
            self._write(path, PYTHON)

    def environment(self, variables: dict[str, str], active: bool) -> dict[str, str]:
        """Return the variables of a shell that has conda, perhaps with an environment activated and then this venv."""
        kept = {name: value for name, value in variables.items() if not name.startswith(("CONDA", "PIP_", "PYTHON"))}
        front = [Path(sys.executable).parent, self.active / "bin"] if active else []
        kept["PATH"] = ":".join(map(str, [*front, self.base / "bin", kept["PATH"]]))
        return {**kept, "CONDA_PREFIX": str(self.active)} if active else kept

    @staticmethod
    def _write(path: Path, text: str) -> None:
        path.write_text(text, encoding="utf-8")
        path.chmod(0o755)
