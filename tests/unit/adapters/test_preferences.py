"""Rows for other trainers: as their readers take them, from train items only."""

import json
import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from datasets import load_dataset, load_from_disk
from transformers import AutoTokenizer
from trl import apply_chat_template, is_conversational

from adapters.preferences import pairs_of
from adapters.registry import WEIGHTS_FILE
from harness.cli import main
from harness.corpora import load
from harness.errors import UsageError
from prompts.messages import gold_answer
from prompts.probe import described
from prompts.render import Renderer
from prompts.spec import PromptSpec
from tests.helpers import ROOT, Command
from tests.helpers.chat_templates import family_tokenizer
from tests.helpers.finetuning import environment, quick_words, set_words
from tests.helpers.scored import write_run

pytestmark = pytest.mark.usefixtures("empty_folder")
SPEC = PromptSpec.make("hexagons", "full-history", "triplets")


def sampled_run(split: str, limit: int = 2, draws: int = 3, spec: PromptSpec = SPEC) -> None:
    """A run on some items: to each it drew gold, a wrong answer and an empty one, but to the second one answer several times."""
    lines = []
    for number, item in enumerate(load(spec.task, split)[:limit]):
        texts = ["0 0 black"] * 3 if number == 1 else ["0 0 black", gold_answer(item, spec), ""]
        drawn = {"samples": texts[:draws]} if draws > 1 else {}
        lines.append({"id": item.id, "actions": [], "text": texts[0], "format": spec.format_name, **drawn})
    write_run("sampled", lines, **described(spec), split=split, limit=limit, samples=draws, shots=0)


@pytest.mark.parametrize(("form", "keys"), [("messages", {"messages"}), ("dpo", {"prompt", "chosen", "rejected"})])
def test_rows_are_conversations_that_trl_and_datasets_read(
    form: str, keys: set[str], tiny_base: Path, tmp_path: Path, command: Command
) -> None:
    sampled_run("train")
    code, _, err = command("export", "sampled", "--as", form, "--out", "rows.jsonl")
    assert code == 0, err
    rows = load_dataset("json", data_files="rows.jsonl", split="train", cache_dir=str(tmp_path / "datasets"))
    assert set(rows.column_names) == keys
    assert is_conversational(rows[0])
    text = apply_chat_template(rows[0], AutoTokenizer.from_pretrained(tiny_base))
    gold = gold_answer(load("hexagons", "train")[0], SPEC)
    assert gold in text["text" if form == "messages" else "chosen"]
    if form == "dpo":
        assert (len(rows), rows[0]["rejected"][0]["content"]) == (1, "0 0 black")


AXOLOTL = "base_model: {base}\nsequence_len: 4096\nmicro_batch_size: 1\nlearning_rate: 1.0e-3\ndataset_prepared_path: read\n"


@pytest.mark.integration
@pytest.mark.timeout(600)
@pytest.mark.parametrize(("form", "file"), [("messages", "rows.jsonl"), ("dpo", "pairs.jsonl")])
def test_axolotl_reads_the_rows_as_the_docs_say(form: str, file: str, tiny_base: Path, command: Command) -> None:
    program = ROOT / ".venvs/axolotl/bin/axolotl"
    if not program.exists():
        pytest.skip("axolotl is not installed in .venvs/axolotl")
    sampled_run("train")
    command("export", "sampled", "--as", form, "--out", file)
    settings = re.findall(r"```yaml\n(.*?)```", (ROOT / "docs/finetuning.md").read_text(), re.DOTALL)[form == "dpo"]
    Path("axolotl.yaml").write_text(AXOLOTL.format(base=tiny_base) + settings)
    subprocess.run([program, "preprocess", "axolotl.yaml"], env=environment() | {"AXOLOTL_DO_NOT_TRACK": "1"}, check=True)
    (state,) = Path("read").rglob("state.json")
    row = load_from_disk(state.parent)[0]
    tokens = [token for token in row.get("labels", ()) if token >= 0]
    answer = row.get("chosen") or AutoTokenizer.from_pretrained(tiny_base).decode(tokens)
    assert answer == gold_answer(load("hexagons", "train")[0], SPEC) + "</s>"
    assert row.get("rejected") == ("0 0 black</s>" if form == "dpo" else None)


def test_items_of_dev_are_no_rows(command: Command) -> None:
    sampled_run("dev")
    for form in ("messages", "dpo"):
        code, out, err = command("export", "sampled", "--as", form)
        assert (code, out, "2 of its items are in dev or test" in err) == (2, "", True), err


def words(base: Path, method: str, *more: str) -> list[str]:
    asked = ("--context", "full-history", "--format", "triplets", "--pairs", "sampled")
    own = ("per_device_train_batch_size=4", "learning_rate=0.01", "evaluations=2", "keep=last", "max_length=2048")
    return quick_words(base, f"llama-{method}", *asked, *set_words(*(f"training.{key}" for key in own)), *more)


