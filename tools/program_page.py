"""Regenerates the examples of docs/program.md: what each program does, and its picture.

An example is a code block of `hexagons` or `minecraft` with lines that begin with "step> " (a program that came earlier) and "> "
(the program), and below them what the program does. If a picture is linked right after the block, it is drawn, too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from harness.drawing.hexagons import board_svg
from harness.drawing.minecraft import structure_svg
from serialization.program import hexagons, minecraft
from serialization.program.literal import building_program, drawing_program
from serialization.program.parse import parse
from serialization.program.written import write
from tests.helpers.programs import building_after, drawing_after

PAGE = Path(__file__).parents[1] / "docs" / "program.md"
_EXAMPLE = re.compile(r"```(hexagons|minecraft)\n(.*?)```(?:\n\n!\[[^]]*\]\(([^)]+\.svg)\))?", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Example:
    task: str
    steps: tuple[str, ...]
    program: str
    result: str
    picture: str | None


def examples(page: str) -> Iterator[Example]:
    for match in _EXAMPLE.finditer(page):
        lines = match[2].splitlines()
        steps = tuple(line.removeprefix("step> ") for line in lines if line.startswith("step> "))
        program = "\n".join(line.removeprefix("> ") for line in lines if line.startswith("> "))
        result = "\n".join(line for line in lines if not line.startswith(("step> ", "> ")))
        yield Example(match[1], steps, program, result, match[3])


def result(example: Example) -> tuple[str, str]:
    """What the program does, as a plain program or an error, and the picture of it."""
    program = parse(example.program)
    if example.task == "hexagons":
        drawing = drawing_after(*example.steps)
        outcome = hexagons.run(program, drawing)
        plain = drawing_program(outcome.actions)
        board = drawing.board.apply(outcome.actions).board
        picture = board_svg(board, before=drawing.board if example.steps else None, first=1)
    else:
        building = building_after(*example.steps)
        outcome = minecraft.run(program, building)
        plain = building_program(outcome.actions)
        structure = building.structure.apply(outcome.actions).structure
        picture = structure_svg(structure, before=building.structure if example.steps else None, pose=building.pose)
    listed = write(plain) or "none"
    return f"{listed}\nError: {outcome.error}" if outcome.error else listed, picture


def _renewed(match: re.Match[str]) -> str:
    example = next(examples(match.group()))
    listed, picture = result(example)
    asked = [f"step> {step}" for step in example.steps] + [f"> {line}" for line in example.program.splitlines()]
    link = match.group()[match.group().rindex("```") + 3 :]
    if example.picture:
        path = PAGE.parent / example.picture
        path.parent.mkdir(exist_ok=True)
        path.write_text(picture)
    return f"```{example.task}\n" + "\n".join([*asked, listed]) + f"\n```{link}"


def main() -> None:
    PAGE.write_text(_EXAMPLE.sub(_renewed, PAGE.read_text()))
    print(f"{sum(1 for _ in examples(PAGE.read_text()))} examples in {PAGE}")


if __name__ == "__main__":
    main()
