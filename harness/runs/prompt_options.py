"""The flags of `harness prompt`, and which of them go together."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from harness.engines.engine import without_secrets
from harness.errors import UsageError
from harness.runs.shot_choice import check_choice

LOCAL_ENGINES = ("vllm", "transformers")
"""Engines that load the base model themselves and can put an adapter on it."""

VOTES = ("mbr", "share", "likelihood")
"""How one answer is made of several: the most agreed one, the changes of enough of them, the one whose tokens are likeliest."""

LIKELIHOOD = ("vllm", "openai")
"""Engines that tell how likely an answer is."""

ONLY_FOR = {
    "adapter": (*LOCAL_ENGINES, "openai"),
    "merge": ("vllm",),
    "vllm": ("vllm",),
    "quantize": ("transformers",),
    "base_url": ("openai",),
    "completions": ("openai",),
    "concurrency": ("openai",),
    "constrain": ("vllm", "openai"),
    "dialect": ("openai",),
    "images": ("openai",),
    "context_length": (*LOCAL_ENGINES, "openai"),
    "reasoning_effort": ("openai",),
    "extra_body": ("openai",),
    "chat_template_kwargs": ("openai",),
    "tokenizer": ("openai",),
    "batch_api": ("openai",),
    "timeout": ("openai",),
    "retries": ("openai",),
    "prices": ("openai",),
    "max_cost": ("openai",),
    "max_tokens_total": ("openai",),
}
"""Flags that mean nothing to the other engines."""


@dataclass(frozen=True, slots=True)
class Options:
    """The flags of `harness prompt`."""

    task: str | None
    split: str | None
    items_file: str | None
    shots: int | None
    engine: str
    model: str | None
    adapter: str | None
    merge: bool | None
    base_url: str | None
    context: str | None
    format: str | None
    frame: str | None
    template: str | None
    limit: int | None
    seed: int
    name: str | None
    constrain: str | None
    temperature: float
    samples: int
    share: float | None
    vote: str | None
    repair: bool
    max_new_tokens: int | None
    context_length: int | None
    batch_size: int | None
    concurrency: int | None
    completions: bool
    dialect: str | None
    reasoning_effort: str | None
    extra_body: str | None
    chat_template_kwargs: str | None
    tokenizer: str | None
    timeout: float | None
    retries: int | None
    retry_errors: bool
    prices: str | None
    max_cost: float | None
    max_tokens_total: int | None
    dry_run: bool
    batch_api: bool
    cache: bool
    vllm: tuple[str, ...]
    quantize: str | None
    vllm_words: tuple[str, ...]
    """What follows -- on the command line."""
    select: str | None
    shot_ids: str | None
    encoder: str | None
    shot_order: str | None
    think: int | None
    images: str | None
    diff: tuple[str, ...]
    preview: bool
    json: bool

    @property
    def part(self) -> str:
        """The split, or the name of the file of items."""
        return Path(self.items_file).name if self.items_file else self.split or "dev"

    def __post_init__(self) -> None:
        if not 0.0 <= self.temperature <= 2.0:
            raise UsageError(f"--temperature {self.temperature}: a number from 0 (greedy) to 2")
        if self.samples > 1 and self.temperature == 0:
            raise UsageError(f"--samples {self.samples}: greedy answers are all the same; add --temperature, e.g. 0.7")
        if self.share is not None and self.samples == 1:
            raise UsageError(f"--share {self.share}: one answer per item leaves nothing to vote on; add --samples, e.g. 8")
        if self.vllm_words and (self.engine != "vllm" or not self.vllm_words[0].startswith("-")):
            raise UsageError(f"unexpected argument {self.vllm_words[0]!r}: only options of vLLM may follow --, for --engine vllm")
        if self.vote not in (None, *VOTES):
            raise UsageError(f"--vote {self.vote}: one of {', '.join(VOTES)}")
        if self.vote is not None and self.samples == 1:
            raise UsageError(f"--vote {self.vote}: one answer per item leaves nothing to vote on; add --samples, e.g. 8")
        if self.share is not None and self.vote not in (None, "share"):
            raise UsageError(
                f"--share {self.share}: it belongs to --vote share, not to --vote {self.vote}; leave one of them out"
            )
        if self.vote == "likelihood" and self.engine not in LIKELIHOOD:
            raise UsageError(f"--vote likelihood is for {' and '.join(LIKELIHOOD)}; --engine {self.engine} tells no likelihoods")
        if self.repair and self.samples > 1:
            raise UsageError("--repair asks again for a single answer; leave out --samples")
        if self.shots is not None or self.adapter is None:
            check_choice(self.shots or 0, self.select, self.shot_ids, self.encoder, self.shot_order)
        if self.think and self.constrain:
            raise UsageError(
                f"--think {self.think}: --constrain holds answers to the format, which has no thoughts; leave one out"
            )
        if self.images and self.completions:
            raise UsageError("--images are parts of chat messages: leave --completions out")
        if self.diff and not self.preview:
            raise UsageError("--diff compares prompts: add --preview")
        if self.items_file and self.split:
            raise UsageError(f"--split {self.split}: the items come from {self.items_file}; leave the flag out")
        if self.batch_api and (self.max_cost is not None or self.max_tokens_total is not None):
            raise UsageError("--batch-api asks everything at once, which no limit can stop: look at --dry-run, or leave one out")
        for flag, engines in ONLY_FOR.items():
            if getattr(self, flag) not in (None, False, ()) and self.engine not in engines:
                raise UsageError(
                    f"--{flag.replace('_', '-')} is for {' and '.join(engines)}; --engine {self.engine} does not take it"
                )
        if self.base_url is not None and not re.match(r"https?://[^/]", self.base_url):
            raise UsageError(f"--base-url {without_secrets(self.base_url)}: it must begin with http:// or https:// and a host")