@pytest.mark.parametrize("method", ["dpo", "kto"])
def test_chosen_answers_become_likelier_in_a_run_that_may_be_killed(method: str, tiny_base: Path, command: Command) -> None:
    sampled_run("train", 12)
    again = words(tiny_base, method, "--max-steps", "4")
    code, out, err = command(*again, "--dry-run")
    assert (code, "11 pairs, 0 dropped" in out, "⟦0 0 black</s>⟧" in out) == (0, True, True), err
    assert main(again) == 0
    run = Path("runs/mine")
    _, first, last = (json.loads(line) for line in (run / "curve.jsonl").read_text().splitlines())
    assert last["train_loss"] < first["train_loss"]
    assert last["margin"] > first["margin"]
    said = json.loads((run / "adapter/harness.json").read_text())
    assert (said["items"], said["rows"], said["effect"], said["prompt_hash"]) == (11, 11, True, described(SPEC)["prompt_hash"])
    weights = (run / "adapter" / WEIGHTS_FILE).read_bytes()
    shutil.rmtree(run / "checkpoints/checkpoint-4")
    shutil.rmtree(run / "adapter")
    assert "resuming from" in command(*again)[1]
    assert (run / "adapter" / WEIGHTS_FILE).read_bytes() == weights
    assert not (run / "adapter/ref").exists()
    assert command("adapters", "export", "mine", "out")[0] == 0
    card = Path("out/README.md").read_text()
    assert f"{method.upper()} on 11 pairs, beta 0.1" in card
    assert "--pairs sampled" in card
    sampled_run("train", 9)
    assert "pairs" in command(*again)[2]


@pytest.mark.parametrize(("run", "more", "problem"), [
    ({"split": "dev"}, [], "of its items are in dev or test"),
    ({"draws": 1}, [], "no item has answers of different F1"),
    ({"spec": PromptSpec.make("hexagons")}, [], "its prompts are hexagons/full-history/grouped/world, the training's"),
    ({}, ["--task", "minecraft", "--context", "context-rich", "--format", "lines"], "the training's minecraft/"),
    ({}, ["--thoughts", "sampled"], "--thoughts: method dpo learns from --pairs only"),
    ({}, ["--set", "training.recolor=true"], "leave out training.recolor"),
    ({}, ["--set", "data=[{split: train, augment: 2}]"], "method dpo learns from --pairs only: leave out data"),
    ({}, ["--set", "trainer.beta=high"], "trainer.beta: input should be a valid number"),
    ({}, ["--set", "trainer.loss_type=[logistic]"], "trainer: Unknown loss type: logistic"),
    ({}, ["--set", "trainer.loss_type=[exo_pair]"], "trainer: Label smoothing must be greater than 0.0"),
])  # fmt: skip
def test_pairs_that_teach_nothing_are_refused(
    run: dict[str, Any], more: list[str], problem: str, tiny_base: Path, command: Command
) -> None:
    sampled_run(**{"split": "train", **run})
    code, _, err = command(*words(tiny_base, "dpo", *more))
    assert (code, err.count("Error: "), problem in err) == (2, 1, True), err


def test_pairs_may_be_of_another_task_of_the_world(tiny_base: Path, command: Command) -> None:
    sampled_run("train", spec=replace(SPEC, task="everyday-hexagons"))
    code, out, err = command(*words(tiny_base, "dpo", "--dry-run"))
    assert (code, "1 pairs, 0 dropped" in out) == (0, True), err


def test_pairs_are_for_the_methods_that_learn_from_them(tiny_base: Path, command: Command) -> None:
    sampled_run("train")
    _, _, err = command("finetune", "llama-lora", "--base", tiny_base, "--pairs", "sampled")
    assert "--pairs sampled: for the methods dpo and kto; the recipe's is lora" in err
    _, _, err = command("finetune", "llama-kto", "--base", tiny_base)
    assert "method kto needs --pairs RUN" in err


@pytest.mark.parametrize("name", ["llama 3", "qwen 3", "gpt-oss"])
def test_a_given_answer_is_tokenized_as_gold_is(name: str, tmp_path: Path) -> None:
    renderer = Renderer(SPEC, family_tokenizer(tmp_path / "tiny", name), 10_000, 0)
    for item in load("hexagons", "train"):
        assert renderer.training_row(item, answer=renderer.opening + gold_answer(item, SPEC)) == renderer.training_row(item)


def test_a_run_records_the_name_of_its_template_and_the_training_knows_its_folder() -> None:
    folder = Path("wordings/mine")
    folder.mkdir(parents=True)
    (folder / "hexagons.user.txt").write_text("{{ turns | last }}")
    own = PromptSpec.make("hexagons", "full-history", "triplets", template=str(folder))
    sampled_run("train", spec=own)
    assert pairs_of("sampled", str(folder))[0] == own
    with pytest.raises(UsageError, match="no template named 'mine'"):
        pairs_of("sampled")
