"""The web page in a real browser, each mode as a person uses it."""

from __future__ import annotations

import json
import signal
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from adapters.recipe import DataSource
from adapters.sources import gather
from harness.corpora.held_out import HeldOut
from harness.corpora.records import load_items
from tests.helpers.browser import SOLID, chromium
from tests.helpers.page_server import PageServer, Window

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Route

pytestmark = [pytest.mark.integration, pytest.mark.timeout(300)]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium(SOLID) as browser:
        yield browser


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PageServer]:
    server = PageServer(tmp_path_factory.mktemp("page") / "games", "--no-models")
    yield server
    server.end()


def drawn(window: Window) -> str:
    """The board of the drawing mode."""
    digits: str = window.page.evaluate("JSON.parse(localStorage.getItem('drawing')).digits")
    return digits


def test_drawing_with_pointer_and_keyboard_undo_redo_clear_and_export(server: PageServer, browser: Browser) -> None:
    with Window(browser, server.url, "draw") as window:
        page = window.page
        tiles = page.locator("svg.live polygon.tile")
        page.get_by_role("radio", name="blue").click()
        first, last = tiles.nth(4 * 18 + 3).bounding_box(), tiles.nth(4 * 18 + 9).bounding_box()
        assert first
        assert last
        page.mouse.move(first["x"] + first["width"] / 2, first["y"] + first["height"] / 2)
        page.mouse.down()
        page.mouse.move(last["x"] + last["width"] / 2, last["y"] + last["height"] / 2, steps=3)
        page.mouse.up()
        board = drawn(window)
        assert board[4 * 18 + 3] == board[4 * 18 + 9] == "5"
        assert board.count("5") >= 7
        page.keyboard.press("Control+z")
        assert drawn(window) == "0" * 180
        page.get_by_role("button", name="Redo").click()
        assert drawn(window) == board
        page.get_by_role("button", name="Clear").click()
        assert drawn(window) == "0" * 180
        page.locator("svg.live").focus()
        for key in ("ArrowDown", "2", "Enter", "Shift+ArrowRight", "Shift+ArrowRight"):
            page.keyboard.press(key)
        board = drawn(window)
        where = [n for n, digit in enumerate(board) if digit == "7"]
        assert len(where) >= 3
        assert where[-1] - where[0] == 2
        with page.expect_download() as download:
            page.get_by_role("button", name="JSON").click()
        saved = json.loads(Path(download.value.path()).read_text())
        assert saved["board"] == board
        assert [row[:2] for row in saved["painted"]] == [[n // 18, n % 18] for n in where]
        for kind, begin in (("PNG", b"\x89PNG"), ("SVG", b"<svg")):
            with page.expect_download() as download:
                page.get_by_role("button", name=kind).click()
            assert Path(download.value.path()).read_bytes().startswith(begin)
        assert window.complaints == []


@pytest.mark.slow
def test_a_model_draws_and_a_person_corrects_it(server: PageServer, browser: Browser) -> None:
    with Window(browser, server.url, "draw") as window:
        page = window.page
        page.get_by_label("Instruction").fill("Paint the first column red.")
        page.keyboard.press("Enter")
        page.wait_for_selector(".answer")
        assert drawn(window).count("4") == 10
        assert "red 1" in page.locator(".answer pre").inner_text()
        page.get_by_role("button", name="Correct it").click()
        page.get_by_role("radio", name="green").click()
        page.locator("svg.live polygon.tile").nth(17).click()
        page.get_by_role("button", name="Save as a training row").click()
        page.wait_for_selector(".toast")
        (line,) = (server.games / "corrections-hexagons.jsonl").read_text().splitlines()
        assert json.loads(line)["actions"][1] == [0, 17, "green"]
        assert window.complaints == []


@pytest.mark.slow
def test_a_player_that_does_nothing_says_why_and_another_one_is_asked(server: PageServer, browser: Browser) -> None:
    """The parser's first answer is replaced by one that says why it does nothing."""
    nothing = {"actions": [], "ignored": [], "board": "0" * 180, "program": "", "confidence": 0.1, "discarded": []}
    why = "It understood nothing of it."

    def answer(route: Route) -> None:
        asked = route.request.post_data_json
        assert asked is not None
        if asked["model"] == "parser" and not asked["history"]:
            route.fulfill(json={"task": "hexagons", "model": "parser", "left_out": 0, **nothing, "why": why})
        else:
            told.append(asked)
            # `rules` answers in place of the networks, which take long to load.
            route.continue_(post_data={**asked, "model": "parser" if asked["history"] else "rules"})

    told: list[dict[str, Any]] = []
    with Window(browser, server.url, "draw") as window:
        page = window.page
        page.route("**/v1/harness/execute", answer)
        assert page.get_by_label("Player").input_value() == "parser"
        page.get_by_label("Instruction").fill("Paint the first column flurb.")
        page.keyboard.press("Enter")
        page.wait_for_selector(".answer")
        assert why in page.locator(".answer").inner_text()
        assert "10%" in page.locator(".answer").inner_text()
        page.get_by_role("button", name="Ask another player").click()
        page.locator(".answer .chip", has_text="rules").wait_for()
        (other,) = told
        assert (other["instruction"], other["history"]) == ("Paint the first column flurb.", [])
        assert other["model"] != "parser"
        assert page.locator(".steps li small").all_inner_texts() == ["rules"]
        page.get_by_label("Instruction").fill("red")
        page.keyboard.press("Enter")
        page.locator(".steps li:nth-child(2)").wait_for()
        assert [step["instruction"] for step in told[-1]["history"]] == ["Paint the first column flurb."]
        assert told[-1]["model"] == "parser"
        assert window.complaints == []


@pytest.mark.slow
def test_gallery_and_a_procedure_step_by_step(server: PageServer, browser: Browser) -> None:
    with Window(browser, server.url, "gallery") as window:
        page = window.page
        assert page.locator("figure").count() == 9
        page.get_by_role("button", name="symmetry").click()
        assert page.locator("figure").count() == 1
        page.get_by_label("Index of a procedure").fill("7")
        page.get_by_role("button", name="Show", exact=True).click()
        page.wait_for_selector("main[data-ready=procedure]")
        assert page.get_by_role("heading", level=1).inner_text() == "Procedure 7"
        assert page.locator(".steps li").count() == 4
        assert "both Verifiers agree" in page.locator(".caption").inner_text()
        page.get_by_role("button", name="Play").click()
        page.wait_for_selector(".steps li:nth-child(4)[aria-current]")
        page.get_by_role("button", name="Play").wait_for()
        page.get_by_role("button", name="Draw this step").click()
        page.wait_for_selector(".answer")
        assert "Action F1" in page.locator(".reply").inner_text()
        window.go("procedure/100000")
        assert "there is no procedure 100000" in page.locator("main").inner_text()
        assert all("status of 422" in complaint for complaint in window.complaints)


def paint(window: Window, *tiles: int) -> None:
    for tile in tiles:
        window.page.locator("svg.live polygon.tile").nth(tile).click()


def headline(window: Window, text: str) -> None:
    window.page.get_by_role("heading", level=1, name=text).wait_for()


def described(window: Window, instructor: str, steps: str) -> None:
    """An image of the player's own, described in two steps and aligned: a red tile, then a blue one next to it."""
    page = window.page
    page.get_by_role("button", name="Clear").click()
    page.get_by_role("radio", name="red").click()
    paint(window, 20)
    page.get_by_role("radio", name="blue").click()
    paint(window, 21)
    window.go("game")
    page.get_by_label("Your name").fill(instructor)
    page.get_by_role("button", name="Describe my drawing").click()
    headline(window, "Describe the image")
    page.get_by_label("Next step").fill(steps)
    page.get_by_role("button", name="Add step").click()
    page.wait_for_selector(".steps li:nth-child(2)")
    page.get_by_role("button", name="Finish").click()
    headline(window, "Align each step")
    page.get_by_role("radio", name="red").click()
    paint(window, 20)
    page.get_by_role("button", name="Next").click()
    page.wait_for_selector(".steps li:nth-child(2)[aria-current]")
    page.get_by_role("radio", name="blue").click()
    paint(window, 21)
    page.get_by_role("button", name="Done").click()
    headline(window, "Image P03")


def verified(window: Window, verifier: str, second: int) -> None:
    """The last procedure executed: the first step as intended, the second one on the tile `second`."""
    page = window.page
    window.go("game")
    page.get_by_label("Your name").fill(verifier)
    page.get_by_role("button", name="Execute").first.click()
    headline(window, "Execute the procedure")
    assert page.get_by_role("heading", name="Target image").count() == 0
    page.wait_for_selector("text=No language model is available")
    assert "[object" not in page.locator("main").inner_text()
    assert "Step two" not in page.locator("main").inner_text()
    page.get_by_role("radio", name="red").click()
    paint(window, 20)
    page.get_by_role("button", name="Next").click()
    page.wait_for_selector(".steps li:nth-child(2)[aria-current]")
    page.get_by_role("radio", name="blue").click()
    paint(window, second)
    page.get_by_role("button", name="Done").click()
    headline(window, "What you drew")


@pytest.mark.slow
def test_a_game_of_three_people_becomes_a_corpus(server: PageServer, browser: Browser) -> None:
    with Window(browser, server.url, "draw") as window:
        described(window, "Ada", "Step one: the second tile of column three is red.\nStep two: its right neighbor is blue.")
        verified(window, "Bo", 21)
        verified(window, "Cy", 22)
        window.page.get_by_role("link", name="All results").click()
        window.page.wait_for_selector("text=Two Verifiers drew it.")
        assert [tag.split()[0] for tag in window.page.locator(".steps .chip").all_inner_texts()] == ["A", "V1"]
        assert window.page.locator("section > h2").all_inner_texts()[-2:] == ["Bo", "Cy"]
        window.go("game")
        with window.page.expect_download() as download:
            window.page.get_by_role("link", name="Export finished games").click()
        with zipfile.ZipFile(download.value.path()) as archive:
            assert archive.namelist()
        assert window.complaints == []


def say(window: Window, text: str) -> None:
    window.page.get_by_label("Say to the Builder").fill(text)
    window.page.get_by_role("button", name="Say it").click()


@pytest.mark.slow
def test_a_person_directs_a_model_and_corrects_it(server: PageServer, browser: Browser) -> None:
    with Window(browser, server.url, "build") as window:
        page = window.page
        page.get_by_label("Target").select_option(index=2)
        page.get_by_role("button", name="Start as Architect").click()
        page.get_by_role("img", name="Target").wait_for()
        say(window, "Place a red block in the middle.")
        page.wait_for_selector("text=I placed a red block.")
        assert "confidence" in page.locator(".answer").inner_text()
        page.get_by_role("button", name="Undo").click()
        page.get_by_role("img", name="What stands: empty").wait_for()
        say(window, "red")
        page.wait_for_selector(".answer")
        page.get_by_role("button", name="Correct it").click()
        stands = page.get_by_role("application", name="What stands: empty")
        stands.focus()
        for key in ("4", "Enter", "ArrowUp", "5", "Enter"):
            page.keyboard.press(key)
        page.get_by_role("application", name="What stands: 2 blocks: 1 green, 1 blue").wait_for()
        page.get_by_role("button", name="Save as a training row").click()
        page.get_by_role("img", name="What stands: 2 blocks: 1 green, 1 blue").wait_for()
        (line,) = (server.games / "corrections-minecraft.jsonl").read_text().splitlines()
        assert json.loads(line)["actions"] == [["place", "green", 0, 1, 0], ["place", "blue", 0, 1, 1]]
        page.get_by_role("button", name="Finish").click()
        page.wait_for_selector("text=blocks of the target stand")
        assert window.complaints == []
    items = load_items(server.games / "corrections-minecraft.jsonl", "minecraft")
    source = DataSource(file=str(server.games / "corrections-minecraft.jsonl"))
    assert list(gather([source], "minecraft", [], HeldOut("minecraft")).items) == items


@pytest.mark.slow
def test_a_person_builds_what_an_architect_says(server: PageServer, browser: Browser) -> None:
    with Window(browser, server.url, "build") as window:
        page = window.page
        page.get_by_role("button", name="Start as Builder").click()
        page.get_by_role("heading", name="Build for an Architect", level=1).wait_for()
        said = page.locator(".talk .architect").count()
        assert said
        box = page.locator(".scene").first.bounding_box()
        assert box
        page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] * 0.6)
        page.get_by_role("application", name="What stands: 1 block").wait_for()
        page.get_by_role("button", name="Undo").click()
        page.get_by_role("application", name="What stands: empty").wait_for()
        page.get_by_role("button", name="Done").click()
        page.wait_for_selector("text=1 correction")
        page.get_by_label("Through the builder").check()
        page.reload()
        page.wait_for_selector("text=1 correction")
        assert page.locator(".talk .architect").count() > said
        assert window.complaints == []


