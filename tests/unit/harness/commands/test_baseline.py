"""`harness baseline` on the shipped sample with a tiny network: train, kill, resume, predict, and refusals."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
import yaml
from click.testing import CliRunner, Result

from harness.baselines.builder_decoding import BuilderPredictor
from harness.cli import cli
from harness.commands.baseline import Train, check_training
from harness.corpora import load
from harness.corpora.records import to_full_record
from harness.errors import HarnessError, UsageError
from harness.simulators.games import game
from harness.training.checkpoints import digest
from tests.helpers.tiny_cnn_gru import SETTINGS

pytestmark = pytest.mark.usefixtures("empty_folder")


def words(*more: str, **settings: Any) -> list[str]:
    sets = [word for key, value in (SETTINGS | settings).items() for word in ("--set", f"{key}={value}")]
    return ["baseline", "train", "cnn-gru", *sets, *more]


def run(arguments: list[str]) -> Result:
    return CliRunner().invoke(cli, arguments)


@pytest.fixture
def trained() -> Path:
    result = run(words("--max-epochs", "2"))
    assert result.exit_code == 0, result.output
    return Path("runs/cnn-gru-minecraft")


def curve(folder: Path) -> list[Any]:
    points = [json.loads(line) for line in (folder / "curve.jsonl").read_text().splitlines()]
    return [(point["epoch"], point["step"], point["train_loss"], point["dev_loss"]) for point in points]


def test_training_reports_its_inputs_and_leaves_a_run_and_a_model(trained: Path) -> None:
    again = run(words("--max-epochs", "2"))
    first, vectors, sizes, finished, last = again.output.splitlines()
    assert "variant A: minecraft, 18 train and 8 dev items of the sample corpus" in first
    assert "learned" in vectors
    assert "parameters in the encoder" in sizes
    assert "This run is finished" in finished
    assert "2 epochs" in last
    points = curve(trained)
    assert [point[:2] for point in points] == [(1, 18), (2, 36)]
    assert points[1][2:] < points[0][2:]
    settings = yaml.safe_load((trained / "run.yaml").read_text())["settings"]
    assert settings["recipe"]["network"]["words"] == 8
    assert settings["recipe"]["training"]["epochs"] == 2
    card = (trained / "model/README.md").read_text()
    assert "variant A" in card
    epoch, _, train_loss, dev_loss = min(points, key=lambda point: point[3])
    assert f"| {epoch} | {train_loss:.3f} | {dev_loss:.3f} |" in card


def test_prediction_makes_a_scored_run_and_resumes_it(trained: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness.baselines.builder_decoding.BuilderPredictor.batch_size", 3)
    arguments = ["baseline", "predict", "cnn-gru", "--constrained", "--steps", "20", "--json"]
    done = run([*arguments, "--name", "whole"])
    assert done.exit_code == 0, done.output
    scores = json.loads(done.stdout)
    assert (scores["task"], scores["items"], scores["missing"], scores["errors"]) == ("minecraft", 8, 0, 0)
    whole = Path("runs/whole/predictions.jsonl").read_bytes()
    lines = whole.splitlines(keepends=True)
    assert [json.loads(line)["id"] for line in lines] == [item.id for item in load("minecraft", "dev")]
    # The run is killed in the middle of the second batch, and of a line.
    run([*arguments, "--name", "killed"])
    Path("runs/killed/predictions.jsonl").write_bytes(b"".join(lines[:4]) + lines[4][:9])
    resumed = run([*arguments, "--name", "killed"])
    assert "3 items are already answered" in resumed.stderr
    assert Path("runs/killed/predictions.jsonl").read_bytes() == whole
    assert json.loads(Path("runs/killed/scores.json").read_text()) == scores


def test_a_run_is_named_after_what_it_does_and_can_be_scored(trained: Path) -> None:
    done = run(["baseline", "predict", "cnn-gru", "--split", "test", "--limit", "4", "--checkpoint", str(trained)])
    assert done.exit_code == 0, done.output
    name = "minecraft_test_cnn-gru-minecraft_10-steps_first-4"
    cut = Path(f"runs/{name}/predictions.jsonl").read_text().count('"finish_reason": "length"')
    assert (f"answers cut at the length limit (--steps): {cut}" in done.stderr) == (cut > 0)
    assert json.loads(run(["score", f"runs/{name}", "--json"]).stdout)["items"] == 4


def test_a_run_of_another_checkpoint_is_not_continued(trained: Path) -> None:
    arguments = ["baseline", "predict", "cnn-gru", "--name", "mine"]
    assert run(arguments).exit_code == 0
    assert run(words("--name", "other", "--max-epochs", "1")).exit_code == 0
    refused = run([*arguments, "--checkpoint", "other"])
    assert isinstance(refused.exception, UsageError)
    assert "checkpoint_hash" in str(refused.exception)


def write_items(path: str, items: Iterable[Any]) -> str:
    Path(path).write_text("".join(json.dumps(to_full_record(item)) + "\n" for item in items))
    return path


def test_files_of_items_are_trained_on_too_or_alone_and_each_data_set_has_its_share_of_dev() -> None:
    more = write_items("more.jsonl", load("minecraft", "test")[:3])
    games = {split: [item for n in range(40) for item in game("random", 0, split, n)] for split in ("train", "val")}
    train, dev = write_items("train.jsonl", games["train"][:9]), Path(write_items("val.jsonl", games["val"][:8]))
    for options, items in (
        ({"data": (more,)}, "21 train and 8 dev items of the sample corpus and more.jsonl"),
        ({"data": (more,), "only_data": True}, "3 train and "),
        ({"data": (train,), "dev_data": (dev,)}, "27 train and 12 dev items of the sample corpus and train.jsonl; dev: 8 of "
         "minecraft, 4 of minecraft-random"),
        ({"data": (train,), "dev_data": (dev,), "only_data": True}, "; dev: 8 of minecraft-random"),
        ({"train_items": 9}, "minecraft, 9 train and 8 dev items"),
    ):  # fmt: skip
        assert items in str(check_training(Train(baseline="cnn-gru", **options), untrained=False))
    wrong = run(words("--train-items", "100"))
    assert "--train-items 100: there are 18 items" in str(wrong.exception)


def test_several_processes_are_refused(trained: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness.training.trainable.processes", lambda: SimpleNamespace(num_processes=2))
    refused = run(words("--max-epochs", "2"))
    assert isinstance(refused.exception, HarnessError)
    assert "a baseline trains in one process" in str(refused.exception)


def test_a_gpu_that_is_too_small_for_a_batch_of_answers_is_an_error_of_one_line(
    trained: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(predictor: BuilderPredictor, items: Sequence[Any]) -> Any:
        raise torch.OutOfMemoryError("CUDA out of memory")

    monkeypatch.setattr(BuilderPredictor, "predict", fail)
    refused = run(["baseline", "predict", "cnn-gru", "--batch-size", "6"])
    assert isinstance(refused.exception, HarnessError)
    assert "with 6 items at a time: try --batch-size 3" in str(refused.exception)


def test_training_begins_with_another_model_and_its_words(trained: Path) -> None:
    write_items("more.jsonl", load("minecraft", "test")[:3])
    arguments = ("--max-epochs", "1", "--from", "cnn-gru-minecraft", "--data", "more.jsonl", "--only-data")
    done = run(words(*arguments, "--name", "on", **{"training.learning_rate": 1e-9}))
    assert done.exit_code == 0, done.output
    assert "begins with runs/cnn-gru-minecraft/model" in done.output.splitlines()[0]
    models = [folder / "model" for folder in (trained, Path("runs/on"))]
    assert len({(model / "vocabulary.json").read_bytes() for model in models}) == 1
    assert min(point[3] for point in curve(trained)) == pytest.approx(curve(Path("runs/on"))[0][3], rel=1e-4)
    settings = yaml.safe_load(Path("runs/on/run.yaml").read_text())["settings"]
    assert (settings["from"], settings["from_hash"]) == (str(models[0]), digest(models[0]))
    assert run(words("--max-epochs", "1", "--from", "on", "--limit", "4", "--name", "third")).exit_code == 0
    third = Path("runs/third/model")
    config, first = (json.loads((model / "config.json").read_text()) for model in (third, models[0]))
    assert config["training"]["seed"] == first["training"]["seed"] + 2
    assert (config["from"]["model"], list(config["from"]["data"])) == ("on", ["more.jsonl"])
    assert (config["from"]["from"]["model"], config["from"]["from"]["items"]) == ("cnn-gru-minecraft", 18)
    card = (third / "README.md").read_text()
    assert "Began with on after its epoch 1 of 3 items, more.jsonl among them" in card
    assert re.search(r"Began with cnn-gru-minecraft after its epoch \d of 18 items", card)


@pytest.mark.parametrize(
    ("settings", "start", "problem"),
    [
        ({"network.hidden": 12}, "cnn-gru-minecraft", "weights are of another variant: decoder"),
        ({"glove": "glove.txt"}, "cnn-gru-minecraft", "glove=glove.txt: words and vectors come from --from"),
        ({}, "nowhere", "--from nowhere: no trained model is there"),
        ({}, "t5", "is a checkpoint of t5, not of cnn-gru"),
    ],
)
def test_a_model_that_does_not_fit_is_not_begun_with(trained: Path, settings: Any, start: str, problem: str) -> None:
    shutil.copytree(trained / "model", "t5")
    Path("t5/config.json").write_text(json.dumps({"baseline": "t5"}))
    refused = run(words("--from", start, "--name", "on", **settings))
    assert isinstance(refused.exception, HarnessError)
    assert problem in str(refused.exception)
    assert "\n" not in str(refused.exception)


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["baseline", "train", "cnn-grü"], "no baseline named 'cnn-grü': did you mean cnn-gru"),
        (["baseline", "train", "cnn-gru", "--task", "hexagons"], "no task of cnn-gru named 'hexagons'"),
        (["baseline", "train", "cnn-gru", "--set", "speed=3"], "speed: no such key"),
        (["baseline", "train", "cnn-gru", "--only-data"], "nothing to train on"),
        (["baseline", "predict", "cnn-gru"], "cnn-gru has no trained model here: make one with `harness baseline train cnn-gru`"),
    ],
)
def test_what_cannot_be_done_is_one_clear_error(
    arguments: list[str], problem: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness.training.checkpoints.SHIPPED", tmp_path / "nothing is shipped")
    result = run(arguments)
    assert isinstance(result.exception, HarnessError)
    assert problem in str(result.exception)
    assert not Path("runs").exists()
