"""The page in a real browser: a whole game is played, a mistake is found, and nothing that goes wrong ends it."""

from __future__ import annotations

import re
import shutil
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from exploring import SMALL, answers, served

from probzero.__main__ import main

CHROMIUM = shutil.which("chromium")
pytestmark = [
    pytest.mark.system,
    pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed (Debian: apt-get install chromium)"),
]
FLAGS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
]  # fmt: skip
PATIENCE = 180_000  # ms; other tests may keep the machine busy
BEATEN = "certificates/iteration-0000"


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as started:
        made = started.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield made
        made.close()


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with served(answers()) as found:
        yield found


@pytest.fixture
def page(browser: Any) -> Iterator[Any]:
    """An empty page of which every error of a script is one of the test."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    context.set_default_timeout(PATIENCE)
    made, errors = context.new_page(), []
    made.on("pageerror", lambda error: errors.append(str(error)))
    yield made
    context.close()
    assert errors == []


def ready(page: Any, address: str) -> None:
    page.goto("about:blank")
    page.goto(address)
    page.wait_for_selector("#board .square")


def comes_to(page: Any, text: str) -> None:
    """Wait until the page shows that position of that many."""
    from playwright.sync_api import expect

    expect(page.locator("#ply")).to_have_text(re.compile(text), timeout=PATIENCE)


def plies(page: Any) -> tuple[int, int]:
    here, last = re.findall(r"\d+", page.inner_text("#ply"))
    return int(here), int(last)


def moves_in(address: str) -> str:
    return dict(part.split("=") for part in address.partition("#")[2].split("&")).get("moves", "").replace("+", " ")


def test_a_whole_game_is_played_against_the_network(page: Any, address: str) -> None:
    ready(page, f"{address}#you=first")
    mine = 0
    while True:
        page.wait_for_selector("#board button.legal:not([disabled]), #only, #status:has-text('over')")
        if "over" in page.inner_text("#status"):
            break
        before = plies(page)[1]
        page.locator("#only").or_(page.locator("#board button.legal:not([disabled])").first).first.click()
        comes_to(page, f"/ (?!{before}$)")
        mine += 1
        # It is the network's turn, ours again, or the end.
        page.wait_for_selector("#status:not(:has-text('thinking'))")
    final = answers().line("", moves_in(page.url))[-1]
    assert final["over"] and plies(page)[1] > mine > 3
    winner = {1: 0, 0: None, -1: 1}[final["over"]["result"] * (1 if plies(page)[1] % 2 == 0 else -1)]
    said = page.inner_text("#status")
    assert (
        ("a draw" in said)
        if winner is None
        else said.startswith(f"The game is over: {('Black', 'White')[winner]} wins")
    )
    last = plies(page)[1]
    page.keyboard.press("u")  # a move that is taken back
    comes_to(page, f"/ (?!{last}$)")
    page.keyboard.press("n")
    comes_to(page, "^0 / 0")


def test_the_mistakes_of_a_game_are_found_and_marked(page: Any, address: str) -> None:
    asked = answers()
    game = asked.records.games(BEATEN)[0]
    line = asked.line(game["from"] or "", game["moves"])
    wrong = []
    for ply, (position, move) in enumerate(zip(line, game["moves"].split(), strict=False)):
        truth = asked.truth(position["at"])
        assert truth is not None
        if not next(one["keeps"] for one in truth["moves"] if one["move"] == move):
            wrong.append((ply, move))
    assert wrong
    ready(page, f"{address}#view=games&you=both")
    page.select_option("#choose-record", BEATEN)
    page.click(f'[data-id="{game["id"]}"]')
    page.wait_for_selector("#mistakes")
    marked = page.eval_on_selector_all("button.mistake", "nodes => nodes.map((node) => Number(node.dataset.ply))")
    assert marked == [ply for ply, _ in wrong]
    page.keyboard.press("Home")
    if wrong[0][0] > 0:
        page.keyboard.press("m")
    comes_to(page, f"^{wrong[0][0]} ")
    page.evaluate("document.activeElement.blur()")
    if page.inner_text("#reveal").startswith("Show"):
        page.keyboard.press("t")
    row = page.wait_for_selector(f'#moves tr[data-move="{wrong[0][1]}"] td.truth.loses')
    assert row.inner_text().startswith("✕")
    square = page.wait_for_selector(f'#board [data-moves="{wrong[0][1]}"] .loses')
    assert square.inner_text().startswith("✕")


def test_the_search_is_stepped_through_batch_by_batch(page: Any, address: str) -> None:
    ready(page, f"{address}#you=both&view=search")
    page.wait_for_selector(".tree .node")
    flow = answers().flow(answers().about()["start"], 32)
    last = len(flow["frames"]) - 1
    assert f"Batch {last} of {last}" in page.inner_text("#panel")
    for batch in range(last - 1, -1, -1):
        page.keyboard.press("[")
        assert f"Batch {batch} of {last}" in page.inner_text("#panel")
        shown = page.eval_on_selector_all(".tree .volume", "nodes => nodes.map((node) => node.textContent)")
        assert set(shown) <= {str(count) for _, count in flow["frames"][batch]["flow"]}
        dots = page.eval_on_selector_all(
            ".tree .particles", "nodes => nodes.map((node) => node.getAttribute('pathLength'))"
        )
        assert set(dots) <= {str(count) for _, count in flow["frames"][batch]["flow"]}
        assert Counter(shown) <= Counter(
            dots
        )  # on each line as many dots as the number says; a dashed one has no number
    assert page.locator(".tree .node").count() == 1  # the root alone
    page.keyboard.press("]")
    first = {flow["edges"][edge][2]: count for edge, count in flow["frames"][1]["flow"]}
    rows = page.eval_on_selector_all(".detail tbody tr", "rows => rows.map((row) => row.innerText.split('\\t'))")
    assert {row[0]: int(row[2]) for row in rows} == first
    many = page.locator(".tree .node").count()
    page.keyboard.press("]")
    assert page.locator(".tree .node").count() > many
    move = page.locator(".tree .node").nth(1)
    name = move.get_attribute("aria-label").partition(":")[0]
    move.click()
    page.click("#visit")  # the position that the move leads to is put on the board
    comes_to(page, "^1 / 1")
    assert moves_in(page.url) == name
    page.wait_for_selector(".tree .node")


def test_the_policy_alone_has_no_search_to_show_but_a_choice_of_one(page: Any, address: str) -> None:
    ready(page, f"{address}#you=both&view=search&particles=0")
    page.wait_for_selector("#panel:has-text('searches nothing')")
    page.click("#panel .option:has-text('32')")
    page.wait_for_selector(".tree .node")


@pytest.mark.parametrize(
    "wrong", ["#moves=zz", "#moves=b1&ply=7", "#from=nonsense", "#%E0%A4%A&moves=%%", "#moves=" + "b1+" * 3000]
)
def test_an_address_that_leads_nowhere_shows_the_first_position_and_says_so(
    page: Any, address: str, wrong: str
) -> None:
    ready(page, address + wrong + "&you=both")
    page.wait_for_selector("#moves tbody tr")
    if "%%" not in wrong:  # which says nothing that is known
        page.wait_for_selector("#notice:not([hidden])")
        assert page.inner_text("#notice").startswith("This address leads nowhere:")
    page.click("#board button.legal")
    comes_to(page, "^1 / 1")


def test_the_address_is_the_position(page: Any, browser: Any, address: str) -> None:
    ready(page, f"{address}#moves=b1+a1&you=both&ply=1")
    page.wait_for_selector("#moves tbody tr")
    assert plies(page) == (1, 2)
    page.keyboard.press("End")
    comes_to(page, "^2 / 2")
    other = browser.new_page()
    ready(other, page.url)
    assert plies(other) == (2, 2) and other.locator("#board").inner_html().count("<circle") > 0
    other.close()


def test_a_server_that_stops_is_one_line_and_the_game_goes_on_when_it_is_back(page: Any) -> None:
    with served(answers()) as where:
        port = int(where.rstrip("/").rpartition(":")[2])
        ready(page, f"{where}#you=both")
        page.wait_for_selector("#moves tbody tr")
    page.click("#board button.legal")
    page.wait_for_selector("#notice:not([hidden])")
    assert "The server does not answer" in page.inner_text("#notice")
    assert plies(page) == (0, 0) and page.locator("#board button.legal").count() == 4
    with served(answers(), port):
        page.click("#notice button:has-text('Try again')")
        comes_to(page, "^1 / 1")
        page.wait_for_selector("#notice", state="hidden")


def test_a_page_without_a_server_shows_the_same(page: Any, tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    given = ["--particles", "32", "--record", f"{BEATEN}/0", "--export", str(path)]
    assert main(["explore", str(SMALL), *given]) == 0
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(path.as_uri())
    page.wait_for_selector("#mistakes")
    page.keyboard.press("m")
    page.keyboard.press("s")
    page.wait_for_selector(".tree .node")
    page.keyboard.press("a")
    page.wait_for_selector("td.truth.loses")
    assert [url for url in asked if not url.startswith(("data:", path.as_uri()))] == []
    assert page.locator("#new").count() == 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("view", ["moves", "search", "games"])
def test_a_phone_shows_everything_without_scrolling_sideways(
    browser: Any, address: str, view: str, scheme: str
) -> None:
    context = browser.new_context(viewport={"width": 390, "height": 844}, color_scheme=scheme)
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    ready(page, f"{address}#moves=b1+a1+a2&you=both&view={view}")
    page.wait_for_selector({"moves": "#moves tbody tr", "search": ".tree .node", "games": ".game"}[view])
    if view == "moves":
        page.click("#reveal")
        page.wait_for_selector("td.truth")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (sum(map(int, re.findall(r"\d+", paper))) > 384) == (scheme == "light")
    context.close()
