"""The options of `harness prompt`, each declared once, and which of them go together."""

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import click
from pydantic import model_validator

from harness.errors import UsageError
from harness.prompting.examples import check_choice
from harness.tasks.registry import DEFAULT_TASK, TASK_NAMES
from harness.util.options import Flag, argument, flags_of, option, option_name
from harness.util.settings import Strict
from prompts.rendered import EFFORTS, OFF, ON
from prompts.shots import SELECTIONS

LOCAL_ENGINES = ("vllm", "transformers")
"""Engines that load the base model themselves and can put an adapter on it."""

LIKELIHOOD = ("vllm", "openai")
"""Engines that report how likely an answer is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptFlag(Flag):
    """How the other parts of the harness treat an option of `harness prompt`."""

    engines: tuple[str, ...] = ()
    """The engines that take the option; empty: all."""
    record: bool = True
    """Whether run.yaml records the value as given. Others may differ when a run resumes, or are recorded in another form."""
    shared: bool = False
    """Whether other commands that ask a model, such as `harness play`, have the option too."""


MODEL_GROUP, ENDPOINT_GROUP = "Model", "Endpoint (engine openai)"

ASKED = partial(option, kind=PromptFlag, group="What is asked")
MODEL = partial(option, kind=PromptFlag, group=MODEL_GROUP, shared=True)
EXAMPLES = partial(option, kind=PromptFlag, group="Examples")
DECODING = partial(option, kind=PromptFlag, group="Decoding")
ENDPOINT = partial(option, kind=PromptFlag, group=ENDPOINT_GROUP, engines=("openai",), shared=True)
COST = partial(option, kind=PromptFlag, group="Cost", engines=("openai",), record=False)
RUN = partial(option, kind=PromptFlag, group="Run", record=False)


class Options(Strict):
    """The options of `harness prompt`, in the order in which run.yaml holds them. Raises UsageError for options that do not go
    together."""

    task: str | None = ASKED(
        common=True, help=f"{TASK_NAMES}; or several, separated by commas. [default: the adapter's, otherwise {DEFAULT_TASK}]"
    )
    split: str | None = ASKED(common=True)
    """train, dev or test. [default: dev]"""
    items_file: str | None = ASKED(names=("--items",), record=False)
    """A file from harness simulate to answer instead of a split."""
    shots: int | None = EXAMPLES(common=True, shared=True, ge=0, le=100)
    """Show N examples from the train split. [default: the adapter's, otherwise 0]"""
    engine: str = MODEL("vllm", common=True)
    """vllm, openai, transformers or scripted."""
    model: str | None = MODEL(common=True, names=("--model", "--base"), shared=False)
    """Hub name, local folder or endpoint's model name. [default: smollm2-135m]"""
    adapter: str | None = MODEL(common=True, engines=(*LOCAL_ENGINES, "openai"))
    """A LoRA adapter: the name of a shipped one, a run or a folder."""
    base_url: str | None = ENDPOINT(common=True)
    """The URL of an OpenAI-compatible endpoint (engine openai)."""
    merge: bool | None = MODEL(names=("--merge/--no-merge",), engines=("vllm",), record=False)
    """Merge the adapter into a copy of the base. [default: if the base is small]"""
    vllm: tuple[str, ...] = MODEL((), metavar="KEY=VALUE", engines=("vllm",), record=False)
    """An option of vLLM's own (vllm), e.g. max_num_seqs=512. Repeatable."""
    vllm_words: tuple[str, ...] = argument((), type=click.UNPROCESSED, metavar="[-- VLLM OPTIONS]")
    """The words after -- on the command line."""
    context: str | None = ASKED(shared=True)
    """What the model sees, e.g. full-history. [default: the adapter's, otherwise the task's]"""
    format: str | None = ASKED(shared=True)
    """How the model answers, e.g. grouped. [default: the adapter's, otherwise the task's]"""
    frame: str | None = ASKED(shared=True)
    """world, builder or pose (minecraft). [default: the adapter's, otherwise world]"""
    template: str | None = ASKED(shared=True, record=False)
    """The prompts' wording: a shipped template or a folder. [default: the adapter's, otherwise our own]"""
    limit: int | None = ASKED(common=True, ge=1)
    """Only the first N items."""
    select: str | None = EXAMPLES(choices=SELECTIONS, record=False)
    """How examples are chosen. [default: the adapter's, otherwise random, the same for all items]"""
    programs: tuple[Path, ...] = EXAMPLES((), metavar="FILE", record=False)
    """If answers are programs: the programs of train items, beside the shipped ones. Repeatable."""
    shot_ids: str | None = EXAMPLES(record=False)
    """Ids of train items separated by commas, or a file of them (select fixed)."""
    seed: int = DECODING(0)
    """Seed of the choice of examples and of sampling."""
    constrain: str | None = DECODING(choices=("format", "feasible"), engines=("vllm", "openai"), shared=True, record=False)
    """Hold answers to the format's grammar, or also to actions that can be carried out when their turn comes (minecraft)."""
    temperature: float = DECODING(0.0, shared=True)
    """The temperature of sampling, 0 to 2; 0 is greedy."""
    samples: int = DECODING(1, ge=1, le=64)
    """Draw N answers and combine them into one."""
    share: float | None = DECODING(gt=0, le=1)
    """With --samples: keep a change if at least this share of the answers makes it. [default: 0.2 with --vote share]"""
    vote: str | None = DECODING(choices=("mbr", "share", "likelihood"))
    """With --samples: mbr (the answer that the others agree with most), share (see --share) or likelihood (the most probable
    answer). [default: mbr, or share with --share]"""
    max_new_tokens: int | None = DECODING(shared=True, ge=1)
    """End an answer after N tokens. [default: by the format]"""
    context_length: int | None = MODEL(engines=(*LOCAL_ENGINES, "openai"), ge=1)
    """The most tokens of prompt and answer together. [default: the model's]"""
    batch_size: int | None = DECODING(shared=True, ge=1)
    """Prompts per batch."""
    think: str | None = DECODING(choices=(ON, OFF), engines=LOCAL_ENGINES, record=False)
    """Let a model think before it answers. [default: as the adapter was trained, otherwise off]"""
    reasoning_effort: str | None = DECODING(choices=EFFORTS, engines=LOCAL_ENGINES, record=False)
    """How much to think, if the model's chat template takes it."""
    think_tokens: int | None = DECODING(engines=LOCAL_ENGINES, ge=1, record=False)
    """End a thought after N tokens. [default: 2048]"""
    completions: bool = ENDPOINT(False)
    """Use the completions endpoint, for a model without a chat template."""
    extra_body: str | None = ENDPOINT(metavar="JSON")
    """Further fields of every request, e.g. {"reasoning_effort": "low"}; no API keys."""
    tokenizer: str | None = ENDPOINT()
    """The model's tokenizer, a hub name or a folder, to count prompts exactly."""
    concurrency: int | None = ENDPOINT(record=False, ge=1, le=256)
    """Parallel requests. [default: 8]"""
    timeout: float | None = ENDPOINT(record=False, gt=0)
    """Seconds that a request may take. [default: 60]"""
    retries: int | None = ENDPOINT(record=False, ge=0, le=100)
    """Try a failed request N more times. [default: 5]"""
    quantize: str | None = MODEL(choices=("nf4", "none"), engines=("transformers",), shared=False)
    """Load the base in 4 bits (transformers, on a GPU). [default: as the adapter was trained, if bitsandbytes is installed]"""
    dry_run: bool = RUN(False, group="Cost")
    """Print how many requests and tokens the run would take, without asking anything."""
    max_tokens_total: int | None = COST(ge=0)
    """Stop after this many tokens of prompts and answers (openai)."""
    cache: bool = RUN(True, names=("--cache/--no-cache",), shared=True)
    """Reuse answers that are in the cache."""
    name: str | None = RUN(common=True)
    """The run's folder under runs/. [default: built from the settings]"""
    preview: bool = RUN(False, common=True)
    """Print the exact prompt and its token count without calling a model."""
    as_json: bool = RUN(False, names=("--json",))
    """Print the scores as JSON."""

    @property
    def part(self) -> str:
        """The split, or the name of the file of items."""
        return Path(self.items_file).name if self.items_file else self.split or "dev"

    @property
    def thinks(self) -> str | None:
        """As `PromptSpec.think`; None if nothing is said."""
        return self.reasoning_effort or self.think

    def changed(self, **values: Any) -> "Options":
        """The options with other values. Raises UsageError for options that do not go together."""
        return Options(**{**dict(self), **values})

    @model_validator(mode="after")
    def _go_together(self) -> "Options":
        if not 0.0 <= self.temperature <= 2.0:
            raise UsageError(f"--temperature {self.temperature}: a number from 0 (greedy) to 2")
        if self.vllm_words and (self.engine != "vllm" or not self.vllm_words[0].startswith("-")):
            raise UsageError(f"unexpected argument {self.vllm_words[0]!r}: only options of vLLM may follow --, for --engine vllm")
        self._check_votes()
        if self.think == OFF and (self.reasoning_effort or self.think_tokens):
            raise UsageError("--think off goes with neither --reasoning-effort nor --think-tokens: leave one of them out")
        if self.shots is not None or self.adapter is None:
            check_choice(self.shots or 0, self.select, self.shot_ids)
        if self.items_file and self.split:
            raise UsageError(f"--split {self.split}: the items come from {self.items_file}; leave the flag out")
        for name, flag in FLAGS.items():
            if flag.engines and self.engine not in flag.engines and getattr(self, name) not in (None, False, ()):
                word, engines = option_name(name, flag), " and ".join(flag.engines)
                raise UsageError(f"--{word} is for {engines}; --engine {self.engine} does not take it")
        if self.base_url is not None:
            from harness.engines.openai.endpoint import split_url

            split_url(self.base_url)
        return self

    def _check_votes(self) -> None:
        if self.samples > 1 and self.temperature == 0:
            raise UsageError(f"--samples {self.samples}: greedy answers are all the same; add --temperature, e.g. 0.7")
        for name, value in (("share", self.share), ("vote", self.vote)):
            if value is not None and self.samples == 1:
                raise UsageError(f"--{name} {value}: one answer per item leaves nothing to vote on; add --samples, e.g. 8")
        if self.share is not None and self.vote not in (None, "share"):
            raise UsageError(
                f"--share {self.share}: it belongs to --vote share, not to --vote {self.vote}; leave one of them out"
            )
        if self.vote == "likelihood" and self.engine not in LIKELIHOOD:
            raise UsageError(f"--vote likelihood is for {' and '.join(LIKELIHOOD)}; --engine {self.engine} gives no likelihoods")


FLAGS = flags_of(Options, PromptFlag)
"""The flag of each option, by the field's name."""
