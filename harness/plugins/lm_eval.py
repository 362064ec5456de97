"""Tasks of lm-eval (lm-evaluation-harness), as YAML files; `harness plugins lm-eval` writes them and prints their folder.

    lm_eval --include_path $(harness plugins lm-eval) --tasks harness_hexagons \\
        --model local-chat-completions --apply_chat_template \\
        --model_args base_url=http://127.0.0.1:8000/v1/chat/completions,model=smollm2-135m

`--metadata '{"context": "no-history"}'` chooses another prompt format, and `'{"limit": 10}'` only the first 10 items.
"""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from harness.api import Counts, total
from harness.plugins.rows import ItemRow, rows, score_row, two_messages
from harness.tasks.registry import TASKS
from harness.util.files import cache_folder, write_atomically

_SPLITS = ("dev", "test")
_FILE = """\
task: {name}
custom_dataset: !function harness.plugins.lm_eval.{attribute}
output_type: generate_until
test_split: {split}
description: "{{{{system}}}}"
doc_to_text: "{{{{question}}}}"
doc_to_target: "{{{{answer}}}}"
process_results: !function harness.plugins.lm_eval.results
generation_kwargs:
  until: []
  max_gen_toks: 1024
  do_sample: false
metric_list:
  - metric: f1
    aggregation: !function harness.plugins.lm_eval.f1
    higher_is_better: true
  - metric: em
    aggregation: !function harness.plugins.lm_eval.em
    higher_is_better: true
metadata:
  version: 1.0
"""


def write_folder() -> Path:
    """Writes a file for each task's dev and test to a folder in the user's cache, and returns the folder.

    Raises HarnessError if it cannot be written.
    """
    folder = cache_folder() / "lm_eval"
    for attribute in (name.replace("-", "_") for name in TASKS):
        for split in _SPLITS:
            file = f"harness_{attribute}{'' if split == 'test' else f'_{split}'}"
            write_atomically(folder / f"{file}.yaml", _FILE.format(name=file, attribute=attribute, split=split))
    return folder


def documents(task: str, **names: Any) -> dict[str, Any]:
    """The dev and test splits as datasets. Questions are a system message and one user message."""
    from datasets import Dataset

    known = {key: value for key, value in names.items() if key in ("context", "format", "frame", "template", "limit")}
    return {split: Dataset.from_list([_document(row) for row in rows(task, split, **known)]) for split in _SPLITS}


def __getattr__(name: str) -> Any:
    """The documents of a task, by its name with `_` for `-`."""
    if (task := name.replace("_", "-")) in TASKS:
        return partial(documents, task)
    raise AttributeError(name)


def _document(row: ItemRow) -> dict[str, str]:
    system, question = two_messages(row)
    return {"id": row["id"], "spec": row["spec"], "system": system, "question": question, "answer": row["answer"]}


def results(document: dict[str, str], answers: Sequence[str]) -> dict[str, Counts]:
    """The counts of what an answer got right, for both metrics."""
    counts = score_row(document["id"], document["spec"], answers[0])
    return {"f1": counts, "em": counts}


def f1(counts: Sequence[Sequence[Any]]) -> float:
    return total(Counts(*row) for row in counts)["f1"]


def em(counts: Sequence[Sequence[Any]]) -> float:
    return total(Counts(*row) for row in counts)["em"]
