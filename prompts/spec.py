"""A prompt format: what is shown, how the answer is written, and the hash that tells two formats apart."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from functools import cached_property

from harness.errors import UsageError
from harness.util.registry import choose
from serialization.contexts import FRAMES, Context, get_context
from serialization.formats import Format, get_format

DEFAULTS = {
    "hexagons": {"context": "full-history", "format": "grouped"},
    "minecraft": {"context": "context-rich", "format": "lines"},
}


@dataclass(frozen=True)
class PromptSpec:
    """Everything that decides the text of a prompt and its answer, but for the item and the examples."""

    task: str
    context: str
    format: str
    frame: str = "world"

    @classmethod
    def make(cls, task: str, context: str | None = None, format: str | None = None, frame: str | None = None) -> PromptSpec:
        """With the task's defaults for what is not given. Raises UsageError for a name that does not exist or fit."""
        defaults = DEFAULTS[choose("task", task, DEFAULTS)]
        spec = cls(task, context or defaults["context"], format or defaults["format"], frame or "world")
        _ = spec.shown, spec.written
        choose("frame", spec.frame, FRAMES)
        if spec.frame != "world" and task == "hexagons":
            raise UsageError("--frame builder is for minecraft: a hexagon board has no builder")
        return spec

    @property
    def shown(self) -> Context:
        return get_context(self.task, self.context)

    @property
    def written(self) -> Format:
        return get_format(self.task, self.format)

    @property
    def rolls_out(self) -> bool:
        """Whether a prompt shows what the model answered to earlier items, or an answer refers to it (as programs do).

        Such items must be asked in order. With an oracle's board they are not: then what was drawn is the gold.
        """
        refers = self.written.of_item is not None and self.shown.board != "oracle"
        return self.task == "hexagons" and (self.shown.rolls_out or refers)

    @property
    def name(self) -> str:
        return f"{self.task}/{self.context}/{self.format}/{self.frame}"

    @cached_property
    def hash(self) -> str:
        """16 hex digits over everything this format makes of fixed items: any change of its text changes them."""
        from prompts.messages import conversation, gold_answer
        from prompts.probe import PROBES
        from prompts.render import plain_template

        *shots, item = PROBES[self.task]
        made = [asdict(self), conversation(item, self, shots), gold_answer(item, self), plain_template()]
        return hashlib.sha256(json.dumps(made, sort_keys=True).encode()).hexdigest()[:16]
