"""The HEXAGONS corpus as released: a folder with train.jsonl, dev.jsonl and test.jsonl, one drawing procedure a line.

"Draw Me a Flower" (TACL 2022), section 4 and Table 6.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from statistics import fmean
from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from harness.corpora.archive import CorpusRecord, read_json
from harness.corpora.corpus import Corpus
from harness.corpora.item import Executed, HexagonsItem, Turn, Utterance
from harness.errors import DataError
from harness.util.files import json_lines
from harness.worlds.hexagons import TILES, Board

AGREED = frozenset({"A", "V1", "V2"})
"""The tags of a step whose board at least one verifier drew exactly."""
_TOKEN = re.compile(r"\w+|[^\w\s]")
"""Words and single punctuation marks, as Table 1 counts them."""

Tag = Literal["A", "V1", "V2", "VV", "F"]
Code = Annotated[int, Field(ge=0, le=7)]
Codes = Annotated[list[Code], Field(min_length=TILES, max_length=TILES)]
Score = Annotated[float, Field(ge=0, le=1)]


class Procedure(CorpusRecord):
    """One line of the release. Entry 0 of `drawing_procedure` is the blank board before the first step."""

    index: int
    annotation_round: Literal[0, 1, 2]
    category: str
    image_id: str
    instructor_id: int
    number_of_drawing_steps: int
    agreement_tags: list[Tag] | Literal["None"]
    agreement_scores: list[tuple[Score, Score, Score]] | Literal["None"]
    drawing_procedure: Annotated[list[tuple[int, str, Codes]], Field(min_length=1)]

    @model_validator(mode="after")
    def _agrees_with_itself(self) -> Self:
        """Ids count from 0, the first entry is blank, and each step has one agreement tag and score."""
        ids = [step for step, _, _ in self.drawing_procedure]
        if ids != list(range(len(ids))):
            raise ValueError(f"drawing_procedure has the ids {ids}; ids must count 0, 1, 2, ...")
        if self.drawing_procedure[0][1] != "NONE" or any(self.drawing_procedure[0][2]):
            raise ValueError(f'drawing_procedure entry 0 must be "NONE" with {TILES} zeros')
        counts = {"number_of_drawing_steps": self.number_of_drawing_steps}
        judged = {"agreement_tags": self.agreement_tags, "agreement_scores": self.agreement_scores}
        counts |= {key: len(values) for key, values in judged.items() if values != "None"}
        for key, count in counts.items():
            if count != len(ids) - 1:
                raise ValueError(f"{key} covers {count} steps, but drawing_procedure has {len(ids) - 1}")
        return self


def load(folder: Path, split: str) -> list[HexagonsItem]:
    """The drawing steps of a split, in file order.

    Raises DataError, which names the file and the line, if the file is missing or a line is not a procedure of the release.
    """
    return [item for procedure in read_procedures(folder / f"{split}.jsonl") for item in steps(procedure, split)]


def read_procedures(path: Path) -> Iterator[Procedure]:
    """The procedures of a file, checked one by one. Raises DataError as `load` does."""
    last = -1
    for number, line in json_lines(path):
        where = f"{path} line {number}"
        procedure = read_json(Procedure, line, where)
        if procedure.index <= last:
            raise DataError(f"{where}: index {procedure.index} follows {last}; indices must ascend")
        last = procedure.index
        yield procedure


def steps(procedure: Procedure, split: str) -> Iterator[HexagonsItem]:
    """The items of a procedure. Instructions are stripped; `meta["raw"]` keeps them as released."""
    boards = [Board(codes) for _, _, codes in procedure.drawing_procedure]
    tags, scores = procedure.agreement_tags, procedure.agreement_scores
    history: tuple[Turn, ...] = ()
    for step, raw, _ in procedure.drawing_procedure[1:]:
        before, after = boards[step - 1], boards[step]
        actions = before.diff(after)
        instruction = raw.strip()
        yield HexagonsItem(
            id=f"hexagons/{split}/{procedure.index}/{step}",
            split=split,
            instruction=instruction,
            history=history,
            before=before,
            actions=actions,
            after=after,
            # P02M01T02a is a slightly changed copy of P02M01T02.
            group=procedure.image_id.removesuffix("a"),
            cluster=f"hexagons/{split}/{procedure.index}",
            meta={
                "index": procedure.index,
                "step": step,
                "steps": procedure.number_of_drawing_steps,
                "category": procedure.category,
                "image_id": procedure.image_id,
                "annotation_round": procedure.annotation_round,
                "instructor_id": procedure.instructor_id,
                "agreement_tag": None if tags == "None" else tags[step - 1],
                "agreement_scores": None if scores == "None" else scores[step - 1],
                "raw": raw,
            },
        )
        history = (*history, Utterance("Instructor", instruction), Executed(actions))


def statistics(steps: Mapping[str, Sequence[HexagonsItem]]) -> dict[str, Any]:
    """The counts for the steps of each split, as in Tables 1, 2 and 6 of the paper.

    Shares and scores are fractions 0..1, None if nothing was verified. A procedure counts as agreed if its last step is. Steps
    that no verifier drew are left out of all shares. "agreement" has the board-based scores of the verifiers against the
    Instructor: the mean of both, the worse of the two, and the better of the two.
    """
    everything = [step for split in steps.values() for step in split]
    rounds = sorted({step.meta["annotation_round"] for step in everything})
    # The release has a third score, of one verifier against the other.
    scores = [step.meta["agreement_scores"][:2] for step in everything if step.meta["agreement_scores"]]
    return {
        "splits": {split: _split_counts(of_split) for split, of_split in steps.items()},
        "rounds": {str(r): _round_counts([s for s in everything if s.meta["annotation_round"] == r]) for r in rounds},
        "total": _round_counts(everything) | _split_counts(everything),
        "agreement": {
            "board_f1": _agreement(scores),
            "board_em": _agreement([[float(score == 1) for score in pair] for pair in scores]),
        },
    }


def _agreement(pairs: Sequence[Sequence[float]]) -> list[float] | None:
    return [fmean(map(of_step, pairs)) for of_step in (fmean, min, max)] if pairs else None


def _split_counts(steps: Sequence[HexagonsItem]) -> dict[str, Any]:
    verified = [step for step in steps if step.meta["agreement_tag"]]
    agreed = [step for step in verified if step.meta["agreement_tag"] in AGREED]
    return {
        "procedures": len({step.cluster for step in steps}),
        "steps": len(steps),
        "gold_actions": sum(len(step.actions) for step in steps),
        "no_action_steps": sum(not step.actions for step in steps),
        "agreed_procedures": sum(step.meta["step"] == step.meta["steps"] for step in agreed),
        "agreed_steps": len(agreed) / len(verified) if verified else None,
    }


def _round_counts(steps: Sequence[HexagonsItem]) -> dict[str, int]:
    return {
        "procedures": len({step.cluster for step in steps}),
        "steps": len(steps),
        "tokens": sum(len(_TOKEN.findall(step.instruction)) for step in steps),
        "images": len({step.group for step in steps}),
    }


class HexagonsCorpus(Corpus):
    """The release, or our sample of the same form."""

    def items(self, source: Path, splits: Sequence[str]) -> Iterator[HexagonsItem]:
        return chain.from_iterable(load(source, split) for split in splits)

    def stats(self, source: Path) -> dict[str, Any]:
        return statistics({split: load(source, split) for split in self.task.splits})
