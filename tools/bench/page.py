"""The page in a headless Chromium, against what a person takes for immediate."""

from __future__ import annotations

import os
import shutil
import signal
import statistics
import tempfile
from functools import cache
from pathlib import Path

from tools.bench.measuring import Benchmark, Pairs, Skipped, against
from tools.page_speed import clicked, first_paint, opened, parsed

CLICKS = 10
"""Of each measurement, which is their median."""


@cache
def opened_page() -> tuple[Pairs, Pairs, Pairs]:
    """Milliseconds that are wanted and measured: until the first paint, from a click on the board to the frame that shows it, and
    from an instruction to what the parser drew."""
    browsers = (os.environ.get("HARNESS_CHROMIUM"), "chromium", "chromium-browser", "google-chrome")
    found = next((path for name in browsers if name and (path := shutil.which(name))), None)
    if found is None:
        raise Skipped("there is no chromium on PATH, and HARNESS_CHROMIUM names none")
    from playwright.sync_api import sync_playwright

    from tests.helpers.page_server import PageServer

    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        server = PageServer(Path(folder) / "app")
        try:
            browser = playwright.chromium.launch(executable_path=found, args=["--no-sandbox", "--disable-gpu"])
            page = opened(browser, server.url, "draw")
            paints = against(1000, lambda: first_paint(browser, server.url))
            clicks = against(100, lambda: statistics.median(clicked(page) for _ in range(CLICKS)))
            answers = against(100, lambda: parsed(page))
            browser.close()
            return paints, clicks, answers
        finally:
            server.end(signal.SIGTERM)


BENCHMARKS = [
    Benchmark("page: 1,000 ms / first paint", "ms", 1.0, lambda: opened_page()[0]),
    Benchmark("page: 100 ms / from a click to the frame that shows it", "ms", 1.0, lambda: opened_page()[1]),
    Benchmark("page: 100 ms / from an instruction to what the parser drew", "ms", 1.0, lambda: opened_page()[2]),
]
