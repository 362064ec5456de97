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
_EXAMPLE = re.compile(
    r"```(?P<task>hexagons|minecraft)\n(?P<asked>(?:(?:step)?> .*\n)+)(?P<result>(?:.*\n)*?)```"
    r"(?:\n\n!\[[^]]*\]\((?P<picture>[^)]+\.svg)\))?"
)


@dataclass(frozen=True, slots=True)
class Example:
    task: str
    asked: str
    """The lines before the result."""
    steps: tuple[str, ...]
    program: str
    result: str
    picture: str | None


def examples(page: str) -> Iterator[Example]:
    for match in _EXAMPLE.finditer(page):
        asked, done = re.findall(r"^(step> |> )(.*)$", match["asked"], re.MULTILINE), match["result"].rstrip("\n")
        steps, program = ([line for mark, line in asked if mark == own] for own in ("step> ", "> "))
        yield Example(match["task"], match["asked"], tuple(steps), "\n".join(program), done, match["picture"])


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


def main() -> None:
    page = PAGE.read_text()
    for example in examples(page):
        listed, picture = result(example)
        page = page.replace(f"{example.asked}{example.result}\n```", f"{example.asked}{listed}\n```")
        if example.picture:
            (PAGE.parent / example.picture).write_text(picture)
    PAGE.write_text(page)


if __name__ == "__main__":
    main()
