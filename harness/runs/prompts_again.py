"""The prompts of a run, made again: predictions do not store them, but its settings decide them to the letter."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from eval.scoring import Answers
from harness.corpora import load
from harness.corpora.item import Item
from harness.errors import EngineError, HarnessError, UsageError
from harness.runs.answering import Rollout
from harness.runs.prompting import LOCAL_ENGINES, local_tokenizer
from prompts.probe import format_hash
from prompts.render import Renderer
from prompts.shots import ShotPool
from prompts.spec import PromptSpec

_NEEDED = ("engine", "context", "format", "frame", "shots", "seed", "max_new_tokens", "context_length")


class Prompts:
    """Renders the prompts of a run as it once did, or knows why it cannot.

    `notes` say how far they can be trusted: without the model's tokenizer, and with templates or examples that have changed
    since, they may differ from what the model saw.
    """

    def __init__(self, answers: Answers) -> None:
        self.notes: list[str] = []
        self._answers = answers
        self._renderer: Renderer | None = None
        self._missing = "The prompt is not known: a predictions file does not say how a model was asked."
        if not answers.settings:
            self.notes.append("Its prompts are not known: there is no run.yaml beside the predictions.")
        elif any(answers.settings.get(key) is None for key in _NEEDED):
            self._missing = "This run has no prompts: run.yaml describes none."
            self.notes.append(self._missing)
        else:
            self._prepare(answers.settings)

    def _prepare(self, settings: Any) -> None:
        try:
            spec = PromptSpec.make(self._answers.task, settings["context"], settings["format"], settings["frame"])
            renderer = Renderer(spec, self._tokenizer(settings), settings["context_length"], settings["max_new_tokens"])
        except (UsageError, EngineError) as error:
            self._missing = f"The prompt cannot be made again: {error}"
            self.notes.append(self._missing)
            return
        self._renderer = renderer
        self._pool = ShotPool(load(self._answers.task, "train") if settings["shots"] else [], settings["seed"])
        if settings.get("prompt_hash") not in (None, format_hash(spec)):
            self.notes.append("The prompt templates have changed since: the prompts shown are today's.")
        if settings.get("shots_hash") not in (None, self._pool.hash):
            self.notes.append("The training items have changed since: the examples in the prompts may be others.")
        if renderer.spec.rolls_out:
            self._steps: dict[str, list[Any]] = defaultdict(list)
            for item in self._answers.items:
                self._steps[item.cluster].append(item)

    def _tokenizer(self, settings: Any) -> Any:
        """The one that the run counted with; None where it had none or it cannot be loaded here."""
        try:
            return local_tokenizer(settings["engine"], settings.get("model"))
        except EngineError as error:
            self.notes.append(
                f"The model's tokenizer cannot be loaded here ({error}): prompts are shown without its chat template, "
                "and what was left out of them to fit is estimated."
            )
            return None

    def of(self, item: Item) -> tuple[str | None, str]:
        """The text of an item's prompt, None if there is none, and a word on it."""
        if self._renderer is None:
            return None, self._missing
        settings, record = self._answers.settings, self._answers.records.get(item.id, {})
        try:
            rendered = self._renderer.render(self._seen(item), self._pool.choose(item, settings["shots"]))
        except HarnessError as error:
            return None, f"There was no prompt: {error}"
        made, recorded = len(rendered.token_ids), record.get("prompt_tokens")
        parts = [f"{made:,} tokens" if made else f"{len(rendered.text):,} characters, as text"]
        parts += [f"{rendered.dropped_history} turns of history left out"] if rendered.dropped_history else []
        parts += [f"{rendered.dropped_shots} examples left out"] if rendered.dropped_shots else []
        if made and settings["engine"] in LOCAL_ENGINES and isinstance(recorded, int) and recorded != made:
            parts.append(f"the run recorded {recorded:,} tokens, so it saw another text")
        return rendered.text, "; ".join(parts)

    def _seen(self, item: Item) -> Item:
        """The item as the model saw it: with what its own earlier answers drew, where that is shown."""
        if self._renderer is None or not self._renderer.spec.rolls_out:
            return item
        earlier = [step.id for step in self._steps[item.cluster] if len(step.history) < len(item.history)]
        records = self._answers.records
        return Rollout([dict(records[i]) for i in earlier if "actions" in records.get(i, ())]).before(item)