@pytest.mark.slow
def test_a_game_is_replayed_with_its_dialogue_and_a_model_builds_a_turn(server: PageServer, browser: Browser) -> None:
    with Window(browser, server.url, "replay") as window:
        page = window.page
        page.get_by_label("Search games").fill("test")
        page.locator("tbody a").first.click()
        page.wait_for_selector(".scene canvas")
        page.get_by_label("Speed").select_option("10")
        page.get_by_role("button", name="Play").click()
        page.get_by_role("button", name="Pause").wait_for()
        page.get_by_role("button", name="Play").wait_for()
        stands = page.locator(".scene").first.get_attribute("aria-label")
        assert stands
        assert "blocks" in stands
        page.get_by_label("Through the builder").check()
        page.locator(".talk .did").first.get_by_role("button").click()
        page.get_by_role("button", name="Build this turn").click()
        page.wait_for_selector(".answer")
        assert window.complaints == []


HOSTILE = "</textarea><script>window.hacked = 1</script><img src=x onerror='window.hacked = 1'>"


@pytest.mark.slow
def test_what_people_write_is_shown_as_text(server: PageServer, browser: Browser) -> None:
    with Window(browser, server.url, "game") as window:
        page = window.page
        page.get_by_label("Your name").fill(HOSTILE)
        page.get_by_role("button", name="Describe it").click()
        headline(window, "Describe the image")
        page.get_by_label("Next step").fill(HOSTILE + " word" * 10_000)
        page.get_by_role("button", name="Add step").click()
        page.wait_for_selector(".steps li")
        assert page.locator(".steps li span").first.inner_text().startswith(HOSTILE)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        window.go("game")
        assert page.get_by_text(HOSTILE[:40]).count()
        window.go("draw")
        page.get_by_label("Instruction").fill(HOSTILE)
        page.keyboard.press("Enter")
        page.wait_for_selector(".answer")
        assert page.evaluate("window.hacked === undefined")
        # The policy refuses what a script of another site would do.
        page.evaluate("document.body.append(Object.assign(document.createElement('script'), {textContent: 'window.hacked = 1'}))")
        assert page.evaluate("window.hacked === undefined")
        (complaint,) = window.complaints
        assert "Content Security Policy" in complaint


