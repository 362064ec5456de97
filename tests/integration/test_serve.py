"""`harness serve` with a real vLLM and the official client: models, chat, streams, adapters, keys, and a clean end."""

import json
import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import httpx2
import openai
import pytest

from harness.corpora import load
from harness.engines.engine import Sampling
from harness.engines.models.bases import load_tokenizer
from harness.engines.openai.engine import OpenAIEngine
from harness.engines.transformers import TransformersEngine
from prompts.render import Renderer
from prompts.spec import PromptSpec
from serialization.formats.answer import Constraint
from tests.helpers.finetuning import quick_words, set_words, train
from tests.helpers.serving import ServedCommand, wait_until
from tests.helpers.tiny import build_tiny_model, save_tiny_adapter

pytestmark = [pytest.mark.integration, pytest.mark.slow, pytest.mark.timeout(600)]

KEY, OTHER = "sk-a-very-secret-one", "sk-a-more-secret-one"
SPEC = PromptSpec.make("hexagons")
CHECKPOINT = "runs/mine/checkpoints/checkpoint-1"
QUESTION: Any = [{"role": "user", "content": "Paint the tile red."}]


class Serving(ServedCommand):
    @property
    def log(self) -> Path:
        return self.folder / "runs" / f"serve-{self.port}.log"

    def server(self) -> int:
        """The id of the server's process, which is also its group's id."""
        return self.child(b"harness.engines.vllm.server")

    def client(self) -> openai.OpenAI:
        return openai.OpenAI(base_url=f"{self.url}/v1", api_key=KEY, max_retries=0, timeout=60)


def said(client: openai.OpenAI, model: str) -> str | None:
    """A model's answer to the question."""
    answer = client.chat.completions.create(model=model, messages=QUESTION, max_tokens=12, temperature=0)
    assert answer.model == model
    return answer.choices[0].message.content


def group(leader: int) -> list[int]:
    """The running processes of a process group."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            state, _, pgid = stat.read_text().rpartition(")")[2].split()[:3]
            found += [int(stat.parent.name)] if int(pgid) == leader and state not in "ZX" else []
    return found


def listening_ports(processes: list[int]) -> set[int]:
    """The TCP ports that processes listen on."""
    links = (link for one in processes for link in Path(f"/proc/{one}/fd").glob("*"))
    sockets = {os.readlink(link).removeprefix("socket:[").rstrip("]") for link in links if link.is_symlink()}
    rows = [line.split() for name in ("tcp", "tcp6") for line in Path(f"/proc/net/{name}").read_text().splitlines()[1:]]
    return {int(row[1].rpartition(":")[2], 16) for row in rows if row[3] == "0A" and row[9] in sockets}


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_tiny_model(tmp_path_factory.mktemp("base") / "tiny", context_length=1024)


@pytest.fixture(scope="module")
def serving(base: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    folder = tmp_path_factory.mktemp("serving")
    first = save_tiny_adapter(base, folder / "first", SPEC)
    words = set_words("training.warmup=0", "training.learning_rate=0.05")
    train(folder, (), *quick_words(base, "llama-lora", *words)[1:])
    keys = folder / "keys"
    keys.touch(0o600)
    keys.write_text(f"{OTHER}\n")
    options = ["--base", str(base), "--adapter", f"one={first}", "--adapter", f"two={CHECKPOINT}", "--api-keys", str(keys)]
    with Serving(folder, "serve", *options, "--", "--max-num-seqs", "64", HARNESS_API_KEY=KEY, HARNESS_BF16="off") as serving:
        yield serving


def test_no_port_but_the_fronts_answers_and_no_other_user_reaches_the_socket(serving: Serving) -> None:
    leader = serving.server()
    assert listening_ports([serving.process.pid]) == {serving.port}
    for port in listening_ports(group(leader)):
        # The ports of torch's and vLLM's workers do not speak HTTP.
        with pytest.raises(httpx2.HTTPError):
            httpx2.post(f"http://127.0.0.1:{port}/invocations", json={"prompt": "a"}, timeout=3)
    words = Path(f"/proc/{leader}/cmdline").read_bytes().decode().split("\0")
    socket_path = Path(words[words.index("--uds") + 1])
    assert socket_path.is_socket()
    assert socket_path.parent.stat().st_mode & 0o777 == 0o700


def test_it_says_where_it_is_and_its_curl_line_works(serving: Serving) -> None:
    assert serving.said[0].startswith(f"Serving tiny, one, two at http://127.0.0.1:{serving.port}/v1 ")
    assert KEY not in "".join(serving.said)
    if shutil.which("curl") is None:
        pytest.skip("there is no curl")
    done = subprocess.run(["sh", "-c", serving.said[-1]], env=serving.environment, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout)["model"] == "one"


def test_the_official_client_lists_chats_completes_and_streams(serving: Serving) -> None:
    options: Any = {"max_tokens": 12, "temperature": 0}
    with serving.client() as client:
        assert [model.id for model in client.models.list()] == ["tiny", "one", "two"]
        text = said(client, "tiny")
        with client.chat.completions.create(model="tiny", messages=QUESTION, stream=True, **options) as parts:
            pieces = [part.choices[0].delta.content or "" for part in parts]
        assert len(pieces) > 1
        assert "".join(pieces) == text
        assert client.completions.create(model="tiny", prompt="Paint", **options).choices[0].text
        assert len({text, said(client, "one"), said(client, "two")}) == 3


def test_a_checkpoint_answers_as_with_transformers(serving: Serving, base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The endpoint leaves out an incomplete last character, and a near tie may fall the other way."""
    monkeypatch.setenv("HARNESS_API_KEY", KEY)
    renderer = Renderer(SPEC, load_tokenizer(str(base)), 1024, 64)
    rendered = [renderer.render(item) for item in load("hexagons", "dev")[:8]]
    theirs = TransformersEngine(str(base), adapter=serving.folder / CHECKPOINT)
    with closing(OpenAIEngine(f"{serving.url}/v1", "two")) as ours, closing(theirs):
        said = [engine.generate(rendered, Sampling(max_tokens=4)) for engine in (ours, theirs)]
        (held,) = ours.generate(rendered[:1], Sampling(max_tokens=8, constraint=Constraint("regex", "(red|blue)")))
        alike = [one.text.rstrip("\ufffd") == other.text.rstrip("\ufffd") for one, other in zip(*said, strict=True)]
    assert sum(alike) >= 7
    assert held.text in ("red", "blue")


