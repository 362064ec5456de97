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

import yaml

from eval.predictions import read_records
from harness.errors import DataError
from harness.worlds.minecraft import Structure

if TYPE_CHECKING:
    from harness.corpora.item import MinecraftItem

OURS = "our annotation"
"""The label of results on the annotation that ships with the harness. The authors' own annotation is not published."""


class Judgment(NamedTuple):
    """The judgment of an item. `correct` is None if, and only if, the context is "unclear"."""

    context: str
    correct: bool | None


@dataclass(frozen=True, slots=True)
class Annotation:
    """The judgments of one annotation file by item id; `name` says in results whose annotation it is."""

    name: str
    judgments: Mapping[str, Judgment]


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
        judgment = Judgment(record.fields["context"], record.fields["correct"])
        if by_id is not None and record.id not in by_id:
            raise DataError(f"{where}: unknown item {record.id!r}: not among the {len(by_id)} annotated items")
        if by_id is not None and judgment.context == "multiple" and len(by_id[record.id].before):
            raise DataError(f'{where}: {record.id}: "multiple" is for items with an empty board; this one has blocks before')
        judgments[record.id] = judgment
    return Annotation(name or str(path), judgments)


def our_annotation(items: Sequence[MinecraftItem] | None = None) -> Annotation:
    """Our annotation of the test items (`eval/annotations/README.md`)."""
    with as_file(files("eval").joinpath("annotations", "minecraft_test.jsonl")) as path:
        return read_annotation(path, items, name=OURS)


def clean_set(items: Sequence[MinecraftItem], annotation: Annotation) -> tuple[list[MinecraftItem], frozenset[str]]:
    """Return the clean test set and the ids of its items with several interpretations (M). The set is in the order of the items
    and has the repaired gold structures. `items` are all items of a split, each game's together and in time order.

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
    return clean[::-1], multiple


OUR_LEVELS = "our labels, not the paper's"
LEVELS: dict[str, int] = {
    level: about["count"]
    for level, about in yaml.safe_load(files("eval").joinpath("annotations", "levels.yaml").read_bytes())["labels"].items()
}
"""The levels, lowest first, and how many steps of dev the paper's labels put on each."""


def read_levels() -> dict[str, str]:
    """Our levels of abstraction of HEXAGONS' official dev steps, by id; the authors did not release theirs."""
    names = list(LEVELS)
    with as_file(files("eval").joinpath("annotations", "hexagons_levels_dev.jsonl")) as ours:
        return {record.id: names[record.fields["level"]] for record in read_records(ours)}
