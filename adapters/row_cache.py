"""Training rows in the user's cache, as Arrow files of the library `datasets`: a repeated start of a training reads them."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache, partial
from importlib.metadata import version
from itertools import chain
from multiprocessing import current_process
from multiprocessing.reduction import ForkingPickler
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from harness.corpora.item import Item, own_program
from harness.errors import HarnessError
from harness.runs.folder import item_parts
from harness.util.files import cache_folder, code_hash, drop_old
from harness.util.hashing import short_hash
from harness.util.processes import worker_count
from prompts.probe import format_hash
from prompts.render import Renderer

SHARE = 2000
"""Fewest rows per process, unless `workers` asks for more processes: starting one takes as long as making some rows."""
_CODE = ("prompts", "serialization", "harness/worlds", "adapters/row_cache.py")
"""The code that decides a row's text."""


class RowSource(NamedTuple):
    """An item and the examples in front of it."""

    item: Item
    shots: tuple[Item, ...]


class _Shard:
    """The items from which one process makes rows. They are sent with multiprocessing's pickler: the library's takes longer for
    an item than making its row does."""

    def __init__(self, asked: Sequence[RowSource]) -> None:
        self._asked = asked

    def __iter__(self) -> Iterator[RowSource]:
        return iter(self._asked)

    def __reduce__(self) -> tuple[Any, tuple[bytes]]:
        return ForkingPickler.loads, (bytes(ForkingPickler.dumps(self._asked)),)


def features() -> Any:
    """The columns of a table of rows: `tokens` are the prompt's and the answer's."""
    from datasets import Features, List, Value

    text, number = Value("string"), Value("int32")
    return Features({"id": text, "cluster": text, "tokens": List(number), "prompt_length": number})


def cached_rows(asked: Sequence[RowSource], renderer: Renderer, workers: int | None = None) -> Any:
    """A table of the rows in order, the same for any number of workers. Raises HarnessError if a row cannot be made or the cache
    written."""
    from datasets import Dataset, disable_progress_bars
    from datasets.exceptions import DatasetGenerationError

    if not asked:
        return Dataset.from_dict({name: [] for name in features()}, features=features()).data
    disable_progress_bars()
    folder, key = cache_folder() / "rows", _fingerprint(asked, renderer)
    make = partial(_columns, renderer=renderer)
    count = max(1, min(len(asked), workers or min(worker_count(os.cpu_count() or 1), len(asked) // SHARE)))
    size = -(-len(asked) // count)
    try:
        # If several processes ask for the same rows, the library lets one make them while the others wait.
        rows = Dataset.from_generator(
            make,
            features=features(),
            cache_dir=str(folder),
            # The library gives each process some of a list's elements.
            gen_kwargs={"parts": [_Shard(asked[start : start + size]) for start in range(0, len(asked), size)]},
            num_proc=count if count > 1 and not current_process().daemon else None,
            fingerprint=key,
        )
    except DatasetGenerationError:
        # The library hides the error: this raises it.
        for _ in make([asked]):
            ...
        raise HarnessError(f"{folder}: rows cannot be written: make room, or set HARNESS_CACHE to another folder") from None
    except OSError as error:
        raise HarnessError(f"{folder}: rows cannot be written: {error.strerror or error}; set HARNESS_CACHE") from error
    drop_old(Path(rows.cache_files[0]["filename"]).parents[1])
    return rows.data


def _columns(parts: Sequence[Iterable[RowSource]], renderer: Renderer) -> Iterator[dict[str, Any]]:
    for item, shots in chain(*parts):
        row = renderer.training_row(item, shots)
        yield {"id": row.id, "cluster": item.cluster, "tokens": row.token_ids, "prompt_length": len(row.prompt_ids)}


def _fingerprint(asked: Iterable[RowSource], renderer: Renderer) -> str:
    """16 hex digits over everything that decides the rows."""
    versions = [version(name) for name in ("transformers", "tokenizers", "jinja2")]
    start = [code_hash(*_CODE), versions, format_hash(renderer.spec), _tokenizer_hash(renderer.tokenizer)]

    def parts() -> Iterator[bytes]:
        yield json.dumps(start).encode()
        for item, shots in asked:
            yield json.dumps([item.cluster, [own_program(one) for one in (item, *shots)]]).encode()
            for one in (item, *shots):
                yield from item_parts(one)

    return short_hash(parts())


@lru_cache(maxsize=2)
def _tokenizer_hash(tokenizer: Any) -> str:
    """16 hex digits over the files that a tokenizer saves. Cached, since every epoch with recolored rows asks for it again."""
    with TemporaryDirectory() as folder:
        tokenizer.save_pretrained(folder)
        return short_hash(path.read_bytes() for path in sorted(Path(folder).iterdir()))
