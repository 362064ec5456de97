"""The page in a headless Chromium, against the times that a person takes for immediate."""

from __future__ import annotations

import os
import shutil
import statistics
import tempfile
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from tools.bench.measuring import Pairs, RatioBenchmark, Skipped, against

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

CLICKS = 10
"""Clicks of each measurement, which is their median."""
_PAINTED = """() => new Promise((done) => {
  const tile = document.querySelectorAll('svg.live polygon.tile')[Math.floor(Math.random() * 180)];
  const box = tile.getBoundingClientRect();
  const at = {bubbles: true, clientX: box.x + box.width / 2, clientY: box.y + box.height / 2, pointerId: 1, button: 0};
  const begin = performance.now();
  tile.dispatchEvent(new PointerEvent('pointerdown', at));
  tile.dispatchEvent(new PointerEvent('pointerup', at));
  requestAnimationFrame(() => { const channel = new MessageChannel();
    channel.port1.onmessage = () => done(performance.now() - begin); channel.port2.postMessage(0); });
})"""


def opened(browser: Browser, url: str, at: str) -> Page:
    page = browser.new_context(viewport={"width": 1440, "height": 900}).new_page()
    page.goto(f"{url}#/{at}")
    page.wait_for_selector("main[data-ready]")
    return page


def first_paint(browser: Browser, url: str) -> float:
    page = opened(browser, url, "draw")
    found: float = page.evaluate(
        """() => new Promise((done) => new PerformanceObserver((list) => {
        const paint = list.getEntriesByName('first-contentful-paint')[0]; if (paint) done(paint.startTime); })
        .observe({type: 'paint', buffered: true}))"""
    )
    page.context.close()
    return found


def clicked(page: Page) -> float:
    """Milliseconds from a click on the board to the frame that shows it."""
    return float(page.evaluate(_PAINTED))


def parsed(page: Page) -> float:
    """Milliseconds from sending an instruction to its answer."""
    page.get_by_label("Instruction").fill("Paint the first column red, then the second one blue.")
    return float(
        page.evaluate(
            """() => new Promise((done) => { const begin = performance.now(); const place = document.querySelector('.reply');
            const seen = (_, one) => place.querySelector('.answer') && (one.disconnect(), done(performance.now() - begin));
            new MutationObserver(seen).observe(place, {childList: true});
            document.querySelector('.side form').requestSubmit(); })"""
        )
    )


@cache
def opened_page() -> tuple[Pairs, Pairs, Pairs]:
    """Milliseconds that are allowed and measured: until the first paint, from a click on the board to the frame that shows it,
    and from an instruction to what the parser drew."""
    browsers = (os.environ.get("HARNESS_CHROMIUM"), "chromium", "chromium-browser", "google-chrome")
    found = next((path for name in browsers if name and (path := shutil.which(name))), None)
    if found is None:
        raise Skipped("there is no chromium on PATH, and HARNESS_CHROMIUM names none")
    from playwright.sync_api import sync_playwright

    from tests.helpers.page_server import PageServer

    with (
        tempfile.TemporaryDirectory() as folder,
        sync_playwright() as playwright,
        PageServer(Path(folder) / "app", "--no-models") as server,
        playwright.chromium.launch(executable_path=found, args=["--no-sandbox", "--disable-gpu"]) as browser,
    ):
        page = opened(browser, server.url, "draw")
        paints = against(1000, lambda: first_paint(browser, server.url))
        clicks = against(100, lambda: statistics.median(clicked(page) for _ in range(CLICKS)))
        return paints, clicks, against(100, lambda: parsed(page))


BENCHMARKS = [
    RatioBenchmark("page: 1,000 ms / first paint", "ms", 1.0, lambda: opened_page()[0]),
    RatioBenchmark("page: 100 ms / from a click to the frame that shows it", "ms", 1.0, lambda: opened_page()[1]),
    RatioBenchmark("page: 100 ms / from an instruction to what the parser drew", "ms", 1.0, lambda: opened_page()[2]),
]
