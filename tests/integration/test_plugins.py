"""One fixed set of answers gets the same numbers in lm-eval, Inspect, verifiers, OpenEnv and `harness score`."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

import harness
from harness.plugins.environment import GridEnvironment
from harness.plugins.lm_eval import write_folder
from harness.tasks.registry import TASKS
from tests.helpers import ROOT
from tests.helpers.endpoint import Answer, FakeServer, chat_answer, chat_stream
from tests.helpers.scored import mixed_answers

pytestmark = [pytest.mark.integration, pytest.mark.slow, pytest.mark.timeout(300)]

ENVIRONMENTS = ROOT / ".venvs"
LIMIT = 40
"""The number of items that are asked of each task."""


def key(messages: Sequence[Any]) -> str:
    return json.dumps([[message["role"], message["content"]] for message in messages])


@pytest.fixture(scope="module")
def answers() -> dict[str, dict[str, str]]:
    """The answers to the first dev items of each task, by id; equal questions have equal answers."""
    answers: dict[str, dict[str, str]] = {}
    asked: dict[str, str] = {}
    for task in TASKS:
        items = harness.load(task, "dev")[:LIMIT]
        pairs = zip(items, mixed_answers(items), strict=True)
        answers[task] = {item.id: asked.setdefault(key(harness.render(item)), text) for item, text in pairs}
    return answers


@pytest.fixture(scope="module")
def scores(answers: dict[str, dict[str, str]]) -> dict[str, dict[str, float]]:
    """The scores by the Python API, which are those of `harness score` (tests/unit/harness/test_api.py)."""
    return {
        task: harness.total(harness.score(item, texts[item.id]) for item in harness.load(task, "dev")[: len(texts)])
        for task, texts in answers.items()
    }


@pytest.fixture(scope="module")
def endpoint(answers: dict[str, dict[str, str]]) -> Iterator[FakeServer]:
    """An endpoint that returns the answers."""
    known = {
        key(harness.render(item)): texts[item.id]
        for task, texts in answers.items()
        for item in harness.load(task, "dev")[: len(texts)]
    }

    def reply(body: dict[str, Any], n: int) -> Any:
        return reply_with(known[key([{**message, "content": _text(message["content"])} for message in body["messages"]])], body)

    fake = FakeServer()
    fake.reply = reply
    yield fake
    fake.stop()


def reply_with(text: str, body: dict[str, Any]) -> Answer:
    return chat_stream(text) if body.get("stream") else chat_answer(text)


def _text(content: Any) -> str:
    return content if isinstance(content, str) else "".join(part["text"] for part in content)


@pytest.fixture(scope="module")
def installed(wheel: Path) -> Path:
    """This package as a user installs it, because Inspect looks for tasks only in installed packages."""
    pip = [sys.executable, "-m", "pip", "--quiet", "install", "--no-deps", "--target", str(wheel.parent / "site-packages")]
    subprocess.run([*pip, str(wheel)], check=True, capture_output=True)
    return wheel.parent / "site-packages"


def run(name: str, words: Sequence[str], folder: Path, installed: Path, **variables: str) -> str:
    """The output of a program in another harness's environment; skips the test if that is not installed."""
    program = ENVIRONMENTS / name / "bin" / words[0]
    if not (ENVIRONMENTS / name / ".ready").exists():
        pytest.skip(f"{name} is not installed: make plugins")
    environment = {**os.environ, "PYTHONPATH": str(installed), "HF_HUB_OFFLINE": "1", "NO_PROXY": "*", **variables}
    # verifiers starts its programs with uv, which is installed beside it.
    environment["PATH"] = f"{program.parent}{os.pathsep}{environment['PATH']}"
    done = subprocess.run([program, *words[1:]], cwd=folder, env=environment, capture_output=True, text=True, timeout=200)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_lm_eval(endpoint: FakeServer, scores: dict[str, dict[str, float]], tmp_path: Path, installed: Path) -> None:
    tasks = {f"harness_{task.replace('-', '_')}_dev": task for task in TASKS}
    words = ["lm_eval", "--include_path", str(write_folder()), "--tasks", ",".join(tasks)]
    words += ["--model", "local-chat-completions", "--apply_chat_template", "--limit", str(LIMIT), "--output_path", "out"]
    words += ["--model_args", f"base_url={endpoint.url}/chat/completions,model=fake,num_concurrent=4,tokenizer_backend=none"]
    run("lm-eval", words, tmp_path, installed, OPENAI_API_KEY="none")
    (file,) = (tmp_path / "out").rglob("results_*.json")
    results = json.loads(file.read_text())["results"]
    for name, task in tasks.items():
        assert {metric: results[name][f"{metric},none"] for metric in ("f1", "em")} == scores[task]


