"""The tables of a study written down: as CSV, and as Markdown with an estimate and its interval in one cell."""

from __future__ import annotations

import re
from pathlib import Path

import pandas as pd

from probzero.report.tables import markdown, write_table


def _interval(name: str, form: str) -> str:
    return f"{{{name}:{form}}} ({{{name}_low:{form}}} to {{{name}_high:{form}}})"


# Heading and contents of each column; R stands for the reference. A form in % scales; the heading says its unit.
_COLUMNS = {
    "curves": {
        "variant": "{variant}",
        "particles": "{particles}",
        "iteration": "{iteration}",
        "leaf evaluations": "{leaf_evaluations:,.0f}",
        "minutes": "{minutes:.1f}",
        "share kept (%), t 95 %": _interval("share", ".1%"),
        "seeds": "{seeds}",
    },
    "final": {
        "variant": "{variant}",
        "particles": "{particles}",
        "share kept (%), t 95 %": _interval("share", ".1%"),
        "lead of R (points), Welch 95 %": _interval("lead", "+.1%"),
        "seed sd (points)": "{seed_sd:.2%}",
        "position sd (points)": "{position_sd:.2%}",
        "seeds": "{seeds}",
    },
    "elo": {
        "variant": "{variant}",
        "Elo relative to R, Welch 95 %": _interval("rating", "+.0f"),
        "seed sd": "{seed_sd:.0f}",
        "game sd": "{game_sd:.0f}",
        "seeds": "{seeds}",
    },
    "ablations": {
        "idea": "{idea}",
        "without it": "{variant}",
        "effect on raw share (points), Welch 95 %": _interval("raw_effect", "+.1%"),
        "particles": "{particles}",
        "on searched share (points)": _interval("searched_effect", "+.1%"),
        "on Elo": _interval("elo_effect", "+.0f"),
    },
    "accounting": {
        "variant": "{variant}",
        "games": "{games:,.0f} (× {games_ratio:.2f})",
        "moves": "{moves:,.0f}",
        "leaf evaluations": "{leaf_evaluations:,.0f}",
        "a move": "{leaf_evaluations_per_move:.1f} (× {leaf_evaluations_per_move_ratio:.2f})",
        "network evaluations": "{network_evaluations:,.0f}",
        "network calls": "{network_calls:,.0f}",
        "cache hits": "{cache_hits:,.0f}",
        "samples seen": "{samples_seen:,.0f} (× {samples_seen_ratio:.2f})",
        "self-play, min": "{selfplay_minutes:.1f}",
        "training, min": "{training_minutes:.1f}",
    },
    "efficiency": {
        "variant": "{variant}",
        "share to reach (%)": "{threshold:.0%}",
        "particles": "{particles}",
        "leaf evaluations": "{leaf_evaluations:,.0f}",
        "minutes": "{minutes:.1f}",
        "seeds that reach it": "{seeds_reaching} of {seeds}",
    },
}


def write_tables(tables: dict[str, pd.DataFrame], reference: str, folder: Path) -> None:
    """Write each table as CSV, and as Markdown for reading."""
    for name, table in tables.items():
        write_table(table, folder / f"{name}.csv", readable(name, table, reference))


def readable(name: str, table: pd.DataFrame, reference: str) -> str:
    """Return a table as Markdown; what is unknown stays empty."""
    timed = [str(column) for column in table if "seconds" in str(column)]
    minutes = {column.replace("seconds", "minutes"): table[column] / 60 for column in timed}
    rows = [{str(key): value for key, value in row.items()} for row in table.assign(**minutes).to_dict("records")]
    cells = {
        re.sub(r"\bR\b", reference, heading): [_known(form.format(**row)) for row in rows]
        for heading, form in _COLUMNS[name].items()
    }
    return markdown(pd.DataFrame(cells))


def _known(text: str) -> str:
    """Return a cell without numbers that are unknown, without the sign of a rounded 0 and without %."""
    text = re.sub(r" ?\([^)]*\bnan\b[^)]*\)|[+-]?\bnan\b", "", text.replace("%", ""))
    return re.sub(r"[+-](?=0(\.0+)?(?![\d.]))", "", text)
