"""Adapters and bases from a hub, which here is a local server, and adapters that go there."""

import hashlib
import json
import shutil
from email.message import Message
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
import yaml
from huggingface_hub import parse_eval_result_entries

from harness.engines.models.bases import display_name, resolve_base
from harness.engines.models.weights import weights_fingerprint
from prompts.spec import PromptSpec
from tests.helpers import Command, cases
from tests.helpers.endpoint import Answer, FakeServer
from tests.helpers.tiny import build_tiny_adapter, save_tiny_adapter

pytestmark = pytest.mark.usefixtures("empty_folder")
COMMIT = "0123456789abcdef0123456789abcdef01234567"


@pytest.fixture
def hub(server: FakeServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A hub that serves the folders user/NAME of the returned folder."""
    root = tmp_path / "hub"

    def get(path: str, headers: Message) -> Answer:
        user, name, *rest = path.partition("?")[0].removeprefix("/api/models").strip("/").split("/")
        folder = root / user / name
        files = [file.relative_to(folder).as_posix() for file in sorted(folder.rglob("*")) if file.is_file()]
        if not files or rest[1] not in ("main", "v1", COMMIT):
            return 404, {"X-Error-Code": "RevisionNotFound" if files else "RepoNotFound"}, b"{}"
        if path.startswith("/api/"):
            about = [{"type": "file", "path": name, "rfilename": name, "size": 1, "oid": "0" * 40} for name in files]
            model = {"id": f"{user}/{name}", "modelId": f"{user}/{name}", "sha": COMMIT, "siblings": about, "tags": []}
            return 200, {}, json.dumps(about if rest[0] == "tree" else model).encode()
        content = (folder / "/".join(rest[2:])).read_bytes()
        return 200, {"X-Repo-Commit": COMMIT, "ETag": f'"{hashlib.sha256(content).hexdigest()}"'}, content

    server.get = get
    for key, value in {"ENDPOINT": server.host, "HF_HUB_OFFLINE": False, "HF_HUB_CACHE": str(tmp_path / "cache")}.items():
        monkeypatch.setattr(f"huggingface_hub.constants.{key}", value)
    files = f"{server.host}/{{repo_id}}/resolve/{{revision}}/{{filename}}"
    monkeypatch.setattr("huggingface_hub.constants.HUGGINGFACE_CO_URL_TEMPLATE", files)
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path / "harness"))
    return root


def test_an_adapter_and_its_base_come_from_the_hub_once(
    hub: Path, tiny_base: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(tiny_base, hub / "user/tiny")
    save_tiny_adapter(tiny_base, hub / "user/mine", PromptSpec.make("minecraft"))
    (hub / "user/mine/training_args.bin").write_bytes(b"a pickle")
    base = resolve_base("user/tiny@v1")
    assert (display_name(base), weights_fingerprint(base)) == (f"user/tiny@{COMMIT}", weights_fingerprint(tiny_base))
    for name in ("user/mine", "user/mine@v1"):
        code, out, err = command("adapters", "check", name, "--base", base)
        assert (code, f"{name} fits user/tiny@" in out) == (0, True), err
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    code, out, err = command("adapters", "show", "user/mine", "--json")
    assert (code, Path(json.loads(out)["folder"]).name) == (0, f"user--mine@{COMMIT[:12]}"), err
    assert not [*hub.parent.glob("harness/**/training_args.bin"), *hub.parent.glob("cache/**/training_args.bin")]


def test_a_published_adapter_is_imported_from_the_hub(hub: Path, tiny_base: Path, command: Command) -> None:
    weights = build_tiny_adapter(tiny_base, hub / "user/theirs") / "adapter_model.safetensors"
    words = ("--task", "minecraft", "--context", "full-dialogue", "--format", "lines", "--base", str(tiny_base))
    code, out, err = command("adapters", "import", "user/theirs@v1", *words)
    assert (code, out.splitlines()[-1]) == (0, f"harness prompt --adapter theirs --base {tiny_base}"), err
    assert Path("runs/theirs/adapter/adapter_model.safetensors").read_bytes() == weights.read_bytes()


@pytest.mark.parametrize(("words", "problem"), cases(__file__)["refused"])
def test_what_the_hub_lacks_is_an_error_of_one_line(
    hub: Path, tiny_base: Path, command: Command, words: str, problem: str
) -> None:
    save_tiny_adapter(tiny_base, hub / "user/mine", PromptSpec.make("minecraft"))
    weights = hub / "user/mine/adapter_model.safetensors"
    weights.rename(weights.with_suffix(".bin"))
    code, _, err = command("adapters", *words.split(), "--base", tiny_base)
    assert (code, err.count("Error: "), problem in err.splitlines()[-1]) == (1, 1, True), err


def test_an_adapter_goes_to_the_hub_with_its_card_and_its_scores(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    sent: dict[str, Any] = {}
    create, upload = "huggingface_hub.HfApi.create_repo", "huggingface_hub.HfApi.upload_folder"
    monkeypatch.setattr(create, lambda api, repository, **options: sent.update(options, repository=repository))
    monkeypatch.setattr(upload, lambda api, *, folder_path, **_: shutil.copytree(folder_path, "uploaded"))
    words = ("adapters", "push", "hexagons", "user/tiles", "--private")
    code, out, err = command(*words, "--dry-run")
    assert (code, "nothing was uploaded" in out, sent) == (0, True, {}), err
    assert command(*words)[0] == 0
    assert sent == {"repository": "user/tiles", "private": True, "exist_ok": True}
    assert Path("uploaded/README.md").read_text().startswith("---\n")
    (first, *_) = parse_eval_result_entries(yaml.safe_load(min(Path("uploaded/.eval_results").iterdir()).read_text()))
    assert (first.dataset_id, first.task_id) == ("hexagons", "action_f1")
    assert 0 < first.value < 100
    assert "95% interval" in (first.notes or "")
    monkeypatch.setattr(create, Mock(side_effect=OSError("no token")))
    code, _, err = command(*words)
    assert (code, err) == (1, "Error: user/tiles: the hub takes no upload: no token; `hf auth login` logs in\n")
