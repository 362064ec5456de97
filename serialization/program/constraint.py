"""The grammar for constrained decoding: what `written.write` produces, with the functions and colors of one world.

The notation is GBNF (xgrammar, llama.cpp). The grammar knows the functions' arguments and the range of coordinates, so that
every text that it admits is a program. Whether a name has been given a value is known only when the program runs.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache

from harness.worlds import World
from serialization.program.hexagons import Drawing
from serialization.program.hexagons_geometry import WAYS
from serialization.program.machine import Machine
from serialization.program.minecraft import DIRECTIONS, Building

_COMMON = r"""
statements ::= statement ([\n;] statement)*
statement ::= paint | "remove " set | copy | "replace " set " with " shades | name "=" value | repeat | loop | choice FRAME
paint ::= shades (" " ("by" | "along") " " group)? " " set
copy ::= ("copy " | "move ") set (" with " swap ("," swap)*)?
shades ::= shade ("," shade)*
shade ::= (color | "none") ("*" count)?
count ::= [1-9] [0-9]{0,2}
swap ::= color "=" color
value ::= set | number
block ::= "{" statements "}"
repeat ::= "repeat" (" " times)? (" " move)? block
loop ::= "for " name " in " (number | number ".." number | numbers) block
choice ::= "if " condition block (" else" block)?
condition ::= "not "? (set | number ("=" | "!=" | "<" | ">" | "<=" | ">=") number)
name ::= [a-z] [0-9]{0,2}
set ::= literal afterdigit | other after
afterdigit ::= "" | [+&] set | " - " set | "-" other after
after ::= "" | [+&] set | " - " set | "-" set
other ::= setcall | name | constant | "(" set ")"
argset ::= ARGUMENT other argafter
argafter ::= "" | [+&] argterms | " - " argterms | "-" argterms
argterms ::= TERMS other argafter
number ::= term (("+" | "-" | " - " | "*" | "/") term)*
term ::= "-"? ([0-9]{1,3} | name | numbercall | "(" number ")")
argnumbers ::= number | number ".." number | span | "(" numbers ")"
numbers ::= span ("," span)*
span ::= [0-9]{1,3} ("-" [0-9]{1,3} ("/" [0-9]{1,2})?)?
times ::= [0-9]{1,3} | name | "(" number ")"
move ::= GRIDstep (" " step)*
step ::= direction (" " times)?
directions ::= direction (" " direction)*
"""
_HEXAGONS = r"""
literal ::= columns (":" rows)? | ":" rows
argafterdigit ::= "" | [+&] argterms | " - " argterms | "-" other argafter
item ::= columnspan (":" rowspan)? | ":" rowspan
columns ::= columnspan ("," columnspan)*
rows ::= rowspan ("," rowspan)*
columnspan ::= column ("-" column ("/" [1-9] [0-9]?)?)? | "-" column | "-"? column ".." "-"? column ("/" [1-9] [0-9]?)?
rowspan ::= row ("-" row ("/" [1-9])?)? | "-" row | "-"? row ".." "-"? row ("/" [1-9])?
column ::= [1-9] | "1" [0-8]
row ::= [1-9] | "10"
"""
_MINECRAFT = r"""
facing ::= "facing " ("north" | "south" | "east" | "west")
literal ::= side "," height "," side
side ::= coordinate | [0-5] "-" [0-5] ("/" [1-9])? | "-" [1-5] ".." coordinate ("/" [1-9])? | [0-5] "..-" [1-5] ("/" [1-9])?
coordinate ::= [0-5] | "-" [1-5]
height ::= [1-9] ("-" [1-9] ("/" [1-9])?)?
argliteral ::= argside "," height "," argside
argside ::= coordinate | [0-5] "-" [0-5] | "-" [1-5] ".." coordinate | [0-5] "..-" [1-5]
"""
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
        machine, own, ways = Drawing, _HEXAGONS, WAYS
        parts = {"FRAME": "", "GRID": '"grid "? ', "ARGUMENT": "item argafterdigit |", "TERMS": "item argafterdigit |"}
    else:
        machine, own, ways = Building, _MINECRAFT, DIRECTIONS
        parts = {"FRAME": "| facing", "GRID": "", "ARGUMENT": "argliteral |", "TERMS": ""}
    common = _COMMON
    for slot, content in parts.items():
        common = common.replace(slot, content)
    words = {"group": [*machine.groups, "object"], "color": machine.colors, "direction": ways, "constant": machine.constants}
    said = (f"{name} ::= " + " | ".join(f'"{word}"' for word in known) + "\n" for name, known in words.items())
    calls: dict[str, list[str]] = {"setcall": [], "numbercall": []}
    for name, function in machine.functions.items():
        calls["numbercall" if function.counts else "setcall"].append(_call(name, function.kinds))
    rules = (f"{name} ::= {' | '.join(each)}\n" for name, each in calls.items())
    return f'root ::= "{NOTHING}" | statements\n{common}{own}{"".join(said)}{"".join(rules)}'


def _call(name: str, kinds: Sequence[str]) -> str:
    arguments = ""
    for place, kind in enumerate(kinds):
        one = ('"," ' if place else "") + _KINDS[kind.rstrip("?*")]
        arguments += f" ({one}){kind[-1]}" if kind[-1] in "?*" else f" {one}"
    return f'"{name}("{arguments} ")"'
