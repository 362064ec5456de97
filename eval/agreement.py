"""How far two annotators of the Minecraft items agree (BAP v2, section 3.1).

Cohen's kappa and Krippendorff's alpha correct for chance agreement. Both divide by the disagreement expected by chance, so
they are undefined if only one label was ever used: None, and a note that says so.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console

from eval.annotation import Annotation, Judgment
from eval.tables import numbers_table
from harness.errors import UsageError

CONTEXT_LABELS = ("unique", "multiple", "unclear")
_CORRECT = {True: "correct", False: "incorrect"}


def agreement(first: Annotation, second: Annotation) -> dict[str, Any]:
    """Compares two annotations on the items they share: shares as fractions, kappa and alpha, confusion tables, differences.

    In a confusion table the first key is the label of `first`. Correctness is compared where both found the context clear.
    Raises UsageError if no item is in both.
    """
    pairs = _pairs(first, second)
    clear = [(a, b) for a, b in pairs if a.correct is not None and b.correct is not None]
    return {
        "items": len(pairs),
        "only_first": len(first.judgments) - len(pairs),
        "only_second": len(second.judgments) - len(pairs),
        "context": _compare([(a.context, b.context) for a, b in pairs], CONTEXT_LABELS),
        "correct": _compare([(_CORRECT[bool(a.correct)], _CORRECT[bool(b.correct)]) for a, b in clear], tuple(_CORRECT.values())),
        "differ": [{"id": a.id, "first": a.label, "second": b.label} for a, b in pairs if a.label != b.label],
    }


def _pairs(first: Annotation, second: Annotation) -> list[tuple[Judgment, Judgment]]:
    pairs = [(judgment, second.judgments[item]) for item, judgment in first.judgments.items() if item in second.judgments]
    if not pairs:
        raise UsageError(f"{first.name} and {second.name} have no item in common: give two annotations of the same items")
    return pairs


def _compare(pairs: Sequence[tuple[str, str]], labels: Sequence[str]) -> dict[str, Any]:
    counts = Counter(pairs)
    confusion = {a: {b: counts[a, b] for b in labels} for a in labels}
    equal = sum(counts[label, label] for label in labels)
    result = {"items": len(pairs), "equal": equal / len(pairs) if pairs else None, "confusion": confusion}
    given = {label for pair in pairs for label in pair}
    if len(given) < 2:
        why = f'every label is "{given.pop()}"' if given else "there is no item to compare"
        return result | {"kappa": None, "alpha": None, "note": f"kappa and alpha are not defined: {why}"}
    return result | {"kappa": _kappa(confusion, labels), "alpha": _alpha(pairs, labels), "note": None}


def _kappa(confusion: dict[str, dict[str, int]], labels: Sequence[str]) -> float:
    import numpy as np
    from statsmodels.stats.inter_rater import cohens_kappa

    table = np.array([[confusion[a][b] for b in labels] for a in labels])
    return float(cohens_kappa(table, return_results=False))


def _alpha(pairs: Sequence[tuple[str, str]], labels: Sequence[str]) -> float:
    import krippendorff

    codes = [[labels.index(label) for label in side] for side in zip(*pairs, strict=True)]
    return float(krippendorff.alpha(reliability_data=codes, level_of_measurement="nominal"))


def print_agreement(first: str, second: str, result: Mapping[str, Any]) -> None:
    """Print what `agreement` returned for two annotations with these names."""
    console = Console(highlight=False, markup=False, emoji=False)
    console.print(f"A: {first}\nB: {second}", soft_wrap=True)
    console.print(f"{result['items']:,} items in both, {result['only_first']:,} in A only, {result['only_second']:,} in B only\n")
    parts = {"context": result["context"], "correct": result["correct"]}
    columns = [["items", "equal", "Cohen's kappa", "Krippendorff's alpha"], *map(_column, parts.values())]
    console.print(numbers_table("", "context", "correct, if clear to both", rows=zip(*columns, strict=True)))
    for name, part in parts.items():
        if part["note"]:
            console.print(f"{name}: {part['note']}")
    for part in parts.values():
        rows = [[a, *(f"{count:,}" for count in counts.values())] for a, counts in part["confusion"].items()]
        console.print()
        console.print(numbers_table("A \\ B", *part["confusion"], rows=rows))
    console.print(f"\n{len(result['differ']):,} items on which they differ")
    for item in result["differ"]:
        console.print(f"{item['id']}  A: {item['first']}  B: {item['second']}", soft_wrap=True)


def _column(part: Mapping[str, Any]) -> list[str]:
    equal = "none" if part["equal"] is None else f"{100 * part['equal']:.1f}%"
    return [f"{part['items']:,}", equal, *("none" if part[key] is None else f"{part[key]:.3f}" for key in ("kappa", "alpha"))]
