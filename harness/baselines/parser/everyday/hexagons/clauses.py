"""Sentences to clauses: `make the top row red and erase the ring` asks for two things."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache

from harness.baselines.parser.everyday.hexagons.lexicon import Token, sentences
from harness.baselines.parser.everyday.hexagons.meaning import Clause, Link, Phrase
from harness.baselines.parser.everyday.hexagons.phrases import BESIDE
from harness.baselines.parser.everyday.hexagons.remarks import RemarkReader
from harness.baselines.parser.everyday.hexagons.special import bar_chart, lettered, remarks_joined

REGION_HEADS = ("board", "all", "background", "row", "column", "corner", "edge", "side", "half", "third", "quarter", "middle",
                "inside", "gap", "rest", "end", "it", "thing", "", "step", "crossing")  # fmt: skip
GENERIC = ("", "make", "draw", "paint", "be", "ask", "tell")
"""Verbs that say little: another one in the same clause says what is done (`make it bigger`, `can you put it back`)."""
MARKS = {"NOT": "not", "MEANT": "meant", "TOO": "too", "SAME": "same", "CYCLE": "cycle", "APART": "apart", "FULL": "full"}
SPECIAL = ("upend", "reduce", "swap", "move", "mirror", "flip", "rotate", "grow", "shrink", "copy", "connect")
NOISE = (
    "i",
    "you",
    "we",
    "now",
    "can",
    "could",
    "please",
    "also",
    "then",
    "so",
    "to",
    "me",
    "it",
    "would",
    "do",
    "let",
    "just",
    "should",
    "will",
    "they",
)
PARTICLES = {"back": "back"}


@lru_cache(maxsize=1000)
def read(text: str) -> list[list[Clause]]:
    """What the sentences of a text ask for, in order. The clauses are shared between calls: they are not to be changed."""
    told = sentences(text)
    bars = bar_chart(told)
    if bars is not None:
        return [[bars]]
    found = (remarks_joined([clause for clause in _Clauses(tokens).read() if not clause.empty]) for tokens in told)
    return lettered([sentence for sentence in found if sentence])


class _Clauses(RemarkReader):
    def __init__(self, tokens: Sequence[Token]) -> None:
        super().__init__(tokens)
        self.carried: list[Phrase] = []
        """What was read of the next clause: `that one` of `erase the ring, that one can stay`."""

    def read(self) -> Iterator[Clause]:
        while not self.done:
            if self._ends():
                yield self.clause
                self.clause, self.carried = Clause(targets=self.carried), []
            before = self.at
            self._item()
            if self.at == before:
                self.at += 1
        yield self.clause

    # --- where a clause ends ---

    def _ends(self) -> bool:
        """Whether another clause begins here. Reads the conjunction before it."""
        start = self.at
        while self.peek()["COMMA"] or self.peek()["AND"]:
            self.at += 1
        if self.at > start or self.clause.empty:
            self._pass_noise()
        verb = self.peek()["VERB"] if not self._is_empty_inside() else None
        if self.clause.empty or self.done or self._gap_ahead():
            return False
        if self.at == start and verb and self._goes_on(verb):
            return False
        if verb and verb != "be" and not self._continues(verb):
            if (
                verb in ("keep", "become")
                and self.at == start
                and (len(self.clause.targets) > 1 or (self.clause.colors and self.clause.targets))
            ):
                self.carried = [self.clause.targets.pop()]
                return True
            if self.at > start or (self.clause.targets and self.clause.verb not in ("", "be") and verb not in ("grow", "shrink")):
                return bool(self.clause.targets or self.clause.verb or self.clause.colors)
            return False
        if self.at == start:
            return False
        if self.clause.verb == "tell" and self._phrase_ahead():
            return True
        if self.peek()["REL"] and self.peek()["REL"] not in ("in", "of", "with", "to", "from", "except", "instead"):
            return bool(self.clause.targets) and self._link_and_phrase_ahead()
        if self.peek()["NOUN"] in ("petal", "stem") and self.clause.targets:
            return True
        if self.peek()["NUMBER"] and "times" in (self.peek(1).text, self.peek(2).text):
            return False
        if self.peek()["COLOR"] and self.peek(1).text == "for" and self.clause.targets:
            return True
        if self._size_ahead():
            return False
        if self.peek()["NUMBER"] and self.peek(1)["COLOR"] and self.clause.colors and not self._noun_ahead(1):
            return False
        return bool(self.clause.colors or self.clause.moves) and self._phrase_ahead()

    def _size_ahead(self) -> bool:
        start = self.at
        found = self.size() is not None or self.area() is not None
        self.at = start
        return found

    def _gap_ahead(self) -> bool:
        start, gap = self.at, self.clause.sizes.get("gap")
        found = self._gap()
        self.at = start
        if found and gap is None:
            del self.clause.sizes["gap"]
        return found

    def _is_empty_inside(self) -> bool:
        """Whether `empty` describes: `a ring, empty inside`."""
        return self.peek().text == "empty" and self.peek(1)["DET"] is None

    def _goes_on(self, verb: str) -> bool:
        """Whether a second verb belongs to the same clause: `let the rows trade colors`, `let a line run across`."""
        clause = self.clause
        if clause.verb == "make" and not clause.colors and verb == "draw":
            return True
        if verb == "upend" or (verb == "become" and len(clause.targets) == 1 and not clause.colors):
            return True
        if verb == "make" and clause.verb == "draw" and self.peek().text in ("to have", "have"):
            return True
        return clause.verb in GENERIC and (verb in SPECIAL or not clause.targets)

    def _pass_noise(self) -> None:
        """Passes over words that come before a verb: `and now I want`."""
        start = self.at
        while self.peek().text in NOISE and not self.peek()["VERB"]:
            self.at += 1
        if not self.peek()["VERB"]:
            self.at = start

    def _link_and_phrase_ahead(self) -> bool:
        """Whether a place and a thing follow: `and around that another ring`."""
        start = self.at
        found = self.link() is not None and (self.peek()["VERB"] is not None or self.phrase() is not None)
        self.at = start
        return found

    def _continues(self, verb: str) -> bool:
        """Whether a verb is rather a noun or belongs to what is asked: `a black frame`, `and the reflection`."""
        return bool(self.peek()["NOUN"] and self.clause.verb) or (verb == "again" and bool(self.clause.verb))

    # --- what a clause consists of ---

    def _item(self) -> None:
        token = self.peek()
        if token["SKIP"] and not self._total():
            self._skip_remark()
        elif self._is_empty_inside() and self.peek(1)["NOUN"] == "inside":
            self.clause.marks.add("hollow")
            self.at += 2
        elif self._leading_place():
            return
        elif not (
            self._total()
            or self._gap()
            or self._as_many()
            or self._comparison()
            or self._not()
            or self._instead()
            or self._except()
            or self._measure()
            or self._colors()
        ):
            if self._verb_first():
                self._verb()
            elif not (self._phrase() or self._link() or self._verb() or self._mark()):
                self._unknown()

    def _leading_place(self) -> bool:
        """`2 tiles above the ring, put a dot`."""
        start = self.at
        if self.peek()["NUMBER"] and self.clause.empty:
            link = self.link()
            if link is not None and self.peek()["COMMA"]:
                self.clause.links.append(link)
                return True
        self.at = start
        return False

    def _verb_first(self) -> bool:
        """Whether the next word is a verb although it could be a noun: the first one of a clause."""
        token = self.peek()
        if not token["VERB"] or self._is_empty_inside():
            return False
        return not (token["NOUN"] or token["DET"]) or (self.clause.empty and self.peek(1)["DET"] is not None)

    def _verb(self) -> bool:
        verb = self.take("VERB")
        if verb is None:
            return False
        clause = self.clause
        mark = self.tokens[self.at - 1]["MARK"]
        clause.marks |= {mark} if verb == "grow" and mark else set()
        if verb in ("be", "become"):
            weak = clause.verb in ("", "be", "ask", "tell")
            clause.verb = (clause.verb or "be") if verb == "be" else "make" if weak else clause.verb
        elif clause.verb in GENERIC or verb in ("undo", "redo", "upend"):
            plain = ("make", "draw", "paint")
            clause.verb = verb if clause.verb not in plain or verb not in (*plain, "keep") else clause.verb
        else:
            clause.marks.add(verb)
        return True

    def _measure(self) -> bool:
        """A size or a distance, beside any thing: `7 long`, `2 to the left`."""
        if self.peek()["DET"] == "each" and self.peek(1)["NUMBER"]:
            self.at += 1
        size, area = self.size(), self.area()
        if size:
            self.clause.sizes[size[0]] = size[1]
        if area:
            self.clause.sizes |= {"wide": area[0], "tall": area[1]}
        if size or area:
            return True
        if self.peek().text in ("down", "up") and self.peek(1)["NOUN"] in ("row", "column"):
            self.at += 1
            line = self.phrase(nested=True)
            self.clause.links += [Link("in", line)] if line is not None else []
            return True
        if self.peek().text in ("to the left", "to the right") and self.peek(1)["NOUN"]:
            side = self.peek().text.split()[-1]
            self.at += 1
            phrase = self.phrase(nested=True)
            if phrase is not None:
                phrase.sides.append(side)
                self.clause.links.append(Link("to", phrase))
            return True
        move = self.distance()
        if move is None:
            return False
        self.clause.moves.append((move[1], move[0]))
        return True

    def _colors(self) -> bool:
        """New colors: `blue`, `2 red, 1 blue`."""
        start, count = self.at, self.take("NUMBER")
        color = self.take("COLOR")
        if color is None or (self._noun_ahead(0) and self.peek()["DET"] is None):
            self.at = start
            return False
        follows = self.peek()
        if follows["NOUN"] == "thing" and follows.text in ("one", "ones", "bit", "part"):
            self.at = start
            return False
        before = self.tokens[start - 1]["REL"] if start else None
        if before == "from" or (before == "with" and self.clause.targets and self.clause.colors):
            self.clause.first = color
        else:
            self.clause.colors.append((color, int(count or 1)))
        return True

    def _phrase(self) -> bool:
        apposed = bool(self.at and (self.tokens[self.at - 1]["COMMA"] or self.tokens[self.at - 1]["AND"]))
        if (
            self.peek().text in ("that", "which")
            and self.clause.targets
            and not apposed
            and not self.tokens[self.at - 1]["AND"]
            and not self._noun_ahead(1)
        ):
            self.at += 1
            return True
        if (
            (self.clause.targets or self.clause.verb in ("copy", "move"))
            and self.peek()["NUMBER"]
            and self.peek(1)["NOUN"] in ("row", "column")
            and self.peek(2)["REL"] in BESIDE
        ):
            return False
        phrase = self.phrase()
        if phrase is None:
            return False
        if phrase.head in ("row", "column") and phrase.count and self.take("DET", "each"):
            self.clause.sizes["wide"] = phrase.count
            return True
        if phrase.det == "all" and phrase.bare and phrase.head == "" and self.clause.targets:
            return True
        if not (apposed and self._describes_last(phrase)):
            self.clause.targets.append(phrase)
        self._each_of(phrase)
        return True

    def _describes_last(self, phrase: Phrase) -> bool:
        """Takes `7 tiles` after `a red flower,` for its size."""
        last = self.clause.targets[-1] if self.clause.targets else None
        place = phrase.head in ("side", "half", "corner", "quarter") and not phrase.colors and self.peek()["COLOR"] is None
        if last is not None and place and last.det == "a" and last.head not in REGION_HEADS:
            last.links.append(Link("in", phrase))
            return True
        if last is not None and last.head == "" and last.count and last.links and phrase.word == "one" and phrase.sides:
            last.sides += phrase.sides
            return True
        if last is not None and last.head == "tile" and last.links and phrase.head == "" and phrase.ordinals and phrase.links:
            last.ordinals, last.links = phrase.ordinals, last.links + phrase.links
            return True
        if last is not None and last.head == "line" and phrase.head in ("row", "column") and phrase.sides == ["outer"]:
            return True
        if last is not None and "tiles" in last.sizes and phrase.head in ("tile", "") and phrase.count and not phrase.colors:
            return True
        if (last is not None and last.head == "tile" and last.word in ("sun", "moon")) or (
            last is not None and last.head == "inside" and last.det == "a"
        ):
            last.sizes["tiles"] = phrase.count or 1
            return phrase.head == "tile"
        if last is None or phrase.head != "tile" or not phrase.count or last.head in (*REGION_HEADS, "tile"):
            return False
        last.sizes.setdefault("tiles", phrase.count)
        last.colors = last.colors or phrase.colors
        last.links += phrase.links
        last.marks |= phrase.marks
        return True

    def _each_of(self, phrase: Phrase) -> None:
        """`one tile each of red, blue and green`."""
        start = self.at
        each = self.take("DET", "each")
        if (each and self.peek()["COLOR"]) or (self.take("REL", "of") and self.peek()["COLOR"]):
            self.clause.marks.add("each")
            phrase.count = None
        else:
            self.at = start

    def _link(self) -> bool:
        if self.clause.targets and self._side_length(self.clause.targets[-1]):
            return True
        link = self.link()
        if link is not None:
            self.clause.links.append(link)
        return link is not None

    def _unknown(self) -> None:
        token = self.peek()
        if token.text in PARTICLES:
            self.clause.verb = PARTICLES[token.text]
        elif token.text == "out" and self.clause.verb == "keep":
            self.clause.verb = "remove"
        elif token.text == "by" and self.peek(1)["NUMBER"]:
            self._amount(int(str(self.peek(1)["NUMBER"])))
            self.at += 1
        elif token.text in ("for", "as", "like") and self._name():
            return
        elif token["NOCOLOR"]:
            self.clause.marks.add("no color")
            self.clause.unknown.append(token.text)
        elif token["DET"] == "only":
            self.clause.marks.add("only")
        elif token["NUMBER"] and self.clause.verb and not self.clause.targets:
            self.clause.targets.append(Phrase(count=int(token["NUMBER"])))
        elif not token.senses:
            self.clause.unknown.append(token.text)
        self.at += 1
