"""Answers from a file in place of a model, so that the whole command line runs without one."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from harness.engines.engine import Completion, Report, Sampling, silent
from harness.errors import DataError
from harness.util.files import json_lines
from prompts.rendered import Rendered


class ScriptedEngine:
    """Replays completions by item id, from a JSON Lines file of {"id": ..., "text": ...} or from a list of such records.

    A record with "error" in place of "text" replays a failure. Other fields are ignored, so a run's predictions.jsonl is a
    script, too. Raises DataError if the file cannot be read, with the line number for a line that is not such a record or repeats
    an id.
    """

    independent = True
    tokenizer: Any = None
    context_length = 1_000_000
    batch_size = 100

    def __init__(self, script: str | Path | Sequence[Mapping[str, Any]]) -> None:
        self.report: Report = silent
        records = _records(Path(script)) if isinstance(script, str | Path) else script
        self._source = str(script) if isinstance(script, str | Path) else "the script"
        self._answers: dict[str, Completion] = {}
        for number, record in enumerate(records, start=1):
            where = f"{self._source}, line {number}"
            match record:
                case {"id": str(name), "error": str(error)}:
                    answer = Completion(error=error)
                case {"id": str(name), "text": str(text)}:
                    answer = Completion(text)
                case _:
                    raise DataError(f'{where}: not a JSON object with strings "id" and "text"')
            if name in self._answers:
                raise DataError(f"{where}: the id {name} appears twice")
            self._answers[name] = answer

    def generate(self, prompts: Sequence[Rendered], sampling: Sampling) -> list[Completion]:
        """The scripted completion of each prompt's item; one with an error if the script has none. `sampling` is ignored."""
        missing = Completion(error=f"{self._source} holds no answer for this item")
        return [self._answers.get(prompt.id, missing) for prompt in prompts]

    def close(self) -> None:
        """There is nothing to free."""


def _records(path: Path) -> Iterator[Any]:
    """The values of a file's lines; None for a line that is not JSON."""
    for _, line in json_lines(path):
        try:
            yield json.loads(line)
        except (ValueError, RecursionError):
            yield None
