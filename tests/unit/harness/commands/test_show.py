from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest
from PIL import Image

from harness.corpora.item import Executed, Item, Utterance
from harness.drawing.svg import DIAMOND
from harness.worlds.hexagons import Paint
from harness.worlds.minecraft import Pose, Structure
from tests.helpers import Command
from tests.helpers.scored import place, step, turn, write_run

RED, BLUE = Paint(0, 0, "red"), Paint(2, 3, "blue")
HEXAGONS = replace(
    step([RED], [BLUE], 2, "7"),
    instruction="Paint the third tile of column 4 blue.",
    history=(Utterance("Instructor", "Paint the \x1b[31mcorner red."), Executed((RED,))),
)
BLOCK = (0, 1, 0, "red")
MINECRAFT = replace(
    turn([BLOCK], [BLOCK, (1, 1, 0, "yellow"), (1, 2, 0, "green")], 9),
    history=tuple(Utterance("Architect", f"line {i}") for i in range(10)),
    pose=Pose(0.5, 1.0, -3.0, 0.0, 20.0),
    actions=(place("yellow", 1, 1, 0), place("green", 1, 2, 0)),
)


@pytest.fixture(autouse=True)
def corpus(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    items: dict[tuple[str, str | None], list[Item]] = {
        ("hexagons", "test"): [replace(HEXAGONS, id=f"hexagons/test/7/{n}") for n in range(1, 5)],
        ("minecraft", "test"): [MINECRAFT],
    }
    monkeypatch.setattr("harness.corpora.load", lambda task, split=None: items[task, split])
    monkeypatch.chdir(tmp_path)


def shown(command: Command, *arguments: str) -> str:
    code, out, err = command("show", *arguments)
    assert (code, err) == (0, "")
    return out


def refused(command: Command, *arguments: str) -> str:
    code, _, err = command("show", *arguments)
    assert (code, err.count("\n")) == (2, 1)
    return err


def test_a_drawing_step(command: Command) -> None:
    out = shown(command, "hexagons/test/7/2")
    assert "Instruction: Paint the third tile of column 4 blue." in out
    assert "  > red: 1 1\n" in out
    assert "Gold, 1 action: blue: 4 3\n" in out
    assert out.index("Before") < out.index("After")
    assert out.count("[B]") == 1
    # Text of a corpus or a model cannot control the terminal.
    assert "\x1b" not in out


def test_a_builders_turn_with_its_history_shortened(command: Command) -> None:
    out = shown(command, MINECRAFT.id)
    assert "(4 earlier turns; --history 10 shows them)" in out
    assert "line 3" not in out
    assert "Architect: line 4\n" in out
    assert "Gold, 2 actions: place yellow 1 1 0, place green 1 2 0\n" in out
    assert "Y+" in out
    assert "G+" in out
    assert "↑ builder at (0.5, 1.0, -3.0)" in out
    assert "line 0" in shown(command, MINECRAFT.id, "--history", "10")
    assert "line 9" not in shown(command, MINECRAFT.id, "--history", "0")


def test_the_prediction_of_a_run(command: Command) -> None:
    write_run("mine", [{"id": "hexagons/test/7/2", "actions": [[2, 3, "green"], [9, 17, "black"], [30, 3, "red"]]}])
    out = shown(command, "hexagons/test/7/2", "--run", "mine")
    for line in ("Infeasible, 1 action: red: 4 31", "Missing, 1 action: blue: 4 3", "Wrong, 2 actions", "[G]"):
        assert line in out
    assert shown(command, "hexagons/test/7/2", "--run", "runs/mine") == out


def test_an_empty_board_has_both_ways_of_scoring(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    """The neck of a giraffe (BAP v2, Table 11, Example B) as a diagonal elsewhere."""
    after = Structure.of([(n, 1, n, "orange") for n in (1, 2, 3)])
    monkeypatch.setattr("harness.corpora.load", lambda *_: [replace(MINECRAFT, before=Structure(), after=after)])
    write_run("mine", [{"id": MINECRAFT.id, "actions": [["place", "orange", -n, 1, -n] for n in (1, 2, 3)]}])
    out = shown(command, MINECRAFT.id, "--run", "mine")
    rows = ["strict 1.00 1.00 0.00 1.00 0.00", "aligned 1.00 1.00 1.00 1.00 1.00"]
    assert [" ".join(line.split()) for line in out.splitlines() if line.startswith(("strict", "aligned "))] == rows


@pytest.mark.parametrize("item", [HEXAGONS, MINECRAFT], ids=lambda item: item.task)
def test_files(command: Command, item: Item) -> None:
    out = shown(command, item.id, "--svg", "a.svg", "--png", "a.png")
    assert "Written: a.svg\n" in out
    root = ElementTree.parse("a.svg").getroot()
    with Image.open("a.png") as picture:
        assert picture.size == pytest.approx((2 * float(root.attrib["width"]), 2 * float(root.attrib["height"])), abs=1)
    write_run("mine", [{"id": item.id, "actions": []}])
    shown(command, item.id, "--run", "mine", "--svg", "b.svg")
    assert DIAMOND in Path("b.svg").read_text()
    assert DIAMOND not in Path("a.svg").read_text()
    assert sorted(p.name for p in Path().iterdir()) == ["a.png", "a.svg", "b.svg", "runs"]


def test_an_unknown_item(command: Command) -> None:
    error = refused(command, "hexagons/test/7/9")
    assert "no item 'hexagons/test/7/9' among the 4 of hexagons/test; nearest: hexagons/test/7/" in error
    assert "is not an item's id, such as" in refused(command, "")


def test_a_run_without_the_item(command: Command) -> None:
    write_run("mine", [{"id": "hexagons/test/7/1", "actions": []}])
    assert f"holds no prediction for {HEXAGONS.id}" in refused(command, HEXAGONS.id, "--run", "mine")