@pytest.mark.slow
def test_two_tabs_of_a_session_and_a_server_that_is_killed(tmp_path: Path, browser: Browser) -> None:
    server = PageServer(tmp_path / "games", "--no-models")
    with Window(browser, server.url, "game") as window:
        first = window.page
        first.get_by_label("Your name").fill("Ada")
        first.get_by_role("button", name="Describe it").click()
        headline(window, "Describe the image")
        second = window.tab(first.url.partition("#/")[2])
        second.get_by_label("Next step").fill("from the second tab")
        second.get_by_role("button", name="Add step").click()
        second.wait_for_selector("text=from the second tab")
        first.get_by_label("Next step").fill("from the first tab")
        first.get_by_role("button", name="Add step").click()
        first.wait_for_selector(".toast.bad")
        assert first.locator(".steps li").all_inner_texts() == ["from the second tab"]
        assert first.get_by_label("Next step").input_value() == "from the first tab"
        first.get_by_role("button", name="Add step").click()
        first.wait_for_selector(".steps li:nth-child(2)")
        # The server is killed; actions in the meantime wait and are sent once it is back.
        server.end(signal.SIGKILL)
        first.get_by_label("Next step").fill("while nobody listens")
        first.get_by_role("button", name="Add step").click()
        first.wait_for_selector("#offline:not([hidden])")
        server.start()
        first.wait_for_selector(".steps li:nth-child(3)")
        first.wait_for_selector("#offline", state="hidden")
        first.reload()
        first.wait_for_selector(".steps li:nth-child(3)")
    assert server.end(signal.SIGTERM) == 128 + signal.SIGTERM


