"""A random two-layer Llama with its own tokenizer, built in seconds from nothing: real files, no download."""

import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from harness.engines.models.weights import weights_fingerprint
from prompts.probe import described
from prompts.rendered import Rendered
from prompts.spec import PromptSpec

TEMPLATES = Path(__file__).with_name("templates")


def build_tiny_model(
    folder: Path, *, chat: bool = True, seed: int = 0, context_length: int = 2048, sees: bool = False, **more: Any
) -> Path:
    """Write a small random Llama (hidden size 32, 2 layers, head size 32) and a byte-level BPE tokenizer to `folder`; `more` are
    keys of its configuration. A model that `sees` is a Gemma 3 with the same text model, whose embeddings are tied.

    The tokenizer puts a BOS before every text it encodes, as Llama's does. With `chat` it has a chat template, which writes
    the BOS, too. The weights have a large spread, which avoids near ties in greedy choices. Returns `folder`.
    """
    import torch
    from transformers import AutoModelForCausalLM, Gemma3Config, LlamaConfig, SiglipVisionConfig

    tokenizer = _train_tokenizer(chat)
    text: dict[str, Any] = dict(
        vocab_size=len(tokenizer),
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=1,
        num_key_value_heads=1,
        max_position_embeddings=context_length,
        initializer_range=0.4,
        bos_token_id=tokenizer.bos_token_id,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
        **more,
    )
    eye = SiglipVisionConfig(hidden_size=16, intermediate_size=16, num_hidden_layers=1, num_attention_heads=1, image_size=28)
    config = Gemma3Config(text_config=text, vision_config=eye, mm_tokens_per_image=4) if sees else LlamaConfig(**text)
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model = AutoModelForCausalLM.from_config(config)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def build_tiny_adapter(base: Path, folder: Path, *, rank: int = 4, seed: int = 1, **more: Any) -> Path:
    """Write a peft LoRA adapter for `base` to `folder`, with random nonzero weights; `more` are keys of its configuration.
    Returns `folder`."""
    import torch
    from peft import LoraConfig, get_peft_model
    from transformers import AutoModelForCausalLM

    with torch.random.fork_rng():
        torch.manual_seed(seed)
        usual = {"target_modules": "all-linear", "init_lora_weights": False, "task_type": "CAUSAL_LM"}
        config = LoraConfig(r=rank, lora_alpha=2 * rank, **usual | more)
        get_peft_model(AutoModelForCausalLM.from_pretrained(base), config).save_pretrained(folder)
    return folder


def hub_snapshot(base: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Put a copy of `base` into a separate hub cache as someone/tiny. Returns the snapshot's folder, named after its commit."""
    snapshot = cache / "models--someone--tiny" / "snapshots" / "0123456789abcdef"
    shutil.copytree(base, snapshot)
    (snapshot.parents[1] / "refs").mkdir()
    (snapshot.parents[1] / "refs" / "main").write_text(snapshot.name)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(cache))
    return snapshot


def _train_tokenizer(chat: bool):  # type: ignore[no-untyped-def]
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
    from transformers import PreTrainedTokenizerFast

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=400,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        special_tokens=["<pad>", "<s>", "</s>", "<|system|>", "<|user|>", "<|assistant|>"],
        show_progress=False,
    )
    tokenizer.train_from_iterator((TEMPLATES / "corpus.txt").read_text().rstrip().split("\n\n"), trainer)
    bos = tokenizer.token_to_id("<s>")
    tokenizer.post_processor = processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", bos)])
    wrapped = PreTrainedTokenizerFast(tokenizer_object=tokenizer, bos_token="<s>", eos_token="</s>", pad_token="<pad>")
    if chat:
        wrapped.chat_template = (TEMPLATES / "tiny.jinja").read_text().rstrip()
    return wrapped


def save_tiny_adapter(base: Path, folder: Path, spec: PromptSpec, /, seed: int = 1, **more: object) -> Path:
    """`build_tiny_adapter` with a harness.json that holds the prompt format and `more`, such as a recipe. Returns `folder`."""
    build_tiny_adapter(base, folder, seed=seed)
    saved = {**described(spec), "base": "tiny", "base_fingerprint": weights_fingerprint(base), **more}
    (folder / "harness.json").write_text(json.dumps(saved))
    return folder


def prompts_for(engine: Any, texts: Sequence[str]) -> list[Rendered]:
    """Texts as user messages, rendered by the engine's chat template."""
    rows = []
    for text in texts:
        messages: Any = [{"role": "user", "content": text}]
        rendered = engine.tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True)
        ids = engine.tokenizer(rendered, add_special_tokens=False).input_ids
        rows.append(Rendered(text, tuple(messages), rendered, tuple(ids)))
    return rows
