"""Runs in a separate process with the toy task installed: commands, then the API's surfaces. Prints JSON."""

from __future__ import annotations

import io
import json
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

from fastapi.testclient import TestClient
from toy_task import TASK

from harness.baselines.parser import Parser
from harness.cli import main
from harness.corpora.item import Item
from harness.page.routes import add_page
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


def served() -> dict[str, Any]:
    players: Any = [Builder()]
    app = create_app(players)
    store = add_page(app, players, Path("page"))
    headers = {"authorization": f"Bearer {store.token}"}
    with TestClient(app, base_url="http://127.0.0.1:8010", headers=headers) as client:
        body = {"task": TASK.name, "instruction": "Paint the first column red."}
        gallery = f"/page/everyday/{TASK.name}/dev"
        found = {
            "execute": client.post("/v1/harness/execute", json=body).json(),
            "start": client.get("/page/start").json(),
            "gallery": client.get(gallery).json(),
            "picture": client.get(f"{gallery}/0/1.svg").text,
        }
    store.close()
    return found


if __name__ == "__main__":
    printed = {" ".join(words): command(*words) for words in json.loads(sys.argv[1])}
    documents = getattr(lm_eval, TASK.name)()
    print(json.dumps({"printed": printed, **served(), "documents": {split: list(rows) for split, rows in documents.items()}}))
