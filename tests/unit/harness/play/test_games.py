"""The loop of live games: lockstep, stored turns, resumption after a kill, and errors."""

import base64
import hashlib
import json
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from random import Random
from typing import Any

import pytest

from eval.live import score_games
from harness.corpora.item import Item
from harness.errors import EngineError, UsageError
from harness.play.games import TURNS, play_games
from harness.play.report import render
from harness.play.targets import live_games
from harness.runs.answering import Answer, Predictor
from harness.runs.folder import Run
from harness.simulators.live import LiveGame
from tests.helpers.faulty import wrong
from tests.helpers.scored import write_lines


class Builder(Predictor):
    """Errs on some messages, always on the same ones; dies at message number `dies_at`; fails at those in `fails_at`."""

    def __init__(self, *, independent: bool = True, dies_at: int = -1, fails_at: Sequence[str] = (), batch_size: int = 3) -> None:
        self.independent, self.dies_at, self.fails_at, self.batch_size = independent, dies_at, fails_at, batch_size
        self.asked: list[list[str]] = []

    def predict(self, items: Sequence[Item]) -> Iterator[Answer]:
        self.asked.append([item.id for item in items])
        for item in items:
            if sum(map(len, self.asked[:-1])) + [one.id for one in items].index(item.id) == self.dies_at:
                raise EngineError("the server is gone")
            # If answers depend on their batch, so do the errors.
            rng = Random(item.id if self.independent else f"{item.id} of {len(items)}")
            if item.id in self.fails_at:
                yield Answer((), error="429")
            elif item.meta["kind"] == "order" and rng.random() < 0.3:
                yield Answer(wrong(rng, item), notes={"completion_tokens": 3})
            else:
                yield Answer(item.actions, prompt=f"prompt of {item.id}")


def new(task: str = "minecraft", count: int = 5) -> list[LiveGame]:
    return live_games(task, count, 0, "train", 3)


def played(folder: Path, builder: Builder, games: list[LiveGame] | None = None) -> list[dict[str, Any]]:
    with closing(Run(folder, {"seed": 0}, TURNS)) as run:
        return play_games(run, games or new(), builder)


def turns(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / TURNS).read_text().splitlines()]


@pytest.mark.parametrize("task", ["minecraft", "hexagons"])
def test_games_are_played_in_lockstep_and_every_turn_is_kept(tmp_path: Path, task: str) -> None:
    builder = Builder()
    lines = played(tmp_path, builder, new(task))
    assert [len(batch) for batch in builder.asked[:2]] == [3, 2]
    assert {name.rpartition("/")[2] for name in [*builder.asked[0], *builder.asked[1]]} == {"1"}
    records = turns(tmp_path)
    assert [record["id"] for record in records] == [name for batch in builder.asked for name in batch]
    assert sum(line["turns"] for line in lines) == len(records)
    assert sum(line["corrections"] for line in lines) == sum(record["kind"] == "correction" for record in records) > 0
    assert all(record["said"] for record in records)
    assert all(line["ended"] == "done" and line["error"] is None for line in lines)
    assert any(line["success"] for line in lines)
    for line in lines:
        assert sum("actions" in turn for turn in line["dialogue"]) == line["turns"]
        assert json.loads(json.dumps(line)) == line


@pytest.mark.parametrize("independent", [True, False])
@pytest.mark.parametrize("dies_at", [0, 7])
def test_a_run_that_dies_ends_with_the_same_bytes(tmp_path: Path, independent: bool, dies_at: int) -> None:
    whole = played(tmp_path / "whole", Builder(independent=independent))
    with pytest.raises(EngineError, match="gone"):
        played(tmp_path / "killed", Builder(independent=independent, dies_at=dies_at))
    assert len(turns(tmp_path / "killed")) == dies_at
    again = Builder(independent=independent)
    assert played(tmp_path / "killed", again) == whole
    assert (tmp_path / "killed" / TURNS).read_bytes() == (tmp_path / "whole" / TURNS).read_bytes()
    # At most the batch in flight is asked again.
    missing = len(turns(tmp_path / "whole")) - dies_at
    assert missing <= sum(map(len, again.asked)) < missing + (1 if independent else again.batch_size)


def test_an_error_ends_its_game_for_now_and_the_others_go_on(tmp_path: Path) -> None:
    whole = played(tmp_path / "whole", Builder())
    failing = f"{whole[1]['id']}/3"
    lines = played(tmp_path / "run", Builder(fails_at=[failing]))
    assert [line["error"] for line in lines] == [None, "429", None, None, None]
    assert (lines[1]["ended"], lines[1]["turns"]) == ("error", 2)
    assert [line for line in lines if not line["error"]] == [line for n, line in enumerate(whole) if n != 1]
    scores = score_games("minecraft", lines)
    assert (scores["games"], scores["errors"]) == (5, 1)
    again = Builder()
    assert played(tmp_path / "run", again) == whole
    assert again.asked[0] == [failing]


def test_a_run_with_other_messages_is_refused(tmp_path: Path) -> None:
    played(tmp_path, Builder())
    records = turns(tmp_path)
    records[4]["said"] = ["Put it there."]
    write_lines(tmp_path / TURNS, records)
    with pytest.raises(UsageError, match="begun by an earlier version, in which other things were said; choose another --name"):
        played(tmp_path, Builder())


@pytest.mark.parametrize("task", ["minecraft", "hexagons"])
def test_the_page_shows_text_as_text_and_needs_nothing_else(tmp_path: Path, task: str) -> None:
    lines = played(tmp_path, Builder(), new(task, 2))
    lines[0]["dialogue"].append({"speaker": "Architect", "text": "<script>alert(1)</script>"})
    page = render("a <b> title", score_games(task, lines), lines).decode()
    assert "<script" not in page
    assert "&lt;script&gt;alert(1)" in page
    assert "a &lt;b&gt; title" in page
    assert page.count("data:image/svg+xml;base64,") == 6
    assert "http" not in page.replace("http-equiv", "")
    # The policy admits the style, because it holds the style's hash.
    style = page.partition("<style>")[2].partition("</style>")[0]
    assert base64.b64encode(hashlib.sha256(style.encode()).digest()).decode() in page
