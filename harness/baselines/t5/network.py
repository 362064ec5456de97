"""The encoder-decoder of the T5 baseline: a pretrained model, or a small T5 that is trained from scratch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from harness.baselines.encoders import SMALL_TOKENIZER, be_quiet
from harness.baselines.t5.text import IGNORED, TextBatch, TextTokens
from harness.engines.models.bases import resolve_base
from harness.engines.shared import brief
from harness.errors import EngineError
from harness.training.steps import Losses
from harness.util.settings import Fraction, Positive, Strict

SMALL = "small"


class T5Shape(Strict):
    """The sizes of the model "small", by T5's names (v1.1, with gated feed-forward layers and no biases)."""

    d_model: Positive
    d_ff: Positive
    d_kv: Positive
    """The width of each head."""
    heads: Positive
    layers: Positive
    """The number of layers of the encoder, and of the decoder."""
    dropout: Fraction


class T5Network(nn.Module):  # type: ignore[misc]
    """Any encoder-decoder of transformers, with the losses of its target tokens."""

    def __init__(self, model: Any) -> None:
        super().__init__()
        self.model = model
        # Tied weights have several names; safetensors stores them under one, so the others are left out.
        self.borrowed = tuple(f"model.{name}" for name in model.all_tied_weights_keys)

    def forward(self, batch: TextBatch) -> Losses:
        """For each item, the sum of its target tokens' cross-entropies and the number of these tokens, the end included."""
        output = self.model(
            input_ids=batch.inputs, attention_mask=batch.mask, decoder_input_ids=batch.given, use_cache=False, return_dict=True
        )
        losses: Tensor = cross_entropy(
            output.logits.float().transpose(1, 2), batch.targets, ignore_index=IGNORED, reduction="none"
        )
        return Losses(losses.sum(1), (batch.targets != IGNORED).sum(1))


def load_pretrained(name: str) -> tuple[Any, TextTokens]:
    """A model in float32 and its tokens, by hub name or local folder. Raises EngineError for anything else."""
    from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

    folder = resolve_base(name)
    be_quiet()
    try:
        tokenizer = AutoTokenizer.from_pretrained(folder, trust_remote_code=False)
        model = AutoModelForSeq2SeqLM.from_pretrained(folder, dtype=torch.float32, trust_remote_code=False)
    except (OSError, ValueError, ImportError, RuntimeError) as error:
        raise EngineError(f"model {name}: transformers cannot load an encoder-decoder: {brief(error)}") from None
    start = model.generation_config.decoder_start_token_id
    start = getattr(model.config, "decoder_start_token_id", None) if start is None else start
    backend = getattr(tokenizer, "backend_tokenizer", None)
    if None in (backend, tokenizer.pad_token_id, tokenizer.eos_token_id):
        raise EngineError(f"model {name}: its tokenizer has no tokenizer.json, or no tokens that pad and end a text")
    pad, end = tokenizer.pad_token_id, tokenizer.eos_token_id
    return model, TextTokens(backend, pad, end, pad if start is None else int(start))


def small(shape: T5Shape) -> tuple[Any, TextTokens]:
    """A T5 with random weights for the tokens of `SMALL_TOKENIZER`."""
    from transformers import AutoTokenizer, T5Config

    tokenizer = AutoTokenizer.from_pretrained(SMALL_TOKENIZER, trust_remote_code=False)
    pad, end = tokenizer.pad_token_id, tokenizer.eos_token_id
    config = T5Config(
        vocab_size=len(tokenizer),
        d_model=shape.d_model,
        d_ff=shape.d_ff,
        d_kv=shape.d_kv,
        num_heads=shape.heads,
        num_layers=shape.layers,
        num_decoder_layers=shape.layers,
        dropout_rate=shape.dropout,
        feed_forward_proj="gated-gelu",
        pad_token_id=pad,
        eos_token_id=end,
        decoder_start_token_id=pad,
    )
    return rebuild(config.to_dict()), TextTokens(tokenizer.backend_tokenizer, pad, end, pad)


def rebuild(config: Mapping[str, Any]) -> Any:
    """The model of a configuration, with random weights. Raises ValueError for an invalid configuration."""
    from transformers import AutoConfig, AutoModelForSeq2SeqLM

    be_quiet()
    if "model_type" not in config:
        raise ValueError("it has no model_type")
    return AutoModelForSeq2SeqLM.from_config(AutoConfig.for_model(**config), dtype=torch.float32)
