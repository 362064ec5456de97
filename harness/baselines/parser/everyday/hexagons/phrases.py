"""Turns tokens into phrases: `the two red rings at the top of the board` is one Phrase, with a Link to another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from harness.baselines.parser.everyday.english import common_words
from harness.baselines.parser.everyday.hexagons.lexicon import DrawingToken
from harness.baselines.parser.everyday.hexagons.meaning import Link, Phrase
from harness.baselines.parser.everyday.hexagons.reader import LINES, UNITS, TokenReader, rewinding
from harness.baselines.parser.everyday.hexagons.shapes import PICTURES

PLAIN_DETS = ("the", "this", "its", "a", "no")
DEEPEST = 5
"""How deeply phrases may be nested; requests have at most three levels."""
PARTS = ("middle", "inside", "edge", "end", "corner", "half", "side", "petal", "stem")
SIDES = {"above": "top", "below": "bottom", "left": "left", "right": "right"}
BESIDE = tuple(SIDES)
VERBS_OF_PLACE = ("sits", "sit", "lies", "lie", "is", "are", "was", "were", "stands", "stand", "runs", "go", "goes", "stays",
                  "should", "must", "can", "directly", "exactly", "right", "straight", "somewhere", "anywhere", "located",
                  "placed", "be")  # fmt: skip


class PhraseReader(TokenReader):
    """Reads the phrases for things and places."""

    def __init__(self, tokens: Sequence[DrawingToken]) -> None:
        super().__init__(tokens)
        self._depth = 0
        self._crossed = False
        self._open = False
        """Whether the nested phrase being read takes a place of its own: `the tile in the corner`."""

    def phrase(self, nested: bool = False) -> Phrase | None:
        """The thing that is named next; None, with nothing read, if there is none or if it is nested too deeply."""
        if self._depth >= DEEPEST:
            return None
        self._depth += 1
        start, phrase = self.at, Phrase()
        try:
            self._determiners(phrase)
            if self.at > start and self.peek(-1).text.endswith(" 1"):
                phrase.head, phrase.word = "thing", "one"
                self._following(phrase, nested)
                return phrase
            alternatives = self._modifiers(phrase)
            if not self._head(phrase) and not self._headless(phrase, start):
                self.at = start
                return None
            phrase.det = phrase.det or ("the" if phrase.marks & {"largest", "least"} else "")
            phrase.more = [replace(phrase, sides=one.sides, ordinals=one.ordinals, count=one.count) for one in alternatives]
            self._following(phrase, nested)
            return phrase
        finally:
            self._depth -= 1

    def phrase_ahead(self) -> bool:
        start = self.at
        found = self.phrase(nested=True) is not None
        self.at = start
        return found

    def _determiners(self, phrase: Phrase) -> None:
        if (self.peek().text == "half" and self.peek(1).text in ("of", "the")) or (self.peek()["NOUN"] == "rest"):
            return
        while True:
            token = self.peek()
            det = token["DET"]
            if det is None or self.stands_alone(token) or (det == "no" and not self.noun_ahead(1)):
                return
            self.at += 1
            if det not in PLAIN_DETS or not phrase.det or phrase.det in PLAIN_DETS:
                phrase.det = det
            self.take("REL", "of")

    def _modifiers(self, phrase: Phrase) -> list[Phrase]:
        """Reads numbers, colors, sides, looks; returns the alternatives before the last one: `the top and bottom row`."""
        alternatives: list[Phrase] = []
        while not self.done:
            token = self.peek()
            known = token.senses and token["DET"] != "the"
            if token["NOUN"] and not self.describes(token):
                break
            size = self.size() if token["NUMBER"] else {}
            if size:
                phrase.sizes |= size
                continue
            if token.text == "next" and (self.noun_ahead(1) or self.peek(1)["NUMBER"]):
                phrase.marks.add("next")
            elif token["EVERY"]:
                phrase.every = int(token["EVERY"])
            elif token["ORDINAL"] and not self._third(phrase):
                phrase.ordinals.append(int(token["ORDINAL"]))
            elif token["NUMBER"]:
                if phrase.count or (token["NUMBER"] == "1" and self._is_one(phrase)):
                    break
                phrase.count = int(token["NUMBER"])
            elif token["CYCLE"] and self.noun_ahead(1, joined=True):
                phrase.marks.add("cycle")
            elif token["COLOR"]:
                if self._resulting(phrase):
                    break
                phrase.colors.append(token["COLOR"])
            elif token["SIDE"]:
                phrase.sides.append(token["SIDE"])
            elif token["MARK"] and (self.noun_ahead(1) or self.one_ahead()):
                phrase.marks.add(str(token["MARK"]))
            elif token["VERB"] in ("grow", "shrink") and self.noun_ahead(1):
                looks = ("largest", "least") if phrase.det == "the" else ("big", "small")
                phrase.marks.add(looks[token["VERB"] == "shrink"])
            elif token["DET"] in ("another", "other", "only", "all") and (self.noun_ahead(1) or phrase.count):
                phrase.det = phrase.det if phrase.det == "each" else str(token["DET"])
            elif token["COMMA"] or token["AND"]:
                if not self._joins(phrase, alternatives):
                    break
            elif known or not self.noun_ahead(1) or not (phrase.det or phrase.count or phrase.sides):
                break
            self.at += 1
        return alternatives

    def _joins(self, phrase: Phrase, alternatives: list[Phrase]) -> bool:
        """Whether an `and` or comma joins words that describe: `a small, red ring`, `the top and bottom row`."""
        ahead = 1 + (self.peek(1)["AND"] is not None)
        after = self.peek(ahead + (self.peek(ahead)["DET"] == "the"))
        if not self.noun_ahead(1, joined=True):
            return False
        if phrase.colors and after["COLOR"] and not phrase.sides:
            return True
        placed = bool(phrase.sides or phrase.ordinals)
        if placed and (after["SIDE"] or after["ORDINAL"]) and not phrase.colors:
            alternatives.append(Phrase(sides=phrase.sides, ordinals=phrase.ordinals, count=phrase.count))
            phrase.sides, phrase.ordinals, phrase.count = [], [], None
            self.at += ahead - 1 + (self.peek(ahead)["DET"] == "the")
            return True
        described = phrase.marks or phrase.colors or phrase.ordinals
        return bool(self.peek()["COMMA"] and described and self.peek(1)["DET"] is None and self.noun_ahead(1))

    def _resulting(self, phrase: Phrase) -> bool:
        """Whether a color is one that the thing gets, not one that it has: `the other red`, `top left red`."""
        grouped = phrase.det in ("other", "both", "all", "each") and self.peek(-1)["DET"] != "the"
        return (
            bool(phrase.sides or phrase.ordinals or (phrase.count and phrase.det) or grouped)
            and not self.noun_ahead(0, joined=self.peek(1)["AND"] is not None and self.peek(2)["COLOR"] is not None)
            and not self.one_ahead()
        )

    def _third(self, phrase: Phrase) -> bool:
        """Whether a third is a part, as in `the left third`."""
        return self.peek().text == "third" and bool(phrase.sides) and not self.noun_ahead(1)

    def _is_one(self, phrase: Phrase) -> bool:
        """Whether the next `1` stands for a thing: `the red one`, `the one in the middle`."""
        return not self.noun_ahead(1) and bool(phrase.det or phrase.colors or phrase.sides or phrase.ordinals or phrase.every)

    def _head(self, phrase: Phrase) -> bool:
        token = self.peek()
        noun = token["NOUN"]
        if token["NUMBER"] == "1" and self._is_one(phrase):
            phrase.head, phrase.word = "thing", "one"
        elif token["ORDINAL"] and self._third(phrase):
            phrase.head, phrase.word = "third", "third"
        elif noun is None:
            return False
        else:
            whole = phrase.det in ("all", "both", "each", "no") and not phrase.colors
            if noun == "it" and (phrase.det or phrase.colors or phrase.count) and not whole:
                return False
            phrase.head, phrase.word, phrase.plural = noun, token.text, token.plural or token.text == "ones"
        self.at += 1
        if noun == "all":
            self._looks(phrase)
            if phrase.word.startswith("what") and phrase.bare and self.peek()["REL"] is None:
                return False
        plain = not (phrase.count or phrase.det or phrase.marks)
        if phrase.head == "tile" and phrase.plural and len(phrase.colors) > 1 and plain:
            phrase.count = len(phrase.colors)
        self._compound(phrase)
        if phrase.head == "tile" and self.peek()["NUMBER"] and not phrase.count and self.peek(1)["NOUN"] is None:
            phrase.ordinals, phrase.det = self.numbers(), "the"
        if phrase.head == "step" and phrase.det not in ("the", "this", "a") and phrase.count:
            phrase.head = "tile"
        return True

    def _looks(self, phrase: Phrase) -> None:
        """The rest of `what is red`, `everything blue`."""
        self.skip("still", "now", "currently")
        no = self.take("NOT") is not None
        color = self.take("COLOR") if phrase.word.endswith((" is", " was")) else None
        if color:
            phrase.marks |= {f"not {color}"} if no else set()
            phrase.colors += [] if no else [color]
        elif mark := self.take("MARK", "empty", "painted"):
            phrase.marks.add(mark)

    def _compound(self, phrase: Phrase) -> None:
        """`the corner tiles` are corners, `the edge columns` columns, `the flower center` a middle of a flower."""
        following = self.peek()["NOUN"]
        if following in (None, "it", "step", "rest", "all"):
            return
        if phrase.head in ("corner", "edge", "middle", "end", "inside") and following == "tile":
            phrase.plural = self.peek().plural
        elif phrase.head in ("board", "edge", "side") and following != "side":
            phrase.head, phrase.plural = following, self.peek().plural
        elif following in ("edge", "ring") and phrase.head in ("box", "ring", "triangle", "hexagon", "diamond"):
            phrase.marks.add("hollow")
        elif following in PARTS and phrase.head not in (*PARTS, "tile", "board", "all") and not self._relates():
            owner = replace(phrase, det="the", links=[], more=[])
            phrase.head, phrase.word, phrase.links, phrase.colors = following, self.peek().text, [Link("of", owner)], []
        elif following == "crossing":
            phrase.head = "crossing"
        elif following in ("thing", "tile") and phrase.head not in ("thing", "tile", "row", "column"):
            pass
        else:
            return
        self.at += 1

    def _relates(self) -> bool:
        """Whether a word is a relation rather than a part: `a line inside the ring`."""
        self.at += 1
        related = self.peek(-1)["REL"] is not None and (self.peek()["REL"] == "of" or self.phrase_ahead())
        self.at -= 1
        return related

    def _headless(self, phrase: Phrase, start: int) -> bool:
        """Whether the words stand for a thing without a noun: `the red`, `the first two`, `both`, `the yolk`."""
        token = self.peek()
        told = phrase.colors or phrase.count or phrase.ordinals or phrase.sides or phrase.every
        unknown = not token.senses and token.text.isalpha() and len(token.text) > 2
        new = told and token.text not in common_words()
        if unknown and (phrase.det in ("the", "this", "its") or new):
            self.at += 1
            standing = phrase.det in ("the", "this", "its", "each")
            phrase.head, phrase.word, phrase.plural = "thing" if standing else "tile", token.text, token.text.endswith("s")
            phrase.marks |= {"unknown"} if standing else set()
            return True
        if len(token.text) == 1 and f"letter_{token.text}" in PICTURES and self.at > start and token["DET"] is None:
            self.at += 1
            phrase.head, phrase.word = f"letter_{token.text}", token.text
            return True
        if phrase.count and phrase.colors and token["REL"]:
            phrase.head = "tile"
            return True
        if self.at == start or (phrase.det in ("all", "only") and phrase.colors):
            return False
        if phrase.sides and not phrase.det and self.at - start == len(phrase.sides):
            phrase.head = "side"
            return len(phrase.sides) > 1 or bool(self.peek(-2)["REL"]) or phrase.sides == ["middle"]
        told = told or "next" in phrase.marks
        if phrase.det == "all" and not told and self.at == start + 1:
            phrase.head = "all"
            return True
        if (phrase.det and told) or phrase.det in ("both", "other", "another", "each", "all"):
            return True
        if phrase.count and (phrase.colors or token["DET"] or token["REL"] in ("of", *BESIDE) or token["WAY"]):
            return True
        return bool(phrase.ordinals and (phrase.count or token["REL"] == "from"))

    def _following(self, phrase: Phrase, nested: bool) -> None:
        if phrase.head in LINES and not phrase.ordinals:
            listed = self.peek().text == "in" and self.peek(1)["NUMBER"] is not None and bool(self.peek(2)["COMMA"])
            listed = self.skip("number", "numbers") or listed
            self.at += listed and self.peek().text == "in"
            phrase.ordinals += self.numbers(commas=phrase.plural or listed)
        counted = phrase.det == "the" and (phrase.count or phrase.head in LINES)
        if counted and self.skip("after that", "after those", "after them"):
            phrase.marks.add("next")
        placed = phrase.head in ("tile", "thing") or (phrase.head == "" and not phrase.sides)
        self._open = nested and placed and not phrase.colors
        while not self.done:
            before = self.at
            if self.take("MARK", "opposite"):
                phrase.marks.add("opposite")
            sided = phrase.head in ("edge", "half") or " to the " in self.peek().text
            if self.peek()["SIDE"] and sided and not self.noun_ahead(1):
                phrase.sides.append(str(self.take("SIDE")))
            self._sized(phrase, nested) or self._place(phrase, nested) or self._crossing(phrase, nested)
            if self.at == before:
                return

    @rewinding
    def _sized(self, phrase: Phrase, nested: bool) -> bool:
        """`7 tiles long`, `of 6 tiles`, `with sides of 3`, `from 2 red tiles`, `of black tiles`."""
        if not nested:
            self.separator()
            self.skip("that", "which", "is", "are", "has", "measures")
        size = self.size()
        having = self.peek(1)["NUMBER"] and self.skip("containing", "using", "has", "have", "needs")
        stands = phrase.det in ("the", "this", "all", "each") and phrase.colors
        if not size and (having or self.take("REL", "of", "from", "" if stands else "with")):
            self.skip("exactly", "about", "a", "each")
            size = self.size() or self._made_of(phrase)
        phrase.sizes |= {name: count for name, count in size.items() if name}
        return bool(size)

    @rewinding
    def _made_of(self, phrase: Phrase) -> dict[str, int]:
        """What a thing is made of: `6 red tiles`, `red and blue tiles`; {"": 0} if no number is named."""
        colors = list[str]()
        cycle = self.take("CYCLE") is not None
        count = self.take("NUMBER")
        while True:
            if color := self.take("COLOR"):
                colors.append(color)
            elif not (self.take("MARK") or (colors and self.peek(1)["COLOR"] and self.separator())):
                break
        unit = self.take("NOUN", "tile", "thing")
        ends = self.done or not (self.peek()["NOUN"] or self.peek()["ORDINAL"] or self.peek()["SIDE"] or self.peek()["NUMBER"])
        if not (unit or (count and ends and not colors)) or (
            count is None and not colors and phrase.head in ("thing", "tile", "")
        ):
            return {}
        phrase.colors += colors
        phrase.marks |= {"cycle"} if cycle else set()
        return {"side" if unit and self._each_side() else "tiles": int(count)} if count else {"": 0}

    @rewinding
    def _place(self, phrase: Phrase, nested: bool) -> bool:
        """A link, or how it looks: `above the red one`, `that lies 2 tiles below it`, `that is red`, `except the last one`."""
        start = self.at
        if phrase.det == "another" and self.skip("exactly", "like") and (like := self.phrase(nested=True)):
            phrase.links.append(Link("of", like))
            return True
        self.at = start
        joined = self.separator() == "and" and phrase.links
        relative = self.skip("that", "which", "who")
        if relative and nested and self.peek().text == "are" and not phrase.plural and phrase.det not in ("all", "both"):
            return False
        if not self.skip(*VERBS_OF_PLACE) and self.at > start and not relative and not (joined and self.peek()["REL"]):
            return False
        if relative and self._look(phrase):
            return True
        if self.take("REL", "except"):
            excepted = self.phrase() or (Phrase(count=int(number)) if (number := self.take("NUMBER")) else None)
            if excepted is not None:
                phrase.excepted.append(excepted)
                return True
        else:
            link = self.link(nested and not relative)
            if link is not None:
                phrase.links.append(link)
                self._second_side(phrase)
                return True
        return False

    @rewinding
    def _look(self, phrase: Phrase) -> bool:
        """The rest of `that is red or blue`, `which are still empty`, `that isn't white`."""
        self.skip("still", "now", "currently")
        no = self.take("NOT") is not None
        color, mark = self.take("COLOR"), self.take("MARK", "empty", "painted", "opposite")
        if self.peek()["SIDE"] and " to the " in self.peek().text:
            phrase.sides.append(str(self.take("SIDE")))
        elif color and no:
            phrase.marks.add(f"not {color}")
        elif color:
            phrase.colors.append(color)
            while self.peek()["AND"] and self.peek(1)["COLOR"] and self.peek().text != "but":
                phrase.colors.append(str(self.peek(1)["COLOR"]))
                self.at += 2
        elif mark:
            phrase.marks.add(str(mark))
        else:
            return False
        return True

    @rewinding
    def _second_side(self, phrase: Phrase) -> bool:
        """The rest of `at its lower left and at its lower right`."""
        last = phrase.links[-1].target
        if last is not None and last.sides and self.separator() and self.peek()["REL"] == "in":
            link = self.link()
            if link is not None and link.target is not None and link.target.sides and link.target.head == last.head:
                phrase.links.append(link)
                return True
        return False

    @rewinding
    def link(self, nested: bool = False) -> Link | None:
        """`2 rows below the ring`, `next to it`, `in the corner`."""
        count = self.take("NUMBER") or (
            "1" if self.peek()["DET"] == "a" and self.peek(1)["NOUN"] in UNITS and self.take("DET") else None
        )
        if count is not None and self.take("NOUN", *UNITS) is None and count == "1":
            return None
        self.skip("exactly", "directly", "straight", "somewhere", "anywhere", "all", "only")
        along = self.peek().text
        relation = self.take("REL")
        inner = relation in ("of", "from") or (self._open and relation != "to")
        if relation is None or relation in ("instead", "except") or (nested and not inner):
            return None
        if count and relation in ("in", "of", "with", "to"):
            return None
        self._open = False
        if relation == "inside":
            self.take("REL", "of")
        if relation == "from" and self.peek()["REL"] in BESIDE:
            relation = str(self.take("REL"))
            if not self.phrase_ahead():
                return Link("from", Phrase(head="side", sides=[SIDES[relation]]))
        target = self._link_target(relation)
        if target is None:
            bare = relation not in ("in", "of", "with", "to", "from", "inside") or (relation == "inside" and self.done)
            return Link(relation, None, int(count) if count else None) if bare else None
        if relation in ("left", "right") and target.head == "board":
            return Link("in", Phrase(head="side", det="the", sides=[relation], links=[Link("of", target)]))
        if (relation == "above" and target.head in ("board", "all")) or (relation == "around" and target.head == "board"):
            relation = "in"
        if target.head == "middle" and not target.links and along.split(" ")[0] in ("down", "up", "across"):
            target = Phrase(head="row" if along.startswith("across") else "column", det="the", sides=["middle"])
        if relation == "with" and not target.colors and self.peek()["REL"] is None:
            self._colored(target)
        second = self._second(target, relation) if relation in ("between", "beside", "from", "with") else None
        return Link(relation, target, int(count) if count else None, second)

    def _link_target(self, relation: str) -> Phrase | None:
        """The target of a relation; a color alone means the thing that has it: `between red and blue`."""
        target = self.phrase(nested=True)
        if target is None and self.peek()["COLOR"] and relation in (*BESIDE, "between", "beside", "around"):
            return Phrase(head="thing", det="the", colors=[str(self.take("COLOR"))])
        return target

    @rewinding
    def _colored(self, phrase: Phrase) -> bool:
        """The rest of `with its door in red`."""
        self.skip("is", "are", "in")
        color = self.take("COLOR")
        phrase.colors += [color] if color else []
        return color is not None

    @rewinding
    def _second(self, first: Phrase, relation: str | None) -> Phrase | None:
        """The second of two things, as in `between the red line and the blue one`."""
        if first.more:
            return first.more.pop()
        if self.separator() == "and" or self.take("REL", "to"):
            second = self.phrase(nested=True) or (
                Phrase(head="thing", det="the", colors=[color])
                if relation == "between" and (color := self.take("COLOR"))
                else None
            )
            if second is not None and (self.peek()["COLOR"] is None or relation in ("between", "with")):
                first.head = first.head or second.head
                return second
        return None

    @rewinding
    def _crossing(self, phrase: Phrase, nested: bool) -> bool:
        """`column 5, row 4`: the second line gives the place in the first one, which then is a tile."""
        if phrase.head not in LINES or not phrase.ordinals or phrase.links or self._crossed:
            return False
        self._crossed = True
        separator = self.separator()
        crossed = self.phrase(nested=True) if any(self.peek(ahead)["NOUN"] in LINES for ahead in (0, 1)) else None
        self._crossed = False
        if crossed is None or crossed.head not in LINES or crossed.head == phrase.head or not crossed.ordinals:
            return False
        if separator == "and" and not nested:
            return False
        phrase.links.append(Link("in", crossed))
        return True
