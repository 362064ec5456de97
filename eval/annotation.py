"""The clean test set of BAP v2 (sections 3.1 and 3.2), computed from an annotation of the Minecraft items.

An annotation says for each item whether its context is clear (in one way, or in several on an empty board) and, if so, whether
the builder did what was asked for. Items with an unclear context are left out. An incorrect structure is repaired by
looking ahead: in a run of incorrect items directly followed by a correct one, builders fix their mistakes, so each item of
the run takes the structure of that correct item. A run that is followed by an unclear item or by the end of the game cannot
be repaired and is left out.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import as_file, files
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from eval.predictions import read_records
from harness.errors import DataError
from harness.worlds.minecraft import Structure

if TYPE_CHECKING:
    from harness.corpora.item import MinecraftItem

OURS = "our annotation"
"""The label of results on the annotation that ships with the harness. The authors' own annotation is not published."""


@dataclass(frozen=True, slots=True)
class Judgment:
    """An annotator's judgment of one item. `correct` is None if, and only if, the context is "unclear"."""

    id: str
    context: str
    correct: bool | None
    annotator: str = ""
    reason: str = ""

    @property
    def label(self) -> str:
        """Both answers in words: "unclear", "unique, correct"."""
        return self.context if self.correct is None else f"{self.context}, {'correct' if self.correct else 'incorrect'}"

    def as_json(self) -> dict[str, Any]:
        extra = {"annotator": self.annotator, "reason": self.reason}
        return {"id": self.id, "context": self.context, "correct": self.correct} | {k: v for k, v in extra.items() if v}


@dataclass(frozen=True, slots=True)
class Annotation:
    """The judgments of one annotation file by item id; `name` says in results whose annotation it is."""

    name: str
    judgments: Mapping[str, Judgment]


class CleanSet(NamedTuple):
    """The clean test set, in the order of the items."""

    items: tuple[MinecraftItem, ...]
    """`after` is the repaired gold structure."""
    multiple: frozenset[str]
    """The items of the set with several interpretations (M); the others are unique (U)."""


@cache
def _validator() -> Any:
    from jsonschema import Draft202012Validator

    return Draft202012Validator(json.loads(files("eval").joinpath("annotations", "annotation.schema.json").read_bytes()))


def read_annotation(path: Path, items: Sequence[MinecraftItem] | None = None, *, name: str | None = None) -> Annotation:
    """The annotation in a file of JSON Lines, checked against its schema and, if they are given, the items it is about.

    Raises DataError with file and line for an invalid line, an unknown or repeated item, and several interpretations on a
    non-empty board.
    """
    by_id = None if items is None else {item.id: item for item in items}
    judgments = {}
    for record in read_records(path):
        where = f"{path}:{record.line}"
        if error := next(_validator().iter_errors(dict(record.fields)), None):
            field = "/".join(map(str, error.absolute_path)) or "the line"
            raise DataError(f"{where}: {record.id}: {field}: {error.message}; see the annotation format in docs/metrics.md")
        judgment = Judgment(**{k: v for k, v in record.fields.items() if k in Judgment.__slots__})
        if by_id is not None and judgment.id not in by_id:
            raise DataError(f"{where}: unknown item {judgment.id!r}: not among the {len(by_id)} annotated items")
        if by_id is not None and judgment.context == "multiple" and len(by_id[judgment.id].before):
            raise DataError(f'{where}: {judgment.id}: "multiple" is for items with an empty board; this one has blocks before')
        judgments[judgment.id] = judgment
    return Annotation(name or str(path), judgments)


def our_annotation(items: Sequence[MinecraftItem] | None = None, file: str = "minecraft_test.jsonl") -> Annotation:
    """Our annotation of the test items (`eval/annotations/README.md`). `file`: the name of another file in that folder."""
    with as_file(files("eval").joinpath("annotations", file)) as path:
        return read_annotation(path, items, name=OURS)


def clean_set(items: Sequence[MinecraftItem], annotation: Annotation) -> CleanSet:
    """Select and repair items. `items` are all items of a split, each game's together and in time order.

    Raises DataError if an item has no judgment.
    """
    if missing := [item.id for item in items if item.id not in annotation.judgments]:
        raise DataError(
            f"{annotation.name}: {len(missing)} of {len(items)} items are not annotated, the first is {missing[0]}; annotate them"
        )
    clean: list[MinecraftItem] = []
    gold: Structure | None = None
    following = None
    for item in reversed(items):
        judgment = annotation.judgments[item.id]
        if following != item.cluster or judgment.correct is None:
            gold = None
        if judgment.correct:
            gold = item.after
        following = item.cluster
        if gold is not None:
            clean.append(replace(item, after=gold))
    multiple = frozenset(item.id for item in clean if annotation.judgments[item.id].context == "multiple")
    return CleanSet(tuple(reversed(clean)), multiple)


def statistics(items: Sequence[MinecraftItem], annotation: Annotation) -> dict[str, int]:
    """The counts of section 3.2 of the paper; incorrect items that could not be repaired are left out."""
    clean = clean_set(items, annotation)
    kept = {item.id for item in clean.items}
    judgments = [annotation.judgments[item.id] for item in items]
    unclear = sum(judgment.correct is None for judgment in judgments)
    incorrect = [judgment.id for judgment in judgments if judgment.correct is False]
    return {
        "items": len(items),
        "unclear": unclear,
        "clear": len(items) - unclear,
        "unique": sum(judgment.context == "unique" for judgment in judgments),
        "multiple": sum(judgment.context == "multiple" for judgment in judgments),
        "incorrect": len(incorrect),
        "repaired": len(kept.intersection(incorrect)),
        "left_out": len(set(incorrect) - kept),
        "clean": len(clean.items),
        "clean_unique": len(clean.items) - len(clean.multiple),
        "clean_multiple": len(clean.multiple),
        "clean_empty_board": sum(not item.before.cells.any() for item in clean.items),
    }