def test_the_task_api_asks_the_served_models(serving: Serving) -> None:
    with httpx2.Client(base_url=f"{serving.url}/v1/harness", headers={"Authorization": f"Bearer {KEY}"}, timeout=60) as client:

        def done(task: str, instruction: str, **fields: str) -> Any:
            return client.post("/execute", json={"task": task, "instruction": instruction, **fields}).json()

        kinds = {player["name"]: player["kind"] for player in client.get("/players").json()}
        built = done("minecraft", "Put a red block anywhere.", model="tiny")
        drawn = done("hexagons", "Paint a tile.", model="one")
        parsed = done("hexagons", "Paint the first column red.", model="parser")
    assert {name for name, kind in kinds.items() if kind == "language model"} == {"tiny", "one", "two"}
    assert {"actions", "blocks"} <= built.keys()
    assert drawn["board"] is not None
    assert len(parsed["actions"]) == 10


def test_ctrl_c_ends_it_and_leaves_nothing(serving: Serving) -> None:
    leader = serving.server()
    assert len(group(leader)) > 1
    assert KEY.encode() not in Path(f"/proc/{leader}/cmdline").read_bytes()
    assert serving.end(signal.SIGINT) == 130
    assert group(leader) == []
    told = (serving.folder / "stderr").read_text()
    assert "Interrupted." in told
    assert not any(key in serving.log.read_text() + told for key in (KEY, OTHER))


def test_killed_outright_it_leaves_nothing_either(tmp_path: Path) -> None:
    """The base has no chat template, so ours is used, and it can chat."""
    serving = Serving(tmp_path / "serving", "serve", "--base", str(build_tiny_model(tmp_path / "plain", chat=False)))
    with serving.client() as client:
        assert client.chat.completions.create(model="plain", messages=QUESTION, max_tokens=12).usage
    leader = serving.server()
    assert serving.end(signal.SIGKILL) == -signal.SIGKILL
    wait_until(lambda: not group(leader), 40)  # Time for an orderly end.
