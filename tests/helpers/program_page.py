"""Regenerates the examples of docs/program.md: what each program does, and its picture.

An example is a code block of `hexagons` or `minecraft` with lines that begin with "step> " (a program that came earlier) and "> "
(the program), and below them what the program does. If a picture is linked right after the block, it is drawn, too.
"""

import re
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


def examples() -> list[re.Match[str]]:
    return list(_EXAMPLE.finditer(PAGE.read_text()))


def result(example: re.Match[str]) -> tuple[str, str]:
    """What the program does, as a plain program or an error, and the picture of it."""
    steps, program = (re.findall(rf"^{mark}> (.*)$", example["asked"], re.MULTILINE) for mark in ("step", ""))
    drawing = example["task"] == "hexagons"
    state = state_after(Board() if drawing else Structure(), *steps)
    outcome = run(parse("\n".join(program)), state)
    after, before = state.before.apply(outcome.actions)[0], state.before if steps else None
    picture = board_svg(after, before=before, first=1) if drawing else structure_svg(after, before=before, pose=state.pose)
    listed = get_format(example["task"], "program").write(outcome.actions)
    return (f"{listed}\nError: {outcome.error}" if outcome.error else listed) + "\n", picture


def main() -> None:
    page = PAGE.read_text()
    for example in examples():
        listed, picture = result(example)
        page = page.replace(f"{example['asked']}{example['result']}```", f"{example['asked']}{listed}```")
        if example["picture"]:
            (PAGE.parent / example["picture"]).write_text(picture)
    PAGE.write_text(page)


if __name__ == "__main__":
    main()
