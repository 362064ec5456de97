"""How much synthetic data helps (BAP v2, section 12.2): models trained on the corpus and some of each synthetic set."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from eval.predictions import decode, read_records
from eval.score import score
from harness.baselines import Decoding, known_decoding
from harness.baselines.job import BaselineJob
from harness.corpora import split_name
from harness.corpora.item import Item
from harness.errors import DataError, UsageError
from harness.runs.answering import answer_items
from harness.runs.folder import Run, items_hash
from harness.training.checkpoints import digest
from harness.training.origin import Origin
from harness.training.plan import subset
from harness.training.running import train
from harness.util.files import write_atomically
from harness.util.hashing import json_hash
from serialization.formats import reader

CORPUS = "corpus"
"""The cell without synthetic items."""

Cell = dict[str, float]
"""By synthetic set, the fraction of its items that is added to the corpus."""


def parse_fractions(text: str) -> list[float]:
    """The fractions of `--fractions`, rising. Raises UsageError for what are not numbers of 0 to 1."""
    try:
        fractions = sorted({float(part) for part in text.split(",")})
    except ValueError:
        fractions = []
    if not fractions or not all(0 <= fraction <= 1 for fraction in fractions):
        raise UsageError(f"--fractions {text}: give numbers from 0 to 1 with commas between them, as in 0,0.25,0.5,1")
    return fractions


def cells(sets: Sequence[str], fractions: Sequence[float], *, grid: bool) -> list[Cell]:
    """The cells to train: all combinations, or one set at a time (learning curves); the first has no synthetic items."""
    if grid:
        return [dict(zip(sets, chosen, strict=True)) for chosen in itertools.product(fractions, repeat=len(sets))]
    none = dict.fromkeys(sets, 0.0)
    single = [none | {name: fraction} for name in sets for fraction in fractions if fraction]
    return [none, *single] if 0 in fractions else single


def cell_name(cell: Cell) -> str:
    """The name of a cell's folder, such as `blocks-0.5_shapes-1`."""
    return "_".join(f"{name}-{fraction:g}" for name, fraction in cell.items() if fraction) or CORPUS


@dataclass(frozen=True)
class Mix:
    """What the cells share: the training without synthetic items, the synthetic sets, and the decoding."""

    base: BaselineJob
    sets: Mapping[str, Sequence[Item]]
    decoding: Decoding
    folder: Path

    @property
    def results(self) -> Path:
        return self.folder / "mix.jsonl"

    def parts(self, cell: Cell) -> dict[str, list[Item]]:
        """The items of each set: whole games or drawing procedures; a smaller part of a set lies within a larger one."""
        seed = self.base.recipe.training.seed
        counts = {name: max(1, round(fraction * len(self.sets[name]))) if fraction else 0 for name, fraction in cell.items()}
        return {name: subset(self.sets[name], count, seed) for name, count in counts.items()}

    def done(self) -> dict[tuple[str, str], dict[str, Any]]:
        """The lines of finished cells, by cell and hash of the settings. Raises DataError for any other file."""
        if not self.results.exists():
            return {}
        try:
            lines = [json.loads(line) for line in self.results.read_bytes().splitlines()]
            return {(line["cell"], line["settings"]): line for line in lines}
        except (ValueError, TypeError, KeyError):
            raise DataError(f"{self.results}: not the results of a mix; remove it to score its cells again") from None

    def run(self, planned: Sequence[Cell], say: Callable[[str], None]) -> list[dict[str, Any]]:
        """Train and score the unfinished cells, and return the lines of all planned ones, in order.

        Raises UsageError if a cell was trained with other settings.
        """
        finished, lines = self.done(), []
        for number, cell in enumerate(planned, start=1):
            name, parts = cell_name(cell), self.parts(cell)
            items = [*self.base.items, *(item for part in parts.values() for item in part)]
            job = replace(
                self.base, items=items, origin=Origin(data={name: items_hash(part) for name, part in parts.items() if part})
            )
            key = name, json_hash(job.settings() | known_decoding(job.baseline, self.decoding))
            if key not in finished:
                say(f"cell {number} of {len(planned)}: {name}")
                trained = train(job, self.folder / name, say)
                assert trained is not None
                counts = {CORPUS: len(self.base.items), **{name: len(part) for name, part in parts.items()}}
                line = {
                    "cell": name,
                    "settings": key[1],
                    "items": counts,
                    "epochs": len(trained.curve),
                    "dev_loss": trained.best["dev_loss"],
                }
                finished[key] = line | {"scores": self._scores(job, self.folder / name)}
                write_atomically(self.results, "".join(json.dumps(line) + "\n" for line in finished.values()))
            lines.append(finished[key])
        return lines

    def _scores(self, job: BaselineJob, folder: Path) -> dict[str, Any]:
        """The scores of the cell's model on dev, as `harness score --json` prints them."""
        task, dev, model = job.task, job.dev, folder / "model"
        settings = {"task": task, "split": "dev", "checkpoint_hash": digest(model), "data_hash": items_hash(dev)}
        run = Run(folder / "dev", {"command": "mix", **settings, **known_decoding(job.baseline, self.decoding)})
        try:
            answer_items(run, dev, job.baseline.load(model, self.decoding))
        finally:
            run.close()
        ids, records = {item.id for item in dev}, read_records(run.predictions)
        return score(task, split_name(task, "dev"), dev, decode(run.predictions, records, task, ids, reader(dev)))
