"""`harness app` as a user starts it, and a browser window for it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.helpers import ROOT
from tests.helpers.serving import ServedCommand

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page

AXE = ROOT / "tests" / "helpers" / "axe" / "axe.min.js"


class PageServer(ServedCommand):
    """The server, with its games in the folder `games`; `url` holds its token."""

    def __init__(self, games: Path, *options: str) -> None:
        self.games = games
        super().__init__(games.parent, "app", "--folder", str(games), *options, lines=1, OMP_NUM_THREADS="1")
        self.url = self.said[0].removeprefix("The page is at ").partition(" ")[0]


class Window:
    """A separate browser window on the page, which keeps the page's complaints."""

    def __init__(self, browser: Browser, url: str, at: str, width: int = 1440, height: int = 900, scheme: Any = "light") -> None:
        self.context: BrowserContext = browser.new_context(
            viewport={"width": width, "height": height}, color_scheme=scheme, accept_downloads=True
        )
        self.context.set_default_timeout(30_000)
        self.url = url
        self.complaints: list[str] = []
        self.page = self.tab(at)

    def tab(self, at: str) -> Page:
        """A further tab."""
        page = self.context.new_page()
        page.on("console", lambda message: self.complaints.append(message.text))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page = page
        page.goto(f"{self.url}#/{at}")
        page.wait_for_selector("main[data-ready]")
        return page

    def go(self, at: str) -> None:
        self.page.goto(f"{self.url.partition('?')[0]}#/{at}")
        self.page.wait_for_selector(f"main[data-ready={at.split('/')[0]}]")

    def violations(self) -> list[str]:
        """The faults that axe-core finds, one line a rule."""
        # The page's policy forbids scripts of the test, so axe is evaluated through the debugger.
        self.page.evaluate(AXE.read_text() + ";0")
        found = self.page.evaluate("axe.run()")["violations"]
        return [f"{one['id']}: {one['nodes'][0]['html'][:200]} ({one['nodes'][0]['failureSummary'][:200]})" for one in found]

    def __enter__(self) -> Window:
        return self

    def __exit__(self, *error: object) -> None:
        self.context.close()
