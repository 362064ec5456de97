"""The action formats: how an answer is written, parsed, and constrained to its grammar during decoding."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Any, get_args

from harness.corpora.item import Item
from harness.errors import UsageError
from harness.tasks.registry import NAME, world_of
from harness.util.registry import choose, plugged
from harness.worlds import World
from serialization.formats import calls, grouped, json, lines, program, tools, triplets
from serialization.formats.answer import Constraint, Parsed


@dataclass(frozen=True, slots=True)
class Format:
    """One way to write the actions of one world.

    `write` takes these actions. `parse` is total: it takes any string, never raises, and reports what it discarded.
    `constraint` returns the grammar for constrained decoding, which admits everything that `write` produces. If the meaning
    of a text depends on the item, `of_item` reads it, and `parse` makes the best of it without the item.
    """

    name: str
    world: World
    write: Callable[[Sequence[Any]], str]
    parse: Callable[[str], Parsed]
    constraint: Callable[[], Constraint]
    longest: int
    """Most tokens of an answer; over 99% of the gold answers need fewer, counted with the default base's tokenizer."""
    of_item: Callable[[str, Item], Parsed] | None = None
    first: int = 0
    """The number that the format gives to a board's first row and first column."""

    @property
    def is_program(self) -> bool:
        """Whether an answer is a program of docs/program.md."""
        return self.name.endswith("program")

    def read(self, text: str, item: Item) -> Parsed:
        """The actions that a text asks for as the answer to an item. Total, like `parse`."""
        return self.of_item(text, item) if self.of_item else self.parse(text)


_FIRST: Mapping[World, int] = {"hexagons": 1, "minecraft": 0}
_ALL = (
    Format("triplets", "hexagons", triplets.write, triplets.parse, lambda: triplets.CONSTRAINT, 768),
    Format("grouped", "hexagons", grouped.write, grouped.parse, grouped.constraint, 256, first=1),
    Format("json", "hexagons", json.write, partial(json.parse, "hexagons"), partial(json.constraint, "hexagons"), 1024),
    Format("lines", "minecraft", lines.write, lines.parse, lines.constraint, 384),
    Format("calls", "minecraft", calls.write, calls.parse, lambda: calls.CONSTRAINT, 768),
    Format("json", "minecraft", json.write, partial(json.parse, "minecraft"), partial(json.constraint, "minecraft"), 1024),
    *(
        Format(
            "tools",
            world,
            partial(tools.write, world),
            partial(tools.parse, world),
            partial(tools.constraint, world),
            longest,
            first=first,
        )
        for (world, first), longest in zip(_FIRST.items(), (4096, 1536), strict=True)
    ),
    *(
        Format(
            name,
            world,
            partial(program.write_actions, world),
            partial(program.parse, world),
            partial(program.constraint, world),
            longest,
            of_item=program.read,
            first=first,
        )
        for world, first in _FIRST.items()
        # `bare-program` is `program` without the language's manual in the prompt, for models trained to write programs.
        for name, longest in (("program", 384), ("bare-program", 128))
    ),
)


@cache
def formats_in(world: World) -> Mapping[str, Format]:
    """The formats of a world by name: our own, then the formats of other packages (docs/prompts.md).

    Raises UsageError for an entry point that cannot be used.
    """
    known = {form.name: form for form in _ALL if form.world == world}
    for where, form in plugged("harness.formats", Format):
        if not NAME.fullmatch(form.name) or form.world not in get_args(World):
            raise UsageError(f"{where}: its name has other than lowercase letters, digits and hyphens, or its world is unknown")
        if form.world == world and known.setdefault(form.name, form) is not form:
            raise UsageError(f"{where}: there is already a format {form.name} for {world}: rename it")
    return known


def get_format(task: str, name: str) -> Format:
    """Raises UsageError for an unknown task or format."""
    formats = formats_in(world_of(task))
    return formats[choose(f"format for {task}", name, formats)]
