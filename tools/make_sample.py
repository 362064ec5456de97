"""Writes the sample corpora to harness/corpora/sample/: `python tools/make_sample.py`. The same files every time."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import sample_hexagons
import sample_iglu
import sample_minecraft

SAMPLE = Path(__file__).parents[1] / "harness" / "corpora" / "sample"


def compact(value: object) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8", newline="\n")


def main(folder: Path = SAMPLE) -> None:
    for split in ("train", "dev", "test"):
        lines = [compact(record) + "\n" for record in sample_hexagons.records(split)]
        write(folder / "hexagons" / f"{split}.jsonl", "".join(lines))
    data = folder / "minecraft" / "data"
    splits: dict[str, list[str]] = {"train": [], "val": [], "test": []}
    for number, game in enumerate(sample_minecraft.GAMES, start=1):
        log, structure = sample_minecraft.observations(game, datetime(2026, 1, 1, 9, number, tzinfo=UTC))
        name = f"B{1 + number % 2}-A{1 + number % 3}-{game.target}-{1_700_000_000_000 + number}"
        write(data / "logs" / "data-1-1" / "logs" / name / "postprocessed-observations.json", compact(log))
        write(data / "gold-configurations" / f"{game.target}.xml", sample_minecraft.configuration(structure))
        splits[game.split].append(game.target)
    write(data / "logs" / "splits.json", compact(splits))
    for name, content in sample_iglu.files():
        write(folder / "iglu" / name, content if isinstance(content, str) else compact(content))


if __name__ == "__main__":
    main()
