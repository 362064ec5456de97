"""Text encoders for the baselines: pretrained encoders, and a small one that is trained from scratch."""

import json
from itertools import chain
from pathlib import Path
from typing import Any, Self

from torch import nn

from harness.engines.models.bases import resolve_base
from harness.engines.models.encoding import MINILM, minilm_folder
from harness.engines.shared import brief, quiet_transformers
from harness.errors import DataError, EngineError
from harness.util.hashing import short_hash
from harness.util.settings import Positive, Strict

SMALL = "small"
SMALL_TOKENIZER = Path(__file__).parent / "tokenizer"
"""The tokenizer of models trained from scratch: 2,048 tokens, with a token for each digit."""


class EncoderSettings(Strict):
    """The encoder of a network."""

    name: str
    """"minilm" is all-MiniLM-L6-v2 from an installed package (width 384, 6 layers, at most 512 tokens); "small" starts from
    random weights; any other name is a local folder or a hub name such as microsoft/mdeberta-v3-base."""
    tuned: bool
    """Whether a pretrained encoder is tuned. If not, a checkpoint holds its name instead of its weights."""
    hidden: Positive
    """The width of "small"."""
    layers: Positive
    """The number of layers of "small"."""
    depth: Positive | None = None
    """The number of layers of a pretrained encoder that are used, from the first on; null: all. It must keep its layers where
    BERT has them."""


class EncoderNetwork(nn.Module):  # type: ignore[misc]
    """A network with a text encoder (`load_encoder`), which may be frozen."""

    def __init__(self, encoder: Any) -> None:
        super().__init__()
        self.encoder = encoder
        self.frozen = not any(parameter.requires_grad for parameter in encoder.parameters())
        self.borrowed = ("encoder.",) if self.frozen else ()
        """See `checkpoints.own_weights`."""

    def train(self, mode: bool = True) -> Self:
        """A frozen encoder stays in evaluation mode, without dropout."""
        super().train(mode)
        if self.frozen:
            self.encoder.eval()
        return self


@quiet_transformers()
def load_encoder(settings: EncoderSettings, *, weights: bool = True) -> tuple[Any, Any]:
    """The encoder, in float32, and its tokenizer.

    The encoder is a transformers model: `encoder(input_ids=, attention_mask=).last_hidden_state` has shape (texts, tokens,
    `encoder.config.hidden_size`). `weights`: whether the pretrained weights of a tuned encoder are read; otherwise they are
    random and a checkpoint must overwrite them. Raises EngineError if the encoder cannot be loaded.
    """
    from transformers import AutoConfig, AutoModel, AutoTokenizer, BertConfig, BertModel

    name = settings.name
    folder = SMALL_TOKENIZER if name == SMALL else minilm_folder() if name == MINILM else resolve_base(name)
    try:
        tokenizer = AutoTokenizer.from_pretrained(folder, trust_remote_code=False)
        if name == SMALL:
            size = {"hidden_size": settings.hidden, "intermediate_size": 4 * settings.hidden, "max_position_embeddings": 768}
            heads = max(1, settings.hidden // 64)
            config = BertConfig(vocab_size=len(tokenizer), num_hidden_layers=settings.layers, num_attention_heads=heads, **size)
            return BertModel(config, add_pooling_layer=False), tokenizer
        if settings.tuned and not weights:
            encoder = AutoModel.from_config(AutoConfig.from_pretrained(folder, trust_remote_code=False))
        else:
            encoder = AutoModel.from_pretrained(folder, trust_remote_code=False)
        if settings.depth is not None:
            encoder.encoder.layer = encoder.encoder.layer[: settings.depth]
    except (OSError, ValueError, ImportError, RuntimeError, AttributeError) as error:
        raise EngineError(f"the encoder {name} cannot be loaded: {brief(error)}") from None
    # The unused pooler would only take space in a checkpoint.
    if getattr(encoder, "pooler", None) is not None:
        encoder.pooler = None
    encoder.requires_grad_(settings.tuned)
    return encoder.float(), tokenizer


def check_identity(folder: Path, trained: object, here: str) -> None:
    """Raises DataError if the model in a folder was trained with an encoder whose identity differs from the present one."""
    if trained != here:
        raise DataError(f"{folder} was trained with a different encoder ({trained}, here {here}): restore it, or train again")


def identity(encoder: Any, tokenizer: Any) -> str:
    """16 hexadecimal digits of a hash of a tokenizer's vocabulary and, if the encoder is frozen, of its weights. A trained model
    works only with an encoder of the same identity."""
    words = json.dumps(sorted(tokenizer.get_vocab().items())).encode()
    frozen = not any(parameter.requires_grad for parameter in encoder.parameters())
    weights = sorted(encoder.state_dict().items()) if frozen else ()
    parts = (f"{name} {tuple(weight.shape)}".encode() + weight.cpu().numpy().tobytes() for name, weight in weights)
    return short_hash(chain([words], parts))
