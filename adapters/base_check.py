"""Checks that a base model is trained in the way in which it is prompted, on a miniature of its architecture with its own
tokenizer and template.

A miniature has one layer of each kind, small widths, and random weights that vary enough for attention to matter.
"""

import copy
import shlex
import tempfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from adapters.labels import collate, fuse_head, log_probs_of, logits_of
from adapters.layout import Layout, attention_of, layout_of
from adapters.packing import plan_packs
from adapters.recipe import load_recipe
from harness.engines.models.bases import context_length_of
from harness.engines.shared import brief, check_tokens, quiet_transformers
from harness.errors import EngineError, HarnessError
from harness.runs.folder import provenance
from harness.util.files import cache_folder
from harness.util.hashing import json_hash
from harness.util.processes import trusts_remote_code
from prompts.probe import PROBES
from prompts.render import Renderer, own_template, template_date
from prompts.rendered import TrainingRow
from prompts.spec import PromptSpec
from serialization.formats.thoughts import MARK, without_thoughts

if TYPE_CHECKING:
    from adapters.finetune import FinetuneJob

SPECS = (("hexagons", "full-history"), ("hexagons", "conversation"), ("minecraft", None))
"""The tasks and contexts whose prompts are checked."""
WINDOW = 8
"""Length of a miniature's sliding windows and chunks, in tokens: less than that of any row."""
APART = 1e-3
"""Largest allowed difference between two ways to compute a logit in float32, in standard deviations of the logits."""
SMALL = {
    **dict.fromkeys(("intermediate_size", "intermediate_size_mlp"), 128),
    **dict.fromkeys(("moe_intermediate_size", "shared_expert_intermediate_size"), 64),
    **dict.fromkeys(("num_experts", "num_local_experts", "n_routed_experts"), 4),
    **dict.fromkeys(("n_group", "topk_group", "first_k_dense_replace", "max_window_layers"), 1),
    "num_experts_per_tok": 2,
    "sliding_window": WINDOW,
    "attention_chunk_size": WINDOW,
}
"""The largest values of a miniature's configuration, by transformers' names."""


class CheckSkipped(Exception):
    """Raised, with the reason, if a check cannot be made here."""


@dataclass(frozen=True, slots=True)
class CheckOutcome:
    """The outcome of a check. `passed` is None if the check was skipped."""

    name: str
    passed: bool | None
    detail: str


class CheckedModel:
    """The model to check: a miniature of it or, with `full`, the model itself. Raises EngineError if it is not a causal language
    model."""

    def __init__(self, base: str, tokenizer: Any, config: Any, *, full: bool) -> None:
        self.base, self.tokenizer, self.full = base, tokenizer, full
        self.config = config if full else miniature(config)
        self.layout: Layout = layout_of(self.config, 10**6)

    def model(self) -> Any:
        """The model in float32, with an attention that takes training's masks, and with the same weights every time.

        Raises EngineError if the model cannot be loaded or lacks tokens, CheckSkipped if no miniature can be made of it.
        """
        import torch
        from transformers import AutoModelForCausalLM

        how = {"dtype": torch.float32, "attn_implementation": attention_of(self.layout, None)}
        try:
            with quiet_transformers():
                if self.full:
                    model = AutoModelForCausalLM.from_pretrained(self.base, trust_remote_code=trusts_remote_code(), **how).eval()
                else:
                    with torch.random.fork_rng():
                        torch.manual_seed(0)
                        model = AutoModelForCausalLM.from_config(copy.deepcopy(self.config), **how).eval()
                # Fails here if the shrunk widths do not fit together.
                model(torch.tensor([[0, 1]]))
        except Exception as error:
            if self.full:
                raise EngineError(f"the model cannot be loaded: {brief(error)}") from error
            raise CheckSkipped(f"no miniature can be made of it ({brief(error)}): add --full") from error
        check_tokens((token for row in self.rows for token in row.token_ids), self.config)
        return model

    @cached_property
    def renderers(self) -> list[Renderer]:
        return [Renderer(PromptSpec.make(task, context), self.tokenizer, 10**6, 1) for task, context in SPECS]

    @cached_property
    def rows(self) -> list[TrainingRow]:
        """Two rows of each prompt format."""
        return [one.training_row(item) for one in self.renderers for item in PROBES[one.spec.task][:2]]


def miniature(config: Any) -> Any:
    """A configuration of the same architecture with one layer of each kind, at least two layers, and small widths."""
    small = copy.deepcopy(config)
    for part in {id(one): one for one in (small, small.get_text_config())}.values():
        _shrink(part)
    for name in ("vision_config", "audio_config"):
        if (part := getattr(small, name, None)) is not None:
            _lower(part, {"num_hidden_layers": 1, "depth": 1})
    return small


