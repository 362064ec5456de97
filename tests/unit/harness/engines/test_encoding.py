"""Vectors of sentences: their length, and their cache."""

from pathlib import Path

import numpy as np
import pytest

from harness.engines.models import encoding
from harness.engines.models.encoding import embedded

TEXTS = ["Paint it red.", "Now build a tower of five yellow blocks in the middle", ""]


@pytest.fixture(autouse=True)
def _encoder(tiny_base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(encoding, "minilm_folder", lambda: str(tiny_base))


def test_vectors_have_length_one_and_do_not_depend_on_their_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    vectors = embedded(TEXTS)
    assert vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    for batch in (1, 2):
        monkeypatch.setattr(encoding, "BATCH", batch)
        assert np.allclose(embedded([*TEXTS, str(batch)])[:3], vectors, atol=1e-5)


def test_the_cache_is_used_rebuilt_and_never_unpickled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    vectors = embedded(TEXTS)
    (file,) = (tmp_path / "cache" / "shots").glob("*")
    with monkeypatch.context() as patch:
        patch.setattr(encoding, "_encode", lambda *_: pytest.fail("it was encoded again"))
        assert np.array_equal(embedded(TEXTS), vectors)
    whole = file.read_bytes()
    np.save(file, np.array([{}], object), allow_pickle=True)
    for content in (whole[:-7], file.read_bytes()):
        file.write_bytes(content)
        assert np.array_equal(embedded(TEXTS), vectors)
        assert file.read_bytes() == whole
