"""Loading adapters: a complete, fitting one is accepted; any other is refused in one line that names the fault."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from adapters.registry import HARNESS_FILE, load_adapter, save_template
from harness.engines.models.bases import base_origin
from harness.engines.models.weights import weights_fingerprint
from harness.errors import AdapterError
from prompts.probe import described, other_hashes
from prompts.spec import PromptSpec
from prompts.template import get_template
from tests.helpers.tiny import build_tiny_model, hub_snapshot, save_tiny_adapter

SPEC = PromptSpec.make("minecraft", frame="builder")


@pytest.fixture(scope="module")
def whole(base: Path) -> Path:
    """A run folder with an adapter of rank 4."""
    run = base.parent / "run"
    save_tiny_adapter(base, run / "adapter", SPEC)
    return run


@pytest.fixture
def run(whole: Path, tmp_path: Path) -> Path:
    """A copy to break."""
    shutil.copytree(whole, tmp_path / "run")
    return tmp_path / "run"


def change(run: Path, file: str, **fields: Any) -> None:
    path = run / "adapter" / file
    path.write_text(json.dumps({**json.loads(path.read_text()), **fields}))


def test_a_users_own_template_goes_with_the_adapter_and_must_stay_as_it_was(run: Path, base: Path, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "minecraft.user.txt").write_text("{{ turns | last }}")
    spec = PromptSpec.make("minecraft", template=str(tmp_path / "mine"))
    save_template(spec, run / "adapter")
    change(run, HARNESS_FILE, **described(spec))
    moved = run.rename(tmp_path / "moved")
    shutil.rmtree(tmp_path / "mine")
    assert load_adapter(moved, str(base)).spec.template.hash == get_template(str(moved / "adapter" / "template" / "mine")).hash
    (moved / "adapter" / "template" / "mine" / "minecraft.user.txt").write_text("{{ turns | first }}")
    with pytest.raises(AdapterError, match="its text is another now"):
        load_adapter(moved, str(base))


def test_an_adapter_of_a_hub_name_fits_a_local_copy_with_the_same_chat_template(
    run: Path, base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    snapshot = hub_snapshot(base, tmp_path / "hub", monkeypatch)
    trained = {"base": "someone/tiny", "base_fingerprint": weights_fingerprint("someone/tiny"), **base_origin("someone/tiny")}
    change(run, HARNESS_FILE, **trained)
    assert trained["base_revision"] == snapshot.name
    assert load_adapter(run, str(base)).base == str(base)
    assert load_adapter(run, None).base == "someone/tiny"
    local = shutil.copytree(base, tmp_path / "local")
    (local / "chat_template.jinja").write_text("{{ messages }}")
    with pytest.raises(AdapterError, match=r"another chat template of someone/tiny .* of its revision 0123456789ab"):
        load_adapter(run, str(local))
    (local / "chat_template.jinja").unlink()
    with pytest.raises(AdapterError, match="none now"):
        load_adapter(run, str(local))
    change(run, HARNESS_FILE, **described(PromptSpec.make("minecraft", template="nebula")))
    assert load_adapter(run, str(local)).base == str(local), "plain text does without it"


def test_the_prompts_of_other_tasks_it_was_trained_on_must_stay_as_they_were(run: Path, base: Path) -> None:
    hashes = other_hashes(SPEC, ["minecraft", "iglu"])
    assert list(hashes) == ["iglu"]
    change(run, HARNESS_FILE, other_prompt_hashes=hashes)
    assert load_adapter(run, str(base)).spec == SPEC
    change(run, HARNESS_FILE, other_prompt_hashes={"iglu": "0" * 16})
    with pytest.raises(AdapterError, match=r"iglu/context-rich/lines/builder as it was then \(0000000000000000\)"):
        load_adapter(run, str(base))
    change(run, HARNESS_FILE, other_prompt_hashes={"mars": "0" * 16})
    with pytest.raises(AdapterError, match="an unknown task too: no task named 'mars'"):
        load_adapter(run, str(base))


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("own", r"minecraft\.user\.txt is a symbolic link"),
        *((name, "leads out of the adapter's folder") for name in ("../../mine", "linked", "{folder}/mine")),
    ],
)
def test_a_template_that_leads_out_of_the_adapters_folder_is_refused(
    name: str, message: str, run: Path, base: Path, tmp_path: Path
) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "minecraft.user.txt").write_text("{{ turns | last }}")
    templates = run / "adapter" / "template"
    (templates / "own").mkdir(parents=True)
    (templates / "own" / "minecraft.user.txt").symlink_to(tmp_path / "secret")
    (templates / "linked").symlink_to(tmp_path / "mine")
    change(run, HARNESS_FILE, template=name.format(folder=tmp_path))
    with pytest.raises(AdapterError, match=message):
        load_adapter(run, str(base))


def test_another_base_is_refused_with_both_fingerprints(run: Path, base: Path, tmp_path: Path) -> None:
    other = build_tiny_model(tmp_path / "other", seed=1)
    there, here = weights_fingerprint(base), weights_fingerprint(other)
    with pytest.raises(AdapterError, match=rf"trained on the base tiny \({there}\), not on other \({here}\)"):
        load_adapter(run, str(other))
