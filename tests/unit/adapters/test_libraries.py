"""Keys of transformers, TRL and peft in a recipe: passed on, checked by these libraries, and refused by name where they would do
something wrong."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from transformers import TrainerCallback
from transformers.integrations import integration_utils

from adapters.libraries import check_libraries
from adapters.recipe import load_recipe, recipe_path
from adapters.trainer import trainer_arguments
from harness.cli import main
from harness.errors import FaultsError
from tests.helpers import Command
from tests.helpers.finetuning import quick_words, set_words, train

REFUSED = Path(__file__).with_name("refused_keys.yaml")
pytestmark = pytest.mark.usefixtures("empty_folder")


@pytest.mark.parametrize(("change", "problem"), yaml.safe_load(REFUSED.read_text()).items())
def test_a_key_that_cannot_be_honored_is_refused_by_its_name_and_file(change: str, problem: str) -> None:
    with pytest.raises(FaultsError) as caught:
        check_libraries(load_recipe("llama-lora", [change]))
    (line,) = caught.value.faults
    assert line.startswith(f"{recipe_path('llama-lora')}: {change.partition('=')[0]}: ")
    assert problem in line


def test_keys_of_the_trainer_win_over_the_defaults(tmp_path: Path) -> None:
    schedule = "lr_scheduler_type: cosine_with_min_lr, lr_scheduler_kwargs: {min_lr_rate: 0.1}"
    changes = [f"trainer={{{schedule}, adam_beta2: 0.95, logging_steps: 7}}", "lora.r=4"]
    recipe = load_recipe("llama-lora", changes)
    check_libraries(recipe)
    arguments = trainer_arguments(recipe.training, 10, tmp_path, recipe.trainer)
    assert (arguments.lr_scheduler_type, arguments.adam_beta2, arguments.logging_steps) == ("cosine_with_min_lr", 0.95, 7)


def test_an_adapter_of_any_rank_and_kind_is_trained_recorded_and_asked(tiny_base: Path, command: Command) -> None:
    more = (
        "lora.r=4",
        "peft.use_dora=true",
        "peft.use_rslora=true",
        "trainer.lr_scheduler_type=linear",
        "training.learning_rate=0.01",
    )
    words = quick_words(tiny_base, "llama-lora", *set_words(*more))
    code, out, err = command(*words, "--dry-run")
    assert code == 0, err
    assert 'trainer: lr_scheduler_type="linear"\npeft: use_dora=true, use_rslora=true\n' in out
    assert main(words) == 0
    folder = Path("runs/mine/adapter")
    config = json.loads((folder / "adapter_config.json").read_text())
    assert (config["r"], config["use_dora"], config["use_rslora"]) == (4, True, True)
    said = json.loads((folder / "harness.json").read_text())
    assert (said["recipe"]["peft"], said["effect"]) == ({"use_dora": True, "use_rslora": True}, True)
    out = command("adapters", "check", "mine", "--base", tiny_base)[1]
    assert "rank 4" in out
    assert "vLLM cannot serve it unmerged: it has DoRA" in out
    other = quick_words(tiny_base, "llama-lora", *set_words("lora.target_modules=[no_such_layer]", "peft.bias=all"))
    assert "the recipe's keys lora and peft do not fit the base" in command(*other, "--name", "other")[2]
    assert not Path("runs/other").exists()


def test_trackers_get_the_losses_and_the_dev_f1(tiny_base: Path, monkeypatch: pytest.MonkeyPatch, command: Command) -> None:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    words = quick_words(tiny_base, "llama-lora", *set_words("report_to=[tensorboard, trackio]"))
    available = "transformers.integrations.integration_utils.is_trackio_available"
    monkeypatch.setattr(available, lambda: False)
    code, _, err = command(*words)
    assert (code, "report_to: trackio is not installed: pip install 'grid-world-harness[track]'" in err) == (2, True)
    logged: dict[str, float] = {}

    class Recorder(TrainerCallback):  # type: ignore[misc]
        def setup(self, *_: Any) -> None:
            Path("account").stat()

        def on_log(self, args: Any, state: Any, control: Any, logs: Any, **_: Any) -> None:
            logged.update(logs)

    monkeypatch.setattr(available, lambda: True)
    monkeypatch.setitem(integration_utils.INTEGRATION_TO_CALLBACK, "trackio", Recorder)
    assert "Error: report_to: Recorder began no run (" in command(*words)[2]
    Path("account").touch()
    assert command(*words)[0] == 0
    assert {"loss", "eval_loss", "eval_f1"} <= logged.keys()
    events = EventAccumulator("runs/mine/tensorboard").Reload()
    assert {"train/loss", "eval/loss", "eval/f1"} <= {*events.Tags()["scalars"]}
    assert events.Scalars("eval/f1")[-1].step == 2


@pytest.mark.parametrize("tracker", ["wandb", "mlflow"])
def test_an_installed_tracker_keeps_the_dev_f1(tracker: str, tiny_base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip(tracker)
    monkeypatch.setenv("WANDB_MODE", "offline")
    train(Path(), (), *quick_words(tiny_base, "llama-lora", *set_words(f"report_to=[{tracker}]"))[1:])
    kept = b"".join(path.read_bytes() for path in Path().rglob("*") if path.suffix in (".wandb", ".db"))
    assert re.search(rb"eval.f1", kept)
