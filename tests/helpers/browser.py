"""A headless Chromium for tests, and windows that keep the complaints of their pages."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Self

import pytest

from tests.helpers import ROOT

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

_OPTIONS = ("--no-sandbox", "--disable-background-networking", "--disable-component-update", "--disable-sync", "--no-first-run")
_SOLID = ("--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist")
"""Options for drawing in 3D without a graphics card."""
_AXE = ROOT / "tests" / "helpers" / "axe" / "axe.min.js"


@contextmanager
def chromium() -> Iterator[Browser]:
    """A browser. Skips the test if Chromium is missing."""
    names = (os.environ.get("HARNESS_CHROMIUM"), "chromium", "chromium-browser", "google-chrome")
    program = next((path for name in names if name and (path := shutil.which(name))), None)
    if program is None:
        pytest.skip("there is no chromium on PATH, and HARNESS_CHROMIUM names none")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=[*_OPTIONS, *_SOLID])
        yield browser
        browser.close()


class Window:
    """A separate browser window, which keeps its pages' complaints and network requests."""

    def __init__(self, browser: Browser, url: str, ready: str, width: int = 1440, scheme: Any = "light") -> None:
        """Opens a page; it is loaded when an element `ready` (a selector) is there."""
        viewport: Any = {"width": width, "height": 812 if width < 500 else 900}
        self.context = browser.new_context(viewport=viewport, color_scheme=scheme, accept_downloads=True)
        self.context.set_default_timeout(30_000)
        self.complaints: list[str] = []
        self.requests: list[str] = []
        self.page = self.tab(url, ready)

    def tab(self, url: str, ready: str) -> Page:
        """A further tab."""
        page = self.context.new_page()
        page.on("console", lambda message: self.complaints.append(message.text))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("request", lambda request: self.requests.append(request.url))
        page.goto(url)
        page.wait_for_selector(ready)
        self.page = page
        return page

    def violations(self) -> list[str]:
        """The faults that axe-core finds, one line a rule."""
        # The page's policy forbids scripts of the test, so axe is evaluated through the debugger.
        self.page.evaluate(_AXE.read_text() + ";0")
        faults = self.page.evaluate("axe.run()")["violations"]
        return [f"{one['id']}: {one['nodes'][0]['html'][:200]} ({one['nodes'][0]['failureSummary'][:200]})" for one in faults]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, error: object, *_: object) -> None:
        self.context.close()
        assert error or not self.complaints, self.complaints