PAGES = [
    "draw", "game", "gallery", "procedure/7", "build", "replay",
    "replay/B2-A2-C901-1700000000001",
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(("width", "scheme"), [(375, "light"), (1440, "dark")])
def test_no_page_has_a_fault_that_axe_finds(server: PageServer, browser: Browser, width: int, scheme: str) -> None:
    height = 812 if width < 500 else 900
    with Window(browser, server.url, "draw", width, height, scheme) as window:
        page = window.page
        page.get_by_label("Instruction").fill("Paint the first column red.")
        page.keyboard.press("Enter")
        page.wait_for_selector(".answer")
        for at in PAGES:
            window.go(at)
            assert (at, window.violations()) == (at, [])
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), at
        window.go("game")
        page.get_by_label("Your name").fill("Ada")
        page.get_by_role("button", name="Describe it").click()
        headline(window, "Describe the image")
        page.get_by_label("Next step").fill("Paint the first tile red.")
        page.get_by_role("button", name="Add step").click()
        page.wait_for_selector(".steps li")
        assert window.violations() == []
        page.get_by_role("button", name="Finish").click()
        headline(window, "Align each step")
        assert window.violations() == []
        window.go("build")
        page.get_by_role("button", name="Start as Architect").click()
        headline(window, "Direct a model")
        say(window, "Place a red block in the middle.")
        page.wait_for_selector(".answer")
        page.get_by_role("button", name="Correct it").click()
        assert window.violations() == []


@pytest.mark.slow
def test_everything_works_with_the_keyboard(server: PageServer, browser: Browser) -> None:
    """From the top, Tab reaches the modes, the colors and the board, and the focus is visible."""
    with Window(browser, server.url, "draw") as window:
        page = window.page
        reached = []
        for _ in range(40):
            page.keyboard.press("Tab")
            reached.append(
                page.evaluate(
                    "(() => { const e = document.activeElement; const s = getComputedStyle(e);"
                    " return [e.getAttribute('role') ?? e.tagName, (e.getAttribute('aria-label') || e.textContent).slice(0, 30),"
                    " s.outlineStyle !== 'none' || e.matches('svg.live')]; })()"
                )
            )
        names = [f"{role} {name}" for role, name, _ in reached]
        for wanted in ("A Skip to the content", "A Gallery", "radio", "application Drawing", "TEXTAREA", "BUTTON Draw it"):
            assert any(name.startswith(wanted) for name in names), (wanted, names)
        assert all(visible for role, _, visible in reached if role != "BODY")
