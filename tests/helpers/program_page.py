"""Regenerates the examples of docs/program.md: what each program does, and its picture.

An example is a code block of `hexagons` or `minecraft` with lines that begin with "step> " (a program that came earlier) and "> "
(the program), and below them what the program does. If a picture is linked right after the block, it is drawn, too.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from harness.drawing.hexagons import board_svg
from harness.drawing.minecraft import structure_svg
from harness.worlds.hexagons import Board
from harness.worlds.minecraft import Structure
from serialization.formats import get_format
from serialization.formats.program import run
from serialization.program.parse import parse
from tests.helpers.programs import state_after

PAGE = Path(__file__).parents[2] / "docs" / "program.md"
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
    drawing = example.task == "hexagons"
    state = state_after(Board() if drawing else Structure(), *example.steps)
    outcome = run(parse(example.program), state)
    after, before = state.before.apply(outcome.actions)[0], state.before if example.steps else None
    picture = board_svg(after, before=before, first=1) if drawing else structure_svg(after, before=before, pose=state.pose)
    listed = get_format(example.task, "program").write(outcome.actions)
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
