"""How fast training rows are made and read, and how much memory the start of a training takes with very many items and rows.

python -m tools.rows make blocks 10000     rows of simulated items: made, and then read from the cache
python -m tools.rows items 100000 1000000  files of this many simulated items: gathered, compared with dev and test, and hashed
python -m tools.rows read 100000 1000000   files of this many tiny rows: read, planned, and the first packs written
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from multiprocessing import get_context
from pathlib import Path

PACKS = 100
TOKENS = 4096
"""The most tokens of a pack and of a row."""
BATCH = 1000
"""Rows that are written together, as the library `datasets` does."""


def make(simulator: str, count: int) -> None:
    """Prints how long it takes to make and to read rows in one process, in the task's default format."""
    from adapters.rows import make_rows
    from harness.engines.models.bases import load_tokenizer, resolve_base
    from harness.simulators.games import simulator_task
    from harness.simulators.outputs import cached
    from prompts.render import Renderer
    from prompts.shots import ShotPool
    from prompts.spec import PromptSpec

    tokenizer = load_tokenizer(resolve_base(None))
    renderer = Renderer(PromptSpec.make(simulator_task(simulator)), tokenizer, TOKENS, 0)
    items = list(cached(simulator, 0, count))
    for action in ("made", "read"):
        begun, used = time.monotonic(), time.process_time()
        rows = make_rows(items, renderer, ShotPool([], 0), 0, TOKENS, workers=1)
        seconds, used = time.monotonic() - begun, time.process_time() - used
        print(
            f"{action}: {len(rows):,} rows, {rows.size:,} tokens; {seconds:.2f} s, {used:.2f} processor seconds, "
            f"{len(rows) / used:,.0f} rows per processor second"
        )


def measure(what: str, counts: Sequence[int]) -> None:
    """Prints the memory of a process that does nothing else, for each number of items or rows."""
    name, write, stages = ("items.jsonl", write_items, _gathered) if what == "items" else ("rows.arrow", write_rows, _planned)
    for count in counts:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / name
            write(path, count)
            print(f"{count:,} {what}, {path.stat().st_size / 2**20:,.0f} MiB", flush=True)
            process = get_context("spawn").Process(target=stages, args=(path,))
            process.start()
            process.join()


def write_items(path: Path, count: int) -> None:
    """Simulated games, which are repeated under other names."""
    from harness.simulators.outputs import cached

    lines = cached("random", 0, BATCH).path.read_bytes().splitlines(keepends=True)
    with path.open("wb") as file:
        for n in range(count):
            file.write(lines[n % BATCH].replace(b"/train/", b"/train/%d-" % (n // BATCH)))


def write_rows(path: Path, count: int) -> None:
    """Games of four rows of 20 to 44 tokens, each of which begins with the prompt of the one before it."""
    import numpy as np
    import pyarrow as pa

    from adapters.row_cache import features

    schema = features().arrow_schema
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_stream(sink, schema) as writer:
        for start in range(0, count, BATCH):
            tokens = np.random.default_rng(start).integers(0, 40_000, (BATCH, 44), np.int32)
            tokens[:, :8] = range(8)
            rows = [(n, n // 4, 8 * (n % 4) + 16) for n in range(BATCH)][: count - start]
            columns = [
                [f"tiny/{start + n}" for n, _, _ in rows],
                [f"tiny/{start // 4 + game}" for _, game, _ in rows],
                [np.append(tokens[game, :length], tokens[-n - 1, -4:]) for n, game, length in rows],
                [length for *_, length in rows],
            ]
            writer.write_batch(pa.record_batch(columns, schema))


class MemoryWatch(threading.Thread):
    """Watches the most memory that this process has used of its own and mapped from files, in MiB."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.own = self.mapped = 0.0

    def look(self) -> None:
        lines = (line.split() for line in Path("/proc/self/status").read_text().splitlines())
        sizes = {words[0]: int(words[1]) / 1024 for words in lines if words[0] in ("RssAnon:", "RssFile:")}
        self.own, self.mapped = max(self.own, sizes["RssAnon:"]), max(self.mapped, sizes["RssFile:"])

    def run(self) -> None:
        while True:
            self.look()
            time.sleep(0.01)

    def tell(self, stage: str) -> None:
        """Prints the most memory so far."""
        self.look()
        sizes = f"at most {self.own:,.0f} MiB of its own and {self.mapped:,.0f} MiB of files"
        print(f"  {stage}: {sizes}; {time.process_time():.1f} processor seconds", flush=True)


def _gathered(path: Path) -> None:
    from adapters.recipe import DataSource
    from adapters.sources import gather
    from harness.corpora.held_out import HeldOut
    from harness.runs.folder import items_hash

    memory = MemoryWatch()
    memory.start()
    held = HeldOut("minecraft")
    memory.tell("begun")
    items = gather([DataSource(file=str(path))], "minecraft", [], held).items
    memory.tell(f"{len(items):,} items gathered")
    held.compared(items)
    memory.tell("compared")
    items_hash(items)
    memory.tell("hashed")


def _planned(path: Path) -> None:
    from datasets import Dataset

    from adapters.recipe import load_recipe
    from adapters.rows import TrainingRows, plan_epoch

    memory = MemoryWatch()
    memory.start()
    table = Dataset.from_file(str(path)).data
    memory.tell("begun")
    rows = TrainingRows(table, TOKENS)
    memory.tell(f"lengths of {len(rows):,} rows in {len(rows.groups):,} groups")
    training = load_recipe("llama-lora", [f"training.tokens={TOKENS}"]).training
    plans = plan_epoch(rows, 0, training, TOKENS)
    memory.tell(f"{len(plans):,} packs planned")
    for plan in plans[:PACKS]:
        plan.write()
    memory.tell(f"{PACKS} packs written")


def main(words: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tools.rows", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    making = commands.add_parser("make")
    making.add_argument("simulator")
    making.add_argument("count", type=int)
    for what in ("items", "read"):
        commands.add_parser(what).add_argument("counts", type=int, nargs="+")
    options = parser.parse_args(words)
    if options.command == "make":
        make(options.simulator, options.count)
    else:
        measure("items" if options.command == "items" else "rows", options.counts)
    return 0


if __name__ == "__main__":
    sys.exit(main())
