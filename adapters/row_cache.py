"""Training rows in the user's cache, as Arrow files of the library `datasets`: a second start of the same training reads them."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import cache, lru_cache, partial
from importlib.metadata import version
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from harness.corpora.item import Item
from harness.errors import HarnessError, UsageError
from harness.runs.folder import items_hash
from harness.training.processes import processes
from harness.util.files import cache_folder
from harness.util.hashing import json_hash, short_hash
from prompts.probe import format_hash
from prompts.render import Renderer
from prompts.rendered import TrainingRow

WORKERS = "HARNESS_WORKERS"
"""The environment variable that says how many processes make rows; without it, one for each core."""
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


def cached_rows(asked: Sequence[Asked], renderer: Renderer, workers: int | None = None) -> Iterator[TrainingRow]:
    """The rows in order, the same for any number of workers. Raises HarnessError if one cannot be made or the cache written."""
    if not asked:
        return iter(())
    from datasets import Dataset, Features, List, Value, disable_progress_bars
    from datasets.exceptions import DatasetGenerationError

    disable_progress_bars()
    folder, key = cache_folder() / "rows", _fingerprint(asked, renderer)
    make = partial(_columns, renderer=renderer)
    ids = List(Value("int32"))
    count = min(len(asked), workers or max(1, min(_workers(), len(asked) // SHARE)))
    try:
        # Of the processes of a machine, the first one makes the rows and the others read them.
        with processes().local_main_process_first():
            rows = Dataset.from_generator(
                make,
                features=Features({"prompt": ids, "completion": ids}),
                cache_dir=str(folder),
                gen_kwargs={"asked": list(asked)},
                num_proc=count if count > 1 else None,
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
    return _read(asked, rows.data)


def _workers() -> int:
    """Raises UsageError for a number of workers that is none."""
    said = os.environ.get(WORKERS)
    if said and not (said.isdecimal() and int(said)):
        raise UsageError(f"{WORKERS}={said}: give a number of processes, 1 or more")
    return int(said) if said else os.cpu_count() or 1


def _columns(asked: Sequence[Asked], renderer: Renderer) -> Iterator[dict[str, Any]]:
    for item, shots, told in asked:
        row = renderer.training_row(item, shots, told)
        yield {"prompt": row.prompt_ids, "completion": row.completion_ids}


def _read(asked: Sequence[Asked], table: Any) -> Iterator[TrainingRow]:
    """The rows of a table. Equal tokens are one object, which takes a fifth of the memory."""
    known: dict[int, int] = {}
    number = iter(asked)
    for batch in table.to_batches(max_chunksize=SHARE):
        columns = ([tuple(known.setdefault(n, n) for n in ids) for ids in column.to_pylist()] for column in batch.columns)
        for prompt, completion in zip(*columns, strict=True):
            yield TrainingRow(next(number).item.id, prompt, completion)


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
            [(len(one.shots), one.told) for one in asked],
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
