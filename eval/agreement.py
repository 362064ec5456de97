"""How far two annotators agree: on Minecraft items (BAP v2, section 3.1), or on the labels of drawing steps (`eval.schemes`).

Cohen's kappa and Krippendorff's alpha correct for chance agreement. Both divide by the disagreement expected by chance, so
they are undefined if only one label was ever used: None, and a note that says so.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeVar

from rich.console import Console

from eval.annotation import Annotation
from eval.schemes import Scheme, StepLabels, in_words
from eval.tables import numbers_table
from harness.errors import UsageError

CONTEXT_LABELS = ("unique", "multiple", "unclear")
_CORRECT = {True: "correct", False: "incorrect"}
_YES = {False: "no", True: "yes"}
Scale = Literal["nominal", "ordinal"]
T = TypeVar("T")


def agreement(first: Annotation, second: Annotation) -> dict[str, Any]:
    """Compares two annotations on the items they share: shares as fractions, kappa and alpha, confusion tables, differences.

    In a confusion table the first key is the label of `first`. Correctness is compared where both found the context clear.
    Raises UsageError if no item is in both.
    """
    pairs = _pairs(first.judgments, second.judgments, (first.name, second.name))
    clear = [(a, b) for a, b in pairs if a.correct is not None and b.correct is not None]
    return {
        **_counts(pairs, first.judgments, second.judgments),
        "context": _compare([(a.context, b.context) for a, b in pairs], CONTEXT_LABELS),
        "correct": _compare([(_CORRECT[bool(a.correct)], _CORRECT[bool(b.correct)]) for a, b in clear], tuple(_CORRECT.values())),
        "differ": [{"id": a.id, "first": a.label, "second": b.label} for a, b in pairs if a.label != b.label],
    }


def label_agreement(
    scheme: Scheme, first: Mapping[str, StepLabels], second: Mapping[str, StepLabels], names: tuple[str, str]
) -> dict[str, Any]:
    """The same for the labels of two annotators with these names. "parts" has the levels of an exclusive scheme, with an ordinal
    alpha as in "Draw Me a Flower"; for another, it has each label, which a step has or has not."""
    pairs = _pairs(first, second, names)
    if scheme.exclusive:
        levels = [(next(iter(a.labels)), next(iter(b.labels))) for a, b in pairs]
        parts = {"level": _compare(levels, tuple(scheme.labels), "ordinal")}
    else:
        has = {label: [(_YES[label in a.labels], _YES[label in b.labels]) for a, b in pairs] for label in scheme.labels}
        parts = {label: _compare(found, tuple(_YES.values())) for label, found in has.items()}
    return {
        **_counts(pairs, first, second),
        "parts": parts,
        "differ": [
            {"id": a.id, "first": in_words(a.labels), "second": in_words(b.labels)} for a, b in pairs if a.labels != b.labels
        ],
    }


def _pairs(first: Mapping[str, T], second: Mapping[str, T], names: tuple[str, str]) -> list[tuple[T, T]]:
    pairs = [(one, second[item]) for item, one in first.items() if item in second]
    if not pairs:
        raise UsageError(f"{names[0]} and {names[1]} have no item in common: give two annotations of the same items")
    return pairs


def _counts(pairs: Sequence[Any], first: Mapping[str, T], second: Mapping[str, T]) -> dict[str, int]:
    return {"items": len(pairs), "only_first": len(first) - len(pairs), "only_second": len(second) - len(pairs)}


def _compare(pairs: Sequence[tuple[str, str]], labels: Sequence[str], measured: Scale = "nominal") -> dict[str, Any]:
    counts = Counter(pairs)
    confusion = {a: {b: counts[a, b] for b in labels} for a in labels}
    equal = sum(counts[label, label] for label in labels)
    result = {"items": len(pairs), "equal": equal / len(pairs) if pairs else None, "confusion": confusion}
    given = {label for pair in pairs for label in pair}
    if len(given) < 2:
        why = f'every label is "{given.pop()}"' if given else "there is no item to compare"
        return result | {"kappa": None, "alpha": None, "note": f"kappa and alpha are not defined: {why}"}
    return result | {"kappa": _kappa(confusion, labels), "alpha": _alpha(pairs, labels, measured), "note": None}


def _kappa(confusion: dict[str, dict[str, int]], labels: Sequence[str]) -> float:
    import numpy as np
    from statsmodels.stats.inter_rater import cohens_kappa

    table = np.array([[confusion[a][b] for b in labels] for a in labels])
    return float(cohens_kappa(table, return_results=False))


def _alpha(pairs: Sequence[tuple[str, str]], labels: Sequence[str], measured: Scale) -> float:
    import krippendorff

    codes = [[labels.index(label) for label in side] for side in zip(*pairs, strict=True)]
    return float(krippendorff.alpha(reliability_data=codes, level_of_measurement=measured))


def print_agreement(names: tuple[str, str], result: Mapping[str, Any]) -> None:
    """Print what `agreement` or `label_agreement` returned for two annotations with these names."""
    console = Console(highlight=False, markup=False, emoji=False)
    console.print(f"A: {names[0]}\nB: {names[1]}", soft_wrap=True)
    console.print(f"{result['items']:,} items in both, {result['only_first']:,} in A only, {result['only_second']:,} in B only\n")
    parts = result.get("parts") or {"context": result["context"], "correct, if clear to both": result["correct"]}
    rows = ([name, *_cells(part)] for name, part in parts.items())
    console.print(numbers_table("", "items", "equal", "Cohen's kappa", "Krippendorff's alpha", rows=rows))
    for name, part in parts.items():
        if part["note"]:
            console.print(f"{name}: {part['note']}")
    for name, part in parts.items():
        cells = [[a, *(f"{count:,}" for count in counts.values())] for a, counts in part["confusion"].items()]
        console.print()
        console.print(numbers_table(f"{name.partition(',')[0]}: A \\ B", *part["confusion"], rows=cells))
    console.print(f"\n{len(result['differ']):,} items on which they differ")
    for item in result["differ"]:
        console.print(f"{item['id']}  A: {item['first']}  B: {item['second']}", soft_wrap=True)


def _cells(part: Mapping[str, Any]) -> list[str]:
    equal = "none" if part["equal"] is None else f"{100 * part['equal']:.1f}%"
    return [f"{part['items']:,}", equal, *("none" if part[key] is None else f"{part[key]:.3f}" for key in ("kappa", "alpha"))]
