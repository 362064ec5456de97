import json
import re
import shutil
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness.cli import main
from harness.corpora import iglu, load, locate
from harness.corpora.item import Utterance
from harness.errors import DataError
from harness.tasks import SAMPLE

FIRST = "game-9005"
"""An instruction of the sample: remove the yellow block next to a purple tower."""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the sample, to break."""
    monkeypatch.setenv("HARNESS_DATA", str(tmp_path / "data"))
    return Path(shutil.copytree(SAMPLE / "iglu", tmp_path / "data" / "iglu"))


def target(folder: Path, game: str = FIRST) -> Path:
    return folder / f"target_world_states/builder-data/actionHit/{game}/{game}-step-action"


def change(path: Path, how: Callable[[Any], object]) -> None:
    world = json.loads(path.read_text())
    how(world)
    path.write_text(json.dumps(world))


def add(*block: int) -> Callable[[Any], object]:
    return lambda world: world["worldEndingState"]["blocks"].append(list(block))


def table(folder: Path) -> Path:
    return folder / "clarifying_questions_train.csv"


def faults(folder: Path, capsys: pytest.CaptureFixture[str]) -> dict[str, list[list[str]]]:
    """The items that `harness data stats iglu` leaves out, by fault."""
    assert locate("iglu").path.is_relative_to(folder)
    assert main(["data", "stats", "iglu", "--json"]) == 0
    stats = json.loads(capsys.readouterr().out)
    lines = stats["instructions"]["items"] + stats["instructions"]["unclear"]
    assert lines + sum(fault["lines"] for fault in stats["left_out"].values()) == stats["instructions"]["lines"]
    assert sum(split["items"] for split in stats["splits"].values()) == stats["instructions"]["items"]
    return {kind: fault["which"] for kind, fault in stats["left_out"].items() if fault["lines"]}


@pytest.mark.parametrize(
    ("kind", "detail", "how"),
    [
        ("no target world", "game-9005-step-action", lambda folder: target(folder).unlink()),
        ("damaged world", "Invalid JSON", lambda folder: target(folder).write_text(target(folder).read_text()[:90])),
        ("damaged world", "two blocks at 0 63 0", lambda folder: change(target(folder), add(0, 63, 0, 57))),
        ("unknown block", "99 at 2 63 0", lambda folder: change(target(folder), add(2, 63, 0, 99))),
        ("outside", "6 63 0", lambda folder: change(target(folder), add(6, 63, 0, 57))),
        ("floating", "game-9005-step-action", lambda folder: change(target(folder), add(3, 66, 3, 57))),
        ("no pose", "game-9005-step-action", lambda folder: change(target(folder), lambda world: world.pop("tape"))),
        ("unchanged", "", lambda folder: shutil.copy(folder / "initial_world_states/builder-data/2-c902/step-2", target(folder))),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_faults_are_counted_and_named(
    folder: Path, kind: str, detail: str, how: Callable[[Path], object], capsys: pytest.CaptureFixture[str]
) -> None:
    how(folder)
    ((found, lines),) = faults(folder, capsys).items()
    ((game, said),) = lines
    assert (found, game) == (kind, FIRST)
    assert said.endswith(detail) or detail in said
    assert FIRST not in {one.meta["game"] for one in load("iglu")}
    assert main(["data", "stats", "iglu"]) == 0
    assert re.search(rf"{kind} +1\b", capsys.readouterr().out)


def test_a_game_id_that_stands_there_twice(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = table(folder).read_text().splitlines()
    again = next(line for line in lines if f"CQ-{FIRST}," in line)
    table(folder).write_text("\n".join([*lines, again, again.replace("yellow", "purple")]) + "\n")
    assert faults(folder, capsys) == {"repeated": [[FIRST, "the same text"], [FIRST, "another text: Destroy the purple block."]]}
    (item,) = (item for item in load("iglu") if item.meta["game"] == FIRST)
    assert item.history[0] == Utterance("Architect", "Destroy the yellow block.")


@pytest.mark.parametrize(
    ("change_table", "message"),
    [
        (lambda text: text.replace("InputInstruction", "Instruction", 1), "row 1: InputInstruction: Field required"),
        (lambda text: text.replace("Yes", "Perhaps", 1), "row 1: IsInstructionClear: Input should be 'Yes' or 'No'"),
        (
            lambda text: text.replace("initial_world_states/builder-data/1-c901/step-2", "elsewhere", 1),
            "row 1: InitializedWorldPath: ",
        ),
        (lambda text: text + '"CQ-game-1,never ends', "not a CSV file as published"),
    ],
)
def test_a_table_that_is_not_as_published(folder: Path, change_table: Callable[[str], str], message: str) -> None:
    table(folder).write_text(change_table(table(folder).read_text()))
    with pytest.raises(DataError, match=message):
        load("iglu")


def test_an_archive_reads_as_the_folder_and_the_cache_sees_a_change(folder: Path) -> None:
    unpacked = load("iglu")
    archive = folder / iglu.ARCHIVE
    with tarfile.open(archive, "w:xz") as tar:
        for path in sorted(folder.iterdir()):
            if path != archive:
                tar.add(path, f"datasets/singleturn/{path.name}")
    assert locate("iglu").path == archive
    assert load("iglu") == unpacked
    archive.unlink()
    target(folder).unlink()
    assert len(load("iglu")) == len(unpacked) - 1
