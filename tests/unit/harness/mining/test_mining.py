"""Mined pairs: exact programs that follow the wording, from train only."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from harness.cli import main
from harness.corpora import load
from harness.corpora.item import Executed, HexagonsItem
from harness.errors import DataError, UsageError
from harness.mining.miner import Mined, Miner, append, read, resume
from harness.mining.wording import unsaid_directions
from harness.worlds.hexagons import Board, Paint
from prompts.probe import PROBES
from serialization.formats import get_format
from serialization.program import hexagons
from serialization.program.parse import parse


def drawn(instruction: str, program: str, before: str = "") -> HexagonsItem:
    """A second step, after a first step that a program drew."""
    first = hexagons.run(parse(before)).actions
    board = Board().apply(first).board
    state = hexagons.DrawingState(board, [first])
    actions: tuple[Paint, ...] = hexagons.run(parse(program), state).actions
    history = (*PROBES["hexagons"][0].history[:1], Executed(first))
    return HexagonsItem("hexagons/train/0/2", "train", instruction, history, board, actions, board.apply(actions).board, "g", "c")


def test_the_best_program_is_exact_and_speaks_as_the_words_do() -> None:
    item = drawn("Draw a blue circle around the red tile.", "blue ring(9:5)", "red 9:5; green 2:2")
    (best,) = Miner().mine(item)
    assert best.program == "blue ring(9:5)" or "near" in best.program
    several = Miner(keep=5).mine(item)
    assert several[0] == best
    assert [one.score for one in several] == sorted((one.score for one in several), reverse=True)
    assert len({one.program for one in several}) == len(several) == 5
    for one in several:
        assert get_format("hexagons", "program").read(one.program, item) == (item.actions, ())
        assert one.characters == len(one.program)
        assert one.literal == len(get_format("hexagons", "program").write(item.actions))


@pytest.mark.parametrize("split", ["dev", "val", "test"])
def test_only_train_is_mined(split: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["mine", "--split", split, "--out", str(tmp_path / "m.jsonl")]) == 2
    assert f"mined from train only, because programs of {split} would leak" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_simulated_items_are_mined_and_those_of_another_split_are_not(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for split in ("train", "dev"):
        made = ["simulate", "hexagons", "--items", "12", "--split", split, "--out", str(tmp_path / f"{split}.jsonl")]
        assert main(made) == 0
    out = tmp_path / "m.jsonl"
    assert main(["mine", "--data", str(tmp_path / "train.jsonl"), "--out", str(out)]) == 0
    assert {pair.id.split("/")[0] for pair in read(out)} == {"hexagons-synthetic"}
    capsys.readouterr()
    assert main(["mine", "--data", str(tmp_path / "dev.jsonl"), "--out", str(tmp_path / "none.jsonl")]) == 2
    assert "is not a train item of hexagons" in capsys.readouterr().err
    assert main(["mine", "--task", "minecraft", "--data", str(tmp_path / "train.jsonl"), "--out", str(out)]) == 2


def test_directions_that_the_words_lack_count_against_a_program() -> None:
    assert unsaid_directions("add three more to the left", "purple row(1,1,1,left,3)") == 0
    assert unsaid_directions("add three more to the left", "purple row(1,1,1,behind,3)") < 0
    assert unsaid_directions("two in back", "red row(last,behind,2)") == 0


def test_a_file_is_continued(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "m.jsonl"
    pairs = [Mined(f"i/{n}", "wörds", "red 1:1", 1.0, 7, 7) for n in (1, 1, 2, 2)]
    assert resume(path, ["i/1"]) == set()
    append(path, pairs[:2])
    append(path, pairs[2:])
    assert read(path) == pairs
    assert resume(path, ["i/1", "i/2", "i/3"]) == {"i/1", "i/2"}
    with path.open("a") as file:
        file.write('{"id": "i/2", "instr')
    assert resume(path, ["i/1", "i/2"]) == {"i/1"}
    assert read(path) == pairs[:2]
    path.write_text('{"id"')
    assert resume(path, ["i/1"]) == set()
    assert read(path) == []


def test_files_of_something_else_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "m.jsonl"
    path.write_text('{"id": "hexagons/dev/1/1"}\n')
    with pytest.raises(UsageError, match="hexagons/dev/1/1, which is not among the items"):
        resume(path, ["hexagons/train/1/1"])
    with pytest.raises(DataError, match="1: not a pair"):
        read(path)
    path.write_text("[]\n")
    with pytest.raises(DataError, match="harness mine did not write this line"):
        resume(path, [])
    path.write_bytes(b"\xff")
    with pytest.raises(DataError, match="1: not a pair"):
        read(path)


@pytest.mark.parametrize("task", ["hexagons", "minecraft"])
def test_the_command(task: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / f"{task}.jsonl"
    command = ["mine", "--task", task, "--limit", "12", "--out", str(out)]
    assert main(command) == 0
    said = capsys.readouterr().out
    assert "construction" in said
    assert "of 12 items" in " ".join(said.split())
    first = out.read_text()
    out.write_text(first[: len(first) // 2])
    assert main(command) == 0
    assert out.read_text() == first
    items = {item.id: item for item in load(task, "train")}
    for line in first.splitlines():
        pair = json.loads(line)
        assert list(pair) == ["id", "instruction", "program", "score", "characters", "literal"]
        item = items[pair["id"]]
        fmt = get_format(task, "program")
        left, gold = (item.before.apply(fmt.read(text, item).actions) for text in (pair["program"], fmt.write(item.actions)))
        assert left == gold
    assert main([*command, "--overwrite", "--keep", "3"]) == 0
    assert len(out.read_text().splitlines()) > len(first.splitlines())
