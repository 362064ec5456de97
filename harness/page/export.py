"""Finished games of HEXAGONS in the format of the release, which `harness data` accepts as a corpus."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Iterator
from typing import Any

from harness.corpora import SPLITS
from harness.page.procedure import scores
from harness.page.store import Session, Store
from harness.util.hashing import short_hash


def procedures(store: Store) -> Iterator[tuple[str, dict[str, Any]]]:
    """The finished descriptions with their splits, as lines of the release.

    Until there are two verifiers, tags and scores are "None", as in the release."""
    for index, session in enumerate(one for one in store.list("description") if one.finished):
        image, steps = session.state["image"], session.state["steps"]
        agreed = agreement(store, session)
        yield (
            image["split"],
            {
                "index": index,
                "annotation_round": 2 if image["category"] == "NONE" else 1,
                "category": image["category"],
                "image_id": image["id"],
                "instructor_id": session.person,
                "number_of_drawing_steps": len(steps),
                "agreement_tags": tags(agreed) or "None",
                "agreement_scores": agreed or "None",
                "drawing_procedure": [
                    [0, "NONE", [0] * len(image["board"])],
                    *([n, step["instruction"], list(map(int, step["board"]))] for n, step in enumerate(steps, start=1)),
                ],
            },
        )


def verifications(store: Store, described: Session) -> list[Session]:
    """The finished executions of a description without a model: the first one of each other person."""
    by_person: dict[int, Session] = {}
    for one in store.list("execution", described.id):
        if one.finished and one.person != described.person and not one.state["players"]:
            by_person.setdefault(one.person, one)
    return list(by_person.values())


def tags(agreed: list[list[float]]) -> list[str]:
    """For each step of an `agreement`, A: both verifiers' boards are exact; V1, V2: one is; VV: only they agree; F: no two boards
    agree."""
    names = {(True, True): "A", (True, False): "V1", (False, True): "V2"}
    return [names.get((one == 1, two == 1), "VV" if each_other == 1 else "F") for one, two, each_other in agreed]


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


def agreement(store: Store, described: Session) -> list[list[float]]:
    """For each step, the board F1 of the first verifier, of the second, and of the two against each other, to two decimals; empty
    until two people have verified. As in the release, only 1 means exact."""
    gold, verifiers = described.state, [one.state for one in verifications(store, described)[:2]]
    if len(verifiers) < 2:
        return []
    three = (scores(gold, verifiers[0]), scores(gold, verifiers[1]), scores(*verifiers))
    values = ([one["board"]["f1"] for one in of_step] for of_step in zip(*three, strict=True))
    return [[value if value == 1 else min(round(value, 2), 0.99) for value in of_step] for of_step in values]
