"""A player that obeys its input: it sleeps, takes memory, fails, ends its process, or answers with its process's id.

Run as a program, it starts a server's workers, one of which sleeps.
"""

import asyncio
import os
import sys
import time
from collections.abc import Iterable, Sequence

from harness.corpora.item import Item
from harness.runs.answering import Answer, Predictor
from harness.service.schema import REQUEST
from harness.service.workers import Workers


class Misbehaving:
    """See `harness.baselines.Ruled`."""

    tasks = ("hexagons",)
    decoding = ()

    def predictor(self, task: str) -> Predictor:
        return Obeying()


class Obeying(Predictor):
    batch_size = 1

    def predict(self, items: Sequence[Item]) -> Iterable[Answer]:
        said = items[0].instruction  # type: ignore[union-attr]
        if said.startswith("sleep"):
            # The file shows that a worker has begun.
            open(said.removeprefix("sleep "), "w").close()
            time.sleep(60)
        if said == "allocate":
            bytearray(3_000_000_000)
        if said == "fail":
            raise KeyError("a fault of ours")
        if said == "end":
            os._exit(3)
        return [Answer((), notes={"process": os.getpid(), "characters": len(said)})]


async def answer(workers: Workers, said: str, principal: str = "one") -> Answer:
    item = REQUEST.validate_python({"task": "hexagons", "instruction": said}).item
    return await workers.answer(principal, "player", Misbehaving, item)


if __name__ == "__main__":
    with Workers() as workers:
        print(asyncio.run(answer(workers, "hello")).notes["process"], flush=True)
        asyncio.run(answer(workers, f"sleep {sys.argv[1]}"))
