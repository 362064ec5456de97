"""A given number of items from a simulator, in the order of its games, by one or several processes in constant memory."""

from __future__ import annotations

import gzip
import itertools
import json
import multiprocessing
import signal
from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from multiprocessing.connection import Connection
from typing import Any, NamedTuple

from harness.corpora.item import Item, MinecraftItem
from harness.corpora.records import to_full_record
from harness.errors import HarnessError
from harness.simulators.games import game, simulator_task
from harness.simulators.minecraft.logs import log, log_name, target_name

_GAMES = 20
"""The games of a piece: enough for some hundred items, so that handing them from process to process costs little."""

Games = list[tuple[Item, ...]]


class GameSource(NamedTuple):
    """Which games are made, and how they are written: "jsonl", "jsonl.gz", "parquet" or "logs"."""

    simulator: str
    seed: int
    split: str
    form: str
    parameters: tuple[tuple[str, int], ...] = ()
    """What the simulator is told beside its own proportions, by name; see `Simulator.parameters`."""


class GameChunk(NamedTuple):
    """Some games ready to be written. What comes after the other is written after it."""

    games: int
    items: int
    content: Any


def pieces(source: GameSource, items: int, workers: int = 1) -> Iterator[GameChunk]:
    """Pieces with `items` items together, the same for any number of workers; the last game is cut where they are reached.

    Raises HarnessError if a worker is killed.
    """
    left = items
    with closing(_in_order(source, workers)) as stream:
        for first, piece in stream:
            last = piece.items >= left
            yield make_piece(source, first, left) if piece.items > left else piece
            if last:
                return
            left -= piece.items


def _in_order(source: GameSource, workers: int) -> Generator[tuple[int, GameChunk], None, None]:
    """All pieces with their first games' numbers, without end.

    Each worker makes every n-th piece and sends it through a pipe of its own, where it waits until the piece is taken. So no
    worker is ever far ahead, and one that is killed leaves nothing that others wait for.
    """
    if workers == 1:
        yield from ((first, make_piece(source, first)) for first in itertools.count(0, _GAMES))
        return
    # New processes, not copies of this one, which has threads.
    context = multiprocessing.get_context("spawn")
    readers, processes = [], []
    try:
        for number in range(workers):
            reader, writer = context.Pipe(duplex=False)
            process = context.Process(target=_work, args=(source, number, workers, writer), daemon=True)
            process.start()
            # With the other copy in the worker, the pipe ends when the worker does.
            writer.close()
            readers.append(reader)
            processes.append(process)
        for number in itertools.count():
            try:
                piece = readers[number % workers].recv()
            except (EOFError, OSError):
                raise HarnessError("a worker process was killed, perhaps because memory ran out: use fewer --workers") from None
            if isinstance(piece, Exception):
                raise piece
            yield number * _GAMES, piece
    finally:
        for process in processes:
            process.kill()
            process.join()


def _work(source: GameSource, number: int, workers: int, writer: Connection) -> None:
    """A worker's pieces, sent until the parent takes no more: it leaves an interrupt to the parent and ends with it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for n in itertools.count(number, workers):
        try:
            result: GameChunk | Exception = make_piece(source, n * _GAMES)
        except Exception as error:  # noqa: BLE001 - the parent raises it
            result = error
        try:
            writer.send(result)
        except OSError:
            return


def make_piece(source: GameSource, first: int, limit: int | None = None) -> GameChunk:
    """The games of a piece, from number `first` on; with at most `limit` items."""
    games: Games = []
    for n in range(first, first + _GAMES):
        items = game(source.simulator, source.seed, source.split, n, source.parameters)[:limit]
        limit = None if limit is None else limit - len(items)
        games += [items] if items else []
    return GameChunk(len(games), sum(map(len, games)), FORMS[source.form](games, simulator_task(source.simulator)))


def _lines(games: Games, task: str) -> bytes:
    return "".join(f"{json.dumps(to_full_record(item), ensure_ascii=False)}\n" for one in games for item in one).encode()


def _compressed(games: Games, task: str) -> bytes:
    # Members of a gzip file may follow each other. Without the time, the same items are the same bytes.
    return gzip.compress(_lines(games, task), 6, mtime=0)


def _rows(games: Games, task: str) -> Any:
    from harness.corpora.tables import to_batch

    return to_batch((to_full_record(item) for one in games for item in one), task)


def _logs(games: Games, task: str) -> list[tuple[str, str, bytes]]:
    """For each game the name of its target and of its log, and the log."""
    minecraft_games = [[item for item in one if isinstance(item, MinecraftItem)] for one in games]
    return [(target_name(one[0]), log_name(one[0]), log(one)) for one in minecraft_games]


FORMS: dict[str, Callable[[Games, str], Any]] = {"jsonl": _lines, "jsonl.gz": _compressed, "parquet": _rows, "logs": _logs}
"""What the content of a piece is in each form."""
