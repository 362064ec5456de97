"""Runs in a separate process with the toy task installed: commands, then the API's surfaces. Prints JSON."""

from __future__ import annotations

import io
import json
import sys
from contextlib import redirect_stderr, redirect_stdout
from typing import Any

from fastapi.testclient import TestClient
from toy_task import TASK

from harness.baselines.parser import Parser
from harness.cli import main
from harness.corpora.item import Item
from harness.plugins import lm_eval
from harness.runs.answering import Answer
from harness.service.app import create_app
from harness.service.schema import Player


class Builder:
    """The parser, in this process."""

    name = "parser"
    card = Player(name="parser", tasks=[TASK.name], kind="parser")

    async def answer(self, item: Item, samples: int, constrain: str | None, holder: str) -> Answer:
        (answer,) = Parser().predictor(item.task).predict([item])
        return answer


def command(*words: str) -> str:
    """The output of a command."""
    out = io.StringIO()
    with redirect_stdout(out), redirect_stderr(out):
        code = main(list(words))
    assert code == 0, (words, out.getvalue())
    return out.getvalue()


def executed() -> dict[str, Any]:
    """The answer of the task API to a request."""
    players: Any = [Builder()]
    with TestClient(create_app(players)) as client:
        body = {"task": TASK.name, "instruction": "Paint the first column red."}
        answer: dict[str, Any] = client.post("/v1/harness/execute", json=body).json()
        return answer


if __name__ == "__main__":
    printed = {" ".join(words): command(*words) for words in json.loads(sys.argv[1])}
    documents = getattr(lm_eval, TASK.name)()
    print(
        json.dumps(
            {"printed": printed, "execute": executed(), "documents": {split: list(rows) for split, rows in documents.items()}}
        )
    )
