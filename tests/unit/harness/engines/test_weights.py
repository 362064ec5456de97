"""The fingerprint of weights: equal for equal weights in any files, different for different weights, and fast."""

import shutil
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from harness.engines.models.weights import weights_fingerprint
from harness.errors import EngineError


@pytest.fixture
def base(tiny_base: Path, tmp_path: Path) -> Path:
    """A copy to change."""
    return Path(shutil.copytree(tiny_base, tmp_path / "base"))


def test_neither_shards_nor_other_files_nor_the_name_matter(base: Path, tiny_base: Path, tmp_path: Path) -> None:
    from transformers import AutoModelForCausalLM

    meant = weights_fingerprint(tiny_base) or ""
    assert len(meant) == 16
    AutoModelForCausalLM.from_pretrained(base).save_pretrained(tmp_path / "shards", max_shard_size="20KB")
    assert len(list((tmp_path / "shards").glob("*.safetensors"))) > 1
    assert weights_fingerprint(tmp_path / "shards") == meant
    (base / "config.json").write_text("{}")
    (base / "tokenizer.json").unlink()
    save_file({"other": torch.ones(3)}, base / "consolidated.safetensors")
    assert weights_fingerprint(str(base)) == meant


@pytest.mark.parametrize("change", ["value", "type", "shape", "name"])
def test_any_difference_matters(base: Path, tiny_base: Path, change: str) -> None:
    tensors = load_file(base / "model.safetensors")
    name = next(iter(tensors))
    tensor = tensors.pop(name)
    changed = {"value": tensor + 1, "type": tensor.to(torch.bfloat16), "shape": tensor.reshape(-1), "name": tensor}
    tensors[f"{name}.new" if change == "name" else name] = changed[change]
    save_file(tensors, base / "model.safetensors")
    assert weights_fingerprint(base) != weights_fingerprint(tiny_base)


@pytest.mark.parametrize("damage", ["", "0000", "header", "end"])
def test_an_invalid_safetensors_file_is_named(base: Path, damage: str) -> None:
    path = base / "model.safetensors"
    content = path.read_bytes()
    path.write_bytes({"header": content[:100], "end": content[:-1]}.get(damage, damage.encode()))
    with pytest.raises(EngineError, match=r"model\.safetensors: not a safetensors file"):
        weights_fingerprint(base)
