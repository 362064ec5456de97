"""The data sets of an experiment: files that are made once and read by its rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from harness.corpora.records import write_items
from harness.errors import FaultsError
from harness.experiments.file import SOURCES, DataSet, Options
from harness.experiments.grid import Command, Row
from harness.experiments.scale import Scale
from harness.experiments.words import Words

OPTIONS = ("data", "dev-data", "items")
"""The options of rows whose values may be names of data sets."""
_SAMPLE = 40
"""Items that stand for a data set while the rows are checked."""


class DataSets:
    """The data sets of a file by name; they lie in `folder`, and samples of them, for the checks, in `samples`."""

    def __init__(self, sets: Mapping[str, DataSet], words: Words, scale: Scale | None, folder: Path, samples: Path) -> None:
        self.sets, self.words, self.scale, self.folder, self.samples = sets, words, scale, folder, samples
        self.sizes: dict[str, tuple[int, int]] = {}
        """The numbers of items of the sets that rows read, and of their samples."""

    def named(self, values: Options, *, sample: bool = False) -> Options:
        """Options with paths in place of the sets' names, which may be followed by a share."""
        named: Options = {}
        for key in OPTIONS:
            if isinstance(values.get(key), str):
                named[key] = self._path(values[key], sample)
            elif isinstance(values.get(key), list):
                named[key] = [self._path(one, sample) if isinstance(one, str) else one for one in values[key]]
        return values | named

    def _path(self, word: str, sample: bool) -> str:
        name, equals, share = word.partition("=")
        if name not in self.sets:
            return word
        if sample and name not in self.sizes:
            self._sample(name)
        return f"{(self.samples if sample else self.folder) / name}.jsonl{equals}{share}"

    def missing_items(self, values: Sequence[Any]) -> int:
        """How many more items some values of `data` stand for than their samples have."""
        more = 0
        for value in values:
            name, _, share = str(value).partition("=")
            if name in self.sizes:
                size, there = self.sizes[name]
                more += round(size * float(share or 1)) - (max(1, round(there * float(share))) if share else there)
        return more

    def _step(self, name: str) -> tuple[str, Options]:
        step = next(step for step in SOURCES if getattr(self.sets[name], step))
        return step, getattr(self.sets[name], step) | (self.scale.options.get(step, {}) if self.scale else {})

    def _words(self, name: str, folder: Path) -> list[str]:
        return [*self.words.of(f"data {name}: ", *self._step(name)), "--out", str(folder / f"{name}.jsonl"), "--overwrite"]

    def _sample(self, name: str) -> None:
        """Raises FaultsError if the set cannot be made."""
        step, _ = self._step(name)
        words = self._words(name, self.samples)
        made = None if self.words.faults else self.words.checked(f"data {name}: ", step, words)
        if made is None:
            raise FaultsError(self.words.faults)
        size, items = made
        self.sizes[name] = size, write_items(islice(items, min(size, _SAMPLE)), self.samples / f"{name}.jsonl")[0]

    def rows(self) -> list[Row]:
        """Rows that make the sets of which there are samples."""
        made = []
        for name in self.sizes:
            step, _ = self._step(name)
            words = (*self.words.steps[step].words, *self._words(name, self.folder))
            made.append(Row(name=f"data-{name}", commands=(Command(words, self.folder / f"{name}.jsonl"),)))
        return made
