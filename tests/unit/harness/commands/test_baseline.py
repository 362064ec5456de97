"""`harness baseline` on the shipped sample with a tiny network: train, kill, resume, predict, and refusals."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner, Result

from harness.cli import cli
from harness.commands.baseline import Train, check_training
from harness.corpora import load
from harness.corpora.records import to_full_record
from harness.errors import UsageError
from harness.simulators.games import game
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
    first, sizes, finished, last = again.output.splitlines()
    assert "variant A: minecraft, 18 train and 8 dev items of the sample corpus" in first
    assert sizes.endswith(" trained parameters")
    assert "This run is finished" in finished
    assert "2 epochs" in last
    points = curve(trained)
    assert [point[:2] for point in points] == [(1, 18), (2, 36)]
    assert points[1][2:] < points[0][2:]
    settings = yaml.safe_load((trained / "run.yaml").read_text())["settings"]
    assert settings["recipe"]["network"]["words"] == 8
    assert settings["recipe"]["training"]["epochs"] == 2
    config = json.loads((trained / "model/config.json").read_text())
    best = min(points, key=lambda point: point[3])
    assert (config["items"], config["epoch"], config["dev_loss"]) == (18, best[0], best[3])


def test_prediction_makes_a_scored_run_that_another_checkpoint_does_not_continue(trained: Path) -> None:
    arguments = ["baseline", "predict", "cnn-gru", "--constrained", "--steps", "20", "--batch-size", "3", "--json"]
    done = run([*arguments, "--checkpoint", str(trained), "--limit", "7"])
    assert done.exit_code == 0, done.output
    name = "minecraft_dev_cnn-gru-minecraft_20-steps_first-7_constrained"
    scores = json.loads(done.stdout)
    assert (scores["task"], scores["items"], scores["missing"], scores["errors"]) == ("minecraft", 7, 0, 0)
    lines = Path(f"runs/{name}/predictions.jsonl").read_text().splitlines()
    assert [json.loads(line)["id"] for line in lines] == [item.id for item in load("minecraft", "dev")[:7]]
    cut = sum('"finish_reason": "length"' in line for line in lines)
    assert (f"answers cut at the length limit (--steps): {cut}" in done.stderr) == (cut > 0)
    refused = run([*arguments, "--name", name, "--limit", "7", "--checkpoint", "cnn-gru"])
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
        ({"data": (more,), "only_data": True}, "3 train and "),
        ({"data": (train,), "dev_data": (dev,)}, "27 train and 12 dev items of the sample corpus "
         "(`harness data get minecraft` downloads the published one) and train.jsonl; dev: 8 of minecraft, "
         "4 of minecraft-random"),
        ({"data": (train,), "dev_data": (dev,), "only_data": True}, "; dev: 8 of minecraft-random"),
        ({"train_items": 9}, "minecraft, 9 train and 8 dev items"),
    ):  # fmt: skip
        assert items in str(check_training(Train(baseline="cnn-gru", **options), untrained=False))