def _shrink(config: Any) -> None:
    layers = getattr(config, "num_hidden_layers", None)
    if not isinstance(layers, int):
        return
    values = config.to_dict()
    each = {name: value for name, value in values.items() if isinstance(value, list | tuple) and len(value) == layers}
    kinds = list(zip(*each.values(), strict=True)) or [()] * layers
    chosen = sorted({kind: place for place, kind in reversed([*enumerate(map(str, kinds))])}.values())
    # Layers may also alternate by number, without a list of their kinds.
    chosen = sorted({*chosen, *range(min(layers, 2))})
    for name, value in each.items():
        setattr(config, name, [value[place] for place in chosen])
    # Heads keep their width: rotary embeddings and kernels depend on it.
    heads = getattr(config, "num_attention_heads", None) or 1
    groups = getattr(config, "num_key_value_heads", None) or heads
    kept = min(groups, 2)
    many = kept * (2 if heads > groups else 1)
    hidden = 128 if values.get("head_dim") is not None else many * (config.hidden_size // heads)
    _lower(config, SMALL | {"num_hidden_layers": len(chosen), "hidden_size": hidden})
    _lower(config, {"num_attention_heads": many, "num_key_value_heads": kept})
    # Random weights make attention far from uniform.
    config.initializer_range = 1.5 * hidden**-0.5


def _lower(config: Any, largest: Mapping[str, int]) -> None:
    """Lower a configuration's integers to these values; smaller ones stay, and missing ones are not added."""
    for name, value in largest.items():
        there = getattr(config, name, None)
        if isinstance(there, int) and not isinstance(there, bool) and there > value:
            setattr(config, name, value)


def check_prompts(subject: CheckedModel) -> str:
    """Training and asking render the same prompts."""
    pairs = [(one, item) for one in subject.renderers for item in PROBES[one.spec.task]]
    for one, item in pairs:
        if one.render(item).token_ids != one.training_row(item).prompt_ids:
            raise HarnessError(f"{item.id}: {one.spec.name}: asking and training have different tokens")
    return f"{len(pairs)} prompts, token by token"


def check_bos(subject: CheckedModel) -> str:
    """A prompt begins with exactly one BOS, if the tokenizer puts one before a text."""
    tokenizer = subject.tokenizer
    bos = tokenizer.bos_token_id
    begins = {row.prompt_ids[0] == bos for row in subject.rows}
    # Rendering already refuses a second BOS.
    if bos is not None and tokenizer("x").input_ids[:1] == [bos] and begins != {True}:
        raise HarnessError(f"the tokenizer puts {tokenizer.bos_token!r} before a text, and the chat template does not")
    return f"one, {tokenizer.bos_token!r}" if begins == {True} else "none, as the tokenizer has it"


def check_end(subject: CheckedModel) -> str:
    """The last token of a training row ends an answer."""
    last = {row.completion_ids[-1] for row in subject.rows}
    ends = {subject.tokenizer.eos_token_id, *subject.renderers[0].stop_token_ids}
    if not last <= ends:
        raise HarnessError(f"training rows end with {subject.tokenizer.decode(sorted(last - ends))!r}, which ends no answer")
    return " and ".join(repr(token) for token in subject.tokenizer.convert_ids_to_tokens(sorted(ends)))


def check_thoughts(subject: CheckedModel) -> str:
    """A prompt leaves no thought open."""
    text = subject.renderers[0].render(PROBES["hexagons"][0]).text
    if not without_thoughts(text).ended:
        raise HarnessError("a prompt ends within a thought, and the chat template has no switch against it: take another base")
    return "prompts end with an empty thought" if MARK.search(text) else "the template opens none"


def check_template(subject: CheckedModel) -> str:
    """Every message stands in the prompt exactly once, and the chat template writes no changing date."""
    one = subject.renderers[0]
    rendered = one.render(PROBES["hexagons"][0])
    for message in rendered.messages:
        if (count := rendered.text.count(message["content"].strip())) != 1:
            raise HarnessError(f"the {message['role']} message stands {count} times in the prompt")
    template = own_template(subject.tokenizer)
    if not template:
        return "none: the plain one is used"
    date = template_date(template)
    return f"each message once; {f'always writes {date}' if date else 'no date'}"


def check_packs(subject: CheckedModel) -> str:
    """Packs give the same logits and loss as their rows one by one, without packs, padding or masks."""
    import torch

    model = subject.model()
    limit = context_length_of(subject.config) or 10**6
    rows = [row for row in subject.rows if len(row) <= limit]
    if not rows:
        raise CheckSkipped(f"no row fits in {limit} tokens")
    fused = fuse_head(model)
    labels = torch.tensor([token for row in rows for token in row.completion_ids])
    with torch.no_grad():
        alone = torch.cat([model(torch.tensor([row.token_ids])).logits[0, len(row.prompt_ids) - 1 : -1] for row in rows])
        together, likely = [], []
        for plan in plan_packs(rows, [range(len(rows))], 4096, 4096, subject.layout.packing):
            inputs = collate(plan.write(), subject.layout.packing, pad=0)
            asked = inputs.pop("labels")
            together.append(logits_of(model, inputs, use_cache=False))
            likely += [log_probs_of(model, inputs, asked)] if fused else []
    if fused:
        _difference(torch.cat(likely), alone.log_softmax(-1).gather(1, labels[:, None])[:, 0])
    return f"{subject.layout}; {_difference(torch.cat(together), alone)}"


def _difference(one: Any, other: Any) -> str:
    """The largest difference between logits, in words. Raises HarnessError if it exceeds `APART`."""
    apart = float((one - other).abs().max() / other.std())
    if not apart <= APART:
        raise HarnessError(f"logits differ by up to {apart:.2g} standard deviations")
    return f"logits equal to {apart:.0e} standard deviations"


def check_lora(subject: CheckedModel) -> str:
    """LoRA finds layers to adapt, and a saved adapter gives the same logits when peft alone loads it."""
    import torch
    from peft import PeftModel

    from adapters.model import with_lora

    recipe = load_recipe("llama-lora", ["training.gradient_checkpointing=false"])
    tokens = torch.tensor([subject.rows[0].token_ids[-WINDOW * 4 :]])
    adapted = with_lora(recipe, subject.model()).eval()
    seconds = {name: p for name, p in adapted.named_parameters() if "lora_B" in name}
    with torch.no_grad():
        plain = adapted(tokens).logits
        for parameter in seconds.values():
            parameter.normal_(std=0.05)
        ours = adapted(tokens).logits
        if torch.equal(plain, ours):
            raise HarnessError("LoRA changes nothing: no linear layer of the model takes it")
        with tempfile.TemporaryDirectory() as folder, quiet_transformers():
            adapted.save_pretrained(folder)
            said = _difference(PeftModel.from_pretrained(subject.model(), folder).eval()(tokens).logits, ours)
    kinds = sorted({name.split(".lora_B")[0].rpartition(".")[2] for name in seconds})
    return f"{len(seconds)} modules ({', '.join(kinds)}); read again by peft: {said}"


CHECKS: dict[str, Callable[[CheckedModel], str]] = {
    "prompts": check_prompts,
    "BOS": check_bos,
    "end": check_end,
    "thoughts": check_thoughts,
    "template": check_template,
    "packs": check_packs,
    "LoRA": check_lora,
}


def run_checks(base: str, tokenizer: Any, config: Any, *, full: bool = False) -> list[CheckOutcome]:
    """The outcomes of all checks, in order; `base` is a folder or a hub name. Raises EngineError as `CheckedModel` does."""
    try:
        subject = CheckedModel(base, tokenizer, config, full=full)
    except (AttributeError, ValueError, TypeError, KeyError) as error:
        raise EngineError(f"--base {base}: no miniature can be made of it ({brief(error)}): add --full") from error
    return [_outcome(name, check, subject) for name, check in CHECKS.items()]


def _outcome(name: str, check: Callable[[CheckedModel], str], subject: CheckedModel) -> CheckOutcome:
    try:
        return CheckOutcome(name, True, check(subject))
    except CheckSkipped as error:
        return CheckOutcome(name, None, str(error))
    except HarnessError as error:
        return CheckOutcome(name, False, str(error))
    except Exception as error:  # noqa: BLE001 - any model's code runs here; training or asking would raise the same
        return CheckOutcome(name, False, f"{type(error).__name__}: {brief(error)}")


def require(job: "FinetuneJob", say: Callable[[str], None]) -> None:
    """Raises HarnessError if a job's base would be trained in another way than it is prompted. One that passed with the same
    files and library versions is not checked again."""
    path = cache_folder() / "checked" / f"{json_hash([job.base_files, provenance()['versions']])}"
    if path.is_file():
        return
    name = job.base_files["base"]
    say(f"checking once, on a miniature, that {name} is trained as it is asked")
    if failed := [f"{one.name}: {one.detail}" for one in run_checks(job.base, job.tokenizer, job.config) if one.passed is False]:
        command = shlex.join(["harness", "check", job.base])
        raise HarnessError(f"{name} cannot be trained correctly: {'; '.join(failed)}; `{command}` shows all")
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
