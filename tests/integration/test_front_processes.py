"""`harness serve` as a process in front of a stand-in for vLLM: load, faults, SIGTERM, and its OpenAPI page."""

import asyncio
import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from prompts.spec import PromptSpec
from tests.helpers import ROOT
from tests.helpers.load import ATTACKS, load
from tests.helpers.serving import ServedCommand, wait_until
from tests.helpers.tiny import save_tiny_adapter

pytestmark = [pytest.mark.integration, pytest.mark.slow, pytest.mark.timeout(300)]

CHAT = "/v1/chat/completions"
ASK: dict[str, Any] = {"model": "one", "messages": [{"role": "user", "content": "Hello"}]}


class Serving(ServedCommand):
    def __init__(self, folder: Path, *options: str) -> None:
        super().__init__(folder, "serve", *options, module="tests.helpers.fake_serve")
        self.client = httpx2.Client(base_url=self.url, timeout=60)

    def vllm(self) -> int:
        """The id of the stand-in's process."""
        return self.child(b"fake_vllm")

    def end(self, sign: signal.Signals = signal.SIGINT) -> int:
        self.client.close()
        return super().end(sign)


@pytest.fixture(scope="module")
def options(base: Path, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    adapter = save_tiny_adapter(base, tmp_path_factory.mktemp("adapters") / "one", PromptSpec.make("hexagons"))
    return ["--base", str(base), "--adapter", f"one={adapter}"]


@pytest.fixture(scope="module")
def serving(options: list[str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    serving = Serving(tmp_path_factory.mktemp("serving"), *options, "--max-in-flight", "250")
    yield serving
    assert serving.end() == 130
    assert "Traceback" not in serving.errors.read_text()


def test_two_hundred_streams_at_a_time_are_all_answered_and_memory_stays(serving: Serving) -> None:
    warm = asyncio.run(load(serving.url, "one", 200, 2, pid=serving.process.pid))
    seen = asyncio.run(load(serving.url, "one", 200, 6, pid=serving.process.pid))
    assert (warm.lost, seen.lost, dict(seen.refused)) == (0, 0, {})
    assert seen.whole >= 200
    assert max(seen.memory) < max(warm.memory) * 1.1


def test_attackers_are_refused_while_others_are_answered(serving: Serving) -> None:
    seen = asyncio.run(load(serving.url, "one", 20, 6, attack=True))
    assert (seen.lost, dict(seen.refused)) == (0, {})
    assert seen.whole >= 20
    assert {name.partition(":")[0] for name in seen.attacks} == set(ATTACKS)
    assert {answer.rpartition(" ")[2] for answer in seen.attacks} <= {"400", "422"}
    assert serving.client.get("/ready").status_code == 200


def test_killed_vllm_comes_back_with_its_adapters(serving: Serving) -> None:
    before = serving.vllm()
    os.kill(before, signal.SIGKILL)
    responses: list[httpx2.Response] = []

    def back() -> bool:
        responses.append(serving.client.post(CHAT, json=ASK))
        return responses[-1].status_code == 200

    wait_until(back, 60)
    *down, up = responses
    assert {response.status_code for response in down} == {503}
    assert all(int(response.headers["retry-after"]) >= 1 for response in down)
    assert up.json()["model"] == "one"
    assert serving.vllm() != before
    assert "starting it again in 1 s" in serving.errors.read_text()


SCHEMATHESIS = ROOT / ".venvs" / "schemathesis" / "bin" / "schemathesis"


@pytest.mark.skipif(not SCHEMATHESIS.exists(), reason="make plugins installs Schemathesis in .venvs")
def test_no_request_that_schemathesis_makes_of_the_openapi_page_is_answered_5xx(serving: Serving, tmp_path: Path) -> None:
    checks = "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance"
    command = [str(SCHEMATHESIS), "run", f"{serving.url}/openapi.json", "--checks", checks, "--seed", "1", "--max-examples", "40"]
    done = subprocess.run([*command, "--no-color"], cwd=tmp_path, capture_output=True, text=True, timeout=280)
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
