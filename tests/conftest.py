from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

from tests.helpers import Command

if TYPE_CHECKING:
    from harness.service.workers import Workers
    from tests.helpers.endpoint import FakeServer

# Deadlines and the check for slow examples measure the machine, not the code.
for name, examples in (("quick", 15), ("thorough", 100)):
    settings.register_profile(name, max_examples=examples, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("quick")  # unless pytest gets --hypothesis-profile, as in `make test-all`

BF16 = "HARNESS_BF16"

DATA = Path(os.environ["HARNESS_DATA"]).resolve() if os.environ.get("HARNESS_DATA") else None


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--bf16", choices=("on", "off"), help="compute in bfloat16 or float32, whatever is fast on this machine")


def pytest_configure(config: pytest.Config) -> None:
    os.environ.update({BF16: config.getoption("--bf16")} if config.getoption("--bf16") else {})


@pytest.fixture(params=[("off", 1e-4), ("on", 0.02)], ids=["float32", "bfloat16"])
def rounding(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> float:
    """The test runs in float32 and in bfloat16, which torch emulates if the processor lacks it. Returns the largest relative
    error of the tiny model's loss; `docs/finetuning.md` (precision) explains it."""
    monkeypatch.setenv(BF16, request.param[0])
    return float(request.param[1])


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """The folder of the authors' corpora; without it the test is skipped."""
    if not DATA or not DATA.is_dir():
        pytest.skip("HARNESS_DATA names no folder with the authors' corpora")
    return DATA


@pytest.fixture(scope="session", autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Parsed corpora, all of the sample, go to one temporary folder for all processes of the session, never to the user's."""
    base = tmp_path_factory.getbasetemp()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HARNESS_CACHE", str((base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "cache"))
        patch.delenv("HARNESS_DATA", raising=False)
        yield


@pytest.fixture(scope="session")
def workers() -> Iterator[Workers]:
    """The processes of a server's parser and baselines."""
    from harness.service.workers import Workers

    with Workers() as workers:
        yield workers


@pytest.fixture(scope="session")
def tiny_base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small random Llama; copy it, do not change it."""
    from tests.helpers.tiny import build_tiny_model

    return build_tiny_model(tmp_path_factory.mktemp("tiny") / "tiny")


@pytest.fixture(scope="module")
def base(tiny_base: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tiny model in a separate folder `tiny` for each test module."""
    return Path(shutil.copytree(tiny_base, tmp_path_factory.mktemp("base") / "tiny"))


@pytest.fixture(autouse=True)
def _clean_environment(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """The shipped sample, without a hub, keys or the developer's terminal width.

    Tests marked `data` get the authors' corpora, and are skipped if these are missing.
    """
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("COLUMNS", "120")
    for key in ("OPENAI_API_KEY", "HARNESS_API_KEY"):
        monkeypatch.delenv(key, raising=False)
    if request.node.get_closest_marker("data"):
        monkeypatch.setenv("HARNESS_DATA", str(request.getfixturevalue("data_dir")))


@pytest.fixture
def empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The test runs in an empty folder."""
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def server() -> Iterator[FakeServer]:
    """An endpoint whose answers the test chooses."""
    from tests.helpers.endpoint import FakeServer

    fake = FakeServer()
    yield fake
    fake.stop()


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str]) -> Command:
    from harness.cli import main

    def run(*words: object) -> tuple[int, str, str]:
        capsys.readouterr()
        code = main([*map(str, words)])
        return code, *capsys.readouterr()

    return run
