"""What the page shows of the corpora: images and procedures of HEXAGONS, games of Minecraft, and their targets."""

from functools import lru_cache
from pathlib import Path
from typing import Any

from eval.live import outcome
from harness.corpora import SPLITS, hexagons, load_games, locate
from harness.corpora.hexagons import Procedure
from harness.corpora.item import Utterance
from harness.corpora.minecraft_logs import Game
from harness.corpora.records import turn_record
from harness.errors import UsageError
from harness.service.schema import Blocks, Body
from harness.worlds.hexagons import Board

Json = dict[str, Any]

MOST_BLOCKS = 40
"""The most blocks of a target that a person is asked to describe."""


@lru_cache(maxsize=2)
def _procedures(folder: Path) -> dict[int, tuple[str, Procedure]]:
    """Each procedure and its split by index, in ascending order."""
    found = {
        procedure.index: (split, procedure)
        for split in SPLITS["hexagons"]
        if (file := folder / f"{split}.jsonl").is_file()
        for procedure in hexagons.read_procedures(file)
    }
    return dict(sorted(found.items()))


@lru_cache(maxsize=2)
def _games(path: Path) -> dict[str, Game]:
    return {game.name: game for game in load_games()}


def sources() -> Json:
    """For each world, whether the authors' corpus is on this machine or the sample is shown, and its license."""
    return {task: {"kind": (source := locate(task)).kind, "license": source.license} for task in SPLITS}


def images() -> list[Json]:
    """The images in the order of their ids: id, category, split, board (the final board of the first procedure that draws it)
    and the indices of their procedures."""
    by_id: dict[str, Json] = {}
    for index, (split, procedure) in _procedures(locate("hexagons").path).items():
        image = by_id.setdefault(
            procedure.image_id,
            {
                "id": procedure.image_id,
                "category": procedure.category,
                "split": split,
                "board": Board(procedure.drawing_procedure[-1][2]).digits(),
                "procedures": [],
            },
        )
        image["procedures"].append(index)
    return [by_id[name] for name in sorted(by_id)]


def image(image_id: str) -> Json:
    """The image with this id, without its procedures. Raises UsageError if there is none."""
    for one in images():
        if one["id"] == image_id:
            return {key: value for key, value in one.items() if key != "procedures"}
    raise UsageError(f"there is no image {image_id[:40]!r}")


def procedure(index: int) -> Json:
    """A procedure with its boards, agreement tags and, for the authors' dev split, our labels of abstraction.

    Raises UsageError if there is none.
    """
    from eval.annotation import read_levels

    source = locate("hexagons")
    known = _procedures(source.path)
    if index not in known:
        raise UsageError(f"there is no procedure {index}: their indices go from {min(known)} to {max(known)}")
    split, found = known[index]
    levels = read_levels() if source.kind == "official" and split == "dev" else {}
    tags, scores = found.agreement_tags, found.agreement_scores
    steps = [
        {
            "instruction": text.strip(),
            "board": Board(codes).digits(),
            "tag": None if tags == "None" else tags[step - 1],
            "scores": None if scores == "None" else scores[step - 1],
            "level": levels.get(f"hexagons/{split}/{index}/{step}"),
        }
        for step, text, codes in found.drawing_procedure[1:]
    ]
    indices = list(known)
    place = indices.index(index)
    return {
        "index": index,
        "split": split,
        "category": found.category,
        "image_id": found.image_id,
        "round": found.annotation_round,
        "instructor": found.instructor_id,
        "steps": steps,
        "previous": indices[place - 1] if place else None,
        "next": indices[place + 1] if place + 1 < len(indices) else None,
    }


def games() -> list[Json]:
    """The building games, in the corpus's order."""
    return [
        {
            "name": game.name,
            "target": game.target,
            "split": game.split,
            "lines": sum(isinstance(turn, Utterance) for turn in game.turns),
            "actions": sum(len(run.actions) for run in game.runs),
        }
        for game in _games(locate("minecraft").path).values()
    ]


def game(name: str) -> Json:
    """A building game: its turns as in a request of the task API, and what stands at the end.

    Raises UsageError if there is none.
    """
    found = _games(locate("minecraft").path).get(name)
    if found is None:
        raise UsageError(f"there is no game {name[:60]!r}")
    return {
        "name": found.name,
        "target": found.target,
        "split": found.split,
        "turns": [turn_record(turn) for turn in found.turns],
        "built": _built(found),
    }


def _built(found: Game) -> list[list[Any]]:
    after = next((run.after for run in reversed(found.runs) if run.after is not None), None)
    return [] if after is None else [list(block) for block in after.blocks()]


def targets() -> list[Json]:
    """What was built in the corpus's games, once for each target structure, the smallest first: name, split and blocks."""
    by_target: dict[str, Json] = {}
    for found in _games(locate("minecraft").path).values():
        blocks = _built(found)
        if 0 < len(blocks) <= MOST_BLOCKS:
            by_target.setdefault(found.target, {"name": found.target, "split": found.split, "blocks": blocks})
    return sorted(by_target.values(), key=lambda one: (len(one["blocks"]), one["name"]))


class Built(Body):
    """What was built in a game, and its target."""

    built: Blocks
    target: Blocks

    def score(self) -> float | None:
        """F1 of what was built, after the rotation and shift that fit the target best; None without a target."""
        return outcome("minecraft", self.target, self.built)["f1_aligned"] if self.target else None
