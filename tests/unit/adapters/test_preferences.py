"""Rows for other trainers: as their readers take them, from train items only."""

from pathlib import Path

import pytest
from datasets import load_dataset
from transformers import AutoTokenizer
from trl import apply_chat_template, is_conversational

from harness.corpora import load
from prompts.messages import gold_answer
from prompts.probe import described
from prompts.spec import PromptSpec
from tests.helpers import Command
from tests.helpers.scored import write_run

pytestmark = pytest.mark.usefixtures("empty_folder")
SPEC = PromptSpec.make("hexagons", "full-history", "triplets")


def sampled_run(split: str) -> None:
    """A run on two items: to the first it drew gold, a wrong answer and an empty one, to the second one answer twice."""
    first, second = load("hexagons", split)[:2]
    gold = gold_answer(first, SPEC)
    drawn = {first.id: ["0 0 black", gold, ""], second.id: ["0 0 black"] * 2}
    lines = [
        {"id": name, "actions": [], "text": texts[0], "format": "triplets", "samples": texts} for name, texts in drawn.items()
    ]
    write_run("sampled", lines, **described(SPEC), split=split, limit=2, samples=3, shots=0)


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


def test_items_of_dev_are_no_rows(command: Command) -> None:
    sampled_run("dev")
    for form in ("messages", "dpo"):
        code, out, err = command("export", "sampled", "--as", form)
        assert (code, out, "2 of its items are in dev or test" in err) == (2, "", True), err
