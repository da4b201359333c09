"""The page as one file that needs no server: the same front end over data that stands inside it."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterable, Sequence
from importlib.resources import files
from typing import Any

from probzero.errors import bad
from probzero.front_ends.explore.answers import Answers
from probzero.front_ends.explore.records import LINES

PER_OPPONENT = 1  # games of the tournament against each opponent, if nobody chooses
POLICY = "Content-Security-Policy"
DATA = 'application/json" id="embedded'  # type and name of what is no script
START = 'import "explore/app.js";'
ESCAPED = "\\u003c"  # < in JSON
KIND = "page"
MOST_LINES = 6  # of best responses, likewise, those from the start before others


def chosen(answers: Answers, player: str, ids: Sequence[str]) -> dict[str, list[dict[str, Any]]]:
    """Return the games to tell by record: those of the ids or, without any, a few of the player's own.

    These are its first game against each opponent and the first best responses to it."""
    known = [one["id"] for one in answers.records.index()]
    if ids:
        wanted: dict[str, list[dict[str, Any]]] = {}
        for name in ids:
            record = name.rpartition("/")[0]
            found = [game for game in answers.records.games(record) if game["id"] == name] if record in known else []
            if not found:
                raise bad("explore", f"--game {name}", "RECORD/NUMBER of a recorded game", "none of that name")
            wanted.setdefault(record, []).extend(found)
        return wanted
    told = {}
    for record in (name for name in known if name.rpartition("/")[2] == player):
        games = answers.records.games(record)
        lines = record.startswith(LINES)
        from_start = [game for game in games if game["from"] is None][:MOST_LINES]
        told[record] = from_start or games[:MOST_LINES] if lines else list(_one_each(games, player))
    if not told:
        raise bad("explore", "--export", f"recorded games of {player} in its run", "none")
    return told


def _one_each(games: Iterable[dict[str, Any]], player: str) -> Iterable[dict[str, Any]]:
    met: dict[str, int] = {}
    for game in games:
        opponent = game["second"] if game["first"] == player else game["first"]
        met[opponent] = met.get(opponent, 0) + 1
        if met[opponent] <= PER_OPPONENT:
            yield game


def collect(answers: Answers, games: dict[str, list[dict[str, Any]]]) -> dict[str, Any]:
    """Return all that a page without a server knows: every position of the games with thoughts and truth.

    The search batch by batch is told where games begin and where a move gave the result away."""
    usual = answers.usual
    positions: dict[str, dict[str, Any]] = {}
    flows: set[str] = set()
    for game in (game for record in games.values() for game in record):
        line = answers.line(game["from"] or "", game["moves"])
        flows.add(line[min(game["opening"], len(line) - 1)]["at"])
        for position, move in zip(line, [*game["moves"].split(), None], strict=True):
            at = position["at"]
            if at not in positions:
                positions[at] = {"position": position}
                if not position["over"]:
                    positions[at] |= {"thoughts": answers.thoughts(at, usual), "truth": answers.truth(at)}
            truth = positions[at].get("truth") or {"moves": []}
            if any(one["move"] == move and not one["keeps"] for one in truth["moves"]):
                flows.add(at)
    for at in sorted(flows):
        if usual and answers.flows and not positions[at]["position"]["over"]:
            positions[at]["flow"] = answers.flow(at, usual)
    for told in positions.values():  # where nobody went there is nothing to be seen
        for move in told["position"]["moves"]:
            if move["after"] not in positions:
                del move["after"]
    titles = {one["id"]: one["title"] for one in answers.records.index()}
    about = answers.about() | {"particles": [usual], "usual": 0, "first": next(iter(games.values()))[0]}
    return {
        "about": about,
        "positions": positions,
        "records": [{"id": record, "title": titles[record]} for record in games],
        "games": games,
    }


def whole(data: dict[str, Any]) -> str:
    """Return the page with its style, its modules and the data inside; it loads nothing from elsewhere."""
    static = files(__package__).joinpath("static")
    shipped = {entry.name: entry.read_text(encoding="utf-8") for entry in static.iterdir() if entry.is_file()}
    modules = {
        f"explore/{name}": f"data:text/javascript;base64,{base64.b64encode(text.encode()).decode()}"
        for name, text in sorted(shipped.items())
        if name.endswith(".js")
    }
    told = json.dumps(data, sort_keys=True, allow_nan=False, ensure_ascii=False, separators=(",", ":"))
    policy = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline' data:; img-src data:"
    page = shipped["index.html"]
    for pattern, instead in (
        ('<meta charset="utf-8">', f'<meta charset="utf-8">\n<meta http-equiv="{POLICY}" content="{policy}">'),
        ('<link rel="stylesheet"[^>]*>', f"<style>\n{shipped['style.css']}</style>"),
        ('<script type="importmap">.*?</script>', _script("importmap", json.dumps({"imports": modules}, indent=0))),
        ('<script type="module"[^>]*></script>', f"{_script(DATA, told)}\n{_script('module', START)}"),
    ):
        page, count = re.subn(pattern, lambda _, text=instead: text, page, count=1)  # type: ignore[misc]
        assert count == 1, pattern
    return page


def _script(kind: str, text: str) -> str:
    """Return a script, or data as one that is none; nothing in it can end it."""
    return f'<script type="{kind}">{text.replace("<", ESCAPED)}</script>'
