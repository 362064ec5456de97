"""Tasks of lm-eval (lm-evaluation-harness), as YAML files beside this module; `harness plugins lm-eval` prints their folder.

    lm_eval --include_path $(harness plugins lm-eval) --tasks harness_hexagons \\
        --model local-chat-completions --apply_chat_template \\
        --model_args base_url=http://127.0.0.1:8000/v1/chat/completions,model=smollm2-135m

`--metadata '{"context": "no-history"}'` chooses another prompt format, `'{"limit": 10}'` the first items.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from harness.api import Counts, total
from harness.plugins.rows import Row, rows, score_row, two_messages

FOLDER = Path(__file__).parent


def documents(task: str, **names: Any) -> dict[str, Any]:
    """The dev and test splits as datasets. Questions are a system message and one user message."""
    from datasets import Dataset

    known = {key: value for key, value in names.items() if key in ("context", "format", "frame", "template", "limit")}
    return {split: Dataset.from_list([_document(row) for row in rows(task, split, **known)]) for split in ("dev", "test")}


hexagons = partial(documents, "hexagons")
minecraft = partial(documents, "minecraft")
iglu = partial(documents, "iglu")
everyday_hexagons = partial(documents, "everyday-hexagons")
everyday_minecraft = partial(documents, "everyday-minecraft")


def _document(row: Row) -> dict[str, str]:
    system, question = two_messages(row)
    return {"id": row["id"], "spec": row["spec"], "system": system, "question": question, "answer": row["answer"]}


def results(document: dict[str, str], answers: Sequence[str]) -> dict[str, Counts]:
    """The counts of an answer, for both metrics."""
    counts = score_row(document["id"], document["spec"], answers[0])
    return {"f1": counts, "em": counts}


def f1(counts: Sequence[Sequence[Any]]) -> float:
    return total(Counts(*row) for row in counts)["f1"]


def em(counts: Sequence[Sequence[Any]]) -> float:
    return total(Counts(*row) for row in counts)["em"]
