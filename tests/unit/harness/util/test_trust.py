"""A base with its own Python code: the code runs only if the user allows it."""

import json
from pathlib import Path

import pytest

from harness.engines.models.bases import load_config, load_tokenizer
from harness.engines.transformers import TransformersEngine
from harness.engines.vllm.server import server_options
from harness.errors import EngineError
from harness.util.processes import TRUST

CODE = """
from pathlib import Path
from transformers import PretrainedConfig
Path({marker!r}).write_text("the code of a base ran")
class Config(PretrainedConfig):
    model_type = "its-own"
"""


@pytest.fixture
def base(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in the form of a hub model, with its own configuration class; its code writes a file `marker` beside it."""
    monkeypatch.setattr("transformers.dynamic_module_utils.HF_MODULES_CACHE", str(tmp_path / "modules"))
    monkeypatch.delenv(TRUST, raising=False)
    folder = tmp_path / "base"
    folder.mkdir()
    (folder / "own.py").write_text(CODE.format(marker=str(tmp_path / "marker")))
    auto = {"AutoConfig": "own.Config", "AutoModelForCausalLM": "own.Model"}
    (folder / "config.json").write_text(json.dumps({"model_type": "its-own", "auto_map": auto}))
    (folder / "tokenizer_config.json").write_text(json.dumps({"auto_map": {"AutoTokenizer": ["own.Tokenizer", None]}}))
    return folder


def test_its_code_runs_only_if_the_user_allows_it(base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    marker = base.with_name("marker")
    for load in (load_config, load_tokenizer, TransformersEngine):
        with pytest.raises(EngineError):
            load(str(base))
    assert not marker.exists()
    assert "--no-trust-remote-code" in server_options(str(base), "base", [], Path("socket"), None)
    monkeypatch.setenv(TRUST, "1")
    assert load_config(str(base)).model_type == "its-own"
    assert marker.exists()
    assert "--trust-remote-code" in server_options(str(base), "base", [], Path("socket"), None)
