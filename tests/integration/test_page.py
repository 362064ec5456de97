"""The web page in a real browser, each mode as a person uses it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.helpers.page_server import PageServer, Window, chromium

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = [pytest.mark.integration, pytest.mark.timeout(300)]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as browser:
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
        (line,) = (server.folder / "corrections-hexagons.jsonl").read_text().splitlines()
        assert json.loads(line)["actions"][1] == [0, 17, "green"]
        assert window.complaints == []
