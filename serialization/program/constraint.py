"""The grammar for constrained decoding: what `written.write` produces, with the functions and colors of one world.

The rules are in `constraint_common.txt`, with slots in capitals, and in the file of the world, in GBNF (xgrammar, llama.cpp).
They know the functions' arguments and the range of coordinates, so that every text that they admit is a program. Whether a name
has been given a value is known only when the program runs.
"""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import Path

from harness.worlds import World
from serialization.program.hexagons import Drawing
from serialization.program.hexagons_geometry import WAYS
from serialization.program.machine import Machine
from serialization.program.minecraft import DIRECTIONS, Building

_KINDS = {
    "figure": "argset",
    "cell": "argset",
    "number": "number",
    "numbers": "argnumbers",
    "move": "move",
    "direction": "direction",
    "directions": "directions",
    "color": "color",
}


@lru_cache
def grammar(world: World) -> str:
    """The grammar of a whole answer to an item of the world: a program, or "none"."""
    from serialization.formats.answer import NOTHING

    machine: type[Machine]
    ways: Iterable[str]
    if world == "hexagons":
        machine, ways = Drawing, WAYS
        parts = {"FRAME": "", "GRID": '"grid "? ', "ARGUMENT": "item argafterdigit |", "TERMS": "item argafterdigit |"}
    else:
        machine, ways = Building, DIRECTIONS
        parts = {"FRAME": "| facing", "GRID": "", "ARGUMENT": "argliteral |", "TERMS": ""}
    common, own = (Path(__file__).with_name(f"constraint_{name}.txt").read_text("utf-8") for name in ("common", world))
    for slot, content in parts.items():
        common = common.replace(slot, content)
    words = {"group": [*machine.groups, "object"], "color": machine.colors, "direction": ways, "constant": machine.constants}
    said = (f"{name} ::= " + " | ".join(f'"{word}"' for word in known) + "\n" for name, known in words.items())
    calls: dict[str, list[str]] = {"setcall": [], "numbercall": []}
    for name, function in machine.functions.items():
        calls["numbercall" if function.counts else "setcall"].append(_call(name, function.kinds))
    rules = (f"{name} ::= {' | '.join(each)}\n" for name, each in calls.items())
    return f'root ::= "{NOTHING}" | statements\n\n{common}\n{own}{"".join(said)}{"".join(rules)}'


def _call(name: str, kinds: Sequence[str]) -> str:
    arguments = ""
    for place, kind in enumerate(kinds):
        one = ('"," ' if place else "") + _KINDS[kind.rstrip("?*")]
        arguments += f" ({one}){kind[-1]}" if kind[-1] in "?*" else f" {one}"
    return f'"{name}("{arguments} ")"'
