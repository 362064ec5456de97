"""Training all weights of a random tiny model, faults on the way, and the choice of the best evaluation."""

import json
from pathlib import Path
from unittest.mock import Mock

import pytest
import torch
from peft import PeftModel, get_peft_model_state_dict
from safetensors.torch import load_file
from transformers import AutoModelForCausalLM, AutoTokenizer

from adapters.registry import HARNESS_FILE, trained_spec
from adapters.trainer import AnswerTrainer
from harness.cli import main
from harness.corpora import load
from harness.corpora.item import own_thought
from prompts.render import answering_template
from tests.helpers import Command, cases
from tests.helpers.chat_templates import build_thinking_model
from tests.helpers.finetuning import job_of, quick_words, set_words
from tests.helpers.scored import perfect, run_settings, write_lines
from tests.helpers.tiny import build_tiny_model

pytestmark = pytest.mark.usefixtures("empty_folder")


def test_all_weights_are_trained_and_the_model_is_prompted_in_its_own_format(tiny_base: Path, command: Command) -> None:
    format_words = ("--context", "one-previous", "--format", "triplets", "--set", "training.learning_rate=0.01")
    code, out, err = command(*quick_words(tiny_base, "llama-full", *format_words))
    folder = Path("runs/mine/model")
    assert (code, f"is in {folder}\n" in out + err) == (0, True), err
    before, after = (load_file(path / "model.safetensors") for path in (tiny_base, folder))
    assert before.keys() == after.keys()
    unchanged = [name for name in before if torch.equal(before[name], after[name])]
    assert not unchanged
    assert {value.dtype for value in after.values()} == {value.dtype for value in before.values()}
    said = json.loads((folder / HARNESS_FILE).read_text())
    assert (said["effect"], said["steps"], said["recipe"]["method"]) == (True, 2, "full")
    spec = trained_spec(str(folder))
    assert spec
    assert (spec.context_name, spec.format_name) == ("one-previous", "triplets")
    assert not Path("runs/mine/adapter").exists()

    _, out, err = command(*quick_words(tiny_base, "llama-full", *format_words))
    assert "This run is finished: the model is in runs/mine/model" in out + err
    assert "choose another --name" in command(*quick_words(tiny_base, "llama-full"), "--max-steps", "3")[2]
    prompt = ["prompt", "--model", str(folder), "--engine", "transformers", "--limit", "2", "--max-new-tokens", "4"]
    assert "one-previous, triplets" in command(*prompt, "--name", "asked")[1]
    assert len(Path("runs/asked/predictions.jsonl").read_text().splitlines()) == 2
    assert "the model runs/mine/model was trained with triplets" in command(*prompt, "--format", "grouped")[2]


