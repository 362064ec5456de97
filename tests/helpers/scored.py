"""Minimal items for the scorer's tests, built from blocks or tiles, files of answers, and what runs wrote."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain, count, islice
from pathlib import Path
from typing import Any

import harness
from eval.metrics.minecraft import METRICS
from harness.corpora.item import HexagonsItem, Item, MinecraftItem
from harness.runs.folder import described
from harness.simulators.games import game
from harness.worlds.hexagons import Board, Paint
from harness.worlds.minecraft import FACING, Action, Structure
from prompts.probe import PROBES


def builder_turn(name: str, cluster: str, before: Structure, after: Structure) -> MinecraftItem:
    return MinecraftItem(name, "test", (), before, FACING, (), after, cluster, cluster)


def turn(
    before: Sequence[tuple[int, int, int, str]], after: Sequence[tuple[int, int, int, str]], number: int = 0, game: str = "g"
) -> MinecraftItem:
    return builder_turn(f"minecraft/test/{game}/{number}", game, Structure.of(before), Structure.of(after))


def step(before: Sequence[Paint], actions: Sequence[Paint], number: int = 1, procedure: str = "0") -> HexagonsItem:
    start = Board().apply(before).board
    after = start.apply(actions).board
    return HexagonsItem(f"hexagons/test/{procedure}/{number}", "test", "", (), start, tuple(actions), after, procedure, procedure)


def place(color: str, x: int, y: int, z: int) -> Action:
    return Action("place", color, x, y, z)


def remove(x: int, y: int, z: int) -> Action:
    return Action("remove", None, x, y, z)


def drawn_probe(task: str = "hexagons", **changes: Any) -> HexagonsItem:
    """The first fixed drawing item by which prompt formats are compared, with some fields changed."""
    item = PROBES[task][0]
    assert isinstance(item, HexagonsItem)
    return replace(item, **changes)


def built_probe(task: str = "minecraft", **changes: Any) -> MinecraftItem:
    """The first fixed item of a building task, with some fields changed."""
    item = PROBES[task][0]
    assert isinstance(item, MinecraftItem)
    return replace(item, **changes)


def first_items(simulator: str, seed: int, items: int, split: str = "train") -> list[Any]:
    """The first items of a simulator, taken directly from its games."""
    return list(islice(chain.from_iterable(game(simulator, seed, split, n) for n in count()), items))


def perfect(items: Iterable[Item]) -> list[dict[str, Any]]:
    """Answers with the gold actions."""
    return [{"id": item.id, "actions": [list(action) for action in item.actions]} for item in items]


def built_scores(f1: float = 0.5, **head: Any) -> dict[str, Any]:
    """Scores of a Minecraft run, as fractions. Micro F1 is `f1` overall, 0.1, 0.2, ... less for the other metrics, 0.01 less on
    empty boards and 0.02 less on others; macro F1 is half of it."""

    def part(items: int, less: float) -> dict[str, Any]:
        values = {name: f1 - n / 10 - less for n, name in enumerate(METRICS)}
        micro = {name: {"f1": value} for name, value in values.items()}
        return {"items": items, "micro": micro, "macro": {name: value / 2 for name, value in values.items()}}

    known: dict[str, Any] = {"task": "minecraft", "split": "test", "benchmark": "legacy", "items": 1616}
    known |= {"missing": 0, "errors": 0} | head
    ends = {average: dict.fromkeys(METRICS) | {"overall": [0.0, 1.0]} for average in ("micro", "macro")}
    boards = {"EB": part(100, 0.01), "NEB": part(known["items"] - 100, 0.02)}
    return {**part(0, 0), "subsets": boards, "intervals": {**ends, "subsets": dict.fromkeys(boards, ends)}, **known}


def write_lines(path: Path | str, records: Iterable[Mapping[str, Any]], end: str = "") -> Path:
    """A file of JSON Lines, followed by `end`."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(record) + "\n" for record in records) + end)
    return path


def write_run(name: str, records: Iterable[Mapping[str, Any]], end: str = "", **settings: Any) -> Path:
    """The folder of a run in the working folder; without settings it has no run.yaml."""
    folder = write_lines(Path("runs", name, "predictions.jsonl"), records, end).parent
    if settings:
        (folder / "run.yaml").write_text(json.dumps({"settings": settings}))
    return folder


def run_records(name: str = "r") -> list[dict[str, Any]]:
    """The records of a run in the working folder."""
    return [json.loads(line) for line in Path("runs", name, "predictions.jsonl").read_text().splitlines()]


def run_settings(name: str = "r") -> dict[str, Any]:
    return described(Path("runs", name)) or {}


def mixed_answers(items: Sequence[Item]) -> list[str]:
    """The right answer, another item's, an empty one, or half of the right one, in turn."""
    gold = [harness.gold(item) for item in items]
    return [(text, gold[n - 1], "?", text[: 1 + len(text) // 2])[n % 4] for n, text in enumerate(gold)]