def test_inspect(endpoint: FakeServer, scores: dict[str, dict[str, float]], tmp_path: Path, installed: Path) -> None:
    names = {f"harness/{task.replace('-', '_')}": task for task in TASKS}
    words = ["inspect", "eval", *names, "--model", "openai-api/fake/fake", "-T", "split=dev", "-T", f"limit={LIMIT}"]
    words += ["--log-dir", "logs", "--log-format", "json", "--display", "plain"]
    run("inspect-ai", words, tmp_path, installed, FAKE_API_KEY="none", FAKE_BASE_URL=endpoint.url)
    found = {}
    for file in (tmp_path / "logs").glob("*.json"):
        log = json.loads(file.read_text())
        metrics = log["results"]["scores"][0]["metrics"]
        found[names[log["eval"]["task"]]] = {name: metrics[name]["value"] for name in ("f1", "em")}
    assert found == scores


def traces(server: FakeServer, folder: Path, installed: Path, *taskset: str) -> list[dict[str, Any]]:
    """What verifiers notes of Minecraft tasks of the endpoint's model."""
    words = ["vf-eval", "harness-verifiers", "--env.taskset.benchmark", "minecraft", *taskset]
    words += ["--env.agent.harness.id", "null", "--env.agent.runtime.type", "subprocess", "-c", "2"]
    words += ["--no-push", "--model", "fake", "--client.base-url", server.url, "--client.api-key-var", "FAKE_KEY"]
    run("verifiers", words, folder, installed, FAKE_KEY="none")
    (file,) = folder.rglob("traces.jsonl")
    return [json.loads(line)["traces"][0] for line in file.read_text().splitlines()]


def test_verifiers(endpoint: FakeServer, answers: dict[str, dict[str, str]], tmp_path: Path, installed: Path) -> None:
    """Only a few items, because verifiers starts a process for each."""
    told = traces(endpoint, tmp_path, installed, "--env.taskset.split", "dev", "--env.taskset.limit", "4")
    counts = sorted(tuple(int(one["metrics"][name]) for name in ("wanted", "made", "hits")) for one in told)
    items = harness.load("minecraft", "dev")[:4]
    assert counts == sorted(harness.score(item, answers["minecraft"][item.id])[1:] for item in items)


def test_games_in_verifiers(server: FakeServer, tmp_path: Path, installed: Path) -> None:
    """An endpoint that follows the first game's plan, and a chat of as many turns as the game has."""
    game = GridEnvironment("minecraft")
    game.reset(0, "train")
    texts = []
    while not game.done:
        assert game.item
        texts.append(harness.gold(game.item, game.spec))
        game.step(texts[-1])
    # Every earlier answer is a message of the chat.
    server.reply = lambda body, n: reply_with(texts[sum(message["role"] == "assistant" for message in body["messages"])], body)
    (trace,) = traces(server, tmp_path, installed, "--env.taskset.split", "train", "--env.taskset.games", "1")
    assert trace["rewards"]["f1"]["score"] == 1.0
    assert len(server.requests) == len(texts) > 1


def test_openenv(
    answers: dict[str, dict[str, str]], scores: dict[str, dict[str, float]], tmp_path: Path, installed: Path
) -> None:
    script = """
import json, threading, time
import harness, uvicorn
from openenv.core.mcp_client import MCPToolClient
from harness.plugins.openenv import GridEpisode, Reply, minecraft, minecraft_tools

minecraft()
counts = {}
for task, answers in json.load(open("answers.json")).items():
    environment = GridEpisode(task)
    counts[task] = []
    for index in range(len(answers)):
        assert environment.reset(split="dev", index=index).messages
        told = environment.step(Reply(text=answers[environment.state.item]))
        assert told.done
        counts[task].append([told.wanted, told.made, told.hits])
environment = GridEpisode("minecraft")
told = environment.reset(seed=1, single=False)
total = 0
while not told.done:
    grid = environment._grid
    told = environment.step(Reply(text=harness.gold(grid.item, grid.spec)))
    total += told.reward
assert total == 1 and environment.state.step_count == grid.game.turns > 1

server = uvicorn.Server(uvicorn.Config(minecraft_tools(), port=0, log_level="error"))
threading.Thread(target=server.run, daemon=True).start()
while not server.started:
    time.sleep(0.05)
answer = harness.gold(harness.load("minecraft", "dev")[0], harness.PromptSpec.make("minecraft", format="tools"))
with MCPToolClient(f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}").sync() as client:
    client.reset(split="dev", index=0)
    tools = [[tool.name, *tool.input_schema["required"]] for tool in client.list_tools()]
    assert tools == [["place", "color", "x", "y", "z"], ["remove", "x", "y", "z"], ["look"], ["done"]]
    for call in map(json.loads, answer.splitlines()):
        assert client.call_tool(call["name"], **call["arguments"])["result"] == "Done."
    assert client.call_tool("done").items() >= {"done": True, "reward": 1.5}.items()
print(json.dumps(counts))
"""
    (tmp_path / "answers.json").write_text(json.dumps(answers))
    (tmp_path / "ask.py").write_text(script)
    counts = json.loads(run("openenv", ["python", "-P", "ask.py"], tmp_path, installed).splitlines()[-1])
    assert {task: harness.total(harness.Counts(task, *row) for row in rows) for task, rows in counts.items()} == scores
