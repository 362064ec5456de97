"""Reads phrases: turns tokens into things and places by recursive descent."""

from __future__ import annotations

from harness.baselines.parser.everyday.minecraft.meaning import ColorRun, Location, Thing, it
from harness.baselines.parser.everyday.minecraft.measuring import Measures
from harness.baselines.parser.everyday.minecraft.scene import OF_SIDE, SIDES
from harness.baselines.parser.everyday.minecraft.words import BuildingToken, word_set

_THING_FLAGS = word_set(
    "flat upright hollow solid varied alternating float apart diagonal extra only same parallel stacked each_color from_first"
)
_NAMED = frozenset({"thing", "part", "article", "it", "color"})
_FILLERS = frozenset({"skip", "unknown", "common"})
_FIRST_IN_LINE = frozenset({"bottom", "first", "left", "leftmost", "below"})
_LAST_IN_LINE = frozenset({"top", "last", "right", "rightmost", "on"})
_PARTS_AS_PICKS = frozenset({"top", "bottom", "middle", "edge", "corner", "end"})


class ThingReader(Measures):
    """Reads phrases from the current token on; a method returns None, without moving, if its phrase does not begin there."""

    # --- things ---

    def thing(self) -> Thing | None:
        """`the top block of the red tower`, `3 blue ones`, `it`; also a color or a size by itself."""
        start = self.at
        chosen = self._one_of()
        if chosen:
            return chosen
        thing = Thing()
        self._describe(thing)
        self._name(thing)
        if thing == Thing() or (thing == Thing(article=thing.article) and thing.article in {"the", "a"}):
            self.at = start
            return None
        self._after(thing)
        if thing.article == "a" and thing.ordinals and thing.noun in {"", "block"}:
            thing.article, thing.ordinals = "another", []
        return thing

    def _one_of(self) -> Thing | None:
        """`one of the corners`, `3 of those`."""
        number = self.peek()
        more = int(self.peek(1).meaning == "extra")
        if number.kind not in {"number", "few"} or self.peek(1 + more).text != "of" or not self.refers(2 + more):
            return None
        start = self.at
        self.at += 2 + more
        inner = self.thing()
        if inner is None:
            self.at = start
            return None
        inner.count = number.number if number.kind == "number" else 2
        if more:
            inner.flags.add("extra")
        elif inner.article != "other" and not inner.is_it:
            inner.article = "a"
        return inner

    def _describe(self, thing: Thing) -> None:
        """Reads what comes before the noun."""
        while True:
            token, after = self.peek(), self.peek(1)
            if self.sized(thing) or self._colors(thing):
                continue
            if token.kind == "article":
                if not self._article(thing, token):
                    return
            elif token.kind == "few":
                thing.few = True
            elif token.kind == "number" and thing.colors and self.measures():
                return
            elif token.kind == "number" and thing.count is None:
                thing.count = token.number
            elif token.kind == "ordinal":
                thing.ordinals.append(token.number)
                the = self.peek(2).kind == "article"
                if self.peek(1).kind == "link" and self.peek(2 + the).kind == "ordinal":
                    self.at += 1 + the
            elif token.kind == "size" and token.meaning in {"small", "big"}:
                thing.vague = token.meaning
            elif token.kind == "pick" and not (token.meaning == "nearest" and token.text == "near" and after.kind == "article"):
                thing.picks.append(token.meaning)
                if after.text in {"to", "from"} and self.peek(2).text in {"me", "you", "us"}:
                    self.at += 2
            elif token.kind == "side" and token.meaning in OF_SIDE and self._is_pick(thing):
                thing.picks.append(OF_SIDE[token.meaning])
            elif self._is_part_pick(thing):
                thing.picks.append(token.meaning)
            elif token.kind == "flag" and token.meaning in _THING_FLAGS:
                thing.flags.add(token.meaning)
            elif token.kind in _FILLERS and thing != Thing() and self._noun_follows():
                pass
            else:
                return
            self.at += 1

    def _is_part_pick(self, thing: Thing) -> bool:
        """`the top block`, `the top 2`, `the bottom 3 blocks`; not `a top 2 high`."""
        token, after = self.peek(), self.peek(1)
        counts = bool(thing.article) and after.kind == "number" and self.peek(2).kind in {"thing", "part", "be", "link", "end"}
        tells = (after.kind in {"thing", "part", "pick", "side"} and after.meaning != "area") or counts
        return token.kind == "part" and token.meaning in _PARTS_AS_PICKS and tells

    def _article(self, thing: Thing, token: BuildingToken) -> bool:
        if not thing.article or token.meaning in {"other", "another"}:
            thing.article = token.meaning
            thing.word = "others" if token.text.endswith(("others", "rest")) else thing.word
        elif token.meaning in {"all", "each"}:
            thing.article = token.meaning
        elif thing.article not in {"all", "each"}:
            return False
        return True

    def _is_pick(self, thing: Thing) -> bool:
        """Whether a side here tells which one: `the left tower`; not `on the left side`."""
        after = self.peek(1)
        named = after.kind in {"thing", "part", "pick", "side", "number", "unknown", "color"}
        return bool(thing.article or thing.picks or after.meaning == "named") and named and after.meaning not in {"side", "area"}

    def _noun_follows(self) -> bool:
        for ahead in range(1, 3):
            kind = self.peek(ahead).kind
            if kind in {"thing", "part", "color", "size"}:
                return True
            if kind not in {*_FILLERS, "flag"}:
                return False
        return False

    def _colors(self, thing: Thing) -> bool:
        if self.peek().kind == "no_color":
            thing.no_color = True
            self.at += 1
            return True
        found = False
        while self.peek().kind == "color":
            thing.colors.append(self.take().meaning)
            found = True
            apart = self.peek(2).kind in {"relation", "side"} and self.peek(3).kind in {"color", "article", "it"}
            if self.peek().kind == "link" and self.peek(1).kind == "color" and not apart:
                self.at += 1
            elif self.peek().text == "," and self.peek(1).text == "and" and self.peek(2).kind == "color":
                self.at += 2
        return found

    def _name(self, thing: Thing) -> None:
        token = self.peek()
        if token.text == "inside" and not thing.article and self.refers(1):
            return
        if token.kind in {"thing", "part"} or (token.kind in {"it", "everything"} and thing.article in {"", "each", "all"}):
            self.at += 1
            thing.kind, thing.noun, thing.word = token.kind, token.meaning, token.text
            if token.meaning == "floor_or_area":
                thing.noun = "area" if thing.article in {"the", "all"} else "floor"
            if thing.noun == "area" and (thing.colors or (thing.word == "board" and thing.article == "a")):
                thing.noun = "row" if thing.word == "board" else "floor"
            self._compound(thing)
            if thing.word == "steps" and thing.count:
                thing.sizes["count"], thing.count = thing.count, None
        elif token.kind == "unknown" and (thing.article or thing.colors or thing.picks):
            self.at += 1
            thing.kind, thing.noun, thing.word = "thing", "named", token.text

    def _compound(self, thing: Thing) -> None:
        """`block tower` is a tower, `trunk block` a block of the trunk, `corner blocks` are corners."""
        after = self.peek()
        if thing.noun == "sign" and (after.kind == "unknown" or len(after.text) == 1):
            self.at += 1
            return
        if thing.noun == "hole" and after.meaning == "frame":
            thing.kind, thing.noun, thing.word = "thing", "frame", "picture frame"
            self.at += 1
            return
        part = thing.kind == "thing" and thing.noun != "block" and after.kind == "part" and after.meaning in _PARTS_AS_PICKS
        if not part and (after.kind != "thing" or after.text == "1" or after.meaning == "area"):
            return
        if thing.noun == "frame" and after.meaning == "wall":
            self.at += 1
            return
        if thing.noun == "block":
            thing.noun, thing.word = after.meaning, after.text
        elif part or after.meaning == "block":
            thing.of = Thing(noun=thing.noun, word=thing.word, kind="thing", article="the")
            thing.noun, thing.word, thing.kind = after.meaning, after.text, after.kind
        elif thing.kind == "thing" and thing.noun in word_set("house tree floor wall bridge stairs row tower cube square"):
            thing.noun, thing.word = after.meaning, after.text
        else:
            return
        self.at += 1

    def _after(self, thing: Thing) -> None:
        """Reads what comes directly after the noun: sizes, `of ...`, `except ...`."""
        while True:
            if (thing.kind != "it" and self.sized(thing)) or self._counted_from(thing):
                continue
            rest = thing.word == "others" and self.peek().text == "of"
            if self.peek().text in {"of", "in", "off", "out of"} and (thing.noun or rest) and self._of(thing):
                continue
            if self._located(thing):
                continue
            if thing.kind == "part" and self.peek().kind == "pick":
                thing.picks.append(self.take().meaning)
                continue
            if self.peek().kind == "flag" and self.peek().meaning == "except" and thing.kind:
                self.take()
                self.skip()
                thing.but = self.thing() or thing.but
                continue
            return

    def _located(self, thing: Thing) -> bool:
        """`both corners at the far end`, `the one in the middle`, `the two in front`: a location says which one is meant."""
        word = self.peek().text
        one = thing.generic and thing.article in {"the", "other"} and not thing.picks and word in {"at", "in", "in front"}
        middle = thing.article == "the" and thing.kind == "thing" and word == "in" and self.peek(2).meaning == "middle"
        if not (middle or (one and thing.word != "block") or thing.noun in {"corner", "end", "edge"}):
            return False
        start = self.at
        near = (self.accept("side", "front", "behind") if one else None) or self._pick_after_relation()
        of_part = self.accept("part", "side", "end", "edge")
        if near is None or (near.kind == "pick" and of_part is None) or self.peek().kind in _NAMED:
            self.at = start
            return False
        thing.picks.append(OF_SIDE.get(near.meaning, near.meaning))
        return True

    def _pick_after_relation(self) -> BuildingToken | None:
        """`at the far`, `in the middle`."""
        begins = self.peek().text in {"at", "in", "on"} and self.accept("relation")
        if not begins or not self.accept("article", "the", "all", "their"):
            return None
        return (
            self.accept("pick", "farthest", "nearest") or self.accept("side", *OF_SIDE) or self.accept("part", *_PARTS_AS_PICKS)
        )

    def _counted_from(self, thing: Thing) -> bool:
        """`the third block from the bottom`."""
        token = self.peek(2)
        if not thing.ordinals or self.peek().text != "from" or self.peek(1).kind != "article":
            return False
        side = OF_SIDE.get(token.meaning, "") if token.kind == "side" else token.meaning if token.kind == "part" else ""
        if not side:
            return False
        thing.counted_from = side
        self.at += 3
        return True

    def _of(self, thing: Thing) -> bool:
        """`of 3 blocks` of a row, `of the tower` of a part."""
        start = self.at
        preposition = self.take().text
        self.skip()
        if preposition != "in" and self.peek().kind == "unknown" and not self.peek().text.endswith("s"):
            thing.no_color = thing.kind == "thing" and not thing.definite  # `a tower of glass`: there is no such block.
        inner = self.thing()
        if inner is None or inner == Thing() or (preposition != "of" and not self._lies_in(thing, inner)):
            self.at = start
            return False
        if not thing.noun and inner.noun == "area":
            thing.noun, thing.kind, thing.word = "area", "thing", inner.word
            return True
        if preposition == "of" and inner.colors and inner == Thing(article=inner.article, colors=inner.colors):
            thing.colors = inner.colors
            return True
        indefinite = inner.article in {"", "a"} and inner.noun in {"", "block", "stairs", "layer"} and inner.kind != "it"
        if indefinite and (thing.kind != "part" or inner.by or inner.sizes):
            thing.sizes |= inner.sizes | ({"count": inner.count} if inner.count else {})
            thing.by = thing.by or inner.by
            thing.colors, thing.no_color = thing.colors or inner.colors, thing.no_color or inner.no_color
            thing.flags |= inner.flags
            thing.few = thing.few or inner.few
        elif indefinite and inner.count:
            thing.count = inner.count
        else:
            thing.of = inner
        return True

    @staticmethod
    def _lies_in(thing: Thing, inner: Thing) -> bool:
        """Whether `in` tells which one is meant, as in `the block in the tower`, and not where something is to stand."""
        middle = thing.noun in {"edge", "corner", "side"} and inner.noun == "middle"
        if middle or thing.is_it or inner.only_describes or inner.noun in {"area", "named"}:
            return False
        return thing.kind == "part" or (thing.definite and inner.definite)

    # --- colors one after the other ---

    def runs(self) -> list[ColorRun]:
        """`2 green ones, then 2 yellow ones above`, `bottom red, top blue`, `the first 2 blue, the rest red`."""
        runs: list[ColorRun] = []
        ends: list[str] = []
        after = self.at
        while True:
            self.skip("link", *_FILLERS, "with")
            article = self.accept("article", "the", "other")
            before = self._end_of_line()
            number = self.accept("number")
            before = before or self._end_of_line()
            if self.peek().text == "of" and self.peek(1).kind in {"it", "article"} and number:
                self.at += 2
            self.skip("be", "skip")
            color = self.accept("color")
            self.accept("thing", "block")
            end = before or self._end_of_line()
            follows = self.peek()
            goes_on = follows.kind in {"thing", "part", "relation", "side", "color", "flag", "dim", "number"}
            if color is None or goes_on or (article and article.meaning == "the" and not before):
                break
            runs.append(ColorRun(number.number if number else None, color.meaning, end in _LAST_IN_LINE if end else None))
            ends.append(end)
            after = self.at
            if follows.kind != "link":
                break
        self.at = after
        if len(runs) > 1 and ends[0] == "end":
            return [ColorRun(1, runs[0].color), *runs[1:], ColorRun(1, runs[0].color)]
        return runs[::-1] if runs and (ends[0] in _LAST_IN_LINE or ends[-1] in _FIRST_IN_LINE) else runs

    def _end_of_line(self) -> str:
        """The end of a line that is named, or "": `on top`, `at the bottom`, `first`, `above`."""
        start = self.at
        relation = self.accept("relation", "at", "on", "below")
        if relation is None or relation.meaning == "at" or relation.text in {"on", "below"}:
            self.accept("article", "the", "all", "each")
        token = (
            self.accept("part", "top", "bottom", "middle", "end")
            or self.accept("relation", "between")
            or self.accept("pick", *_FIRST_IN_LINE, *_LAST_IN_LINE, "middle", "next")
            or self.accept("side", "left", "right")
        )
        token = token or (relation if relation and relation.meaning != "at" and relation.text != "on" else None)
        if token is None or self.refers():
            self.at = start
            return ""
        return token.meaning

    # --- places ---

    def place(self) -> Location | None:
        """`on top of it`, `2 blocks left of the tower`, `at each end of the row`, `to its left`."""
        start = self.at
        if self.peek().kind == "relation" and self.peek().meaning == "at" and self.peek(1).kind == "number":
            self.at += 1
            if not self.measures():
                self.at = start
        distance = self.distance()
        self.skip()
        found = self._side() or self._related()
        if found is None:
            self.at = start
            return None
        if found.distance is None:
            found.distance = distance
        return found

    def _side(self) -> Location | None:
        """`to the left of X`, `on its right side`, `behind X`, `left`."""
        start = self.at
        self.accept("relation", "at", "on")
        self.skip()
        article = self.accept("article")
        self.skip("skip", "common")
        far = self.accept("pick", "farthest", "nearest")
        token, follows = self.accept("side"), self.peek()
        colored = follows.kind == "color" and self.peek(1).kind == "thing"
        names = article is not None and (colored or follows.kind == "unknown")  # `the left wing`
        part = follows.kind == "part" and (far is not None or follows.meaning != "side")
        if token is None or names or part or follows.kind in {"side", "thing"}:
            self.at = start
            return None
        if self.peek().kind == "part":
            self.at += 1
        place = Location(token.meaning, word=token.text)
        if article and article.meaning == "my" and article.text != "my":
            place.of = it(article.text, article="my")
        self._landmark(place, token)
        return place

    def _landmark(self, place: Location, token: BuildingToken) -> None:
        if self.peek().text in {"of", "to", "from"}:
            start = self.at
            self.at += 1
            place.of = self.thing() or place.of
            if place.of is None or place.of == Thing(article=place.of.article):
                self.at, place.of = start, None
        elif place.of is None and token.meaning in SIDES and self._landmark_begins(token):
            place.of = self.thing()

    def _landmark_begins(self, token: BuildingToken) -> bool:
        """Whether a landmark begins here, as after `behind`, `in front of` and `left of`."""
        takes = token.text.endswith(("of", "from")) or token.meaning in {"front", "behind"}
        if takes and self.peek().kind in {"skip", "common"} and self.refers(1):
            self.skip("skip", "common")
        return takes and self.peek().kind in {"article", "it", "everything", "color", "pick", "thing", "number", "part"}

    def _related(self) -> Location | None:
        if self.peek().text == "near" and self.refers(1):
            self.at += 1
            return Location("beside", of=self.thing(), word="near")
        token = self.accept("relation")
        if token is None:
            return None
        place = Location(token.meaning, word=token.text)
        if token.meaning in {"anywhere", "here"}:
            return place
        self.skip()
        height = self.height()
        if height is not None:
            return Location("height", distance=height)
        if token.text.endswith("top") and self.peek().text not in {"of", "it"}:
            return place
        place.of = self.thing()
        if place.of == Thing(article="each"):
            place.of = it("them", article="each")
        if place.landmark.article != "other" and place.of == Thing(article=place.landmark.article):
            place.of = None
        if place.relation == "between" and self.peek().text == "and":
            self.at += 1
            place.second = self.thing()
        if place.of is None and token.meaning in {"at", "round"}:
            return Location("none", word=token.text)
        place.other = place.landmark.noun in {"side", "end"} and place.landmark.article == "other"
        return place
