"""The HTML report in a real browser, from a file, with as many items as the Minecraft test split."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from eval.answers import Answers
from eval.predictions import Predictions
from eval.report.page import report_page
from eval.score_run import Benchmark
from harness.corpora import load
from tests.helpers.browser import Window

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = [pytest.mark.integration, pytest.mark.timeout(300)]

ITEMS = 1616


def answers(name: str, items: list[Any], every: int) -> Answers:
    """Gold actions, except that one item in `every` gets only its first action."""
    actions = {item.id: item.actions[:1] if n % every == 0 else item.actions for n, item in enumerate(items)}
    records = {item.id: {"id": item.id, "text": f"Reply-{n} of {name}"} for n, item in enumerate(items)}
    file = Path("runs", name, "predictions.jsonl")
    return Answers(name, file, {}, records, "minecraft", "test", items, None, Predictions(actions))


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report of two runs."""
    sample = [item for item in load("minecraft", "test") if len(item.actions) > 1]
    items = [
        replace(sample[n % len(sample)], id=f"minecraft/test/game-{n // 20:02}/{n}", cluster=str(n // 20)) for n in range(ITEMS)
    ]
    runs = {name: answers(name, items, every) for name, every in (("one", 3), ("two & more", 4))}
    path = tmp_path_factory.mktemp("report") / "report.html"
    path.write_bytes(report_page(runs, Benchmark()).html)
    return path


class Opened(Window):
    """The report in a window, at an address that ends in `at`."""

    def __init__(self, browser: Browser, file: Path, width: int = 1440, scheme: str = "light", at: str = "") -> None:
        super().__init__(browser, file.as_uri() + at, "#list [role=option]", width, scheme)
        self.index: dict[str, Any] = self.page.evaluate("JSON.parse(document.getElementById('index').textContent)")
        self.ids: list[str] = self.index["ids"]

    def count(self, text: str) -> None:
        self.page.wait_for_function("text => document.getElementById('count').textContent.startsWith(text)", arg=text)

    def chosen(self, item_id: str) -> None:
        """Waits until the detail shows an item and its pictures are drawn."""
        self.page.wait_for_function("id => document.querySelector('#detail h3')?.textContent === id", arg=item_id)
        self.page.wait_for_function(
            "() => [...document.querySelectorAll('#detail img')].every(i => i.complete && i.naturalWidth > 0)"
        )


@pytest.mark.parametrize(("width", "scheme"), [(375, "light"), (1440, "dark")])
def test_it_opens_alone(browser: Browser, file: Path, width: int, scheme: str) -> None:
    """Its controls have names, and its words have contrast."""
    with Opened(browser, file, width, scheme) as opened:
        page = opened.page
        opened.count(f"{ITEMS:,} of {ITEMS:,} items")
        assert page.locator("#list [role=option]").count() < 100
        assert page.locator("#detail img").count() == 3
        for box in page.query_selector_all("details"):
            box.evaluate("box => { box.open = true }")
        page.keyboard.press("j")
        opened.chosen(opened.ids[1])
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
        light = page.evaluate("getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number)[0] > 128")
        assert light == (scheme == "light")
        rules = ("color-contrast", "label", "select-name", "button-name", "duplicate-id-aria", "page-has-heading-one")
        assert [fault for fault in opened.violations() if fault.startswith(rules)] == []
        assert {url for url in opened.requests if not url.startswith("data:")} == {file.as_uri()}


@pytest.mark.slow
def test_search_filters_and_order(browser: Browser, file: Path) -> None:
    with Opened(browser, file) as opened:
        page, wrong = opened.page, -(-ITEMS // 3)
        page.select_option("#class", label=f"under-execution ({wrong})")
        opened.count(f"{wrong} of")
        page.fill("#query", "Two REPLY-99")
        opened.count("5 of")  # 99, 990, 993, 996 and 999
        page.fill("#query", "reply-99 nonsense")
        page.get_by_text("No item matches.").wait_for()
        page.get_by_role("button", name="Clear").click()
        page.fill("#high", "99")
        opened.count(f"{wrong} of")
        page.get_by_role("button", name="Clear").click()
        page.select_option("#run", label="two & more")
        page.select_option("#order", "apart")
        page.locator("#list [role=option]").first.click()
        one, two = (run["f1"] for run in opened.index["runs"])
        opened.chosen(opened.ids[max(range(ITEMS), key=lambda n: abs(one[n] - two[n]))])


@pytest.mark.slow
def test_keys_choose_items_and_the_address_names_the_item_and_the_run(browser: Browser, file: Path) -> None:
    with Opened(browser, file, at="#item=no/such/item") as opened:
        page, names = opened.page, opened.ids
        for key, n in (("j", 1), ("ArrowRight", 2), ("k", 1), ("ArrowLeft", 0)):
            page.keyboard.press(key)
            opened.chosen(names[n])
        page.keyboard.press("/")
        page.keyboard.type("jk/")
        assert page.input_value("#query") == "jk/"
        page.keyboard.press("Escape")
        page.get_by_role("button", name="Clear").click()
        page.locator("#list").focus()
        for key, n in (("End", ITEMS - 1), ("Home", 0), ("PageDown", 10), ("ArrowDown", 11)):
            page.keyboard.press(key)
            opened.chosen(names[n])
            assert page.locator("#list [aria-selected=true]").get_attribute("aria-posinset") == str(n + 1)
            assert page.locator(f"#{page.get_attribute('#list', 'aria-activedescendant')}").is_visible()
    with Opened(browser, file, at=f"#item={names[700]}&run=two%20%26%20more") as opened:
        opened.chosen(names[700])
        opened.page.get_by_text("Reply-700 of two & more").wait_for()
        opened.page.get_by_role("group", name="Run").get_by_role("button").first.click()
        opened.page.get_by_text("Reply-700 of one").wait_for()
        opened.page.keyboard.press("j")
        opened.chosen(names[701])
        assert opened.page.url == f"{file.as_uri()}#item={names[701]}"
