"""Our benchmark of ordinary requests, in both worlds: what people ask, turn by turn, and what makes an answer right."""

from pathlib import Path

from harness.tasks import Task
from harness.worlds import World


def _everyday(world: World) -> Task:
    return Task(
        name=f"everyday-{world}",
        world=world,
        title="everyday requests",
        benchmark=f"everyday requests, {world}",
        corpus="harness.everyday.requests:Everyday",
        sample=Path(__file__).parents[1] / "everyday" / "requests",
        shipped=True,
        begun=True,
        judged=True,
    )


DRAWING = _everyday("hexagons")
BUILDING = _everyday("minecraft")
