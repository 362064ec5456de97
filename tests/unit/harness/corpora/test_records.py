"""Files of items are read line by line, each within a bound."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from harness.corpora import records
from harness.errors import DataError


@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz"])
def test_a_line_that_unpacks_to_too_much_is_refused(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(records, "MOST_LINE", 1_000)
    line = b'"' + b"a" * 1_001
    path = tmp_path / name
    path.write_bytes(gzip.compress(line) if name.endswith("gz") else line)
    with pytest.raises(DataError, match=rf"{name}:1: the line has more than 1,000 bytes"):
        records.load_items(path)
