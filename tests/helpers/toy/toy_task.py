"""A task of another package: columns of a HEXAGONS board are painted, one a step."""

from pathlib import Path

from harness.tasks import Task

TASK = Task(
    name="toy",
    world="hexagons",
    title="the toy corpus",
    benchmark="columns",
    sample=Path(__file__).parent,
    shipped=True,
    targets="corpus",
)
