"""The parsed instructions of IGLU as one Parquet file, a row each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from harness.corpora import iglu
from harness.corpora.corpus import Corpus
from harness.corpora.iglu import Instruction
from harness.corpora.item import MinecraftItem
from harness.corpora.parquet import CELLS, as_cells, structures, through_cache
from harness.worlds.minecraft import Pose

#: Increment whenever the parsed instructions or the columns change.
LOADER = 1

_TEXTS = ("game", "start", "step", "text", "kind", "detail")


def read_instructions(source: Path) -> list[Instruction]:
    """What `iglu.read_instructions` returns, from the cache where it holds this source. Raises DataError as that does."""
    return through_cache(f"iglu-{LOADER}-{iglu.digest(source)}", lambda: iglu.read_instructions(source), _table, _instructions)


def _table(instructions: list[Instruction]) -> Any:
    import pyarrow as pa

    fields = [(name, pa.string()) for name in _TEXTS]
    fields += [("pose", pa.list_(pa.float64())), ("before", pa.binary(CELLS)), ("after", pa.binary(CELLS))]
    rows = [
        {name: getattr(told, name) for name in _TEXTS}
        | {"pose": told.pose and list(told.pose), "before": as_cells(told.before), "after": as_cells(told.after)}
        for told in instructions
    ]
    return pa.Table.from_pylist(rows, pa.schema(fields))


def _instructions(table: Any) -> list[Instruction]:
    texts = zip(*(table[name].to_pylist() for name in _TEXTS), strict=True)
    poses = (Pose(*values) if values else None for values in table["pose"].to_pylist())
    before, after = (structures(table[name].combine_chunks()) for name in ("before", "after"))
    return [Instruction(*told, *more) for told, *more in zip(texts, poses, before, after, strict=True)]


class IgluCorpus(Corpus):
    """The release, or our sample of the same form."""

    find = staticmethod(iglu.find)
    digest = staticmethod(iglu.digest)

    def items(self, source: Path, splits: Sequence[str]) -> Iterator[MinecraftItem]:
        instructions = read_instructions(source)
        return chain.from_iterable(iglu.items(instructions, split) for split in splits)

    def unclear(self, source: Path, split: str) -> Iterator[MinecraftItem]:
        return iglu.unclear(read_instructions(source), split)

    def stats(self, source: Path) -> dict[str, Any]:
        from harness.corpora.stats import iglu_stats

        return iglu_stats(read_instructions(source))