def test_rows_with_thoughts_are_trained_and_the_adapter_is_asked_to_think(
    tmp_path: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    base = build_thinking_model(tmp_path / "base", context_length=4096)
    items = load("hexagons", "train")[:6]
    answers = [{**record, "reasoning": f"Thought of {record['id']}."} for record in perfect(items)]
    del answers[0]["reasoning"]
    answers[1]["actions"] = [[0, 0, "red"]]
    Path("runs/thought").mkdir(parents=True)
    write_lines("runs/thought/predictions.jsonl", answers)
    words = quick_words(base, "llama-lora", "--think", "on", "--limit", "6", "--set", "training.thought_tokens=4")
    assert "no train item has a thought" in command(*words)[2]
    words += ["--thoughts", "thought"]
    job = job_of(monkeypatch, *words[1:], "--name", "unused")
    assert [own_thought(item) for item in job.items] == [f"Thought of {item.id}." for item in items[2:]]
    code, out, err = command(*words)
    assert code == 0, err
    assert "4 items with a thought, 2 left out without one" in out
    folder = Path("runs/mine/adapter")
    assert (folder / "chat_template.jinja").read_text() == answering_template(AutoTokenizer.from_pretrained(base), "on")
    ask = ["prompt", "--adapter", "mine", "--engine", "transformers", "--limit", "1", "--max-new-tokens", "4"]
    assert command(*ask, "--name", "asked", "--think-tokens", "4")[0] == 0
    assert run_settings("asked")["think"] == "on"
    assert "was trained with think on; leave the flags out" in command(*ask, "--think", "off")[2]


def test_a_training_from_an_adapter_reports_its_start_and_whether_it_changed(tiny_base: Path, command: Command) -> None:
    targets = "--set", "lora.target_modules=[v_proj, q_proj]", "--set", "lora.dropout=0.25"
    assert main(quick_words(tiny_base, "llama-lora", *targets)) == 0
    for rate, changed in ((0.01, True), (1e-30, False)):
        name = f"more-{changed}"
        settings = "--set", f"training.learning_rate={rate}", "--set", "training.weight_decay=0"
        assert main([*quick_words(tiny_base, "llama-lora", *settings), "--name", name, "--from", "mine"]) == 0
        said = json.loads(Path("runs", name, "adapter", HARNESS_FILE).read_text())
        assert (said["effect"], said["dev_f1_items"]) == (changed, 1)
        assert not Path("runs", name, "adapter", "README.md").exists(), "peft's card says nothing of it"
        assert (said["recipe"]["lora"]["target_modules"], said["recipe"]["lora"]["dropout"]) == (["q_proj", "v_proj"], 0.25)
    other = quick_words(tiny_base, "llama-lora", "--set", "lora.r=8")
    assert "--set lora.r=16" in command(*other, "--name", "other", "--from", "mine")[2]


def test_the_base_of_the_adapter_to_start_from_is_the_default(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    resolve = Mock(return_value="none")
    monkeypatch.setattr("harness.engines.models.bases.resolve_base", resolve)
    for own in ((), ("--base", "another")):
        command("finetune", "llama-lora", "--from", "hexagons-qwen", *own, "--dry-run")
    assert [call.args for call in resolve.call_args_list] == [("qwen2.5-coder-0.5b",), ("another",)]


def test_a_base_that_sees_and_its_adapter_fit_each_other(tmp_path: Path, command: Command) -> None:
    base = build_tiny_model(tmp_path / "sees", sees=True)
    assert main(quick_words(base, "llama-lora", "--set", "lora.r=8")) == 0
    assert "mine fits sees" in command("adapters", "check", "mine", "--base", base)[1]


def test_a_training_that_is_killed_in_an_evaluation_resumes_before_it(
    tiny_base: Path, monkeypatch: pytest.MonkeyPatch, command: Command
) -> None:
    # At this rate, one step suffices to change the answers.
    words = quick_words(tiny_base, "llama-lora", *set_words("training.warmup=0", "training.learning_rate=0.05"))
    with monkeypatch.context() as patch:
        judge = AnswerTrainer.judge

        def killed(trainer: AnswerTrainer) -> dict[str, float]:
            if trainer.state.global_step:
                raise KeyboardInterrupt
            return judge(trainer)

        patch.setattr(AnswerTrainer, "judge", killed)
        assert main(words) == 130
    assert {path.name for path in Path("runs/mine/checkpoints").iterdir()} == {"checkpoint-1"}
    checkpoint = "runs/mine/checkpoints/checkpoint-1"
    assert "fits tiny" in command("adapters", "check", checkpoint, "--base", tiny_base)[1]
    asked = ("--engine", "transformers", "--limit", "3", "--max-new-tokens", "8")
    assert command("prompt", "--adapter", checkpoint, "--model", tiny_base, *asked)[0] == 0
    (answered,) = Path("runs").glob("*/predictions.jsonl")
    assert "_mine-checkpoint-1_" in answered.parent.name
    assert command("adapters", "merge", checkpoint, "merged", "--base", tiny_base)[0] == 0
    for model, same in (("merged", True), (tiny_base, False)):
        assert command("prompt", "--model", model, *asked, "--name", f"same-{same}")[0] == 0
        assert (Path("runs", f"same-{same}", "predictions.jsonl").read_bytes() == answered.read_bytes()) is same
    assert command("adapters", "export", checkpoint, "exported")[0] == 0
    for more in ([], ["--name", "whole"]):
        assert main([*words, *more]) == 0
    resumed, whole = (Path("runs", name, "adapter/adapter_model.safetensors").read_bytes() for name in ("mine", "whole"))
    assert resumed == whole


def test_a_finished_training_goes_on_where_it_ended(tiny_base: Path, command: Command) -> None:
    words = quick_words(tiny_base, "llama-lora", *set_words("training.keep=last", "training.learning_rate=0.01"))
    assert main(words) == 0
    first = Path("runs/mine/adapter/adapter_model.safetensors").read_bytes()
    longer = [*words, "--max-steps", "4"]
    assert "choose another --name" in command(*longer)[2]
    assert "choose another --name" in command(*longer, "--resume", "--set", "training.learning_rate=0.5")[2]
    code, out, err = command(*longer, "--resume")
    assert (code, "resuming from runs/mine/checkpoints/checkpoint-2" in out) == (0, True), err
    said = json.loads(Path("runs/mine/adapter", HARNESS_FILE).read_text())
    assert (said["steps"], [point["step"] for point in said["curve"]]) == (4, [0, 2, 4])
    assert said["curve"][-1]["dev_loss"] < said["curve"][0]["dev_loss"]
    assert said["rows"] + said["dropped"] == said["items"]
    folder, last = Path("runs/mine/adapter"), load_file("runs/mine/checkpoints/checkpoint-4/adapter_model.safetensors")
    assert {path.suffix for path in folder.iterdir()} <= {".json", ".safetensors", ".md"}, "nothing pickled"
    model = PeftModel.from_pretrained(AutoModelForCausalLM.from_pretrained(tiny_base, dtype=torch.float32), folder)
    loaded = get_peft_model_state_dict(model)
    assert loaded.keys() == last.keys()
    assert all(torch.equal(value, last[name]) for name, value in loaded.items())
    assert Path("runs/mine/adapter/adapter_model.safetensors").read_bytes() != first
    assert "This run is finished" in command(*longer)[1]


@pytest.mark.parametrize(("judged", "step"), cases(__file__)["judged"])
def test_the_best_is_by_score_then_by_loss_then_the_first_after_training_began(
    judged: list[tuple[float, float]], step: int
) -> None:
    """F1 and loss, at steps 0, 10, ..."""
    points = [{"step": 10 * number, "dev_f1": f1, "dev_loss": loss} for number, (f1, loss) in enumerate(judged)]
    assert max(points, key=AnswerTrainer.score)["step"] == step
