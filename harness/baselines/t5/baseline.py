"""T5 on HEXAGONS ("Draw Me a Flower", TACL 2022, section 6.2): instructions as text to actions as text, by beam search."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy
from transformers import GenerationConfig

from harness.baselines import DECODING, Decoding
from harness.baselines.encoders import SMALL, SMALL_TOKENIZER, be_quiet
from harness.baselines.t5.text import IGNORED, Coder, TextBatch, Texts, TextTokens
from harness.corpora.item import HexagonsItem, Item, drawing_steps
from harness.engines.models.bases import fingerprint, resolve_base
from harness.engines.shared import brief
from harness.errors import DataError, EngineError, UsageError
from harness.runs.answering import Answer, Predictor
from harness.tasks.registry import tasks_in
from harness.training import checkpoints
from harness.training.recipe import Recipe
from harness.training.steps import Data, Losses
from harness.training.trainable import Begun, Trainable
from harness.util.settings import Fraction, Positive, Strict
from serialization.contexts import get_context


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


NAME = "t5"


class T5Recipe(Recipe, Texts):
    model: str
    """"small" is trained from scratch; any other name is the local folder or hub name of a transformers encoder-decoder, such as
    google/t5-base-lm-adapt, all of whose weights are trained."""
    network: T5Shape
    """The sizes of "small"."""


class T5(Trainable[T5Recipe]):
    """See `harness.training.trainable.Trainable`."""

    name, schema = NAME, T5Recipe
    tasks = tasks_in("hexagons")
    decoding = ("beams",)

    def begin(
        self, items: Sequence[Item], dev: Sequence[Item], recipe: T5Recipe, start: Path | None, say: Callable[[str], None]
    ) -> Begun:
        train_items, dev_items = drawing_steps(items), drawing_steps(dev)
        network, tokens, source = _beginning(recipe, start)
        coder = Coder(recipe, tokens)
        count = sum(parameter.numel() for parameter in network.parameters())
        say(f"model {recipe.model}: {count:,} parameters, {tokens.tokenizer.get_vocab_size():,} tokens")
        for what in _cut(coder, train_items):
            say(what)
        sizes = ", ".join(f"{key} {value}" for key, value in recipe.network.model_dump().items())
        scratch = recipe.model == SMALL
        words = {
            "source": "a T5 from nothing" if scratch else Path(recipe.model).name,
            "sizes": f"- Sizes: {sizes}\n" if scratch else "",
        }
        data = Data(train_items, dev_items, coder, coder.history, recipe.words_of)
        own = own_config(network, tokens, source)
        return Begun(recipe, network, data, {"count": count, **words}, own, [tokens.tokenizer.to_str()])

    def load(self, folder: Path, decoding: Decoding = DECODING) -> T5Predictor:
        config = checkpoints.read_config(folder, NAME)
        try:
            texts = checkpoints.read_settings(folder, Texts, {key: config[key] for key in Texts.model_fields if key in config})
        except UsageError as error:
            raise DataError(f"{folder / checkpoints.CONFIG}: {error}") from None
        network = _rebuilt(config, folder)
        tokens = _tokens(config, folder, network)
        checkpoints.restore(network, checkpoints.read_weights(folder), folder / checkpoints.WEIGHTS)
        return T5Predictor(network.eval(), Coder(texts, tokens), decoding)


def _beginning(recipe: T5Recipe, start: Path | None) -> tuple[T5Network, TextTokens, str | None]:
    """The initial network, its tokens, and the fingerprint of the pretrained model (None for "small").

    Raises DataError if `start` was built from another model than the recipe's.
    """
    if start is None:
        if recipe.model == SMALL:
            model, tokens = small(recipe.network)
            return T5Network(model), tokens, None
        model, tokens = load_pretrained(recipe.model)
        return T5Network(model), tokens, fingerprint(resolve_base(recipe.model))
    config = checkpoints.read_config(start, NAME)
    if config.get("model") != recipe.model:
        raise DataError(f"{start}: it was built from the model {config.get('model')}: add --set model={config.get('model')}")
    network = T5Network(small(recipe.network)[0]) if recipe.model == SMALL else _rebuilt(config, start)
    checkpoints.begin_with(network, start, NAME, recipe.network if recipe.model == SMALL else None)
    return network, _tokens(config, start, network), config.get("model_fingerprint")


def _rebuilt(config: dict[str, Any], folder: Path) -> T5Network:
    """The configured network with random weights. Raises DataError if the configuration is not of an encoder-decoder."""
    try:
        return T5Network(rebuild(config.get("architecture") or {}))
    except Exception as error:  # noqa: BLE001 - whatever transformers makes of a foreign configuration
        raise DataError(f"{folder / checkpoints.CONFIG}: it does not describe an encoder-decoder: {brief(error)}") from None


def _tokens(config: dict[str, Any], folder: Path, network: T5Network) -> TextTokens:
    """The tokens in a model's folder. Raises DataError if the tokenizer is invalid or does not match the network."""
    from tokenizers import Tokenizer

    path = folder / checkpoints.VOCABULARY
    try:
        (text,) = checkpoints.read_words(folder)
        tokens = TextTokens(Tokenizer.from_str(text), *(int(config["tokens"][name]) for name in ("pad", "end", "start")))
        size = tokens.tokenizer.get_vocab_size()
        if size > network.model.get_input_embeddings().num_embeddings or not all(0 <= token < size for token in tokens[1:]):
            raise ValueError(f"its {size} tokens do not match {checkpoints.CONFIG}")
    except Exception as error:  # noqa: BLE001 - the library tokenizers raises nothing narrower
        raise DataError(f"{path}: this is not the model's tokenizer: {brief(error)}") from None
    return tokens


