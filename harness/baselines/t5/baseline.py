"""T5 on HEXAGONS ("Draw Me a Flower", TACL 2022, section 6.2): instructions as text to actions as text, by beam search."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy
from transformers import GenerationConfig

from harness.baselines import DECODING, Decoding
from harness.baselines.encoders import SMALL, SMALL_TOKENIZER
from harness.baselines.t5.text import IGNORED, Coder, TextBatch, Texts, TextTokens
from harness.corpora.item import Item, drawing_steps
from harness.engines.models.bases import fingerprint, resolve_base
from harness.engines.shared import brief, quiet_transformers
from harness.errors import DataError, EngineError
from harness.runs.answering import Answer, Predictor
from harness.tasks.registry import tasks_in
from harness.training import checkpoints
from harness.training.recipe import Recipe
from harness.training.steps import Data, Losses
from harness.training.trainable import Begun, Trainable
from harness.util.settings import Fraction, Positive, Strict
from serialization.contexts import CONTEXTS


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


@quiet_transformers()
def load_pretrained(name: str) -> tuple[Any, TextTokens]:
    """A model in float32 and its tokens, by hub name or local folder. Raises EngineError for anything else."""
    from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

    folder = resolve_base(name)
    try:
        tokenizer = AutoTokenizer.from_pretrained(folder, trust_remote_code=False)
        model = AutoModelForSeq2SeqLM.from_pretrained(folder, dtype=torch.float32, trust_remote_code=False)
    except (OSError, ValueError, ImportError, RuntimeError) as error:
        raise EngineError(f"model {name}: transformers cannot load an encoder-decoder: {brief(error)}") from None
    start = model.generation_config.decoder_start_token_id
    backend = getattr(tokenizer, "backend_tokenizer", None)
    if None in (backend, tokenizer.pad_token_id, tokenizer.eos_token_id):
        raise EngineError(f"model {name}: its tokenizer has no tokenizer.json, or no tokens that pad and end a text")
    pad, end = tokenizer.pad_token_id, tokenizer.eos_token_id
    return model, TextTokens(backend, pad, end, pad if start is None else int(start))


def small(shape: T5Shape) -> tuple[Any, TextTokens]:
    """A T5 with random weights for the tokens of `SMALL_TOKENIZER`."""
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(SMALL_TOKENIZER, trust_remote_code=False)
    pad, end = tokenizer.pad_token_id, tokenizer.eos_token_id
    config = {"model_type": "t5", "vocab_size": len(tokenizer), "feed_forward_proj": "gated-gelu"}
    config |= {"d_model": shape.d_model, "d_ff": shape.d_ff, "d_kv": shape.d_kv, "num_heads": shape.heads}
    config |= {"num_layers": shape.layers, "num_decoder_layers": shape.layers, "dropout_rate": shape.dropout}
    config |= {"pad_token_id": pad, "eos_token_id": end, "decoder_start_token_id": pad}
    return rebuild(config), TextTokens(tokenizer.backend_tokenizer, pad, end, pad)


@quiet_transformers()
def rebuild(config: Mapping[str, Any]) -> Any:
    """The model of a configuration, with random weights."""
    from transformers import AutoConfig, AutoModelForSeq2SeqLM

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

    def begin(self, items: Sequence[Item], dev: Sequence[Item], recipe: T5Recipe) -> Begun:
        scratch = recipe.model == SMALL
        model, tokens = small(recipe.network) if scratch else load_pretrained(recipe.model)
        network, coder = T5Network(model), Coder(recipe, tokens)
        data = Data(drawing_steps(items), drawing_steps(dev), coder, coder.history, recipe.words_of)
        own = {
            "model_fingerprint": None if scratch else fingerprint(resolve_base(recipe.model)),
            "tokens": {"pad": tokens.pad, "end": tokens.end, "start": tokens.start},
            "architecture": model.config.to_dict(),
        }
        return Begun(network, data, own, [tokens.tokenizer.to_str()])

    def load(self, folder: Path, decoding: Decoding = DECODING) -> "T5Predictor":
        from tokenizers import Tokenizer

        config = checkpoints.read_config(folder, NAME)
        texts = checkpoints.read_settings(folder, Texts, {key: config[key] for key in Texts.model_fields if key in config})
        try:
            network = T5Network(rebuild(config["architecture"]))
            (text,) = checkpoints.read_words(folder)
            tokens = TextTokens(Tokenizer.from_str(text), *(int(config["tokens"][name]) for name in ("pad", "end", "start")))
        except Exception as error:  # noqa: BLE001 - whatever transformers and tokenizers make of foreign files
            raise DataError(f"{folder} does not describe an encoder-decoder and its tokenizer: {brief(error)}") from None
        return T5Predictor(checkpoints.restored(network, folder), Coder(texts, tokens), decoding)


class T5Predictor(Predictor):
    """A network with its texts and its decoding."""

    batch_size = 16

    def __init__(self, network: T5Network, coder: Coder, decoding: Decoding = DECODING) -> None:
        self.device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        self.network, self.coder, self.decoding = network.to(self.device), coder, decoding
        # transformers takes missing settings from here, and a pretrained model's own may be meant for other texts.
        network.model.generation_config = GenerationConfig()
        self.rolls_out = CONTEXTS["hexagons"][coder.texts.context].board == "predicted"

    @torch.inference_mode()  # type: ignore[untyped-decorator]
    def predict(self, items: Sequence[Item]) -> list[Answer]:
        tokens, texts = self.coder.tokens, self.coder.texts
        # The library's defaults, because the paper does not give its settings. With early_stopping, the search would end at
        # `num_beams` finished answers, even bad short ones, before the good one.
        settings = GenerationConfig(
            max_new_tokens=texts.answer_tokens,
            num_beams=self.decoding.beams,
            do_sample=False,
            length_penalty=1.0,
            early_stopping=False,
            pad_token_id=tokens.pad,
            eos_token_id=tokens.end,
            decoder_start_token_id=tokens.start,
        )
        inputs, mask = (part.to(self.device) for part in self.coder.inputs(drawing_steps(items)))
        written = self.network.model.generate(input_ids=inputs, attention_mask=mask, generation_config=settings)
        # The first token only starts the decoder; in some models it equals the token that ends a text.
        answers = map(tokens.read, written[:, 1:].tolist())
        return [Answer(texts.written.parse(text).actions, ended) for text, ended in answers]
