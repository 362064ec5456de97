"""Trained models: found by name, read from half precision."""

from pathlib import Path

import pytest
import torch

from harness.errors import DataError, UsageError
from harness.training.checkpoints import default_model, find_model, model_source, read_weights, write_model


def made(folder: Path) -> Path:
    write_model(folder, {"baseline": "cnn-gru"}, {"a": torch.tensor([0.1]).half(), "n": torch.arange(3)})
    return folder


@pytest.mark.usefixtures("empty_folder")
def test_an_own_run_comes_before_the_shipped_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shipped = tmp_path / "trained"
    monkeypatch.setattr("harness.training.checkpoints.SHIPPED", shipped)
    with pytest.raises(UsageError, match="cnn-gru has no trained model here: make one with `harness baseline train cnn-gru`"):
        default_model("cnn-gru", "minecraft")
    there = made(shipped / "cnn-gru")
    assert default_model("cnn-gru", "minecraft") == find_model("cnn-gru") == there
    assert model_source(there) == "the shipped checkpoint cnn-gru"
    for_task = made(shipped / "cnn-gru-iglu")
    assert (default_model("cnn-gru", "iglu"), default_model("cnn-gru", "minecraft")) == (for_task, there)
    own = made(Path("runs/cnn-gru-minecraft/model"))
    assert (default_model("cnn-gru", "minecraft"), model_source(own)) == (own, "runs/cnn-gru-minecraft/model")
    with pytest.raises(UsageError, match=r"^--checkpoint elsewhere: no trained model is there"):
        find_model("elsewhere")


def test_half_precision_is_read_as_float32(tmp_path: Path) -> None:
    weights = read_weights(made(tmp_path))
    assert {name: value.dtype for name, value in weights.items()} == {"a": torch.float32, "n": torch.int64}
    (tmp_path / "model.safetensors").write_bytes(b"no")
    with pytest.raises(DataError, match=r"model\.safetensors cannot be read"):
        read_weights(tmp_path)
