#!/usr/bin/env python3
"""Take pictures of `probzero explore` in a real browser (Debian's chromium), to look at or for the README.

With --readme: docs/images/explore.png alone. With a FOLDER: every view, light, dark, on a phone, and as people see it
who do not tell red from green.

.venv/bin/python tools/explore_pictures.py FOLDER
.venv/bin/python tools/explore_pictures.py --readme
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[1]
README = ROOT / "docs" / "images" / "explore.png"
FLAGS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
]  # fmt: skip
PATIENCE = 180_000  # ms
PAUSE = 400  # ms for what moves to come to rest
FINER, MARGIN = 1.4, 20  # of the picture for the README
WIDE, PHONE = (1280, 900), (390, 844)


class View(NamedTuple):
    """One picture: where in the page it is taken, what must be there, and what is done first."""

    address: str
    waits: str
    act: Callable[[Any], None] = lambda page: None


def truth(page: Any) -> None:
    page.click("#reveal")
    page.wait_for_selector("td.truth")


def batch(number: int) -> Callable[[Any], None]:
    def act(page: Any) -> None:
        while f"Batch {number} " not in page.inner_text("#panel"):
            page.click("#batch-back")

    return act


def refuted(page: Any) -> None:
    """Open the first best response that beats the network, and go to its mistake."""
    page.select_option("#choose-record", "certificates/iteration-0060")
    page.locator(".game").first.click()
    page.wait_for_selector("#mistakes")
    page.keyboard.press("m")
    page.wait_for_selector("td.truth")


VIEWS = {
    "play": View("#", "#moves tbody tr"),
    "truth": View("#moves=c4+b4&you=both", "#moves tbody tr", truth),
    "search-first": View("#moves=c4+b4&you=both&view=search", ".tree .node", batch(1)),
    "search": View("#moves=c4+b4&you=both&view=search", ".tree .node", batch(3)),
    "search-last": View("#moves=c4+b4&you=both&view=search", ".tree .node"),
    "games": View("#view=games&you=both", ".game"),
    "mistakes": View("#view=games&you=both", ".game", refuted),
    "keys": View("#", "#moves tbody tr", lambda page: page.keyboard.press("?")),
}


@contextmanager
def served() -> Iterator[str]:
    command = [sys.executable, "-m", "probzero", "explore", "--port", "0"]
    running = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    try:
        assert running.stdout is not None
        found = re.search(r"http://127\.0\.0\.1:\d+/", running.stdout.readline())
        assert found is not None
        yield found[0]
    finally:
        running.terminate()
        running.wait()


def take(
    browser: Any,
    address: str,
    view: View,
    path: Path,
    size: tuple[int, int],
    scheme: str,
    sees: str = "",
    until: str = "",
) -> None:
    """Write a picture of the whole page or, with `until`, down to the end of that element, in finer points."""
    width, height = size
    finer = {"device_scale_factor": FINER} if until else {}
    context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme, **finer)
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    page.on("pageerror", lambda error: print(f"error in the page: {error}", file=sys.stderr))
    page.goto(address + view.address)
    page.wait_for_selector(view.waits)
    view.act(page)
    if sees:
        context.new_cdp_session(page).send("Emulation.setEmulatedVisionDeficiency", {"type": sees})
    page.mouse.move(1, 1)
    page.evaluate("document.activeElement.blur()")
    page.wait_for_timeout(PAUSE)
    if until:
        box = page.locator(until).bounding_box()
        clip = {"x": 0, "y": 0, "width": width, "height": box["y"] + box["height"] + MARGIN}
        page.screenshot(path=path, full_page=True, clip=clip)
    else:
        page.screenshot(path=path, full_page=True)
    print(path, flush=True)
    context.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("--readme", action="store_true")
    parser.add_argument("--only", nargs="+", default=list(VIEWS), choices=list(VIEWS))
    args = parser.parse_args()
    from playwright.sync_api import sync_playwright

    with served() as address, sync_playwright() as started:
        browser = started.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        if args.readme:
            README.parent.mkdir(parents=True, exist_ok=True)
            take(browser, address, VIEWS["search"], README, WIDE, "light", until=".legend")
        for name in args.only if args.folder else []:
            args.folder.mkdir(parents=True, exist_ok=True)
            take(browser, address, VIEWS[name], args.folder / f"{name}.png", WIDE, "light")
            take(browser, address, VIEWS[name], args.folder / f"{name}-dark.png", WIDE, "dark")
            take(browser, address, VIEWS[name], args.folder / f"{name}-phone.png", PHONE, "light")
            take(browser, address, VIEWS[name], args.folder / f"{name}-colours.png", WIDE, "light", "deuteranopia")


if __name__ == "__main__":
    main()
