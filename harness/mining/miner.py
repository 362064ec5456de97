"""Programs for the instructions of the train split that do exactly what was done and follow the wording.

Candidates are the short programs of `serialization.program.compress` and, for HEXAGONS, the baseline `parser`'s program if it is
right. Each is scored by how well its constructions fit the words; see `fit`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from harness.corpora.item import HexagonsItem, Item, MinecraftItem, new_turns
from harness.errors import DataError, HarnessError, UsageError
from harness.mining.wording import Fit, fit, unsaid_directions
from harness.util.files import json_lines, read_lines, write_atomically
from serialization.program import ast
from serialization.program.written import write

if TYPE_CHECKING:
    from harness.baselines.parser import Parser

CANDIDATES = 12
"""Programs scored per item."""


class Mined(NamedTuple):
    """A program equivalent to an item's gold actions."""

    id: str
    instruction: str
    program: str
    score: float
    characters: int
    literal: int
    """The number of characters of the plain program, which lists the actions."""


def check_split(split: str) -> None:
    """Raises UsageError for any split but train: mined programs are training data, and people make choices by looking at them."""
    if split != "train":
        raise UsageError(
            f"--split {split}: programs are mined from train only, because programs of {split} would leak its answers"
        )


class Miner:
    """Mines programs, up to `keep` per item; holds on to the parser, which caches the steps that it has read."""

    def __init__(self, keep: int = 1) -> None:
        self.keep = keep
        self._parser: Parser | None = None

    def mine(self, item: Item) -> list[Mined]:
        """The programs that fit an item's words best, best first; none for an item without actions."""
        from serialization.program.literal import building_program, drawing_program

        programs = self.candidates(item) if item.actions else []
        words = " ".join(turn.text.strip() for turn in new_turns(item))
        plain = len(write(building_program(item.actions) if isinstance(item, MinecraftItem) else drawing_program(item.actions)))
        mined = []
        for program in programs:
            text = write(program)
            score = fit(words, program).score
            if isinstance(item, MinecraftItem):
                score += unsaid_directions(words, text)
            mined.append(Mined(item.id, words, text, round(score, 3), len(text), plain))
        return sorted(mined, key=lambda one: (-one.score, one.characters))[: self.keep]

    def candidates(self, item: Item) -> list[ast.Program]:
        """Different programs that have exactly the effect of the gold actions in the item's state."""
        from serialization.formats.program import building_state, drawing_state
        from serialization.program.compress import building_programs, drawing_programs

        if isinstance(item, MinecraftItem):
            return building_programs(item.actions, building_state(item), CANDIDATES)
        return [*drawing_programs(item.actions, drawing_state(item), CANDIDATES), *self._understood(item)]

    def _understood(self, item: HexagonsItem) -> Iterator[ast.Program]:
        """The parser's program, if it paints the gold actions."""
        from harness.baselines.parser import Parser
        from serialization.formats.program import drawing_state
        from serialization.program import hexagons
        from serialization.program.parse import parse

        self._parser = self._parser or Parser()
        (answer,) = self._parser.predict([item])
        program = parse(str(answer.notes["program"]))
        outcome = hexagons.run(program, drawing_state(item))
        if outcome.error is None and outcome.actions == item.actions:
            yield program


def resume(path: Path, ids: Iterable[str]) -> set[str]:
    """The ids that a file of mined programs already holds. If its last line is incomplete, that item's lines are removed.

    Raises DataError for a file of another kind, and UsageError for one with other items.
    """
    if not path.exists():
        return set()
    lines, torn = read_lines(path)
    done = [_id_of(line, path, number) for number, line in enumerate(lines, start=1)]
    if unknown := set(done) - set(ids):
        raise UsageError(f"{path} holds {min(unknown)}, which is not among the items: give another --out, or --overwrite it")
    if torn:
        kept = [line for line, one in zip(lines, done, strict=True) if one != done[-1]]
        write_atomically(path, b"".join(line + b"\n" for line in kept))
        done = [one for one in done if one != done[-1]]
    return set(done)


def _id_of(line: bytes, path: Path, number: int) -> str:
    try:
        return str(json.loads(line)["id"])
    except (ValueError, KeyError, TypeError) as error:
        raise DataError(f'{path}:{number}: no {{"id": ...}}: harness mine did not write this line') from error


def read(path: Path) -> list[Mined]:
    """The pairs of an instruction and a program in a file, best first. Raises DataError for a file of another kind."""
    pairs = []
    for number, line in json_lines(path):
        try:
            pairs.append(Mined(**json.loads(line)))
        except (ValueError, TypeError) as error:
            raise DataError(f"{path}:{number}: not a pair: harness mine did not write this line") from error
    return sorted(pairs, key=lambda one: -one.score)


class Counted(NamedTuple):
    """Pairs whose program uses a construction: their number, how many have words that ask for it, and their median length in
    characters."""

    name: str
    pairs: int
    asked: int
    characters: float


def statistics(pairs: Sequence[Mined]) -> list[Counted]:
    """A row per construction, the most used first; the last row counts all pairs, and those that use a construction asked for."""
    from statistics import median

    from serialization.program.parse import parse

    fits: Mapping[Mined, Fit] = {one: fit(one.instruction, parse(one.program)) for one in pairs}
    rows = []
    for name in sorted({name for found in fits.values() for name in found.used}):
        using = [one for one, found in fits.items() if name in found.used]
        rows.append(Counted(name, len(using), sum(name in fits[one].asked for one in using), median(o.characters for o in using)))
    rows.sort(key=lambda row: (-row.pairs, row.name))
    matching = sum(bool(found.used & found.asked) for found in fits.values())
    return [*rows, Counted("all", len(pairs), matching, median([one.characters for one in pairs] or [0]))]


def append(path: Path, pairs: Iterable[Mined]) -> None:
    """Appends an item's pairs to a file in one write. Raises HarnessError if it cannot be written."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a", encoding="utf-8") as file:
            file.write("".join(json.dumps(one._asdict(), ensure_ascii=False) + "\n" for one in pairs))
    except OSError as error:
        raise HarnessError(f"{path}: cannot be written: {error.strerror}") from error
