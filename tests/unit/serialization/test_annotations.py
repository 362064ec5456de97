"""Programs of train items: read with their lines, attached to items, compared with gold by net change."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness.corpora import load
from harness.corpora.item import MinecraftItem, own_program
from harness.errors import DataError, UsageError
from harness.worlds.minecraft import Action, Pose, Structure
from prompts.messages import conversation
from prompts.spec import PromptSpec
from serialization.annotations import (
    CELLS,
    MISSING,
    TAKEN,
    UNDETERMINED,
    WRONG,
    Annotation,
    ProgramAnswers,
    annotated,
    given_annotations,
    same_change,
    shipped_annotations,
    with_earlier_programs,
)
from serialization.formats import get_format
from tests.helpers import cases
from tests.helpers.procedures import procedure

CASES = cases(__file__)

TRAIN = [replace(item, split="train") for item in procedure(0, 3)]
"""Each step paints the next tile of column 1 red, from row 2 on."""
RIGHT = ["red 1:2", "red below(step(-1),1)", "red below(step(-1),1)"]
DRAWN = PromptSpec.make("hexagons", "conversation+programs", "bare-program")


def building(*actions: Action) -> MinecraftItem:
    before = Structure.of([(0, 1, 0, "blue")])
    names: dict[str, Any] = {"id": "iglu/train/game-1", "split": "train", "group": "g", "cluster": "c"}
    return MinecraftItem(
        history=(), before=before, pose=Pose(0, 1, -4, 0, 0), actions=actions, after=before.apply(actions).structure, **names
    )


def answers(**settings: Any) -> ProgramAnswers:
    return ProgramAnswers(DRAWN.format.read, **settings)


@pytest.mark.parametrize(("program", "same"), CASES["same change"])
def test_programs_are_compared_by_net_change(program: str, same: bool) -> None:
    """Not by order, by the colors of removals, or by what is placed and taken away again."""
    item = building(Action("remove", None, 0, 1, 0), Action("place", "red", 0, 1, 0), Action("place", "red", 1, 1, 0))
    assert same_change(item, get_format("iglu", "program").read(program, item)) is same


def test_an_item_is_learned_with_its_program_or_left_out_and_counted() -> None:
    programs = {
        TRAIN[0].id: Annotation("red 1:2"),
        TRAIN[1].id: Annotation("red 1:2", mark="differs"),
        TRAIN[2].id: Annotation("red 1:4", mark="gold"),
    }
    others = [replace(item, id=f"{item.id}/other") for item in TRAIN]
    programs[others[0].id] = Annotation("red 1:9")
    made = answers()
    assert [made.takes(item, checked=False) for item in annotated([*TRAIN, *others[:2]], programs)] == [True, True, *3 * [False]]
    assert made.counts == {TAKEN: 2, UNDETERMINED: 1, WRONG: 1, MISSING: 1}
    assert str(made) == f"2 {TAKEN}, 1 {MISSING}, 1 {UNDETERMINED}, 1 {WRONG}"
    with_cells = answers(cells=True)
    assert with_cells.takes(others[1], checked=False)
    assert with_cells.counts == {CELLS: 1}


def test_without_any_program_answers_list_cells() -> None:
    made = answers()
    assert list(made.of_split(TRAIN, "hexagons")) == TRAIN
    assert all(made.takes(item, checked=True) for item in TRAIN)
    assert made.counts == {CELLS: 3}
    own = answers()
    items = own.of_split(load("everyday-hexagons", "train"), "everyday-hexagons")
    assert all(own.takes(item, checked=True) for item in items)
    assert own.counts == {TAKEN: len(items)}


@pytest.mark.parametrize(
    ("first", "shown"), [(Annotation(RIGHT[0]), RIGHT[0]), (Annotation("red 1:5", mark="differs"), "red 1:2")]
)
def test_a_conversation_shows_the_earlier_programs_that_are_gold(first: Annotation, shown: str) -> None:
    programs = {TRAIN[0].id: first, TRAIN[1].id: Annotation(RIGHT[1]), TRAIN[2].id: Annotation(RIGHT[2])}
    last = with_earlier_programs(annotated(TRAIN, programs))[2]
    said = [turn["content"] for turn in conversation(last, DRAWN, answered=True) if turn["role"] == "assistant"]
    assert said == [shown, *RIGHT[1:]]


def written(path: Path, *lines: Any) -> Path:
    path.write_text("".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines))
    return path


KNOWN = "hexagons/train/0/1"
BAD = CASES["bad lines"]


@pytest.mark.parametrize(("line", "why"), BAD.values(), ids=BAD)
def test_a_bad_line_is_named_with_its_number(tmp_path: Path, line: Any, why: str) -> None:
    path = written(tmp_path / "p.jsonl", {"id": KNOWN, "program": "none"}, line)
    with pytest.raises(DataError, match=r"p\.jsonl:2: ") as refused:
        given_annotations([path], "hexagons")
    assert why in str(refused.value)


def test_examples_show_given_programs(tmp_path: Path) -> None:
    from harness.prompting.examples import example_pool

    items = load("hexagons", "train")
    text = f"{get_format('hexagons', 'program').write(items[0].actions)} # as told"
    path = written(tmp_path / "p.jsonl", {"id": items[0].id, "program": text})
    said: list[str] = []
    pool = example_pool(PromptSpec.make("hexagons", format="program"), "hexagons", [path], said.append)
    assert [own_program(item) for item in pool] == [text]
    assert said == [f"examples: 1 {TAKEN}, {len(items) - 1} {MISSING}"]
    with pytest.raises(UsageError, match="answers are written as grouped"):
        example_pool(PromptSpec.make("hexagons"), "hexagons", [path])


@pytest.mark.data
@pytest.mark.slow
@pytest.mark.parametrize("task", ["hexagons", "iglu", "minecraft"])
def test_the_shipped_programs_do_what_they_say(task: str) -> None:
    """An exact program changes the state as gold does; another is marked."""
    shipped_annotations.cache_clear()
    programs, fmt = shipped_annotations(task), get_format(task, "program")
    items = annotated(load(task, "train"), programs)
    assert len(programs) > 2000
    assert programs.keys() <= {item.id for item in items}
    for item in items:
        if own := programs.get(item.id):
            assert same_change(item, fmt.read(own.program, item)) or own.mark == "differs", item.id
    shipped_annotations.cache_clear()
