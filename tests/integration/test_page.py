"""The web page in a real browser, each mode as a person uses it."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.helpers.browser import Window
from tests.helpers.serving import ServedCommand

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = [pytest.mark.integration, pytest.mark.timeout(300)]


class PageServer(ServedCommand):
    """`harness app`, with its games in the folder `games`; `url` holds its token."""

    def __init__(self, games: Path) -> None:
        self.games = games
        super().__init__(games.parent, "app", "--folder", str(games), "--no-models", lines=1, OMP_NUM_THREADS="1")
        self.url = self.said[0].removeprefix("The page is at ").partition(" ")[0]


class PageWindow(Window):
    """A window on a mode of the page."""

    def __init__(self, browser: Browser, server: PageServer, at: str, *look: Any) -> None:
        self.url = server.url
        super().__init__(browser, f"{server.url}#/{at}", "main[data-ready]", *look)

    def go(self, at: str) -> None:
        self.page.goto(f"{self.url.partition('?')[0]}#/{at}")
        self.page.wait_for_selector(f"main[data-ready={at.split('/')[0]}]")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PageServer]:
    server = PageServer(tmp_path_factory.mktemp("page") / "games")
    yield server
    server.end()


def drawn(window: PageWindow) -> str:
    """The board of the drawing mode."""
    digits: str = window.page.evaluate("JSON.parse(localStorage.getItem('drawing')).digits")
    return digits


def instruct(window: PageWindow, text: str) -> None:
    """Asks the player for a drawing, and waits for its answer."""
    window.page.get_by_label("Instruction").fill(text)
    window.page.keyboard.press("Enter")
    window.page.wait_for_selector(".answer")


def test_drawing_with_pointer_and_keyboard_undo_redo_clear_and_export(server: PageServer, browser: Browser) -> None:
    with PageWindow(browser, server, "draw") as window:
        page = window.page
        tiles = page.locator("svg.live polygon.tile")
        page.get_by_role("radio", name="blue").click()
        tiles.nth(4 * 18 + 3).drag_to(tiles.nth(4 * 18 + 9))
        board = drawn(window)
        assert board[4 * 18 + 3] == board[4 * 18 + 9] == "5"
        assert board.count("5") >= 7
        page.keyboard.press("Control+z")
        assert drawn(window) == "0" * 180
        page.get_by_role("button", name="Redo").click()
        assert drawn(window) == board
        page.get_by_role("button", name="Clear").click()
        page.locator("svg.live").focus()
        for key in ("ArrowDown", "2", "Enter", "Shift+ArrowRight", "Shift+ArrowRight"):
            page.keyboard.press(key)
        board = drawn(window)
        where = [n for n, digit in enumerate(board) if digit != "0"]
        assert [board[n] for n in where] == ["7"] * 3
        assert where[-1] - where[0] == 2
        with page.expect_download() as download:
            page.get_by_role("button", name="JSON").click()
        saved = json.loads(Path(download.value.path()).read_text())
        assert saved["board"] == board
        assert [row[:2] for row in saved["painted"]] == [[n // 18, n % 18] for n in where]


@pytest.mark.slow
def test_gallery_and_a_procedure_step_by_step(server: PageServer, browser: Browser) -> None:
    with PageWindow(browser, server, "gallery") as window:
        page = window.page
        assert page.locator("figure").count() == 9
        page.get_by_role("button", name="symmetry").click()
        assert page.locator("figure").count() == 1
        page.get_by_label("Index of a procedure").fill("7")
        page.get_by_role("button", name="Show", exact=True).click()
        headline(window, "Procedure 7")
        assert "both Verifiers agree" in page.locator(".caption").inner_text()
        page.get_by_role("button", name="Play").click()
        page.wait_for_selector(".steps li:nth-child(4)[aria-current]")
        page.get_by_role("button", name="Play").wait_for()
        page.get_by_role("button", name="Draw this step").click()
        page.wait_for_selector(".answer")
        assert "Action F1" in page.locator(".reply").inner_text()


def paint(window: PageWindow, color: str, tile: int) -> None:
    window.page.get_by_role("radio", name=color).click()
    window.page.locator("svg.live polygon.tile").nth(tile).click()


def two_steps(window: PageWindow, second: int) -> None:
    """Paints the first step's tile as intended, and then the tile `second`."""
    paint(window, "red", 20)
    window.page.get_by_role("button", name="Next").click()
    window.page.wait_for_selector(".steps li:nth-child(2)[aria-current]")
    paint(window, "blue", second)
    window.page.get_by_role("button", name="Done").click()


