"""Tokens to phrases: `the two red rings at the top of the board` is one Phrase, with a Link to another."""

from __future__ import annotations

from collections.abc import Sequence

from harness.baselines.parser.everyday.hexagons.lexicon import Token
from harness.baselines.parser.everyday.hexagons.meaning import Link, Phrase
from harness.baselines.parser.everyday.hexagons.reader import UNITS, Reader

LINES = ("row", "column")
PLAIN_DETS = ("the", "this", "its", "a", "no")
DEEPEST = 5
"""How deep phrases may lie in phrases; what people say has at most three."""
NESTED = ("of", "from")
"""The relations that a phrase within a phrase takes; others belong to the outer one: `a dot at the end of the line above it`."""
WHAT = ("what is", "whatever is", "whatever was", "what was", "everything that is", "where it is", "whatever")
SIDES = {"above": "top", "below": "bottom", "left": "left", "right": "right"}
BESIDE = tuple(SIDES)


class PhraseReader(Reader):
    """Tokens with a place among them; every method either reads on and gives what it read, or leaves the place as it is."""

    def __init__(self, tokens: Sequence[Token]) -> None:
        super().__init__(tokens)
        self.depth = 0
        self._open = False
        """Whether the phrase within a phrase that is read takes a place of its own: `the tile in the corner`."""

    def phrase(self, nested: bool = False) -> Phrase | None:
        """The thing that is said next; None, and nothing read, where none is, or where it lies too deep in others."""
        if self.depth >= DEEPEST:
            return None
        self.depth += 1
        try:
            return self._whole_phrase(nested)
        finally:
            self.depth -= 1

    def _whole_phrase(self, nested: bool) -> Phrase | None:
        start = self.at
        phrase = Phrase()
        self._determiner(phrase)
        if self.at > start and self.tokens[self.at - 1].text == "another 1":
            phrase.head, phrase.word = "thing", "one"
            self._following(phrase, nested)
            return phrase
        self._describing(phrase)
        if not self._head(phrase) and not self._headless(phrase, start):
            self.at = start
            return None
        self._following(phrase, nested)
        return phrase

    def _determiner(self, phrase: Phrase) -> None:
        half = self.peek().text == "half" and self.peek(1).text in ("of", "the")
        if half or (self.peek()["NOUN"] == "rest" and self.peek(1)["REL"] == "of"):
            return
        if self.peek()["NOT"] == "not" and self.peek(1)["REL"] == "of":
            self.at += 1
            phrase.det = "no"
            return
        while True:
            token = self.peek()
            det = token["DET"]
            another = self.peek(1)["DET"] in ("a", "another")
            it_alone = token["NOUN"] == "it" and (
                another or token.text in ("it", "they", "them") or not (self._noun_ahead(1) or self._one_ahead(1))
            )
            if det is None or it_alone or (det == "no" and not self._noun_ahead(1)):
                return
            self.at += 1
            if det not in PLAIN_DETS or not phrase.det or phrase.det in PLAIN_DETS:
                phrase.det = det
            if self.peek()["REL"] == "of":
                self.at += 1

    def _one_ahead(self, ahead: int) -> bool:
        """Whether `one` follows, as in `the one`, `the red one`."""
        while self.peek(ahead)["COLOR"] or self.peek(ahead)["SIDE"] or self.peek(ahead)["ORDINAL"]:
            ahead += 1
        return self.peek(ahead)["NUMBER"] == "1"

    def _noun_ahead(self, ahead: int) -> bool:
        """Whether a noun follows after words that can describe it."""
        while True:
            token = self.peek(ahead)
            if token["NOUN"] and token["NOUN"] != "it":
                return True
            if not any(token[category] for category in ("NUMBER", "ORDINAL", "COLOR", "MARK", "SIDE", "EVERY", "DET")):
                return False
            ahead += 1

    def _colors_and_noun_ahead(self, ahead: int) -> bool:
        """The rest of `alternating red and blue rows`."""
        start = ahead
        while self.peek(ahead)["COLOR"] or (ahead > start and self.peek(ahead)["AND"]):
            ahead += 1
        return ahead > start and self.peek(ahead)["NOUN"] in ("row", "column", "line")

    def _describing(self, phrase: Phrase) -> None:
        """Words before the noun: numbers, colors, sides, sizes."""
        while True:
            token = self.peek()
            if token["NOUN"] and not self._describes(token):
                return
            if self.area_of(phrase):
                continue
            if token["EVERY"]:
                phrase.every = int(token["EVERY"])
            elif token["ORDINAL"]:
                if self._third(phrase):
                    return
                phrase.ordinals.append(int(token["ORDINAL"]))
            elif token["NUMBER"]:
                if token["NUMBER"] == "1" and self._is_one(phrase):
                    return
                phrase.count = int(token["NUMBER"])
            elif token["CYCLE"] and self._colors_and_noun_ahead(1):
                phrase.marks.add("cycle")
            elif token["COLOR"]:
                told = phrase.count or phrase.sides or phrase.ordinals or phrase.det == "other"
                if phrase.det and told and not self._noun_ahead(0) and not self._one_ahead(1):
                    return
                phrase.colors.append(token["COLOR"])
            elif token["SIDE"]:
                phrase.sides.append(token["SIDE"])
            elif (token["MARK"] and token["MARK"] not in ("upright", "level")) or (
                token["MARK"] and (self._noun_ahead(1) or self._one_ahead(1))
            ):
                phrase.marks.add(str(token["MARK"]))
            elif token["VERB"] in ("grow", "shrink") and self._noun_ahead(1):
                phrase.marks.add("big" if token["VERB"] == "grow" else "small")
            elif token["DET"] in ("another", "other", "only", "all") and (
                self._noun_ahead(1) or (phrase.count and token["DET"] == "another")
            ):
                phrase.det = phrase.det if phrase.det == "each" else str(token["DET"])
            elif not self._passes(phrase, token):
                return
            self.at += 1

    def _passes(self, phrase: Phrase, token: Token) -> bool:
        """Whether a word between those that describe says nothing: a comma, an `and`, an adjective that is not known."""
        if (token["COMMA"] or token["AND"]) and self._more_sides(phrase):
            return True
        if not self._noun_ahead(1):
            return False
        if token["DET"] == "the":
            return bool(phrase.sides and self.peek(1)["SIDE"])
        if token["COMMA"]:
            return bool(phrase.marks or phrase.colors or phrase.ordinals) and self.peek(1)["DET"] is None
        if token["AND"]:
            return bool(phrase.colors and self.peek(1)["COLOR"])
        return not token.senses and bool(phrase.det or phrase.count)

    def _third(self, phrase: Phrase) -> bool:
        """Whether a third is a part, as in `the left third`."""
        return self.peek().text == "third" and bool(phrase.sides) and not self._noun_ahead(1)

    def _more_sides(self, phrase: Phrase) -> bool:
        """Whether another side follows: `the left, right and bottom edges`."""
        ahead = 1 + (self.peek(1)["AND"] is not None)
        ahead += self.peek(ahead)["DET"] is not None
        if not phrase.sides or not self.peek(ahead)["SIDE"]:
            return False
        while self.peek(ahead)["SIDE"] or self.peek(ahead)["AND"] or self.peek(ahead)["COMMA"] or self.peek(ahead)["DET"]:
            ahead += 1
        return self.peek(ahead)["NOUN"] in ("edge", "side") and self.peek(ahead).plural

    def _describes(self, token: Token) -> bool:
        """Whether a word that can be a noun describes the next: `the middle row`, `the corner tiles`."""
        if token["SIDE"] or token["MARK"]:
            if self.peek(1).text == "third" and not self._noun_ahead(2):
                return True
            return (self._noun_ahead(1) and self.peek(1)["DET"] is None) or self.peek(1)["NUMBER"] == "1"
        return False

    def _is_one(self, phrase: Phrase) -> bool:
        """Whether the next `1` stands for a thing: `the red one`, `the one in the middle`, `a blue one`."""
        if self._noun_ahead(1):
            return False
        return bool(phrase.det or phrase.colors or phrase.sides or phrase.ordinals)

    def area_of(self, phrase: Phrase) -> bool:
        area = self.area()
        if area is not None:
            phrase.sizes |= {"wide": area[0], "tall": area[1]}
        return area is not None

    def _head(self, phrase: Phrase) -> bool:
        token = self.peek()
        noun = token["NOUN"]
        if token["NUMBER"] == "1" and self._is_one(phrase):
            phrase.head, phrase.word = "thing", "one"
            self.at += 1
            return True
        if token["ORDINAL"] and self._third(phrase):
            phrase.head, phrase.word = "third", "third"
            self.at += 1
            return True
        if noun is None:
            return False
        whole = phrase.det in ("all", "both", "each", "no") and not phrase.colors
        if noun == "it" and (phrase.det or phrase.colors or phrase.count) and not whole:
            return False
        self.at += 1
        phrase.head, phrase.word, phrase.plural = noun, token.text, token.plural or token.text == "ones"
        if phrase.word in WHAT:
            self._looks(phrase)
            if phrase.bare and self.peek()["REL"] is None:
                return False
        following = self.peek()["NOUN"]
        if noun == "tile" and following == "crossing":
            self.at += 1
            phrase.head = "crossing"
        if noun in ("corner", "edge", "side", "end", "board") and following and following not in ("it", "step", "rest"):
            self._compound(phrase, following)
        if following in ("edge", "ring") and noun in ("box", "ring", "triangle", "hexagon", "diamond"):
            self.at += 1
            phrase.marks.add("hollow")
        if noun == "tile" and phrase.plural and self.peek()["NUMBER"]:
            phrase.ordinals, phrase.det = self.numbers(), "the"
        if noun == "tile" and self.peek()["NUMBER"] and not phrase.plural and self.peek(1)["NOUN"] is None:
            phrase.ordinals, phrase.det = [int(str(self.take("NUMBER")))], "the"
        if noun == "step" and phrase.det not in ("the", "this", "a"):
            phrase.head = "tile" if phrase.count else "step"
        return True

    def _looks(self, phrase: Phrase) -> None:
        """The rest of `what is red`, `what is still empty`."""
        self._skip_text("still", "now")
        no = self.take("NOT") is not None
        color = self.take("COLOR")
        mark = None if color else self.take("MARK", "empty", "painted")
        if color:
            phrase.marks |= {f"not {color}"} if no else set()
            phrase.colors += [] if no else [color]
        elif mark:
            phrase.marks.add(mark)

    def _compound(self, phrase: Phrase, following: str) -> None:
        """`the corner tiles` are the corners; `the edge columns`, `the board edge` are columns and an edge."""
        if following == "tile":
            self.at += 1
        elif phrase.head in ("board", "edge", "side"):
            phrase.head, phrase.plural = following, self.peek().plural
            self.at += 1

    def _headless(self, phrase: Phrase, start: int) -> bool:
        """Whether the words stand for a thing without a noun: `the red`, `the first two`, `both`, `the yolk`."""
        token = self.peek()
        described = phrase.det == "a" and (phrase.ordinals or phrase.colors)
        if (phrase.det in ("the", "this") or described) and not token.senses and token.text.isalpha() and len(token.text) > 2:
            self.at += 1
            phrase.head, phrase.word, phrase.plural = "thing", token.text, token.text.endswith("s")
            phrase.marks.add("unknown")
            return True
        if self.at == start:
            return False
        if phrase.det in ("all", "only") and phrase.colors:
            return False
        told = phrase.det and (phrase.colors or phrase.count or phrase.ordinals or phrase.sides or phrase.every)
        phrase.head = ""
        if told or phrase.det in ("both", "other", "another", "each", "all"):
            return True
        if phrase.sides and (self.tokens[start - 1].text.endswith(" the") or len(phrase.sides) > 1):
            phrase.head = "side" if len(phrase.sides) > 1 else ""
            return True
        if phrase.count and (phrase.det or phrase.colors or token["DET"] or token["REL"] == "of"):
            return True
        return bool(phrase.ordinals and (phrase.count or token["REL"] == "from")) or bool(phrase.sides and phrase.det)

    # --- what follows the noun ---

    def _following(self, phrase: Phrase, nested: bool) -> None:
        if phrase.head in LINES:
            phrase.ordinals += self.numbers() if phrase.plural else [int(number)] if (number := self.take("NUMBER")) else []
        self._open = (
            nested and phrase.head in ("tile", "thing", "") and not phrase.colors and not (phrase.head == "" and phrase.sides)
        )
        while not self.done:
            before = self.at
            if self.take("MARK", "opposite"):
                phrase.marks.add("opposite")
            self._side_length(phrase) or self._sized(phrase, nested) or self._related(phrase, nested) or self._relative(
                phrase, nested
            ) or self._crossing(phrase, nested)
            if self.at == before and not self._second_side(phrase):
                return

    def _second_side(self, phrase: Phrase) -> bool:
        """The rest of `at its lower left and at its lower right`."""
        start, last = self.at, phrase.links[-1].target if phrase.links else None
        if last is not None and last.sides and self.take("AND") and self.peek()["REL"] == "in":
            link = self.link(nested=False)
            if link is not None and link.target is not None and link.target.sides and link.target.head == last.head:
                phrase.links.append(link)
                return True
        self.at = start
        return False

    def _related(self, phrase: Phrase, nested: bool) -> bool:
        """A link: `above the red one`, `2 tiles below it`, `at the top`."""
        start = self.at
        if self._skip_text("that", "which", "who"):
            nested = False
        self._skip_text("should", "must", "can")
        self._skip_text(
            "sits",
            "sit",
            "lies",
            "lie",
            "is",
            "are",
            "stands",
            "starts",
            "runs",
            "go",
            "goes",
            "stays",
            "directly",
            "exactly",
            "right",
            "straight",
            "somewhere",
            "anywhere",
        )
        if self.take("REL", "except"):
            excepted = self.phrase() or (Phrase(count=int(number)) if (number := self.take("NUMBER")) else None)
            if excepted is not None:
                phrase.excepted.append(excepted)
                return True
            self.at = start
            return False
        link = self.link(nested)
        if link is None:
            self.at = start
            return False
        phrase.links.append(link)
        return True

    def link(self, nested: bool = False) -> Link | None:
        """`2 rows below the ring`, `next to it`, `in the corner`."""
        start = self.at
        count = self.take("NUMBER")
        if count is not None:
            self.take("NOUN", *UNITS)
        self._skip_text("exactly", "directly", "straight", "somewhere", "anywhere")
        along = self.peek().text
        relation = self.take("REL")
        if (
            relation in (None, "instead", "except")
            or (nested and relation not in NESTED and (not self._open or relation == "to"))
            or (count and relation in ("in", "of", "with", "to"))
        ):
            self.at = start
            return None
        self._open = False
        if relation in ("left", "right") and self.peek()["NOUN"] in ("board", None) and self.peek(1)["NOUN"] == "board":
            board = self.phrase(nested=True)
            return Link("in", Phrase(head="side", det="the", sides=[relation], links=[Link("of", board)]))
        if relation == "from" and self.peek()["REL"] in BESIDE:
            relation = str(self.take("REL"))
            if not self._phrase_ahead():
                return Link("from", Phrase(head="side", sides=[SIDES[relation]]))
        target = self.phrase(nested=True)
        if target is None and relation in ("in", "of", "with", "to", "from", "between"):
            self.at = start
            return None
        if target is not None and target.head == "middle" and along.split(" ")[0] in ("down", "up", "across"):
            target = Phrase(head="row" if along.startswith("across") else "column", det="the", sides=["middle"])
        if relation == "with" and target is not None and self.peek().text in ("is", "are") and self.peek(1)["COLOR"]:
            target.colors.append(str(self.peek(1)["COLOR"]))
            self.at += 2
        second = (
            self._second(target, surely=relation in ("between", "with"))
            if relation in ("between", "beside", "from", "with") and target is not None
            else None
        )
        return Link(str(relation), target, int(count) if count else None, second)

    def _phrase_ahead(self) -> bool:
        start = self.at
        found = self.phrase(nested=True) is not None
        self.at = start
        return found

    def _second(self, first: Phrase, surely: bool) -> Phrase | None:
        """The second of two things, as in `between the red line and the blue one`."""
        start = self.at
        if self.take("AND") or self.take("REL", "to"):
            second = self.phrase(nested=True)
            if second is not None and (self.peek()["COLOR"] is None or surely):
                first.head = first.head or second.head
                return second
        self.at = start
        return None

    def _relative(self, phrase: Phrase, nested: bool) -> bool:
        """`that is red`, `which are still empty`, `that isn't white`."""
        start = self.at
        if not self._skip_text("that", "which", "who", "what"):
            return False
        self._skip_text("is", "are", "was", "were")
        self._skip_text("still", "now", "currently", "not")
        no = self.tokens[self.at - 1].text == "not" or self.take("NOT") is not None
        color, mark = self.take("COLOR"), self.take("MARK", "empty", "painted", "opposite")
        if color is None and mark is None:
            self.at = start
            return False
        if color and no:
            phrase.marks.add(f"not {color}")
        elif color:
            phrase.colors.append(color)
            while self.peek().text in ("or", "and") and self.peek(1)["COLOR"]:
                phrase.colors.append(str(self.peek(1)["COLOR"]))
                self.at += 2
        else:
            phrase.marks.add(str(mark))
        return True

    def _crossing(self, phrase: Phrase, nested: bool) -> bool:
        """`column 5, row 4`: the second line says where in the first one, which then is a tile."""
        if phrase.head not in LINES or len(phrase.ordinals) != 1:
            return False
        start = self.at
        if not self.take("COMMA") and nested:
            self.take("AND")
        other = self.peek()["NOUN"]
        ordinal = self.peek()["ORDINAL"] if self.peek(1)["NOUN"] in LINES else None
        kind = self.peek(1)["NOUN"] if ordinal else other
        if kind in LINES and kind != phrase.head and (ordinal or self.peek(1)["NUMBER"]):
            crossed = self.phrase(nested=True)
            if crossed is not None:
                phrase.links.append(Link("in", crossed))
                return True
        self.at = start
        return False
