"""The phrases, as data: what words in a row stand for.

Types: C columns, T tiles of a column, R tiles of the board, H tiles that are there, K color, D direction, N a count of tiles,
U the next tiles from where the last ones ended, P a run of colors, S steps, X how often, A an action; frames that take pieces:
L a line, Z a ring, y a triangle, Y a repetition, w a mirror image. A small letter is a word by itself. Further ones: = all that
is drawn, ~ on and on, # columns left out, * colors changed, n which tile of a copy is meant, d the side of a triangle, p the
column before, | going to or looking at something.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from harness.baselines.parser.hexagons import builders as build
from harness.baselines.parser.hexagons.builders import Build

_ORDINALS = r"(?P<n>(?:N[>-])?O(?:[,>-]+[NO])*)"
_NUMBERS = r"(?P<n>N(?:[,>-]+N(?![TC]|[>-]+O))*|O(?:[,>-]+[NO](?![TC]))*)"
_DOWN = r"(?P<s>[ud]?[fo]+[tb]|[udtb](?![lrTNO]))"
_ACROSS = r"(?P<s>[fo>]+[lr](?![tb]))"


class Phrase(NamedTuple):
    """Words in a row that stand for a value of a type."""

    name: str
    type: str
    pattern: re.Pattern[str]
    build: Build
    score: float


def _phrase(type_: str, pattern: str, build: Build, score: float = 0.0) -> Phrase:
    return Phrase(f"{type_}:{pattern}", type_, re.compile(pattern), build, score)


PHRASES = (
    _phrase("K", "K", build.color),
    _phrase("K", r"\$K", build.color, 0.3),
    _phrase("C", rf"{_ORDINALS}C{_ACROSS}?", build.select),
    _phrase("C", rf"C[,.-]*(?:f[lr][.,]+)?{_NUMBERS}{_ACROSS}?", build.select),
    _phrase("C", rf"{_ORDINALS}[fo>]+(?P<s>[lr])C?", build.select, -0.1),
    _phrase("C", rf"{_ORDINALS}T[fo]+(?P<s>[lr])(?![tb])", build.select, -0.1),
    _phrase("C", r"(?<![neslrOA])(?P<n>N)C(?P<s>[fo>]+[lr])?", build.lone_column, -0.3),
    _phrase("C", r"(?P<e>[lre])C", build.select),
    _phrase("C", r"(?P<e>[elrO])(?P<k>N)C(?P<s>[fo>]+[lr])?", build.select),
    _phrase("C", rf"{_ORDINALS}R{_ACROSS}?", build.select, -0.6),
    _phrase("C", rf"R{_NUMBERS}{_ACROSS}?", build.select, -0.8),
    _phrase("C", r"(?P<e>[lr])R", build.select, -0.1),
    _phrase("C", r"(?<!f)[Oelr],[elrO]C", build.both_columns, 0.1),
    _phrase("C", r"aC", build.word("all"), -0.2),
    _phrase("C", r"QC", build.odd),
    _phrase("e", r"qC", build.word("every_other")),
    _phrase("C", r"aO[CR]", build.every, 0.1),
    _phrase("C", r"nN?C(?:[fo>]+[lr])?", build.count("next_columns")),
    _phrase("C", r"N?C[>fo]+r", build.count("next_columns"), -0.2),
    _phrase("C", r"G(?:[>fo]*[lr])?N?C(?:[>fo]+[lr])?", build.moved, 0.3),
    _phrase("C", r"N?C[>fo]+[lr](?:oI)?", build.moved, -0.2),
    _phrase("C", r"(?<![OelrtS])(?P<n>N)[CR](?P<s>f[fo]*[lr])", build.select, -0.1),
    _phrase("C", r"n?C(?:[>fo]|oI)*<(?:of?I?)?|<n?C", build.word("outward")),
    _phrase("C", r"nC", build.next_columns),
    _phrase("C", r"nN?R(?:[fo>]+[lr])?", build.count("next_columns"), -0.4),
    _phrase("C", r"(?<=o)n(?=[,.]|$)", build.count("next_columns")),
    _phrase("C", r"PC", build.word("same_columns")),
    _phrase("p", r"PC", build.word("previous"), 0.2),
    _phrase("C", r"[sI]C", build.word("same_columns")),
    _phrase("C", r"KC", build.color_of("colored_columns"), -0.1),
    _phrase("s", r"C[>fo]+[lr]o", build.side_of),
    _phrase("n", r"[tblr]T[oI>]+", build.edge_of, -0.1),
    _phrase("a", r"[tb]T?[oI]*", build.edge_of, -0.1),
    _phrase("C", r"mC", build.word("middle_columns")),
    _phrase("T", rf"{_ORDINALS}T{_DOWN}?", build.select),
    _phrase("T", rf"T{_NUMBERS}(?![TC]){_DOWN}?", build.select),
    _phrase("T", rf"{_NUMBERS}(?P<s>[ud]?f[tb])T?", build.select),
    _phrase("T", rf"[fo](?P<s>[tb]),*{_ORDINALS}T", build.select, -0.3),
    _phrase("T", r"(?P<e>[tbe])T", build.select),
    _phrase("T", r"(?P<e>[te])(?P<s>f[tb])T?", build.select, -0.2),
    _phrase("T", r"(?P<e>[tbeO])(?P<k>N)T(?P<s>[ud]?[fo]+[tb]|[ud])?", build.select),
    _phrase("T", r"(?P<e>[tbe])(?P<k>N)(?!C)", build.select, -0.2),
    _phrase("T", r"(?P<k>N)(?P<e>[tbe])T?", build.select, -0.2),
    _phrase("T", rf"{_ORDINALS}R{_DOWN}?", build.select, -0.5),
    _phrase("T", rf"R{_NUMBERS}{_DOWN}?", build.select, -0.5),
    _phrase("T", rf"{_ORDINALS}(?![TCjR]){_DOWN}?", build.select, -0.5),
    _phrase("T", r"(?P<k>N)T[oa]+(?P<e>[tb])(?!T)", build.select, -0.1),
    _phrase("T", r"T[oa]+(?P<e>[tb])(?!T)", build.select, -0.1),
    _phrase("T", r"(?P<n>N)T(?P<s>d)", build.select, -0.8),
    _phrase("|", r"[GL][>fo]*(?!nN?[CR]|[OlreN]?CN?,?v)", build.word("go")),
    _phrase("T", r"(?<=[fSo>])(?P<e>[tb])(?=[^lrTNOCRK^])", build.select, -0.5),
    _phrase("T", r"[tbe],[tbe]T?", build.both_ends, 0.1),
    _phrase("T", r"(?:[tb],[tb])NT", build.both_ends, 0.1),
    _phrase("T", r"[teO](?:,+[teO])+T", build.listed, 0.2),
    _phrase("T", r"mT", build.word("middle"), -0.2),
    _phrase("T", r"mN(?:T)?", build.count("middle"), -0.2),
    _phrase("T", r"ao?T", build.word("all"), -0.2),
    _phrase("b", r"qT", build.word("every_other")),
    _phrase("T", r"QT", build.odd),
    _phrase("T", r"HT?", build.word("blank"), -0.2),
    _phrase("T", r"a?WT?", build.word("blank"), -0.3),
    _phrase("!", r"a?!", build.word("but")),
    _phrase("?", r"a?!", build.excepted),
    _phrase("R", r"(?:[tb][,-]?[lr]|[lr](?:,|To|-)?[tb])[T^]*", build.corner, -0.1),
    _phrase("R", r"[tb]T?[of>I]+[lr](?:T|\^|(?=[,.v]))", build.corner, -0.2),
    _phrase("@", r"@[fo]*(?:[tblr]+)\^?", build.counted_from),
    _phrase("@", r"(?<![a-zA-Z])[fS]+[fo]*[br](?=[,.])", build.counted_from),
    _phrase("H", r"aIN?T?", build.word("that"), -0.3),
    _phrase("H", r"IN?T?", build.word("that"), -0.3),
    _phrase("H", r"[aI]?H?(?<!A)(?<![^j]N)(?<!^N)(?:(?P<e>[tbelrmO])[lr]?)?K[T]", build.colored, -0.1),
    _phrase("H", r"(?P<e>[tbelr])K(?=I)", build.colored, -0.3),
    _phrase("H", r"[aI]o?NKT", build.colored, 0.1),
    _phrase("H", r"aoI?KT", build.colored, 0.1),
    _phrase("H", r"aK[CR]", build.colored, -0.4),
    _phrase("H", r"aK(?=[^TN])", build.colored, -0.4),
    _phrase("H", r"(?<=[UDrlcfB>])o?KI?(?=[^TN])", build.colored, -0.3),
    _phrase("H", r"a?Kz", build.colored_shape, -0.1),
    _phrase("H", r"a?K[gV]?i", build.colored_shape, -0.4),
    _phrase("H", r"IeN?T(?![fo]+[tblr])", build.newest, -0.1),
    _phrase("H", r"[eP](?:T|N$)(?![fo]+[tblrCR])", build.newest, -0.3),
    _phrase("R", r"[tb]Z?R", build.row, -0.4),
    _phrase("R", r"OZ?R(?:[fo]+[tb])?(?![fo]+[lr])", build.row, -0.7),
    _phrase("T", r"(?P<e>[tb])R", build.select, -0.1),
    _phrase("R", r"[%m]T?(?=[^TN])", build.word("inside"), -0.4),
    _phrase("R", r"(?:[aH]*W?T)?%", build.word("inside"), -0.1),
    _phrase("R", r"[aHI]*W?TI?%x?[aI]*KT?", build.word("inside"), 0.2),
    _phrase("N", r"[aHI]*N?W?cW?T(?=[UDludr>o])", build.count("count"), -0.1),
    _phrase("R", r"[aHIN]*cT", build.around_that, -0.2),
    _phrase("H", r"eN[Tx]", build.latest, -0.1),
    _phrase("H", r"Pj", build.word("previous_step")),
    _phrase("N", r"(?<!j)NT?", build.count("count"), -0.1),
    _phrase("t", r"(?<![ac])(?<!io)T", build.count("count"), -0.1),
    _phrase("N", r"NW?AT?", build.count("count"), -0.2),
    _phrase("N", r"AN?W?T", build.count("count"), -0.2),
    _phrase("Q", r"(?<!j)(?:NA?|AN?)o?KT?", build.counted, -0.1),
    _phrase("U", r"nN?T?", build.count("next")),
    _phrase("D", r"g?[>fo]*I?(?:[udtbUD][,>og-]*[lr]|[lr][,>o]*[udtbUD])(?!\^)o?g?", build.direction),
    _phrase("D", r"[UDud]", build.direction),
    _phrase("D", r"n>(?=[IKOat])", build.rightward, -0.3),
    _phrase("D", r"&", build.every_way),
    _phrase("D", r"<(?:of)?", build.both_sides),
    _phrase("D", r"[>o]+[lr]o?", build.direction),
    _phrase("D", r"g[>o]*[udlr]?", build.direction, -0.1),
    _phrase("P", r"N?T?K(?:,+[VI]*N?T?[KW]T?)+", build.runs("runs"), -0.2),
    _phrase("P", r"q[BI]*N?T?KT?(?:[,>]+N?T?[KW]T?)+", build.runs("cycle"), 0.1),
    _phrase("P", r"N?T?W(?:,+[VI]*N?T?[KW]T?)+", build.runs("runs"), -0.1),
    _phrase("P", r"p?=[.,xofI]*N?T?[KW](?:,+[VI]*N?T?[KW]T?)+", build.runs("cycle"), 0.1),
    _phrase("P", r"N?T?K(?:[,>]+N?T?[KW]T?)+[,oxI]*p?[=q]", build.runs("cycle"), 0.1),
    _phrase("=", r"[aI]?v?=", build.word("whole")),
    _phrase("f", r"[fS]+[fo]*", build.word("from")),
    _phrase("g", r"[,>E]*[>E][>o]*", build.word("to")),
    _phrase("B", r"B", build.word("between")),
    _phrase("J", r"J", build.word("between")),
    _phrase("E", r"[JB]I?NT?(?!o?[WKC])", build.count("latest"), 0.1),
    _phrase("L", r"V?i", build.line, 0.1),
    _phrase("L", r"g[iRV]?i?", build.diagonal, -0.1),
    _phrase("L", r"aT(?=g)", build.line, -0.2),
    _phrase("L", r"[aH]+[oT]*[VgZ]*[ig]+", build.rest_of_line, 0.0),
    _phrase("L", r"[ud]g?[iR][>o]+[lr]", build.slanted, 0.1),
    _phrase("c", r"(?:[aHW]*N?W?TI?)?c(?:,?c)*", build.word("around")),
    _phrase("k", r"k", build.word("skip"), -0.1),
    _phrase("A", r"kN?W?T?W?", build.count("skip"), -0.1),
    _phrase("A", r"kN?[WP]?[CR](?![NO])W?", build.count("skip_columns"), -0.1),
    _phrase("#", r"kN?[WPs]*[CR](?![NO])W?", build.count("gap")),
    _phrase("~", r"~", build.word("on")),
    _phrase("*", r"\*", build.word("swapped")),
    _phrase("d", r"/NT?", build.count("side")),
    _phrase("C", r"QR", build.odd, -0.3),
    _phrase("y", r"y", build.frame("triangle")),
    _phrase("W", r"W", build.word("white")),
    _phrase("0", r"0", build.word("erased")),
    _phrase("Y", r"p(?:I*p)*", build.frame("repeat")),
    _phrase("Z", r"z", build.frame("ring"), -0.1),
    _phrase("w", r"w", build.frame("mirror")),
    _phrase("S", r"a?j[NO](?!A?X|AC)(?:[,>-]+[NO])*", build.numbers("steps")),
    _phrase("S", r"I?[OPe]j", build.numbers("steps")),
    _phrase("X", r"N?A?X", build.count("times")),
    _phrase("X", r"NA", build.count("times"), -0.1),
)
