"""Shipped checkpoints: exported from a trained model, found by name, listed. The weights belong to no network."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from click.testing import CliRunner, Result

from harness.baselines import BASELINES
from harness.baselines.shipped import catalog
from harness.cli import cli
from harness.errors import DataError, UsageError
from harness.training.checkpoints import default_model, digest, find_model, model_source, read_weights, write_model

WEIGHTS = {"a": torch.tensor([[1.0, 0.1], [-2.5, 1e-3]]), "n": torch.arange(3)}


def run(*arguments: str) -> Result:
    return CliRunner().invoke(cli, ["baseline", *arguments])


def made(folder: Path, weights: dict[str, Any] = WEIGHTS, **config: Any) -> Path:
    write_model(folder, {"baseline": "cnn-gru", "task": "minecraft", **config}, weights, ["red"], "A card.\n")
    return folder


@pytest.fixture(autouse=True)
def shipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder in place of the one with the shipped checkpoints."""
    monkeypatch.chdir(tmp_path)
    for module in ("training.checkpoints", "baselines.shipped"):
        monkeypatch.setattr(f"harness.{module}.SHIPPED", tmp_path / "trained")
    return tmp_path / "trained"


def test_a_model_is_copied_whole_or_in_half_the_size() -> None:
    source = made(Path("runs/mine/model"), dev_loss=1.5)
    (source / "scores.json").write_text("{}")
    assert run("export", "mine", "whole").exit_code == 0
    assert digest(Path("whole")) == digest(source)
    done = run("export", "runs/mine", "half", "--half")
    assert done.output.startswith("half: 0.0 MB of weights")
    assert {path.name for path in Path("half").iterdir()} == {"config.json", "model.safetensors", "vocabulary.json", "README.md"}
    assert "float16" in Path("half/README.md").read_text()
    weights = read_weights(Path("half"))
    assert {name: value.dtype for name, value in weights.items()} == {"a": torch.float32, "n": torch.int64}
    torch.testing.assert_close(weights["a"], WEIGHTS["a"].half().float(), rtol=0, atol=0)
    assert Path("half/model.safetensors").stat().st_size < Path("whole/model.safetensors").stat().st_size
    assert digest(Path("half")) != digest(source)


def test_what_cannot_be_exported_is_an_error_of_one_line() -> None:
    made(Path("runs/mine/model"))
    made(Path("large"), {"a": torch.tensor([1e6])})
    Path("there").mkdir()
    for arguments, kind, problem in [
        (("mine", "there"), UsageError, "there already exists"),
        (("nobody", "new"), UsageError, "nobody: no trained model is there"),
        (("large", "new", "--half"), DataError, "too large for float16"),
    ]:
        refused = run("export", *arguments).exception
        assert isinstance(refused, kind)
        assert problem in str(refused)
        assert "\n" not in str(refused)
    assert not Path("new").exists()


def test_an_own_run_comes_before_the_shipped_one(shipped: Path) -> None:
    with pytest.raises(UsageError, match="cnn-gru has no trained model here: make one with `harness baseline train cnn-gru`"):
        default_model("cnn-gru", "minecraft")
    there = made(shipped / "cnn-gru")
    assert (default_model("cnn-gru", "minecraft"), model_source(there)) == (there, "the shipped checkpoint cnn-gru")
    assert find_model("cnn-gru") == there
    for_task = made(shipped / "cnn-gru-iglu")
    assert (default_model("cnn-gru", "iglu"), default_model("cnn-gru", "minecraft")) == (for_task, there)
    own = made(Path("runs/cnn-gru-minecraft/model"))
    assert (default_model("cnn-gru", "minecraft"), model_source(own)) == (own, "runs/cnn-gru-minecraft/model")
    other = made(shipped / "cnn-gru-b")
    assert find_model("cnn-gru-b") == other
    with pytest.raises(UsageError, match=r"^--from elsewhere: no trained model is there"):
        find_model("elsewhere", "--from")


def test_the_list_names_every_baseline_and_what_ships(shipped: Path) -> None:
    assert {row[0]: row[2] for row in catalog()} == {
        name: "needs none" if name in ("rules", "parser") else "none: train it" for name in BASELINES
    }
    made(shipped / "cnn-gru", dev_loss=2.5)
    scores = {"task": "minecraft", "split": "dev", "micro": {"overall": {"f1": 0.2468}}}
    (made(shipped / "cnn-gru-b") / "scores.json").write_text(json.dumps(scores))
    made(shipped / "deberta", baseline="deberta", task="hexagons")
    rows = {row[2]: row for row in catalog()}
    assert [rows[name][5] for name in ("cnn-gru", "cnn-gru-b", "deberta")] == ["dev loss 2.500", "F1 24.68 on dev", ""]
    assert (rows["cnn-gru"][4], rows["deberta"][1]) == ("7", "hexagons")
    assert all(name in run("list").output for name in [*BASELINES, "cnn-gru-b", "24.68"])
    (shipped / "deberta/model.safetensors").write_bytes(b"no")
    with pytest.raises(DataError, match=r"model\.safetensors cannot be read"):
        catalog()
