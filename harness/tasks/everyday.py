"""Our benchmark of ordinary requests, in both worlds: what people ask, turn by turn, and what makes an answer right."""

from pathlib import Path

from harness.task import Gallery, Task
from harness.worlds import World


def _everyday(world: World, shown: str) -> Task:
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
        gallery=Gallery(
            f"Everyday requests: {shown}",
            "Everyday requests",
            "requests in the words of newcomers, each turn with one right answer; there may be others",
        ),
    )


DRAWING = _everyday("hexagons", "HEXAGONS")
BUILDING = _everyday("minecraft", "Minecraft")
