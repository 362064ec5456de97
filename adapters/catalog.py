"""The adapters on this machine: how each was trained, and its scores."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from adapters.registry import SHIPPED, WEIGHTS_FILE, AdapterRecord, adapter_folders, read_record
from eval.export import Number, headline
from eval.statistics import Percentage
from harness.engines.shared import brief
from harness.errors import AdapterError
from harness.runs.folder import trained_name

SCORES_FILE = "scores.json"
"""The scores of runs with the adapter; they do not affect its predictions."""
CARD_FILE = "README.md"


@dataclass(frozen=True, slots=True)
class ScoredRun:
    """A run with an adapter: the command that made it, and its scores."""

    command: str
    scores: Mapping[str, Any]
    decoding: Mapping[str, Any] = field(default_factory=dict)
    """The options of `harness prompt` that its answers were decoded with; empty: greedy."""

    @property
    def decoded(self) -> str:
        """How its answers were decoded, in words: "feasible, 8 samples at temperature 0.7, vote share"."""
        parts = [str(self.decoding["constrain"])] if "constrain" in self.decoding else []
        if samples := self.decoding.get("samples"):
            vote = self.decoding.get("vote", "share" if "share" in self.decoding else "mbr")
            parts.append(f"{samples} samples at temperature {self.decoding['temperature']:g}, vote {vote}")
        else:
            parts.append(f"temperature {self.decoding['temperature']:g}" if "temperature" in self.decoding else "greedy")
        return ", ".join(parts)

    @property
    def headline(self) -> Number:
        """The task's main number."""
        return headline(self.scores)[0]

    @property
    def exact(self) -> Number | None:
        """The share of exact answers, for HEXAGONS; otherwise None."""
        return next((number for number in headline(self.scores) if number.key == "action_em"), None)

    @property
    def part(self) -> str:
        """The task, the split and, for Minecraft, the benchmark; Minecraft's val is called dev."""
        split = "dev" if self.dev else self.scores["split"]
        return f"{self.scores['task']}/{split}{', ' + self.scores['benchmark'] if 'benchmark' in self.scores else ''}"

    @property
    def dev(self) -> bool:
        """Whether its items are of a dev split."""
        return self.scores["split"] in ("dev", "val")


@dataclass(frozen=True, slots=True)
class AdapterEntry:
    """An adapter that has a name."""

    name: str
    where: str
    """"shipped", or the run's folder."""
    folder: Path
    about: AdapterRecord
    megabytes: float
    dev_f1: str
    """Its F1 on dev in percent, with the number of items if measured during training; empty if never measured."""


def catalog() -> tuple[list[AdapterEntry], list[str]]:
    """Every named adapter, shipped or from a run, and the reasons why others cannot be read."""
    entries, problems = [], []
    for folder in adapter_folders():
        try:
            entries.append(read_entry(folder))
        except AdapterError as error:
            problems.append(str(error))
    return entries, problems


def read_entry(folder: Path) -> AdapterEntry:
    """The adapter in a folder. Raises AdapterError for an incomplete folder."""
    about = read_record(folder)
    try:
        size = (folder / WEIGHTS_FILE).stat().st_size / 1e6
    except OSError as error:
        raise AdapterError(f"{folder / WEIGHTS_FILE} cannot be read: {error.strerror}") from None
    where = "shipped" if folder.parent == SHIPPED else str(folder.parent if folder.name == "adapter" else folder)
    return AdapterEntry(trained_name(folder), where, folder, about, size, _dev_f1(folder, about))


def read_scores(folder: Path) -> list[ScoredRun]:
    """The scored runs of the adapter in a folder; none if the file is missing. Raises AdapterError for an invalid file."""
    path = folder / SCORES_FILE
    if not path.is_file():
        return []
    try:
        saved = json.loads(path.read_bytes())
        scores = [ScoredRun(str(one["command"]), dict(one["scores"]), dict(one.get("decoding", {}))) for one in saved]
        for one in scores:
            _ = one.headline, one.exact, one.part, one.decoded
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise AdapterError(f"{path} holds no scores of an adapter: {brief(repr(error))}") from None
    return scores


def _dev_f1(folder: Path, about: AdapterRecord) -> str:
    for scored in read_scores(folder):
        if scored.dev:
            return str(scored.headline)
    count = about.dev_f1_items
    kept = next((point for point in about.curve if point["step"] == about.kept), about.curve[-1] if about.curve else {})
    if "dev_f1" in kept:
        return f"{Percentage(kept['dev_f1'])}{f' ({count} items)' if count else ''}"
    return ""
