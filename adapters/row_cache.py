"""Training rows in the user's cache, as Arrow files of the library `datasets`: a second start of the same training reads them."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import cache, lru_cache, partial
from importlib.metadata import version
from itertools import chain
from multiprocessing import current_process
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from harness.corpora.item import Item
from harness.errors import HarnessError, UsageError
from harness.runs.folder import items_hash
from harness.util.files import cache_folder
from harness.util.hashing import json_hash, short_hash
from prompts.probe import format_hash
from prompts.render import Renderer

WORKERS = "HARNESS_WORKERS"
"""The environment variable that says how many processes make rows and build packs; 0: none but the training's own."""
SHARE = 500
"""The fewest rows for which another process is started unless more are asked for: starting one takes as long as making some."""
MOST = 8 << 30
"""Bytes of rows in the cache; beyond that the least recently used ones are removed."""
_CODE = ("prompts", "serialization", "harness/worlds")
"""What decides the text of a row, besides its item."""


class Asked(NamedTuple):
    """An item, the examples in front of it, and the answer to learn where that is not the format's."""

    item: Item
    shots: tuple[Item, ...]
    told: str | None


def features() -> Any:
    """The columns of a table of rows: `tokens` are the prompt's and the answer's."""
    from datasets import Features, List, Value

    text, number = Value("string"), Value("int32")
    return Features({"id": text, "cluster": text, "tokens": List(number), "prompt_length": number})


def cached_rows(asked: Sequence[Asked], renderer: Renderer, workers: int | None = None) -> Any:
    """A table of the rows in order, the same for any number of workers. Raises HarnessError if a row cannot be made or the cache
    written."""
    from datasets import Dataset, disable_progress_bars
    from datasets.exceptions import DatasetGenerationError

    if not asked:
        return Dataset.from_dict({name: [] for name in features()}, features=features()).data
    disable_progress_bars()
    folder, key = cache_folder() / "rows", _fingerprint(asked, renderer)
    make = partial(_columns, renderer=renderer)
    count = min(len(asked), workers or min(worker_count(os.cpu_count() or 1), len(asked) // SHARE))
    try:
        # Of several processes that ask for the same rows, the library has one make them, and the others wait.
        rows = Dataset.from_generator(
            make,
            features=features(),
            cache_dir=str(folder),
            gen_kwargs={"asked": list(asked)},
            num_proc=count if count > 1 and not current_process().daemon else None,
            fingerprint=key,
        )
    except DatasetGenerationError:
        # The library hides the error: this raises it.
        for _ in make(asked):
            ...
        raise HarnessError(f"{folder}: rows cannot be written: make room, or set HARNESS_CACHE to another folder") from None
    except OSError as error:
        raise HarnessError(f"{folder}: rows cannot be written: {error.strerror or error}; set HARNESS_CACHE") from error
    _drop_old(folder, Path(rows.cache_files[0]["filename"]).parents[1])
    return rows.data


def worker_count(default: int) -> int:
    """How many processes work beside this one. Raises UsageError if HARNESS_WORKERS is no number."""
    text = os.environ.get(WORKERS) or str(default)
    if not text.isdecimal():
        raise UsageError(f"{WORKERS}={text}: give a number of processes, 0 or more")
    return int(text)


def _columns(asked: Sequence[Asked], renderer: Renderer) -> Iterator[dict[str, Any]]:
    for item, shots, told in asked:
        row = renderer.training_row(item, shots, told)
        yield {"id": row.id, "cluster": item.cluster, "tokens": row.token_ids, "prompt_length": len(row.prompt_ids)}


def _fingerprint(asked: Sequence[Asked], renderer: Renderer) -> str:
    """16 hex digits over all that decides the rows."""
    return json_hash(
        [
            _code_hash(),
            [version(name) for name in ("transformers", "tokenizers", "jinja2")],
            format_hash(renderer.spec),
            _tokenizer_hash(renderer.tokenizer),
            items_hash(one.item for one in asked),
            items_hash(chain.from_iterable(one.shots for one in asked)),
            [(one.item.cluster, len(one.shots), one.told) for one in asked],
        ]
    )


@cache
def _code_hash() -> str:
    """16 hex digits over the files that decide a row's text."""
    root = Path(__file__).parents[1]
    files = sorted(path for name in _CODE for path in (root / name).rglob("*") if path.suffix not in ("", ".pyc"))
    return short_hash(path.read_bytes() for path in (*files, Path(__file__)))


@lru_cache(maxsize=2)
def _tokenizer_hash(tokenizer: Any) -> str:
    """16 hex digits over the files that it saves. Made once for each: every epoch in other colors asks for it again."""
    with TemporaryDirectory() as folder:
        tokenizer.save_pretrained(folder)
        return short_hash(path.read_bytes() for path in sorted(Path(folder).iterdir()))


def _drop_old(folder: Path, used: Path) -> None:
    """Remove the least recently used rows. Other processes may do so at the same time."""
    room = MOST
    with suppress(OSError):
        os.utime(used)
        for entry in sorted(used.parent.iterdir(), key=lambda path: path.stat().st_mtime, reverse=True):
            room -= sum(path.stat().st_size for path in entry.rglob("*.arrow"))
            if room < 0 and entry != used:
                shutil.rmtree(entry, ignore_errors=True)