def headline(window: PageWindow, text: str) -> None:
    window.page.get_by_role("heading", level=1, name=text).wait_for()


def begin(window: PageWindow, name: str, button: str, title: str) -> None:
    """Begins or takes up a game under a name."""
    window.go("game")
    window.page.get_by_label("Your name").fill(name)
    window.page.get_by_role("button", name=button).first.click()
    headline(window, title)


def add_step(page: Page, text: str) -> None:
    page.get_by_label("Next step").fill(text)
    page.get_by_role("button", name="Add step").click()


@pytest.mark.slow
def test_a_game_of_three_people(server: PageServer, browser: Browser) -> None:
    with PageWindow(browser, server, "draw") as window:
        window.page.get_by_role("button", name="Clear").click()
        paint(window, "red", 20)
        paint(window, "blue", 21)
        begin(window, "Ada", "Describe my drawing", "Describe the image")
        add_step(window.page, "Step one: the second tile of column three is red.\nStep two: its right neighbor is blue.")
        window.page.wait_for_selector(".steps li:nth-child(2)")
        window.page.get_by_role("button", name="Finish").click()
        headline(window, "Align each step")
        two_steps(window, 21)
        headline(window, "Image own-")
        for verifier, second in (("Bo", 21), ("Cy", 22)):
            begin(window, verifier, "Execute", "Execute the procedure")
            assert window.page.get_by_role("heading", name="Target image").count() == 0
            assert "Step two" not in window.page.locator("main").inner_text()
            two_steps(window, second)
            headline(window, "What you drew")
        window.page.get_by_role("link", name="All results").click()
        window.page.wait_for_selector("text=Two Verifiers drew it.")
        assert window.page.locator("section > h2").all_inner_texts()[-2:] == ["Bo", "Cy"]


def say(page: Page, text: str) -> None:
    page.get_by_label("Say to the Builder").fill(text)
    page.get_by_role("button", name="Say it").click()


def direct(window: PageWindow, text: str) -> None:
    """Begins to direct a model, with a first message."""
    window.go("build")
    window.page.get_by_role("button", name="Start as Architect").click()
    headline(window, "Direct a model")
    say(window.page, text)


@pytest.mark.slow
def test_a_person_directs_a_model(server: PageServer, browser: Browser) -> None:
    with PageWindow(browser, server, "build") as window:
        page = window.page
        direct(window, "Place a red block in the middle.")
        page.get_by_role("img", name="Target").wait_for()
        page.get_by_role("img", name="What stands: 1 block: 1 red").wait_for()
        assert "confidence" in page.locator(".answer").inner_text()
        page.get_by_role("button", name="Undo").click()
        page.get_by_role("img", name="What stands: empty").wait_for()
        say(page, "red")
        page.wait_for_selector(".talk li:nth-child(2)")
        # The browser keeps the game.
        page.reload()
        page.wait_for_selector(".talk li:nth-child(2)")
        page.get_by_role("button", name="Finish").click()
        page.wait_for_selector("text=blocks of the target stand")


