"""Vectors of sentences: their cache, pooling and refusals."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from harness.engines.models import encoding
from harness.engines.models.encoding import embedded
from harness.errors import EngineError

TEXTS = ["Paint it red.", "Now build a tower of five yellow blocks in the middle", ""]


@pytest.fixture
def encoder(tiny_base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path / "cache"))
    return Path(shutil.copytree(tiny_base, tmp_path / "encoder"))


def test_vectors_have_length_one_and_do_not_depend_on_their_batch(encoder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    vectors = embedded(TEXTS, str(encoder))
    assert vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    for batch in (1, 2):
        monkeypatch.setattr(encoding, "BATCH", batch)
        assert np.allclose(embedded([*TEXTS, str(batch)], str(encoder))[:3], vectors, atol=1e-5)


def test_the_cache_is_used_rebuilt_and_never_unpickled(encoder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    vectors = embedded(TEXTS, str(encoder))
    (file,) = (tmp_path / "cache" / "shots").glob("*")
    with monkeypatch.context() as patch:
        patch.setattr(encoding, "_encode", lambda *_: pytest.fail("it was encoded again"))
        assert np.array_equal(embedded(TEXTS, str(encoder)), vectors)
    whole = file.read_bytes()
    np.save(file, np.array([{}], object), allow_pickle=True)
    for content in (whole[:-7], file.read_bytes()):
        file.write_bytes(content)
        assert np.array_equal(embedded(TEXTS, str(encoder)), vectors)
        assert file.read_bytes() == whole


def test_pooling_is_read_from_the_folder(encoder: Path) -> None:
    modules = [
        {"type": f"sentence_transformers.models.{name}", "path": path} for name, path in (("Transformer", ""), ("Pooling", "p"))
    ]
    (encoder / "modules.json").write_text(json.dumps(modules))
    (encoder / "p").mkdir()
    mean = embedded(TEXTS, str(encoder))
    (encoder / "config.json").write_text((encoder / "config.json").read_text() + " ")
    (encoder / "p" / "config.json").write_text('{"pooling_mode_cls_token": true, "pooling_mode_mean_tokens": false}')
    assert not np.allclose(embedded(TEXTS, str(encoder))[1], mean[1], atol=1e-3)
    (encoder / "modules.json").write_text(json.dumps([*modules, {"type": "x.Dense", "path": "d"}]))
    with pytest.raises(EngineError, match="has a layer Dense"):
        embedded(["new"], str(encoder))
