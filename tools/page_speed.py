"""How fast the page of a running `harness app` is in a headless Chromium: python tools/page_speed.py [URL] [PROCEDURE].

Prints one line of JSON, in milliseconds: `first_paint` (of three windows), `click` (from the event of a click on the board to the
frame that shows it, of 50), `parser` (from sending an instruction to the drawn answer, of 10), `replay_frame` (between two frames
while a procedure is replayed), each as [median, 95th percentile, or the most of less than 20]; `replay_longest`, the longest;
and `layout_shift`, the sum of Chromium's layout shifts over the modes.
"""

from __future__ import annotations

import json
import shutil
import statistics
import sys
from typing import Any

from playwright.sync_api import Browser, Page, sync_playwright

MODES = ("draw", "game", "gallery", "build", "replay")
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
_FRAMES = """(ms) => new Promise((done) => {
  const times = []; let last = performance.now(); const end = last + ms;
  const step = (now) => { times.push(now - last); last = now; now < end ? requestAnimationFrame(step) : done(times.slice(1)); };
  requestAnimationFrame(step);
})"""
_SHIFTS = """() => new Promise((done) => new PerformanceObserver((list, one) => { one.disconnect();
  done(list.getEntries().reduce((sum, entry) => sum + (entry.hadRecentInput ? 0 : entry.value), 0)); })
  .observe({type: 'layout-shift', buffered: true}) ?? setTimeout(() => done(0), 300))"""


def spread(values: list[float]) -> list[float]:
    """The median and the 95th percentile, or the most of less than 20."""
    ordered = sorted(values)
    return [round(statistics.median(ordered), 1), round(ordered[int(0.95 * (len(ordered) - 1) + 0.5)], 1)]


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
    """A click on the board, until the frame that shows it."""
    return float(page.evaluate(_PAINTED))


def parsed(page: Page) -> float:
    """One instruction, from Enter to the answer."""
    page.get_by_label("Instruction").fill("Paint the first column red, then the second one blue.")
    return float(
        page.evaluate(
            """() => new Promise((done) => { const begin = performance.now(); const place = document.querySelector('.reply');
            const seen = (_, one) => place.querySelector('.answer') && (one.disconnect(), done(performance.now() - begin));
            new MutationObserver(seen).observe(place, {childList: true});
            document.querySelector('.side form').requestSubmit(); })"""
        )
    )


def measured(browser: Browser, url: str, procedure: str) -> dict[str, Any]:
    paints = [first_paint(browser, url) for _ in range(3)]
    page = opened(browser, url, "draw")
    clicks = [clicked(page) for _ in range(50)]
    parsed(page)
    answers = [parsed(page) for _ in range(10)]
    page = opened(browser, url, f"procedure/{procedure}")
    steps = page.locator(".card > .steps li").count()
    page.get_by_role("button", name="Play").click()
    frames = page.evaluate(_FRAMES, 10_000)
    shifts = sum(float(opened(browser, url, mode).evaluate(_SHIFTS)) for mode in MODES)
    numbers = {"first_paint": paints, "click": clicks, "parser": answers, "replay_frame": frames}
    told = {name: spread(values) for name, values in numbers.items()}
    return {**told, "replay_longest": round(max(frames), 1), "replay_steps": steps, "layout_shift": round(shifts, 4)}


def main() -> None:
    url, procedure = [*sys.argv[1:], *("http://127.0.0.1:8010/", "7")[len(sys.argv) - 1 :]]
    found = shutil.which("chromium") or shutil.which("google-chrome")
    options = ["--no-sandbox", "--disable-gpu"]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=options)
        print(json.dumps(measured(browser, url, procedure)))
        browser.close()


if __name__ == "__main__":
    main()
