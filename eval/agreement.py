"""How far two annotators agree: on Minecraft items (BAP v2, section 3.1), or on the labels of drawing steps (`eval.schemes`).

Cohen's kappa and Krippendorff's alpha correct for chance agreement. Both divide by the disagreement expected by chance, so
they are undefined if only one label was ever used: None, and a note that says so.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

from rich.console import Console

from eval.annotation import Judgment
from eval.schemes import Scheme, StepLabels
from eval.tables import numbers_table
from harness.errors import UsageError

_CORRECT = {True: "correct", False: "incorrect"}


class Part(NamedTuple):
    """A question that both annotators answered, with one of these labels."""

    labels: tuple[str, ...]
    scale: Literal["nominal", "ordinal"] = "nominal"


_JUDGED = {"context": Part(("unique", "multiple", "unclear")), "correct": Part(tuple(_CORRECT.values()))}


def agreement(
    first: Mapping[str, Judgment | StepLabels],
    second: Mapping[str, Judgment | StepLabels],
    names: tuple[str, str],
    scheme: Scheme | None = None,
) -> dict[str, Any]:
    """Compares two annotations, by item id, on the items they share: shares as fractions, kappa and alpha, confusion tables,
    differences. `scheme` is that of labels.

    "parts" has the context and, where both found it clear, the correctness of judgments; the levels of an exclusive scheme, with
    an ordinal alpha as in "Draw Me a Flower"; or each label, which a step has or has not. In a confusion table the first key is
    the label of `first`. Raises UsageError if no item is in both.
    """
    pairs = [(one, second[item]) for item, one in first.items() if item in second]
    if not pairs:
        raise UsageError(f"{names[0]} and {names[1]} have no item in common: give two annotations of the same items")
    parts = {}
    for name, part in _parts(scheme).items():
        answers = [(_answer(a, name), _answer(b, name)) for a, b in pairs]
        parts[name] = _compare([(a, b) for a, b in answers if a and b], part)
    return {
        "items": len(pairs),
        "only_first": len(first) - len(pairs),
        "only_second": len(second) - len(pairs),
        "parts": parts,
        "differ": [{"id": a.id, "first": a.label, "second": b.label} for a, b in pairs if a.label != b.label],
    }


def _parts(scheme: Scheme | None) -> dict[str, Part]:
    if scheme is None:
        return _JUDGED
    if scheme.exclusive:
        return {"level": Part(tuple(scheme.labels), "ordinal")}
    return dict.fromkeys(scheme.labels, Part(("no", "yes")))


def _answer(one: Judgment | StepLabels, part: str) -> str | None:
    """The label that an annotation gives to a part; None if the question was not asked."""
    if isinstance(one, Judgment):
        return one.context if part == "context" else None if one.correct is None else _CORRECT[one.correct]
    return next(iter(one.labels)) if part == "level" else "yes" if part in one.labels else "no"


def _compare(pairs: Sequence[tuple[str, str]], part: Part) -> dict[str, Any]:
    import krippendorff
    import numpy as np
    from statsmodels.stats.inter_rater import cohens_kappa

    counts = Counter(pairs)
    table = [[counts[a, b] for b in part.labels] for a in part.labels]
    confusion = {a: dict(zip(part.labels, row, strict=True)) for a, row in zip(part.labels, table, strict=True)}
    equal = sum(a == b for a, b in pairs) / len(pairs) if pairs else None
    result = {"items": len(pairs), "equal": equal, "confusion": confusion}
    used = {label for pair in pairs for label in pair}
    if len(used) < 2:
        why = f'every label is "{used.pop()}"' if used else "there is no item to compare"
        return result | {"kappa": None, "alpha": None, "note": f"kappa and alpha are not defined: {why}"}
    codes = [[part.labels.index(label) for label in side] for side in zip(*pairs, strict=True)]
    alpha = float(krippendorff.alpha(reliability_data=codes, level_of_measurement=part.scale))
    return result | {"kappa": float(cohens_kappa(np.array(table), return_results=False)), "alpha": alpha, "note": None}


def print_agreement(names: tuple[str, str], result: Mapping[str, Any]) -> None:
    """Print what `agreement` returned for two annotations with these names."""
    console = Console(highlight=False, markup=False, emoji=False)
    console.print(f"A: {names[0]}\nB: {names[1]}", soft_wrap=True)
    console.print(f"{result['items']:,} items in both, {result['only_first']:,} in A only, {result['only_second']:,} in B only\n")
    parts = result["parts"]
    rows = ([name, *_cells(part)] for name, part in parts.items())
    console.print(numbers_table("", "items", "equal", "Cohen's kappa", "Krippendorff's alpha", rows=rows))
    for name, part in parts.items():
        cells = [[a, *(f"{count:,}" for count in counts.values())] for a, counts in part["confusion"].items()]
        caption = f"{name}: {part['note']}" if part["note"] else None
        console.print("", numbers_table(f"{name}: A \\ B", *part["confusion"], rows=cells, caption=caption))
    console.print(f"\n{len(result['differ']):,} items on which they differ")
    for item in result["differ"]:
        console.print(f"{item['id']}  A: {item['first']}  B: {item['second']}", soft_wrap=True)


def _cells(part: Mapping[str, Any]) -> list[str]:
    equal = "none" if part["equal"] is None else f"{100 * part['equal']:.1f}%"
    return [f"{part['items']:,}", equal, *("none" if part[key] is None else f"{part[key]:.3f}" for key in ("kappa", "alpha"))]
