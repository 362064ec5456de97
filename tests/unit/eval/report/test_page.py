import base64
import gzip
import hashlib
import json
import re
from functools import partial
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from eval.report.page import CHUNK, MAX_TEXT
from harness.corpora import load
from harness.corpora.item import HexagonsItem, Utterance
from harness.tasks.registry import TASKS
from tests.helpers import Command
from tests.helpers.scored import perfect, write_run

HOSTILE = "</script><script>alert(1)</script><!--<img src=x onerror=alert(1)>\u2028\x00\ud800 &lt;"


@pytest.fixture
def report(command: Command, empty_folder: None) -> Command:
    return partial(command, "report")


class Page:
    """A report as a browser parses it: elements end where HTML says, whatever they contain."""

    def __init__(self, path: Path | str) -> None:
        self.bytes = Path(path).read_bytes()
        self.html = self.bytes.decode()
        found = re.findall(r"<script([^>]*)>(.*?)</script", self.html, re.DOTALL | re.IGNORECASE)
        self.scripts = {(re.search(r'id="([^"]*)"', attributes) or ["", ""])[1]: text for attributes, text in found}
        self.index = json.loads(self.scripts["index"])
        self.texts = unpack(self.scripts["texts"])
        self.chunks = [unpack(self.scripts[f"chunk-{n}"]) for n in range(-(-len(self.index["ids"]) // CHUNK))]

    def shared(self, n: int) -> Any:
        return self.chunks[n // CHUNK]["items"][n % CHUNK]

    def made(self, n: int) -> Any:
        """The first run's details of an item."""
        return self.chunks[n // CHUNK]["runs"][0][n % CHUNK]

    @property
    def words(self) -> str:
        """The text that a reader sees without scripts."""
        body = re.sub(r"<(script|style).*?</\1>", "", self.html, flags=re.DOTALL)
        return " ".join(unescape(re.sub(r"<[^>]*>", " ", body)).split())


def unpack(text: str) -> Any:
    return json.loads(gzip.decompress(base64.b64decode(text)))


@pytest.mark.parametrize("task", ["hexagons", "minecraft"])
def test_a_report_of_one_run(report: Command, task: str) -> None:
    items = load(task, "test")
    records = [{"id": record["id"], "actions": record["actions"][:1]} for record in perfect(load(task, "test"))]
    folder = write_run("mine", records)
    code, out, _ = report("mine")
    assert code == 0
    assert re.fullmatch(rf"runs/mine/report\.html: \d+\.\d MB, {len(items)} items\n", out)
    page = Page(folder / "report.html")
    assert page.index["ids"] == [item.id for item in items]
    for n, item in enumerate(items):
        shared, made = page.shared(n), page.made(n)
        said = [turn.text for turn in item.history if isinstance(turn, Utterance)]
        if isinstance(item, HexagonsItem):
            said.append(item.instruction)
        assert [text for speaker, text in shared["turns"] if speaker] == said
        assert all(picture.startswith("<svg ") for picture in (shared["picture"], *made["pictures"]))
        assert made["text"] is made["prompt"] is None
        assert item.id.lower() in page.texts[n]
    wrong = page.index["runs"][0]["exact"].index(0)
    assert page.index["runs"][0]["classes"][wrong]
    for word in ("Published results", "not comparable", "Subsets", "under-execution", f"{TASKS[task].benchmark} test"):
        assert word in page.words, word


def test_two_runs_are_compared_and_their_numbers_are_those_of_score(report: Command, command: Command) -> None:
    records = perfect(load("minecraft", "test"))
    write_run("bad", [{"id": record["id"], "actions": record["actions"][:1]} for record in records])
    records[1]["actions"].append(["place", "red", 9, 1, 0])
    write_run("mine", [*records[:-1], {"id": records[-1]["id"], "actions": [], "error": "HTTP 500"}])
    scores = json.loads(command("score", "mine", "--json")[1])
    assert report("mine", "bad")[0] == 0
    page = Page("runs/mine/report.html")
    for part in (scores, *scores["subsets"].values()):
        for name, counts in part["micro"].items():
            assert f"{100 * counts['f1']:.2f}" in page.words
            assert f"{100 * part['macro'][name]:.2f}" in page.words
    assert "1 item with an error, scored as empty predictions" in page.words
    assert "1 predicted action outside the build region, left out" in page.words
    assert "mine − bad micro F1 +" in page.words
    assert set(re.findall(r'href="#item=([^"]*)"', page.html)) <= set(page.index["ids"])
    assert [run["name"] for run in page.index["runs"]] == ["mine", "bad"]


def test_hostile_text_stays_text(report: Command) -> None:
    first, second, third, *others = perfect(load("hexagons", "test"))
    first |= {"text": HOSTILE, "format": "grouped", "discarded": [[HOSTILE, HOSTILE], "no pair"], "finish_reason": HOSTILE}
    second = {"id": second["id"], "actions": [], "error": HOSTILE}
    third |= {"text": "x" * 1_000_000, "format": "grouped", "discarded": []}
    settings = {"task": "hexagons", "split": "test", "model": HOSTILE, "adapter": HOSTILE}
    folder = write_run("a<b>&amp;", [first, second, third, *others], **settings)
    assert report(folder)[0] == 0
    page = Page(folder / "report.html")
    assert page.made(0)["text"] == HOSTILE
    assert page.made(0)["discarded"] == [[HOSTILE, HOSTILE]]
    assert HOSTILE in page.made(1)["problem"]
    assert page.made(2)["text"] == f"{'x' * MAX_TEXT}\n... ({1_000_000 - MAX_TEXT:,} more characters)"
    assert page.index["runs"][0]["name"] == "a<b>&amp;"
    assert "<b>&amp" not in page.html
    assert "&lt;script&gt;alert(1)" in page.html
    for raw in ("<script>alert", "<img", "<!--"):
        assert raw not in page.html
    assert page.html.lower().count("<script") == page.html.lower().count("</script") == len(page.scripts)
    assert len(page.bytes) < 400_000


def test_only_the_pages_own_code_may_run(report: Command) -> None:
    folder = write_run("mine", perfect(load("hexagons", "test")))
    report("mine")
    page = Page(folder / "report.html")
    policy = unescape(re.search(r'Content-Security-Policy" content="([^"]*)"', page.html)[1])  # type: ignore[index]
    style = re.search(r"<style>(.*?)</style>", page.html, re.DOTALL)[1]  # type: ignore[index]
    for kind, source in (("script", page.scripts[""]), ("style", style)):
        assert f"{kind}-src 'sha256-{base64.b64encode(hashlib.sha256(source.encode()).digest()).decode()}'" in policy
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert set(re.findall(r'\s(?:href|src|action|style)="([^"]{,2})', page.html)) <= {"#s", "#p", "#e", "#r", "#i"}
    for way in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "fetch(", "XMLHttpRequest", "import("):
        assert way not in page.scripts[""]


def test_a_prompt_is_shown_with_the_parts_that_were_left_out(report: Command) -> None:
    records, settings = perfect(load("hexagons", "test")), {"task": "hexagons", "split": "test", "engine": "vllm"}
    records[0] |= {"prompt_tokens": 1234, "dropped_history": 3, "dropped_shots": 2}
    records[2] = {"id": records[2]["id"], "actions": [], "error": "its shortest prompt takes 99 tokens"}
    folder = write_run("mine", records, **settings)
    told = [{"same": 0, "prompt": HOSTILE}, {"same": len(HOSTILE) - 5, "prompt": "more"}, {}]
    asked = [{"id": record["id"], "seconds": 0.5, **fields} for record, fields in zip(records, told, strict=False)]
    (folder / "asked.jsonl").write_text("".join(json.dumps(line) + "\n" for line in asked) + '{"id": "hexagons/te')
    assert report("mine")[0] == 0
    page = Page(folder / "report.html")
    shown = [(page.made(n)["prompt"], page.made(n)["promptNote"]) for n in range(4)]
    assert shown == [
        (HOSTILE, "1,234 tokens; turns of history left out: 3 in 1 prompts; examples left out: 2 in 1 prompts"),
        (HOSTILE[:-5] + "more", f"{len(HOSTILE) - 1} characters, as text"),
        (None, "There is no prompt."),
        (None, "The prompt was not recorded."),
    ]
    assert "1.5 (2.0 items a second)" in page.words
