"""Finished games of HEXAGONS in the format of the release, which `harness data` accepts as a corpus."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Iterator
from typing import Any

from harness.corpora import SPLITS
from harness.page.procedure import scores
from harness.page.store import Session, State, Store
from harness.util.hashing import short_hash


def procedures(store: Store) -> Iterator[tuple[str, dict[str, Any]]]:
    """The finished descriptions with their splits, as lines of the release.

    The verifiers are the first two people who executed the procedure. Until there are two, tags and scores are "None", as in
    the release. Models' executions never count.
    """
    for index, session in enumerate(one for one in store.list("description") if one.finished):
        verifiers = finished_executions(store, session)[:2]
        image, steps = session.state["image"], session.state["steps"]
        agreed = _agreement(session.state, *verifiers) if len(verifiers) == 2 else None
        yield (
            image["split"],
            {
                "index": index,
                "annotation_round": 2 if image["category"] == "NONE" else 1,
                "category": image["category"],
                "image_id": image["id"],
                "instructor_id": session.person,
                "number_of_drawing_steps": len(steps),
                "agreement_tags": [tag(*three) for three in agreed] if agreed else "None",
                "agreement_scores": agreed or "None",
                "drawing_procedure": [
                    [0, "NONE", [0] * len(image["board"])],
                    *([n, step["instruction"], list(map(int, step["board"]))] for n, step in enumerate(steps, start=1)),
                ],
            },
        )


def finished_executions(store: Store, described: Session, people: bool = True) -> list[Session]:
    """The finished executions of a description: the first one of each other person who drew without a model, or, if `people` is
    False, all in which a model drew."""
    by_person: dict[int, Session] = {}
    done = [one for one in store.list("execution", described.id) if one.finished]
    if not people:
        return [one for one in done if one.state["players"]]
    for one in done:
        if one.person != described.person and not one.state["players"]:
            by_person.setdefault(one.person, one)
    return list(by_person.values())


def tag(first: float, second: float, each_other: float) -> str:
    """A: both verifiers' boards are exact; V1, V2: one is; VV: only the verifiers agree; F: no two boards agree."""
    if first == 1:
        return "A" if second == 1 else "V1"
    return "V2" if second == 1 else "VV" if each_other == 1 else "F"


def as_zip(store: Store) -> bytes:
    """A ZIP archive of a folder hexagons/ with train.jsonl, dev.jsonl and test.jsonl; HARNESS_DATA can be the folder that it is
    unpacked into."""
    lines: dict[str, list[str]] = {split: [] for split in SPLITS["hexagons"]}
    for split, line in procedures(store):
        lines[split].append(json.dumps(line) + "\n")
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for split, written in lines.items():
            archive.writestr(f"hexagons/{split}.jsonl", "".join(written))
    return file.getvalue()


def own_image(board: str) -> dict[str, str]:
    """An image that was drawn on the page. Equal images have the same id and so the same split: 8 of 10 train, 1 dev, 1 test."""
    number = int(short_hash([board.encode()]), 16)
    split = {8: "dev", 9: "test"}.get(number % 10, "train")
    return {"id": f"P03C08T{number % 10**6:06}", "category": "other", "split": split, "board": board}


def _agreement(gold: State, first: Session, second: Session) -> list[list[float]]:
    """For each step, the board F1 of the first verifier, of the second, and of the two against each other, to two decimals. As in
    the release, only 1 means exact."""
    three = (scores(gold, first.state), scores(gold, second.state), scores(first.state, second.state))
    values = ([one["board"]["f1"] for one in of_step] for of_step in zip(*three, strict=True))
    return [[value if value == 1 else min(round(value, 2), 0.99) for value in of_step] for of_step in values]
