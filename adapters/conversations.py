"""The text of pretraining: few-shot conversations over train items and synthetic ones, made as they are needed.

Every batch depends on the seed and its index alone, so a run that was killed goes on with the batches it would have seen.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from adapters.recipe import Conversations
from harness.corpora import load
from harness.corpora.item import Item
from harness.corpora.permute import permute_colors, random_colors
from harness.corpora.primer import primer
from prompts.messages import conversation, system_message
from prompts.render import Renderer
from prompts.spec import DEFAULTS, PromptSpec
from serialization.contexts import CONTEXTS, FRAMES
from serialization.formats import FORMATS

TASKS = tuple(DEFAULTS)
FEW_TURNS = 10
LEARNED = {task: [name for name in formats if name != "program"] for task, formats in FORMATS.items()}
"""The formats that the built-in base model is taught: the manual of programs leaves no room for examples in its contexts."""


@dataclass(frozen=True, slots=True)
class Pool:
    """Where the items of one task are drawn from."""

    train: Sequence[Item]
    primer: Sequence[Item]


def make_pools(data: Conversations, split: str, seed: int) -> dict[str, Pool]:
    """The items of a split and the synthetic ones, by task."""
    made = {task: tuple(primer(task, data.primer_items, seed)) if data.primer_share else () for task in TASKS}
    return {task: Pool(load(task, split), made[task]) for task in TASKS}


def tokenizer_texts(pools: Mapping[str, Pool], items: int, seed: int) -> Iterator[str]:
    """The messages about `items` items of each task and source, in any prompt format: what the tokenizer is learned from."""
    random = Random(f"{seed}/tokenizer")
    for task, pool in pools.items():
        for source in filter(None, (pool.train, pool.primer)):
            for _ in range(items):
                item = permute_colors(random.choice(source), random_colors(task, random))
                for message in conversation(item, _any_spec(task, random, 0.5), answered=True):
                    yield message["content"]


def _any_spec(task: str, random: Random, default_share: float) -> PromptSpec:
    if random.random() < default_share:
        return PromptSpec.make(task)
    frame = random.choice(FRAMES) if task == "minecraft" else "world"
    return PromptSpec.make(task, random.choice(list(CONTEXTS[task])), random.choice(LEARNED[task]), frame)


@dataclass(frozen=True)
class ConversationBatches:
    """A data set whose elements are whole batches: `input_ids` and `weights` of the loss, both of shape (rows, length)."""

    pools: Mapping[str, Pool]
    data: Conversations
    tokenizer: Any
    batches: int
    seed: int | str

    def __len__(self) -> int:
        return self.batches

    def __getitem__(self, index: int) -> dict[str, Any]:
        import torch

        random = Random(f"{self.seed}/{index}")
        length = self.data.lengths[index % len(self.data.lengths)]
        rows = [self.row(random, length) for _ in range(max(1, self.data.tokens_per_batch // length))]
        width = max(len(row) for row in rows)
        ids = torch.full((len(rows), width), self.tokenizer.pad_token_id)
        weights = torch.zeros(len(rows), width)
        for i, row in enumerate(rows):
            ids[i, : len(row)] = torch.tensor(row)
            weights[i, : len(row)] = torch.tensor(self.weights(row))
        return {"input_ids": ids, "weights": weights}

    def row(self, random: Random, length: int) -> tuple[int, ...]:
        """The token ids of one conversation of at most `length` tokens with at least one example."""
        while True:
            task = random.choice(TASKS)
            spec = _any_spec(task, random, self.data.default_share)
            renderer = Renderer(spec, self.tokenizer, length, 0)
            keep = None if random.random() < self.data.whole_history_share else random.randrange(FEW_TURNS + 1)
            chosen = self._that_fit(self._candidates(task, random), renderer, keep)
            if chosen:
                return _tokens(renderer, chosen, keep)

    def _candidates(self, task: str, random: Random) -> Iterator[Item]:
        pool = self.pools[task]
        from_primer = bool(pool.primer) and random.random() < self.data.primer_share
        for _ in range(self.data.max_examples):
            item = random.choice(pool.primer if from_primer else pool.train)
            if not from_primer and random.random() < self.data.recolor_share:
                item = permute_colors(item, random_colors(task, random))
            yield item

    def _that_fit(self, items: Iterator[Item], renderer: Renderer, keep: int | None) -> list[Item]:
        """The items, in order, that go into the context together; those too long for the room left are passed over."""
        head = len(renderer.token_ids(renderer.text([system_message(renderer.spec)], open_answer=False)))
        room, chosen = renderer.budget - head, []
        for item in items:
            needed = len(_tokens(renderer, [item], keep)) - head
            if needed <= room:
                room -= needed
                chosen.append(item)
        return chosen

    def weights(self, ids: Sequence[int]) -> list[float]:
        """1 for each token of an answer and its stop token, `prompt_weight` for the others."""
        opens, ends = self.tokenizer.convert_tokens_to_ids("<|assistant|>"), self.tokenizer.eos_token_id
        inside, result = False, []
        for token in ids:
            result.append(1.0 if inside else self.data.prompt_weight)
            inside = token == opens or (inside and token != ends)
        return result


def _tokens(renderer: Renderer, items: Sequence[Item], keep: int | None) -> tuple[int, ...]:
    messages = conversation(items[-1], renderer.spec, items[:-1], keep, answered=True)
    return renderer.token_ids(renderer.text(messages, open_answer=False))
