"""Annotation schemes for drawing steps, and files of labels: the phenomena, the mechanisms and the levels of abstraction of
"Draw Me a Flower" (Tables 3 to 5).

A scheme is a YAML file in `eval/annotations`; the labels that ship with the harness stand beside it. A file of labels is JSON
Lines, an object for each step, whose id is made of the split, the procedure's index and the number of the step:

    {"id": "hexagons/train/11/2", "labels": {"object": 1, "spatial": 2}}
    {"id": "hexagons/dev/15/1", "level": 2}

"labels" counts the occurrences of each label, at least 1; a step may have none. In an exclusive scheme, in which a step has
exactly one label, "level" holds the number of the label, from 0. The authors did not release their labels, and the paper does not
say in which format they are.
"""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

import yaml

from eval.predictions import read_records
from harness.errors import DataError
from harness.util.settings import Count, Positive, Strict

OURS = "our labels, not the paper's"
_SHIPPED = {"phenomena": "hexagons_phenomena", "mechanisms": "hexagons_mechanisms", "levels": "hexagons_levels_dev"}


class Label(Strict):
    means: str
    key: str
    """The key that gives it in `harness annotate label`."""
    group: str = ""
    count: Count | None = None
    """How often the paper found it."""
    example: str = ""
    """The paper's."""


class Shares(Strict):
    """In how many steps and procedures the paper found a group's labels."""

    steps: Count
    procedures: Count


class Scheme(Strict):
    title: str
    source: str
    steps: Positive
    """The number of steps that the paper labels, and of their procedures."""
    procedures: Positive
    exclusive: bool = False
    """Whether a step has exactly one label."""
    groups: Mapping[str, Shares] = {}
    labels: Mapping[str, Label]


@dataclass(frozen=True, slots=True)
class StepLabels:
    """How often each label occurs in a step; labels that do not occur are missing."""

    id: str
    labels: Mapping[str, int]
    annotator: str = ""

    @property
    def label(self) -> str:
        """The labels in words, and how often each occurs if more than once."""
        words = (label if count == 1 else f"{label} {count}" for label, count in self.labels.items())
        return ", ".join(words) or "no label"

    def as_json(self, scheme: Scheme) -> dict[str, Any]:
        fields: dict[str, Any] = {"labels": dict(self.labels)}
        if scheme.exclusive:
            fields = {"level": list(scheme.labels).index(next(iter(self.labels)))}
        return {"id": self.id, **fields} | ({"annotator": self.annotator} if self.annotator else {})


@cache
def get_scheme(name: str) -> Scheme:
    """A scheme by its name: phenomena, mechanisms or levels."""
    return Scheme.model_validate(yaml.safe_load(files("eval").joinpath("annotations", f"{name}.yaml").read_bytes()))


def read_labels(path: Path, name: str, *, known: Container[str] | None = None) -> dict[str, StepLabels]:
    """The labels in a file, by step, in file order.

    `known` are the ids that it may have, by default all. Raises DataError with file and line for anything but labels of the
    scheme.
    """
    scheme, by_step = get_scheme(name), {}
    for record in read_records(path):
        labels = _labels(record.fields, scheme)
        task, *rest = record.id.split("/")
        if labels is None or task != "hexagons" or len(rest) != 3:
            raise DataError(f"{path}:{record.line}: {record.id}: not a line of {name}: {_form(scheme)}")
        if known is not None and record.id not in known:
            raise DataError(f"{path}:{record.line}: unknown step {record.id!r}: not in this corpus")
        by_step[record.id] = StepLabels(record.id, labels, str(record.fields.get("annotator", "")))
    return by_step


def _form(scheme: Scheme) -> str:
    if scheme.exclusive:
        return f'{{"id": "hexagons/dev/15/1", "level": 0 to {len(scheme.labels) - 1}}}'
    return f'{{"id": "hexagons/train/11/2", "labels": {{LABEL: COUNT, ...}}}}; labels: {", ".join(scheme.labels)}'


def _labels(fields: Mapping[str, Any], scheme: Scheme) -> dict[str, int] | None:
    """The labels of a line; None if they are not the scheme's."""
    if scheme.exclusive:
        level, names = fields.get("level"), list(scheme.labels)
        return {names[level]: 1} if type(level) is int and 0 <= level < len(names) else None
    labels = fields.get("labels")
    if not isinstance(labels, dict) or not labels.keys() <= scheme.labels.keys():
        return None
    return labels if all(type(count) is int and count > 0 for count in labels.values()) else None


def our_labels(name: str) -> dict[str, StepLabels]:
    """The labels of a scheme that ship with the harness (`eval/annotations/README.md`)."""
    with as_file(files("eval").joinpath("annotations", f"{_SHIPPED[name]}.jsonl")) as path:
        return read_labels(path, name)


def our_passes() -> tuple[dict[str, StepLabels], dict[str, StepLabels]]:
    """The two passes that our levels of abstraction are made from."""
    levels = list(get_scheme("levels").labels)
    with as_file(files("eval").joinpath("annotations", f"{_SHIPPED['levels']}.jsonl")) as path:
        by_step = {record.id: [levels[level] for level in record.fields["passes"]] for record in read_records(path)}
    first, second = ({step: StepLabels(step, {passes[n]: 1}) for step, passes in by_step.items()} for n in (0, 1))
    return first, second


def read_levels(path: Path | None = None) -> dict[str, str]:
    """The level of abstraction of each step in a file, by its id; by default ours of the official dev split."""
    by_step = our_labels("levels") if path is None else read_labels(path, "levels")
    return {step: next(iter(labels.labels)) for step, labels in by_step.items()}


def statistics(name: str, by_step: Mapping[str, StepLabels]) -> dict[str, Any]:
    """Counts as in Table 3, each beside the paper's, which is None where it gives none: the occurrences of each label, the steps
    and procedures that have it, and the same for groups of labels."""
    scheme = get_scheme(name)
    labels = {label: {**_shares(by_step, {label}), "paper": about.count} for label, about in scheme.labels.items()}
    groups = {}
    for group, paper in scheme.groups.items():
        members = {label for label, about in scheme.labels.items() if about.group == group}
        groups[group] = {**_shares(by_step, members), "paper": paper.model_dump()}
    return {"steps": len(by_step), "procedures": len(set(map(_procedure, by_step))), "labels": labels, "groups": groups}


def _shares(by_step: Mapping[str, StepLabels], labels: set[str]) -> dict[str, int]:
    steps = {step: sum(one.labels.get(label, 0) for label in labels) for step, one in by_step.items()}
    having = [step for step, count in steps.items() if count]
    return {"count": sum(steps.values()), "steps": len(having), "procedures": len(set(map(_procedure, having)))}


def _procedure(step: str) -> str:
    return step.rpartition("/")[0]