def _cut(coder: Coder, items: Sequence[HexagonsItem]) -> Iterable[str]:
    """Messages about cut inputs and targets."""
    texts = coder.texts
    if cut := sum(len(coder.input(item)) > texts.input_tokens for item in items):
        yield f"{cut} of {len(items)} train inputs are longer than {texts.input_tokens} tokens; only their last tokens are read"
    if cut := sum(len(coder.target(item)) > texts.target_tokens for item in items):
        yield f"{cut} of {len(items)} train targets are longer than {texts.target_tokens} tokens and are cut there"


def own_config(network: T5Network, tokens: TextTokens, source: str | None) -> dict[str, Any]:
    """The T5-specific part of the configuration."""
    return {
        "model_fingerprint": source,
        "tokens": {"pad": tokens.pad, "end": tokens.end, "start": tokens.start},
        "architecture": network.model.config.to_dict(),
    }


class T5Predictor(Predictor):
    """A network with its texts and its decoding."""

    batch_size = 16

    def __init__(self, network: T5Network, coder: Coder, decoding: Decoding = DECODING) -> None:
        self.device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        self.network, self.coder, self.decoding = network.to(self.device), coder, decoding
        # transformers takes missing settings from here, and a pretrained model's own may be meant for other texts.
        network.model.generation_config = GenerationConfig()
        self.rolls_out = get_context("hexagons", coder.texts.context).board == "predicted"

    @torch.inference_mode()  # type: ignore[untyped-decorator]
    def predict(self, items: Sequence[Item]) -> list[Answer]:
        inputs, mask = (part.to(self.device) for part in self.coder.inputs(drawing_steps(items)))
        written = self.network.model.generate(input_ids=inputs, attention_mask=mask, generation_config=self._settings())
        return [self._answer(ids) for ids in written.tolist()]

    def _settings(self) -> Any:
        """The settings of the beam search, which are the library's defaults because the paper does not give its own.

        With early_stopping, the search would end at `num_beams` finished answers, even bad short ones, before the good one.
        """
        tokens = self.coder.tokens
        return GenerationConfig(
            max_new_tokens=self.coder.texts.answer_tokens,
            num_beams=self.decoding.beams,
            do_sample=False,
            length_penalty=1.0,
            early_stopping=False,
            pad_token_id=tokens.pad,
            eos_token_id=tokens.end,
            decoder_start_token_id=tokens.start,
        )

    def _answer(self, ids: Sequence[int]) -> Answer:
        # The first token only starts the decoder; in some models it equals the token that ends a text.
        text, ended = self.coder.tokens.read(ids[1:])
        return Answer(self.coder.texts.written.parse(text).actions, ended)