@pytest.mark.slow
def test_a_game_is_replayed_with_its_dialogue_and_a_model_builds_a_turn(server: PageServer, browser: Browser) -> None:
    with PageWindow(browser, server, "replay") as window:
        page = window.page
        page.get_by_label("Search games").fill("test")
        page.locator("tbody a").first.click()
        page.wait_for_selector(".scene canvas")
        page.get_by_label("Speed").select_option("10")
        page.get_by_role("button", name="Play").click()
        page.get_by_role("button", name="Pause").wait_for()
        page.get_by_role("button", name="Play").wait_for()
        assert "blocks" in (page.locator(".scene").first.get_attribute("aria-label") or "")
        page.get_by_label("Through the builder").check()
        page.locator(".talk .did").first.get_by_role("button").click()
        page.get_by_role("button", name="Build this turn").click()
        page.wait_for_selector(".answer")


HOSTILE = "</textarea><script>window.hacked = 1</script><img src=x onerror='window.hacked = 1'>"


@pytest.mark.slow
def test_what_people_write_is_shown_as_text(server: PageServer, browser: Browser) -> None:
    with PageWindow(browser, server, "game") as window:
        page = window.page
        begin(window, HOSTILE, "Describe it", "Describe the image")
        add_step(page, HOSTILE + " word" * 10_000)
        page.wait_for_selector(".steps li")
        assert page.locator(".steps li span").first.inner_text().startswith(HOSTILE)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        window.go("game")
        assert page.get_by_text(HOSTILE[:40]).count()
        window.go("draw")
        instruct(window, HOSTILE)
        assert page.evaluate("window.hacked === undefined")
        # The policy refuses what a script of another site would do.
        page.evaluate("document.body.append(Object.assign(document.createElement('script'), {textContent: 'window.hacked = 1'}))")
        assert page.evaluate("window.hacked === undefined")
        assert "Content Security Policy" in window.complaints.pop()


@pytest.mark.slow
def test_two_tabs_of_a_session_and_a_server_that_is_killed(tmp_path: Path, browser: Browser) -> None:
    server = PageServer(tmp_path / "games")
    with PageWindow(browser, server, "game") as window:
        first = window.page
        begin(window, "Ada", "Describe it", "Describe the image")
        add_step(first, "from both tabs")
        first.wait_for_selector(".steps li")
        second = window.tab(first.url, "main[data-ready]")
        add_step(second, "from the second tab")
        second.wait_for_selector("text=from the second tab")
        add_step(first, "from the first tab")
        first.wait_for_selector(".toast.bad")
        assert first.locator(".steps li").all_inner_texts() == ["from both tabs", "from the second tab"]
        assert first.get_by_label("Next step").input_value() == "from the first tab"
        # The server is killed; actions in the meantime wait and are sent once it is back.
        server.end(signal.SIGKILL)
        add_step(first, "while nobody listens")
        first.wait_for_selector("#offline:not([hidden])")
        server.start()
        first.wait_for_selector(".steps li:nth-child(3)")
        first.wait_for_selector("#offline", state="hidden")
        first.reload()
        first.wait_for_selector(".steps li:nth-child(3)")
        # The browser notes the refusal and the lost connections.
        window.complaints = [one for one in window.complaints if not one.startswith("Failed to load resource")]
    assert server.end(signal.SIGTERM) == 128 + signal.SIGTERM


PAGES = ("draw", "game", "gallery", "procedure/7", "build", "replay", "replay/B2-A2-C901-1700000000001")


@pytest.mark.slow
@pytest.mark.parametrize("look", [(375, "light"), (1440, "dark")])
def test_no_page_has_a_fault_that_axe_finds(server: PageServer, browser: Browser, look: tuple[int, str]) -> None:
    with PageWindow(browser, server, "draw", *look) as window:
        page = window.page
        instruct(window, "Paint the first column red.")
        for at in PAGES:
            window.go(at)
            assert (at, window.violations()) == (at, [])
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), at
        begin(window, "Ada", "Describe it", "Describe the image")
        add_step(page, "Paint the first tile red.")
        page.wait_for_selector(".steps li")
        assert window.violations() == []
        page.get_by_role("button", name="Finish").click()
        headline(window, "Align each step")
        assert window.violations() == []
        direct(window, "Place a red block in the middle.")
        page.wait_for_selector(".answer")
        assert window.violations() == []
