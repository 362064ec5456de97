"""Turns sentences into clauses: `make the top row red and erase the ring` asks for two things.

A sentence is read in segments, from one comma, conjunction or verb to the next; `joining` decides which of them form a clause.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

from harness.baselines.parser.everyday.english import common_words
from harness.baselines.parser.everyday.hexagons.joining import GENERIC, joined
from harness.baselines.parser.everyday.hexagons.lexicon import DrawingToken, sentences
from harness.baselines.parser.everyday.hexagons.meaning import Clause, Link, Phrase, once
from harness.baselines.parser.everyday.hexagons.phrases import BESIDE, PhraseReader
from harness.baselines.parser.everyday.hexagons.reader import LINES, UNITS, rewinding

MARKS = {"MEANT": "meant", "TOO": "too", "SAME": "same", "CYCLE": "cycle", "APART": "apart", "FULL": "full", "TIMES": ""}


@lru_cache(maxsize=1000)
def read(text: str) -> list[list[Clause]]:
    """What the sentences of a text ask for, in order. The clauses are shared between calls: callers must not change them."""
    told = sentences(text)
    bars = _bar_chart(told)
    if bars is not None:
        return [[bars]]
    return _lettered([found for tokens in told if (found := _Segments(tokens).clauses())])


def _bar_chart(tokens: Sequence[Sequence[DrawingToken]]) -> Clause | None:
    """A bar chart: `the first column has 2 tiles, the second one 4`; the heights by column."""
    told = [token for sentence in tokens for token in sentence]
    if not any(token["NOUN"] == "bars" for token in told):
        return None
    heights: dict[str, int] = {}
    column = ""
    for token in told:
        column = token["ORDINAL"] or column
        if token["NUMBER"] and column:
            heights[column] = int(token["NUMBER"])
    if not heights:
        numbers = [int(token["NUMBER"]) for token in told if token["NUMBER"]]
        heights = {str(column): number for column, number in enumerate(numbers, start=1)}
    return Clause(verb="bars", colors=once(token["COLOR"] for token in told if token["COLOR"])[:1], sizes=heights)


def _lettered(sentences: list[list[Clause]]) -> list[list[Clause]]:
    """A letter that is described stroke by stroke is one drawing: `an L, 5 tiles down and 3 more to the right`."""
    clauses = [clause for sentence in sentences for clause in sentence]
    phrases = [phrase for clause in clauses for target in clause.targets for phrase in target.within()]
    letter = next((phrase for phrase in phrases if phrase.head.startswith("letter")), None)
    if letter is None or len(phrases) == 1:
        return sentences
    colors = [color for clause in clauses for color in clause.color_names] + [
        color for phrase in phrases for color in phrase.colors
    ]
    counts = [count for phrase in phrases for count in (phrase.count or phrase.sizes.get("tiles"),) if count]
    sizes = dict(zip(("first", "second"), counts, strict=False)) if len(counts) == 2 else {}
    drawing = replace(letter, det="a", colors=colors[:1], sizes={**letter.sizes, **sizes}, links=[])
    return [[Clause(verb="draw", targets=[drawing])]]


class _Segments(PhraseReader):
    """Reads the segments of a sentence, each into a clause of its own, and joins them."""

    def __init__(self, tokens: Sequence[DrawingToken]) -> None:
        super().__init__(tokens)
        self.clause = Clause()

    def clauses(self) -> list[Clause]:
        found: list[Clause] = []
        self.at += len(self.tokens) == 1 and self.tokens[0].text == "right"
        while not self.done:
            separator = self.separator()
            self.clause = Clause()
            while not self.done and not self._ends():
                before = self.at
                self._item()
                self.at += self.at == before
            if not found or not joined(found[-1], self.clause, separator):
                found.append(self.clause)
        for clause in found:
            for target in clause.targets[-1:]:
                target.excepted += clause.excepted
        return [clause for clause in found if not clause.empty]

    def _ends(self) -> bool:
        """Whether the segment ends here: at a comma or conjunction, or at a verb if the segment is complete."""
        token = self.peek()
        if token["COMMA"] or token["AND"]:
            return True
        verb, clause = token["VERB"], self.clause
        if verb is None or token["NOUN"] or clause.verb in GENERIC:
            return False
        return bool(clause.targets) and verb not in (*GENERIC, "again", "keep", "upend")

    # --- what a segment consists of ---

    def _item(self) -> None:
        parts = (self._leading, self._remark, self._measure, self._colors, self._verb, self._target, self._link, self._mark)
        if not any(part() for part in parts):
            self._unknown()

    @rewinding
    def _leading(self) -> bool:
        """A place at the beginning: `2 tiles above the ring, put a dot`."""
        beside = self.peek()["REL"] in BESIDE and not self.peek()["SIDE"]
        link = self.link() if self.clause.empty and (self.peek()["NUMBER"] or beside) else None
        if link is not None and (self.peek()["COMMA"] or self.peek()["VERB"] or (beside and self.peek()["NOUN"] == "all")):
            self.clause.links.append(link)
            return True
        return False

    def _remark(self) -> bool:
        """A remark: how many there should be in the end, how far apart, what is not meant."""
        token = self.peek()
        if token.text == "its" and not (self.noun_ahead(1) or self.one_ahead()):
            self.at += 1
            return True
        if token.text == "empty" and self.peek(1)["NOUN"] == "inside" and (self.peek(2)["COMMA"] or not self.peek(2).text):
            self.clause.marks.add("hollow")
            self.at += 2
            return True
        parts = (self._total, self._gap, self._as_many, self._not, self._instead, self._times)
        return any(part() for part in parts) or self._passed(token)

    def _passed(self, token: DrawingToken) -> bool:
        """Skips an explanation up to the next comma, except for words that say how tiles lie."""
        if token["SKIP"] is None:
            return False
        while not self.done and not self.peek()["COMMA"] and not (self.peek()["AND"] and self.peek(1)["VERB"]):
            if not self._mark(("APART", "MARK")):
                self.at += 1
        return True

    @rewinding
    def _total(self) -> bool:
        """`so that there are 5`, `until I have 5`, `5 in total`."""
        begins = self.skip("so that", "until", "so", "till", "if", "to")
        people = ("there", "i", "we", "you", "they")
        if begins and (self.take("VERB", "tell") or (self.skip(*people) and self.skip("are", "have", "see", "is"))):
            count = self.take("NUMBER")
            if count is not None:
                self.clause.total = int(count)
                return True
        return False

    def _times(self) -> bool:
        """`3 times`, `3 more copies`, `twice as tall`."""
        more = int(self.peek(1).text == "more")
        if self.peek()["NUMBER"] and self.peek(1 + more).text in ("times", "copies"):
            self.clause.times = int(str(self.peek()["NUMBER"]))
            self.clause.verb = "copy" if self.peek(1 + more).text == "copies" else self.clause.verb
            self.at += 2 + more
            self.take("REL", "of")
            return True
        value = self.take("TIMES")
        self.clause.marks |= {value} if value else set()
        if value is not None:
            self.skip("as")
        return value is not None

    @rewinding
    def _gap(self) -> bool:
        """`with 1 empty column between them`, `2 columns free in between`, `leave a gap of 1 tile`."""
        self.take("REL", "with")
        keeps = self.take("VERB", "keep", "draw") == "keep"
        self.skip("exactly", "always", "about")
        count = self.take("NUMBER") or ("1" if self.take("DET", "a", "no") and self.clause.verb != "tell" else None)
        empty = self.take("MARK", "empty")
        unit = self.take("NOUN", "column", "row", "tile", "gap")
        empty = empty or self.take("MARK", "empty")
        if count and unit == "gap" and self.take("REL", "of"):
            count, empty = self.take("NUMBER") or count, "empty"
            self.take("NOUN", "column", "row", "tile")
        between = self.take("REL", "between") is not None
        if between:
            self.phrase()
            if self.separator() and not self.phrase():
                self.at -= 1
        if count and ((unit and between) or (empty and unit == "gap") or (keeps and empty)):
            self.take("DET", "each")
            self.clause.sizes["gap"] = int(count)
            return True
        return False

    def _as_many(self) -> bool:
        """`as many orange ones as there are green ones`, `as long as the other line`, `the same number as it`."""
        return self._as_long() or self._number_as() or self._color_as() or self._size_as()

    @rewinding
    def _as_long(self) -> bool:
        """`as long as the other line`."""
        mark = self.take("MARK") if self.skip("as") else None
        phrase = self.phrase() if mark and self.skip("as") else None
        if mark is None or phrase is None:
            return False
        self.clause.marks.add(mark)
        self.clause.as_many = phrase
        return True

    @rewinding
    def _number_as(self) -> bool:
        """`as many orange ones as there are green ones`."""
        phrase = self.phrase() if self.skip("as") and self.skip("many", "much") else None
        if phrase is None:
            return False
        self.clause.as_many = Phrase(head="it")
        if self.skip("as", "like"):
            self.take("VERB", "tell")
            self.clause.as_many = self.phrase()
        phrase.det, phrase.head = "a", "tile" if phrase.head == "thing" else phrase.head
        self.clause.targets.append(phrase)
        return True

    @rewinding
    def _color_as(self) -> bool:
        """`in the same color as the ring`."""
        like = None
        if self.take("SAME") or (self.take("REL", "in") and (self.take("DET", "the") or True)):
            like = self.phrase() if self.skip("color", "colors") and self.skip("as", "like", "of") else None
        self.clause.color_of = like or self.clause.color_of
        return like is not None

    @rewinding
    def _size_as(self) -> bool:
        """`the same number of tiles as it`."""
        if self.take("SAME") and (self.take("MEASURE") or self.skip("number", "amount", "size")):
            self.take("REL", "of") and self.take("NOUN", "tile")
            if self.skip("as", "like") and (like := self.phrase()):
                self.clause.marks.add("long")
                self.clause.as_many = like
                return True
        return False

    @rewinding
    def _not(self) -> bool:
        """`not blue` replaces the blue, `not only one`, `nothing along the top` ask for nothing."""
        said = self.take("NOT")
        begins = self.clause.empty
        if said is None or self.peek()["REL"] == "of":
            return False
        color = self.take("COLOR")
        if said == "no" or self.peek()["NOT"] or color:
            self.clause.marks.add("no")
            self.clause.replaced += [color] if color else []
        elif self.take("MARK"):
            pass
        elif self.peek()["VERB"] or (self.peek(1)["VERB"] and not self.peek()["DET"]):
            self.clause.marks.add("not")
        else:
            self.clause.marks |= {"meant"} if begins and self.peek()["DET"] == "the" else set()
            self._pass_negated()
        return True

    def _pass_negated(self) -> None:
        """Reads what is not meant: `not only one`, `nothing along the top or the bottom`, `not at the edge`."""
        while True:
            relation = self.take("REL")
            phrase = self.phrase(nested=True)
            if relation == "in" and phrase is not None:
                self.clause.avoided.append(phrase)
            elif phrase is not None and ((phrase.head in ("thing", "it") and phrase.bare) or (phrase.bare and not phrase.det)):
                self.clause.marks.add("meant")
            elif phrase is not None and phrase.head and phrase.det != "only":
                self.clause.excepted.append(phrase)
            if phrase is None or not self.peek()["AND"] or self.peek(1)["VERB"] or self.peek().text == "but":
                return
            self.at += 1

    def _instead(self) -> bool:
        """`green instead of blue`, `the board except for the border`."""
        relation = self.take("REL", "instead", "except")
        if relation is None:
            return False
        color = self.take("COLOR") if relation == "instead" else None
        phrase = None if color else self.phrase()
        self.clause.replaced += [color] if color else []
        if relation == "except":
            self.clause.excepted += [phrase] if phrase else []
        else:
            self.clause.marks.add("meant")
        return True

    def _measure(self) -> bool:
        """A size or a distance without a thing: `7 long`, `2 to the left`, `down row 3`."""
        if self.peek()["DET"] == "each" and (self.peek(1)["NUMBER"] or self.peek(1).text == "time"):
            self.at += 1 + (self.peek(1).text == "time")
        if self._said_size() or self._along():
            return True
        further = self.peek(2).text in ("further", "farther", "apart") and not self.peek(3)["WAY"]
        if self.peek()["NUMBER"] and self.peek(1)["NOUN"] in UNITS and further:
            self.clause.sizes["step"] = int(str(self.peek()["NUMBER"]))
            self.at += 3
            return True
        move = self.distance()
        self.clause.moves += [move] if move else []
        return move is not None

    @rewinding
    def _said_size(self) -> bool:
        """`7 tiles long`, `each with sides of 3`."""
        if self.take("REL", "with", "of") or self.peek()["DET"] == "each":
            self.skip("a", "each", "every")
        size = self.size()
        self.clause.sizes |= size
        return bool(size)

    @rewinding
    def _along(self) -> bool:
        """`down row 3`, `to the left edge`."""
        if not (self.peek()["WAY"] and self.peek(1)["NOUN"] and self.skip("down", "up", "to the left", "to the right")):
            return False
        way = self.peek(-1).text.split()[-1]
        line = self.phrase(nested=True)
        if line is None or not (way in ("left", "right") or line.head in LINES):
            return False
        line.sides += [way] if way in ("left", "right") else []
        self.clause.links.append(Link("to" if line.sides else "in", line))
        return True

    @rewinding
    def _colors(self) -> bool:
        """New colors: `blue`, `2 red`, `in green`, `from red to blue`."""
        start = self.at
        relations = ("in", "to", "with", "from", "of", *(("between",) if "cycle" in self.clause.marks else ()))
        relation = self.take("REL", *relations) or ("" if not self.skip("for", "into") else "for")
        count = self.take("NUMBER")
        color = self.take("COLOR")
        follows = self.peek()
        part = follows["NOUN"] == "thing" and follows.text in ("one", "ones", "bit", "part")
        joined = follows["AND"] is not None and self.peek(1)["COLOR"] is not None and relation in ("", "in", "of")
        counted = count and follows["REL"] in ("in", *BESIDE, "beside", "around", "inside") and not self.clause.targets
        counted = counted or (count and not follows.senses and follows.text.isalpha() and follows.text not in common_words())
        if color is None or part or counted or (follows["DET"] is None and self.noun_ahead(0, joined=joined)):
            return False
        before = self.tokens[start - 1]["REL"] if start else None
        if relation == "from" and self.peek()["REL"] == "to" and self.peek(1)["COLOR"]:
            self.clause.targets.append(Phrase(head="all", colors=[color]))
        elif "from" in (relation, before):
            self.clause.first = color
        elif self._replaces(relation):
            self.clause.targets.clear()
            self.clause.targets.append(Phrase(head="all", colors=[self.clause.colors.pop()[0]]))
            self.clause.colors.append((color, 1))
        else:
            self.clause.colors.append((color, int(count or 1)))
        return True

    def _replaces(self, relation: str) -> bool:
        """Whether the color read before means the tiles that have it: `change red to blue`, `replace all red with blue`."""
        exchanged = relation == "to" or (relation == "with" and self.clause.verb == "make")
        plain = all(target.head == "all" and target.bare for target in self.clause.targets)
        return exchanged and len(self.clause.colors) == 1 and plain

    def _verb(self) -> bool:
        token, clause = self.peek(), self.clause
        verb = token["VERB"]
        if verb is None or ((token["NOUN"] or token["DET"]) and not (clause.empty and self.peek(1)["DET"])):
            return False
        if token.text == "empty" and not (clause.empty and self.peek(1)["DET"]):
            return False
        self.at += 1
        if verb == "grow" and token["MARK"]:
            clause.marks.add(str(token["MARK"]))
        if verb in ("be", "become"):
            weak = clause.verb in ("", "be", "ask", "tell")
            clause.verb = (clause.verb or "be") if verb == "be" else "make" if weak else clause.verb
        elif verb == "again" and clause.verb:
            clause.marks.add(verb)
        elif clause.verb in (*GENERIC, "again") or verb in ("undo", "redo", "upend"):
            plain = ("make", "draw", "paint")
            clause.verb = clause.verb if clause.verb in plain and verb in (*plain, "keep") else verb
        else:
            clause.marks.add(verb)
        return True

    def _target(self) -> bool:
        if self.peek().text in ("that", "which") and self.clause.targets and not self.noun_ahead(1):
            self.at += 1
            return True
        if self.peek()["NUMBER"] and self.peek(1)["NOUN"] in LINES and self.peek(2)["REL"] in BESIDE:
            return False
        phrase = self.phrase() if self.peek()["REL"] != "inside" else None
        if phrase is None:
            return False
        start = self.at
        each = self.take("DET", "each")
        if phrase.head in LINES and phrase.count and each:
            self.clause.sizes["wide"] = phrase.count
            return True
        self.take("REL", "of") if each else None
        if each and self.peek()["COLOR"]:
            self.clause.marks.add("each")
            phrase.count = None
        else:
            self.at = start
        if not (phrase.det == "all" and phrase.bare and not phrase.word and self.clause.targets):
            self.clause.targets += [*phrase.more, replace(phrase, more=[])]
        return True

    def _link(self) -> bool:
        if self.peek()["REL"] == "with" and self.clause.targets and self._sized(self.clause.targets[-1], nested=True):
            return True
        link = self.link()
        if link is not None:
            self.clause.links.append(link)
        return link is not None

    def _mark(self, categories: Sequence[str] = (*MARKS, "MARK")) -> bool:
        token = self.peek()
        marks = {MARKS.get(category) or str(token[category]) for category in categories if token[category]}
        side = token["SIDE"] if "MEANT" in categories else None
        if side and not marks:
            self.clause.targets.append(Phrase(head="side", sides=[side]))
        self.clause.marks |= marks
        self.at += bool(marks or side)
        return bool(marks or side)

    def _unknown(self) -> None:
        token = self.peek()
        if token.text == "back" and not (self.peek(1)["REL"] == "to" and self.peek(2)["COLOR"]):
            self.clause.verb = "back"
        elif token.text == "out" and self.clause.verb == "keep":
            self.clause.verb = "remove"
        elif token.text == "by" and self.peek(1)["NUMBER"]:
            self._amount(int(str(self.peek(1)["NUMBER"])))
            self.at += 1
        elif (token.text in ("for", "as", "like") and self._name()) or (
            token.text == "for" and self.clause.targets and self.clause.targets[-1].new and self._phrase_as_name()
        ):
            return
        elif token.text in ("if", "in case"):
            self.clause.marks.add("if")
        elif token["NOCOLOR"]:
            self.clause.marks.add("no color")
            self.clause.unknown.append(token.text)
        elif token["DET"] == "only":
            self.clause.marks.add("only")
        elif token["NUMBER"] and not self.clause.targets:
            self.clause.targets.append(Phrase(count=int(token["NUMBER"])))
        elif not token.senses:
            self.clause.unknown.append(token.text)
        self.at += 1

    @rewinding
    def _phrase_as_name(self) -> bool:
        """`a yellow tile for the sun` names the tile."""
        self.at += 1
        phrase = self.phrase()
        if phrase is not None and phrase.bare and phrase.word and phrase.head not in ("it", "thing"):
            self.clause.names.append(phrase.word)
            return True
        return False

    def _amount(self, count: int) -> None:
        """`by 3`, of a move or a size."""
        if self.clause.moves:
            self.clause.moves[-1] = (self.clause.moves[-1][0], count)
        else:
            self.clause.sizes["tiles"] = count

    def _name(self) -> bool:
        """What something is to be: `blue for the sky`, `green like grass`."""
        ahead = 1 + (self.peek(1)["DET"] is not None)
        word = self.peek(ahead)
        if (word.senses and word["NOUN"] != "background") or not word.text.isalpha() or len(word.text) < 3:
            return False
        self.clause.names.append(word.text)
        self.at += ahead + 1
        return True
