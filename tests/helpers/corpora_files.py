"""Small corpora in the published layouts, for tests to write, change and break."""

import json
import tarfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

GAME = "B1-A2-C3-1522432776975"
DAY = "data-3-30"
MISSION = "<Builder> Mission has started."


def procedure(index: int = 0, steps: Sequence[tuple[str, Mapping[int, int]]] = (("Paint it red.", {0: 4}),)) -> dict[str, Any]:
    """A procedure of the release. A step is an instruction and the color codes of the tiles it paints."""
    board = [0] * 180
    entries: list[Any] = [[0, "NONE", list(board)]]
    for number, (instruction, painted) in enumerate(steps, start=1):
        for tile, code in painted.items():
            board[tile] = code
        entries.append([number, instruction, list(board)])
    return {
        "index": index,
        "annotation_round": 1,
        "category": "simple",
        "image_id": "P01C01T14",
        "instructor_id": 2,
        "number_of_drawing_steps": len(steps),
        "agreement_tags": ["A"] * len(steps),
        "agreement_scores": [[1, 1.0, 1.0]] * len(steps),
        "drawing_procedure": entries,
    }


def write_hexagons(folder: Path, **lines: Iterable[Any]) -> Path:
    """Writes the three files; `train`, `dev` and `test` hold procedures, or lines of text."""
    folder.mkdir(parents=True, exist_ok=True)
    for number, split in enumerate(("train", "dev", "test")):
        rows = lines.get(split, [procedure(number)])
        (folder / f"{split}.jsonl").write_text("".join(f"{row if isinstance(row, str) else json.dumps(row)}\n" for row in rows))
    return folder


def state(
    chat: Sequence[str] = (),
    blocks: Iterable[tuple[int, int, int, str]] = (),
    pose: Sequence[float] | None = (0.5, 1.0, 0.5, 0.0, 0.0),
) -> dict[str, Any]:
    """A world state of a log. `pose` is X, Y, Z, Yaw, Pitch."""
    return {
        "Timestamp": "2018-03-30 12:00:00",
        "ChatHistory": [MISSION, *chat],
        "BlocksInGrid": [
            {"AbsoluteCoordinates": {"X": x, "Y": y, "Z": z}, "PerspectiveCoordinates": None, "Type": f"cwc_minecraft_{color}_rn"}
            for x, y, z, color in blocks
        ],
        "BuilderPosition": None if pose is None else dict(zip(("X", "Y", "Z", "Yaw", "Pitch"), pose, strict=True)),
        "BuilderInventory": None,
        "ScreenshotPath": None,
    }


def log_path(folder: Path, game: str = GAME, day: str = DAY) -> Path:
    return folder / "data" / "logs" / day / "logs" / game / "postprocessed-observations.json"


def write_log(folder: Path, states: Sequence[Mapping[str, Any]], game: str = GAME, day: str = DAY) -> Path:
    path = log_path(folder, game, day)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"WorldStates": states, "NumFixedViewers": 4, "TimeElapsed": 1.0}))
    return path


def write_splits(folder: Path, **targets: list[str]) -> Path:
    path = folder / "data" / "logs" / "splits.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"train": [], "val": [], "test": []} | targets))
    return path


def write_minecraft(folder: Path, states: Sequence[Mapping[str, Any]] | None = None) -> Path:
    """A corpus of one game in train. By default, the Architect gives an order and the Builder places a red and a blue block."""
    write_splits(folder, train=["C3"])
    ask = ["<Architect> a red block, a blue one on top"]
    write_log(
        folder,
        states
        or [
            state(),
            state(ask),
            state(ask, [(0, 1, 0, "red")], (1.5, 1.0, 2.5, 90.0, 45.0)),
            state(ask, [(0, 1, 0, "red"), (0, 2, 0, "blue")]),
            state([*ask, "<Builder> done"], [(0, 1, 0, "red"), (0, 2, 0, "blue")]),
        ],
    )
    return folder


def pack(folder: Path, archive: Path) -> Path:
    """The folder in the form of the published archive, with an unneeded file first."""
    archive.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(archive, "w:xz") as tar:
        license_text = folder / "LICENSE.txt"
        license_text.write_text("free\n")
        tar.add(license_text, "LICENSE.txt")
        tar.add(folder / "data", "data")
    return archive
