"""What is said beside the thing itself: how many there should be, what is not meant, how it is called."""

from __future__ import annotations

from collections.abc import Sequence

from harness.baselines.parser.everyday.hexagons.lexicon import Token
from harness.baselines.parser.everyday.hexagons.meaning import Clause, Phrase
from harness.baselines.parser.everyday.hexagons.phrases import PhraseReader

MARKS = {"NOT": "not", "MEANT": "meant", "TOO": "too", "SAME": "same", "CYCLE": "cycle", "APART": "apart", "FULL": "full"}


class RemarkReader(PhraseReader):
    """Reads remarks into the clause that is being read."""

    def __init__(self, tokens: Sequence[Token]) -> None:
        super().__init__(tokens)
        self.clause = Clause()

    def _except(self) -> bool:
        """`the board yellow except for the border`."""
        if self.take("REL", "except") is None:
            return False
        phrase = self.phrase()
        if phrase is not None and self.clause.targets:
            self.clause.targets[-1].excepted.append(phrase)
        return True

    def _skip_remark(self) -> None:
        """Passes over what only explains, up to the next comma, but for what says how tiles lie."""
        while not self.done and not self.peek()["COMMA"] and not (self.peek()["AND"] and self.peek(1)["VERB"]):
            if self.peek()["APART"] or self.peek()["MARK"] == "together":
                self._mark()
            else:
                self.at += 1

    def _total(self) -> bool:
        """`so that there are 5`, `until there are 5`."""
        start = self.at
        if self.peek().text in ("so that", "until", "so", "till") or (self.peek().text == "if"):
            self.at += 1
            there = self.take("VERB", "tell") or (
                self.peek().text in ("there", "i", "we", "you", "they") and self.peek(1).text in ("are", "have", "see")
            )
            if there:
                self.at += 2 * (there is True)
                count = self.take("NUMBER")
                if count is not None:
                    self.clause.total = int(count)
                    return True
        self.at = start
        return False

    def _comparison(self) -> bool:
        """`3 times`, `as many as`, `twice as tall`."""
        more = int(self.peek(1).text == "more")
        if self.peek()["NUMBER"] and self.peek(1 + more).text in ("times", "copies"):
            self.clause.times = int(str(self.peek()["NUMBER"]))
            self.at += 2 + more
            return True
        value = self.take("TIMES")
        if value is not None:
            self.clause.marks.add(value)
        return value is not None

    def _gap(self) -> bool:
        """`with 1 empty column between them`, `2 columns free in between`."""
        start = self.at
        self.take("REL", "with")
        self.take("VERB", "keep")
        while self.peek().text in ("exactly", "always", "about"):
            self.at += 1
        count = self.take("NUMBER") or ("1" if self.take("DET", "a", "no") and self.clause.verb != "tell" else None)
        self.take("MARK", "empty")
        unit = self.take("NOUN", "column", "row", "tile", "gap")
        self.take("MARK", "empty")
        if count and unit and self.take("REL", "between") is not None:
            self.phrase()
            if self.take("AND"):
                self.phrase()
            self.take("DET", "each")
            self.clause.sizes["gap"] = int(count)
            return True
        self.at = start
        return False

    def _as_many(self) -> bool:
        """`as many orange ones as there are green ones`."""
        start = self.at
        if self.peek().text == "as" and self.peek(1).text == "many":
            self.at += 2
            phrase = self.phrase()
            if phrase is not None and self.peek().text == "as":
                self.at += 1
                self.take("VERB", "tell")
                like = self.phrase()
                phrase.det, phrase.head = "a", "tile" if phrase.head == "thing" else phrase.head
                self.clause.targets.append(phrase)
                self.clause.as_many = like
                return True
        self.at = start
        return False

    def _not(self) -> bool:
        """`not blue` replaces the blue, `not only one`, `nothing along the top` ask for nothing."""
        start = self.at
        if self.take("NOT") is None:
            return False
        if self.peek()["REL"] == "of":
            self.at = start
            return False
        told = str(self.tokens[self.at - 1]["NOT"])
        if told == "no" or self.peek()["NOT"]:
            self.clause.marks.add("no")
            return True
        color = self.take("COLOR")
        if self.take("MARK"):
            return True
        if color is not None:
            self.clause.marks.add("no")
            self.clause.replaced.append(color)
        elif self.peek()["VERB"]:
            self.clause.marks.add("not")
        else:
            self._pass_negated()
        return True

    def _pass_negated(self) -> None:
        """Passes over what is not meant: `not only one`, `nothing along the top or the bottom`, `not at the edge`."""
        while True:
            relation = self.take("REL")
            phrase = self.phrase(nested=True)
            if relation == "in" and phrase is not None:
                self.clause.avoided.append(phrase)
            elif phrase is not None and (phrase.head in ("thing", "it") or (phrase.bare and not phrase.det)):
                self.clause.marks.add("meant")
            elif phrase is not None and self.clause.targets and phrase.head and phrase.det != "only":
                self.clause.targets[-1].excepted.append(phrase)
            if phrase is None or not self.peek()["AND"] or self.peek(1)["VERB"] or self.peek().text == "but":
                return
            self.at += 1

    def _instead(self) -> bool:
        """`green instead of blue`."""
        if self.take("REL", "instead") is None:
            return False
        color = self.take("COLOR")
        if color is not None:
            self.clause.replaced.append(color)
        else:
            self.phrase()
        self.clause.marks.add("meant")
        return True

    def _mark(self) -> bool:
        token = self.peek()
        marks = {mark for category, mark in MARKS.items() if token[category]}
        if marks:
            self.clause.marks |= marks | ({token["MARK"]} if token["MARK"] else set())
            self.at += 1
            return True
        if token["MARK"]:
            self.clause.marks.add(str(token["MARK"]))
            self.at += 1
            return True
        if token["SIDE"]:
            last = self.clause.targets[-1] if self.clause.targets else None
            if last is not None and last.head == "side" and last.word == "" and self.tokens[self.at - 1]["SIDE"]:
                last.sides.append(token["SIDE"])
            elif not (
                last is not None
                and any(link.target and link.target.head == "side" and link.target.det in ("each", "both") for link in last.links)
            ):
                self.clause.targets.append(Phrase(head="side", sides=[token["SIDE"]]))
            self.at += 1
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
        like = self.peek().text == "like"
        self.at += ahead + 1
        if like:
            self._skip_remark()
        return True
