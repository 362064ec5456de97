"""The adapters here: how each was trained, and its scores."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from adapters.registry import CONFIG_FILE, SHIPPED, WEIGHTS_FILE, adapter_name, read_record
from harness.engines.shared import brief
from harness.errors import AdapterError, UsageError
from harness.prompting.options import BEST, Options
from harness.runs.folder import RUNS
from harness.tasks import world_of

SCORES_FILE = "scores.json"
"""The scores of runs with the adapter; they do not affect its predictions."""
CARD_FILE = "README.md"


class AdapterRecord(BaseModel):
    """What harness.json records of an adapter and its training."""

    task: str
    context: str
    format: str
    frame: str
    template: str | None = None
    prompt_hash: str
    base: str
    base_fingerprint: str | None = None
    recipe: dict[str, Any] = {}
    items: int = 0
    rows: int = 0
    dropped: int = 0
    steps: int = 0
    kept: int | None = None
    """The step at which this adapter was saved; None: at the last one."""
    tokens: int = 0
    """Of all steps; 0 if trained before they were counted."""
    seconds: float = 0.0
    curve: list[dict[str, float]] = []
    dev_f1_items: int = 0
    """How many dev items were answered for each F1 of the curve; 0 if trained before they were counted."""
    versions: dict[str, str] = {}
    git: str | None = None
    held_out: dict[str, Any] = {}
    """The dev and test items that its training items were checked against (`HeldOut.compared`); empty if they were not."""
    imported: dict[str, Any] | None = None
    """Where it came from, if it was not trained here: then nothing is known of its training."""

    @property
    def prompt_format(self) -> str:
        return "/".join(filter(None, (self.context, self.format, self.frame, self.template)))


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
    def headline(self) -> tuple[float, list[float] | None]:
        """The task's headline F1, and its 95% interval if there is one."""
        ends = self.scores.get("intervals", {})
        if world_of(self.scores["task"]) == "hexagons":
            return self.scores["action"]["f1"], ends.get("action", {}).get("f1")
        return self.scores["micro"]["overall"]["f1"], ends.get("micro", {}).get("overall")

    @property
    def exact(self) -> tuple[float, list[float] | None] | None:
        """The share of exact answers, which HEXAGONS has."""
        if world_of(self.scores["task"]) != "hexagons":
            return None
        return self.scores["action"]["em"], self.scores.get("intervals", {}).get("action", {}).get("em")

    @property
    def part(self) -> str:
        """The split; Minecraft calls its dev split val."""
        split = "dev" if self.scores["split"] == "val" else str(self.scores["split"])
        return f"{split}, {self.scores['benchmark']}" if "benchmark" in self.scores else split


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
    """Every named adapter, shipped or from a run, and why any others cannot be read."""
    entries, problems = [], []
    for path in [*sorted(SHIPPED.glob(f"*/{CONFIG_FILE}")), *sorted(RUNS.glob(f"*/adapter/{CONFIG_FILE}"))]:
        try:
            entries.append(read_entry(path.parent))
        except AdapterError as error:
            problems.append(str(error))
    return entries, problems


def read_entry(folder: Path) -> AdapterEntry:
    """Raises AdapterError for an incomplete folder."""
    about = read_about(folder)
    try:
        size = (folder / WEIGHTS_FILE).stat().st_size / 1e6
    except OSError as error:
        raise AdapterError(f"{folder / WEIGHTS_FILE} cannot be read: {error.strerror}") from None
    where = "shipped" if folder.parent == SHIPPED else str(folder.parent if folder.name == "adapter" else folder)
    return AdapterEntry(adapter_name(folder), where, folder, about, size, _dev_f1(folder, about))


def read_about(folder: Path) -> AdapterRecord:
    """Raises AdapterError if harness.json is missing or invalid."""
    return read_record(folder, AdapterRecord, advice="")


def read_scores(folder: Path) -> list[ScoredRun]:
    """Raises AdapterError for an invalid file; a missing one is empty."""
    path = folder / SCORES_FILE
    if not path.is_file():
        return []
    try:
        saved = json.loads(path.read_bytes())
        scores = [ScoredRun(str(one["command"]), dict(one["scores"]), dict(one.get("decoding", {}))) for one in saved]
        for one in scores:
            _ = one.headline, one.exact, one.part, one.decoded
            if others := one.decoding.keys() - set(BEST):
                raise ValueError(f"{', '.join(sorted(others))}: only {', '.join(BEST)} say how answers were decoded")
            Options(**one.decoding)
    except (OSError, ValueError, TypeError, KeyError, AttributeError, UsageError) as error:
        raise AdapterError(f"{path} holds no scores of an adapter: {brief(repr(error))}") from None
    return scores


def best_decoding(folder: Path, task: str) -> Mapping[str, Any]:
    """The options of `harness prompt` with the highest headline F1 on a task's dev split, among the runs that cover the most dev
    items; the first of equal ones. Raises AdapterError if fewer than two ways of decoding were scored.
    """
    dev = [one for one in read_scores(folder) if one.part.startswith("dev") and one.scores["task"] == task]
    fullest = [one for one in dev if one.scores["items"] == max(other.scores["items"] for other in dev)]
    if not any(one.decoding != fullest[0].decoding for one in fullest):
        raise AdapterError(
            f"--best: the scores of {adapter_name(folder)} compare no ways of decoding {task} on dev; leave --best out, "
            "or export the adapter with --scores of runs that differ in --vote or --constrain"
        )
    return max(fullest, key=lambda one: one.headline[0]).decoding


def percent(value: float, interval: list[float] | None = None) -> str:
    """A fraction and its interval in percent: "35.07 [29.0, 41.7]"."""
    ends = f" [{100 * interval[0]:.1f}, {100 * interval[1]:.1f}]" if interval else ""
    return f"{100 * value:.2f}{ends}"


def _dev_f1(folder: Path, about: AdapterRecord) -> str:
    for scored in read_scores(folder):
        if scored.part.startswith("dev"):
            return percent(*scored.headline)
    count = about.dev_f1_items
    kept = next((point for point in about.curve if point["step"] == about.kept), about.curve[-1] if about.curve else {})
    if "dev_f1" in kept:
        return f"{percent(kept['dev_f1'])}{f' ({count} items)' if count else ''}"
    return ""
