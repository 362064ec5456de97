"""Rendered prompts, as engines take them, and training rows."""

from dataclasses import dataclass
from typing import TypedDict

OFF, ON = "off", "on"
EFFORTS = ("low", "medium", "high")
"""What `--reasoning-effort` takes, by the names that chat templates have for it."""


class Message(TypedDict):
    role: str
    content: str


@dataclass(frozen=True, slots=True)
class Rendered:
    """The text a model sees for one item."""

    id: str
    messages: tuple[Message, ...]
    """System, then user and assistant for each example, then user."""
    text: str
    """The whole prompt as one string, special tokens included, as the tokenizer's chat template (or the plain one) writes it."""
    token_ids: tuple[int, ...]
    """The same, tokenized: exactly one BOS if the model has one. Empty without a tokenizer (a remote endpoint)."""
    dropped_history: int = 0
    """Turns of the item's and the examples' histories left out to fit the context length, oldest first."""
    dropped_shots: int = 0
    feasible: str | None = None
    """If the answer must be feasible, the state that it starts from, as `serialization.formats.feasible` writes it."""


@dataclass(frozen=True, slots=True)
class TrainingRow:
    """A prompt and its answer, tokenized apart: the loss is taken on `completion_ids` (the answer and its stop token) only."""

    id: str
    prompt_ids: tuple[int, ...]
    completion_ids: tuple[int, ...]

    @property
    def token_ids(self) -> tuple[int, ...]:
        return self.prompt_ids + self.completion_ids

    def __len__(self) -> int:
        return len(self.prompt_ids) + len(self.completion_ids)
