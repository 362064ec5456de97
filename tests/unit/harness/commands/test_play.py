"""The command `harness play`: the table, the files, and adapters behind an endpoint."""

import json
from pathlib import Path

import pytest
import yaml

from prompts.spec import PromptSpec
from tests.helpers import Command
from tests.helpers.endpoint import FakeServer, chat_answer
from tests.helpers.tiny import save_tiny_adapter


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)


def test_the_parser_plays_both_tasks(command: Command) -> None:
    for task, source, last in (("minecraft", "simulated", "block F1, turned and shifted"), ("hexagons", "corpus", "tiles right")):
        said = command("play", "--task", task, "--model", "parser", "--games", "2", "--corrections", "1")[1]
        folder = Path(f"runs/play_{task}_dev_parser_{source}_2-games_1-corrections")
        assert f"{task} dev: 2 games, {source} targets, 1 corrections a step; parser; {folder}" in said.splitlines()[0]
        assert last in said
        lines = [json.loads(line) for line in (folder / "play.jsonl").read_text().splitlines()]
        assert len(lines) == 2
        assert json.loads((folder / "scores.json").read_text())["games"] == 2
        assert b"What was said and done" in (folder / "report.html").read_bytes()
        settings = yaml.safe_load((folder / "run.yaml").read_text())["settings"]
        assert settings["command"] == "play"
        assert (settings["model"], settings["corrections"], settings["seed"]) == ("parser", 1, 0)


def test_an_adapter_behind_an_endpoint_is_asked_as_it_was_trained(server: FakeServer, tiny_base: Path, command: Command) -> None:
    server.reply = lambda body, n: chat_answer("red: 1 1")
    recipe = {"prompt": {"select": "bm25"}, "training": {"shots": 2, "seed": 3}}
    save_tiny_adapter(tiny_base, Path("runs/mine/adapter"), PromptSpec.make("hexagons", "no-history"), recipe=recipe)
    words = ["--base-url", server.url, "--games", "2", "--corrections", "0", "--name", "one", "--model", "mine"]
    assert "mine was trained with 2 examples in front of every item" in command("play", *words)[2]
    settings = yaml.safe_load(Path("runs/one/run.yaml").read_text())["settings"]
    assert [settings[key] for key in ("task", "engine", "context")] == ["hexagons", "openai", "no-history"]
    assert {body["model"] for body in server.requests} == {"mine"}
    assert len(server.requests) == len(Path("runs/one/turns.jsonl").read_text().splitlines())
    assert {sum(said["role"] == "user" for said in body["messages"]) for body in server.requests} == {3}
    # The examples are similar to the question, so not all requests have the same ones.
    assert len({str(body["messages"][:-1]) for body in server.requests}) > 1


def test_a_run_with_other_settings_is_not_touched(command: Command) -> None:
    words = ["play", "--model", "parser", "--name", "one", "--games"]
    assert command(*words, "1")[0] == 0
    for refused, told in (
        ([*words, "2"], "count: 1 there, 2 now"),
        (["score", "one"], "runs/one holds live games"),
    ):
        code, _, err = command(*refused)
        assert (code, told in err) == (2, True)
