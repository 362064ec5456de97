"""Turns sentences into orders: verbs, and the things, places, sizes and colors that go with them."""

from __future__ import annotations

from dataclasses import replace

from harness.baselines.parser.everyday.minecraft import telling
from harness.baselines.parser.everyday.minecraft.asides import Asides
from harness.baselines.parser.everyday.minecraft.meaning import NOTHING, Growth, Location, Order, Thing, deepest, it
from harness.baselines.parser.everyday.minecraft.telling import CHANGING
from harness.baselines.parser.everyday.minecraft.words import BuildingToken, word_set

_VAGUE = frozenset({"", "make", "build"})
_ORDER_FLAGS = word_set("once_more instead touching around max_to_edge mirrored upside remark too same float total turned")
_BESIDE = word_set("left right front behind")
_VERB_GROWTH = {
    "raise": Growth("high", add=1),
    "widen": Growth("wide", add=1),
    "enlarge": Growth("all", add=1),
    "shrink_all": Growth("all", add=-1),
    "sink": Growth("high", add=-1),
    "narrow": Growth("wide", add=-1),
    "shrink": Growth("", add=-1),
    "halve": Growth("", factor=0.5),
}


def read_orders(tokens: list[BuildingToken]) -> list[Order]:
    """The orders that a text gives, in sequence: `a red tower. put a blue block on it` gives two."""
    sentences: list[list[BuildingToken]] = [[]]
    for token in tokens:
        if token.kind == "colon":
            before = sentences[-2] if len(sentences) > 1 else []
            counts = any(one.kind == "number" and one.meaning != "1" for one in before)
            if counts or (before and before[-1].kind == "verb"):
                sentences.pop()
                sentences[-1].append(token._replace(kind="link"))
        elif token.kind == "stop":
            sentences.append([])
        else:
            sentences[-1].append(token)
    orders: list[Order] = []
    for number, sentence in enumerate(sentences):
        if sentence and sentence[0].text != "like":
            orders += _Sentence(sentence, first=number == 0).orders()
    return orders


class _Sentence:
    def __init__(self, tokens: list[BuildingToken], first: bool) -> None:
        self._first = first
        """Whether it is the first sentence; in a later one, `there are two towers` asks for two towers."""
        self._reader = Asides(tokens)
        self._tokens = tokens
        self._done: list[Order] = []
        self._order = Order()
        self._linked = False
        """Whether a comma or "and" came directly before."""
        self._is = False
        """Whether "is", "should be" came after the thing."""
        self._not = False
        self._with = ""
        self._relative = False
        """Whether the words since "that" still describe the thing before."""
        self._named = False
        """Whether "as" came before: what follows is a name."""
        self._every = 2
        self._alternate = ""
        """Whether the next color is for every second or third block ("nth"), or for the others ("others")."""
        self._latest: Thing | None = None
        self._several: Thing | None = None
        """The things that are described one by one."""
        self._steps = {
            "link": self._link,
            "be": self._be,
            "mend": self._mend,
            "talk": self._mark,
            "idle": self._mark,
            "question": self._ask,
            "verb": self._verb,
            "with": self._attach,
            "without": self._attach,
            "as": self._as,
        }

    def orders(self) -> list[Order]:
        while self._reader.peek().kind != "end":
            before = self._reader.at
            self._step()
            if self._reader.at == before:
                self._reader.at += 1
        self._flush()
        sides = [place for order in self._done for place in order.places if place.relation in _BESIDE]
        if sides and all(place.of is None for place in sides[:-1]) and all(order.new for order in self._done):
            # `something red in front and something blue left of the tower`: both are beside the tower.
            for place in sides:
                place.of = place.of or sides[-1].of
        said = " ".join(token.text for token in self._tokens)
        for order in self._done:
            order.said = said
        return self._done

    def _step(self) -> None:
        reader, token = self._reader, self._reader.peek()
        if self._runs_on() or reader.aside(self._order):
            return
        gap = reader.gap()
        if gap is not None:
            if reader.peek().meaning == "between":
                reader.place()  # It is clear between which things.
            self._order.places.append(Location("gap", distance=gap))
            return
        growth = reader.growth()
        if growth:
            self._grow(growth)
        elif token.kind in self._steps:
            self._steps[token.kind](reader.take())
        elif reader.accept("not"):
            self._not = True
        elif reader.accept("relative"):
            self._relative = True
        elif reader.accept("until"):
            reader.until(self._order)
        elif (
            token.kind == "flag"
            and token.meaning in _ORDER_FLAGS
            and not (token.meaning == "same" and reader.peek(1).kind in {"thing", "part"})
        ):
            if not (reader.take().meaning == "same" and reader.compare(self._order)):
                self._order.flags.add(token.meaning)
        elif token.kind == "flag" and token.meaning == "except":
            self._except()
        elif token.kind == "number" and self._counts_first() and (thing := reader.thing()) is not None:
            self._thing(thing)
        elif token.text == "inside" and self._order.new and reader.refers(1):
            reader.take()
            self._place(Location("inside", of=reader.thing()))
        elif (place := reader.place()) is not None:
            self._place(place)
        elif (thing := reader.thing()) is not None:
            self._thing(thing)
        elif token.kind == "flag":
            self._flag(reader.take().meaning)
        else:
            return
        if token.kind != "link":
            self._linked = False

    def _counts_first(self) -> bool:
        """Whether a number counts things to build and is not a distance: `and one in front of it`."""
        one_more = self._linked and self._reader.peek().meaning == "1"
        return bool(self._with) or (
            not self._order.things
            and (
                one_more
                or self._order.act in {"build", "with", "remove"}
                or not self._reader.measures()
                or self._in_color()
                or self._reader.peek(1).kind == "side"
            )
        )

    def _in_color(self) -> bool:
        """`3 blocks to the right in yellow`: they are built."""
        said = [token.text if token.kind != "color" else "color" for token in self._tokens[self._reader.at :]]
        return not self._order.act and "color" in said[1:] and said[said.index("color") - 1] == "in"

    # --- words that steer ---

    def _link(self, token: BuildingToken) -> None:
        if token.text == "too" and self._reader.peek().kind in {"unknown", "common"}:
            self._reader.take()
            self._order.flags.add("remark")
            return
        self._linked = True
        self._not = self._not and token.text != ","
        if token.text in {"and", "then", "but"}:
            self._relative = False
        if token.text in {"also", "too", "as well"}:
            self._order.flags.add("too")

    def _be(self, token: BuildingToken) -> None:
        about = bool(self._order.things) and self._order.act != "with"
        self._is = (not self._relative and about) or self._alternate != ""

    def _mend(self, token: BuildingToken) -> None:
        if self._order.things or self._order.places:
            self._flush()
        self._order.mended = True

    def _mark(self, token: BuildingToken) -> None:
        self._order.flags.add(token.kind)
        if token.kind == "idle":
            del self._order.things[1:]
            while self._reader.peek().kind not in {"link", "end", "verb"}:
                self._reader.take()

    def _ask(self, token: BuildingToken) -> None:
        if not self._done and not self._order.things and not self._order.act:
            self._order.flags.add("question")

    def _as(self, token: BuildingToken) -> None:
        follows = self._reader.peek()
        if not self._reader.compare(self._order):
            self._named = follows.kind in {"article", "thing"}

    def _attach(self, token: BuildingToken) -> None:
        follows = self._reader.peek()
        steers = follows.kind in word_set("link stop end color verb mend it relation side not be number change")
        if token.text == "no" and (steers or follows.meaning in {"the", "a"}):
            self._order.mended = True
        elif token.kind == "with" and token.text in {"has", "having"} and not self._order.things:
            return
        else:
            self._with = token.kind
            self._relative = False

    def _except(self) -> None:
        self._reader.take()
        self._reader.skip()
        spared = self._reader.thing()
        if spared and self._order.last:
            self._order.last.but = spared

    def _grow(self, growth: Growth) -> None:
        if len(self._order.things) > 1:
            self._begin(self._order.things.pop(), keep_act=True)
        old = self._order.growth
        if old and not growth.axis:
            growth.axis = old.axis
            growth.add *= -1 if old.add < 0 and growth.add > 0 else 1
        self._order.growth = growth

    def _verb(self, token: BuildingToken) -> None:
        order = self._order
        acts = order.act not in _VAGUE
        if not self._linked and (self._relative or (acts and token.meaning in _VAGUE and not order.things)):
            return
        ends = order.things or (acts and self._linked) or (order.growth and order.act)
        if ends and not self._is_subject():
            self._flush()
        told = token.text.startswith("there") and not (self._first and not self._done and not order.places)
        self._order.act = "build" if told else token.meaning
        if self._not:
            self._order.flags.add("not_done")
        if token.text in {"stack", "pile", "pile up", "stack up"}:
            self._order.flags.add("stacked")
        if token.meaning in _VERB_GROWTH:
            self._order.growth = replace(_VERB_GROWTH[token.meaning])
        self._not = False
        self._relative = False

    def _is_subject(self) -> bool:
        """`the corners can go`: the thing comes before its verb."""
        order = self._order
        causes = order.act == "make" and not order.places
        return (not order.act or causes) and bool(order.things) and not self._linked and order.things[-1].definite

    def _flag(self, flag: str) -> None:
        if self._not:
            self._not = False
            return
        if flag == "halved":
            self._order.growth = Growth("", factor=0.5)
            return
        target = self._order.become or self._order.last
        if not target:
            self._order.flags.add(flag)
        elif not self._alternate:
            target.flags.add(flag)

    # --- things and places ---

    def _place(self, place: Location) -> None:
        if self._linked and self._order.things and self._reader.thing_follows():
            self._flush(keep_act=True)
        order = self._order
        if self._not:
            self._not = False
            order.flags.add("not_place")
            return
        if place.relation == "between" and order.places and order.places[-1].landmark.noun == "hole":
            order.places.pop()
        landmark = order.places[-1].landmark if order.places else NOTHING
        named = landmark.kind == "thing" and landmark.noun != "area" and landmark.definite
        if self._relative and named and place.of:
            landmark.place = place
            return
        if not telling.takes_place(order, place):
            order.places.append(place)
            self._latest = deepest(place.of) or self._latest

    def _thing(self, thing: Thing) -> None:
        if self._named:
            self._named = False
            telling.call(self._order, thing)
            return
        if "remark" in self._order.flags and self._linked:
            self._flush()
        if self._colors_part(thing) and not self._not:
            self._with = "" if self._order.act == "with" else "with"
            if not self._with:
                self._order.things.append(thing)
                return
        if self._not and thing.only_describes and len(thing.colors) == 2:
            self._not, self._order.mended = False, True
            thing = replace(thing, colors=thing.colors[1:])
        if self._not:
            self._not = False
        elif self._is_one_of(thing):
            pass
        elif self._with:
            self._attached(thing)
        elif not (self._picks_of_latest(thing) or self._tells_more(thing) or self._colors_in_turn(thing)):
            self._name(thing)
        self._is = False
        self._latest = deepest(thing) if thing.kind else self._latest

    def _runs_on(self) -> bool:
        """`a row of 3 red, then 2 blue blocks`, `a tower: bottom red, top blue`: the colors of a line, one after the other."""
        order, line, start = self._order, self._order.new, self._reader.at
        if not order.things and "stacked" in order.flags and self._linked:
            line = Thing(noun="tower", word="stack", kind="thing")
        begun = self._linked or self._with or self._relative
        if line is None or self._several or not begun or not telling.is_line(line):
            return False
        if not all(place.of_area for place in order.places) or order.act in CHANGING or (line.article == "another"):
            return False
        opened = self._reader.peek().text in {"starting", "with"}
        runs = self._reader.runs()
        tells_end = len(runs) == 1 and (opened or runs[0].last is not None)
        if tells_end and len(line.colors) > 1 and runs[0].color in line.colors:
            telling.begin_with(line, runs[0])
            self._with = ""
            return True
        counts = sum(run.number is not None for run in runs)
        lined = line.noun in {"row", "tower"} or "stacked" in order.flags
        goes_on = counts == len(runs) == 1 and lined and (line.colors or (self._with and not line.sizes))
        begins = len(runs) > 1 and (not line.colors or counts)
        if not (goes_on or begins) or (self._with and counts == 0):
            self._reader.at = start
            return False
        telling.take_runs(line, runs)
        order.things = order.things or [line]
        self._with = ""
        return True

    def _is_one_of(self, thing: Thing) -> bool:
        """`2 towers, one red with 3 blocks, the other blue`: each of several things separately."""
        order, several = self._order, self._several
        if several is None and order.new and (order.new.count or 0) > 1 and order.new.noun != "block" and len(order.things) == 1:
            several = order.new
        one = thing.generic and (thing.count == 1 or thing.article in {"a", "another", "other"} or thing.word == "1")
        if several is None or not (one and thing.colors and (self._linked or self._with)) or thing.picks:
            return False
        first = self._several is None
        self._several, self._with = several, ""
        alone = replace(thing, noun="", word="", kind="", article="", count=None)
        single = replace(several, count=None, article="a", colors=[], sizes=dict(several.sizes), flags=set(several.flags))
        telling.merge(single, alone)
        order.things = [single] if first else [*order.things, single]
        return True

    def _colors_part(self, thing: Thing) -> bool:
        """`a tower, the bottom half yellow and the top half blue`: parts of what is to be built, with their colors."""
        order = self._order
        builds = order.act in {"", "make", "build", "with"} and bool(order.things) and not order.places
        new = order.new is not None or order.act == "with"
        follows = self._reader.peek(self._reader.peek().kind == "be")
        colored = bool(thing.colors) or follows.kind == "color"
        one = thing.generic and thing.article != "a" and bool(thing.picks or thing.ordinals or thing.article == "other")
        part = one or (thing.kind == "part" and thing.definite)
        return builds and new and (self._linked or self._relative) and colored and part

    def _picks_of_latest(self, thing: Thing) -> bool:
        """`the side that is nearest to you`: a pick after its noun."""
        only_picks = bool(thing.picks) and not (thing.noun or thing.article or thing.colors)
        if not only_picks or self._latest is None or not (self._relative or self._is):
            return False
        self._latest.picks += thing.picks
        return True

    def _colors_in_turn(self, thing: Thing) -> bool:
        """`every second one is yellow and the others are green`."""
        order = self._order
        target = order.new
        if target is None or order.act in CHANGING:
            return False
        every = 2 if "alternate" in thing.picks else 3 if "third" in thing.picks else 0
        if every:
            self._alternate, self._every = "nth", every
            target.colors = [*target.colors[:1] * (every - 1), *thing.colors]
        elif self._alternate and thing.article in {"other", "all", "the"}:
            self._alternate = "others"
            target.colors = [*thing.colors * (self._every - 1), *target.colors[-1:]]
        else:
            return False
        return True

    def _tells_more(self, thing: Thing) -> bool:
        told = telling.tells_more(self._order, thing, self._linked, self._relative)
        self._relative |= told and thing.is_it
        return told

    def _name(self, thing: Thing) -> None:
        """Takes in a thing: the one that the order is about, what that becomes, or the one that a new order is about."""
        order, first = self._order, self._order.thing
        if first and self._is and order.new and thing.article == "the" and thing.noun and not thing.colors:
            order.new.word = thing.word
            return
        last = order.things[-1] if first and self._linked and thing.noun and thing.colors else Thing()
        if last == Thing(article="a", colors=last.colors):
            last.noun, last.word, last.kind = thing.noun, thing.word, thing.kind
        if first and self._says_again(thing):
            return
        placed = self._linked and self._reader.peek().kind in {"relation", "side"}
        if first and placed and thing.only_counts:
            self._begin(Thing(noun="block", word="1", kind="thing", count=thing.count), keep_act=True)
        elif first and order.become and self._linked and thing.definite:
            self._begin(thing)
        elif telling.takes_thing(order, thing):
            return
        elif first and placed and order.places and thing.colors:
            self._begin(thing, keep_act=order.act not in CHANGING)
        elif first and thing.colors and thing.count and order.things[-1].count and order.things[-1].only_describes:
            order.things.append(thing)
        elif telling.only_describes(self._order, thing):
            telling.describe(order, thing, self._is, self._relative)
        elif telling.is_become(order, self._is, self._linked):
            order.become = thing
        elif first and (order.places or (thing.article == "a" and order.act in CHANGING and self._linked)):
            self._begin(thing, keep_act=order.act not in CHANGING)
        else:
            order.things.append(thing)

    def _says_again(self, thing: Thing) -> bool:
        """`..., all of it, ...`, `and it has ...`, `that covers the house`: words that name the thing before again."""
        has = self._reader.peek().kind == "with" or (thing.word.startswith("all of") and self._linked)
        return (thing.is_it and has) or (self._relative and thing.definite)

    def _attached(self, thing: Thing) -> None:
        """`a tower with a red block on top` is a tower, and then a red block on it; `without corners` removes them."""
        attached, self._with = self._with, ""
        order = self._order
        between = self._reader.peek().meaning == "between"
        if between and thing.noun == "block" and not thing.colors and (thing.count or order.new):
            thing.noun = "hole"
        elif between and thing.colors and order.new and order.new.count == 2:
            order.places.append(Location("gap", distance=1))
            self._flush()
            self._order = Order("with", [thing], [Location("between", of=it("them"))])
            return
        if attached == "without":
            if telling.takes_without(order, thing):
                self._reader.lacking()
            else:
                self._flush()
                thing.article = thing.article or "the"
                self._order = Order("remove", [thing], flags={"without"})
        elif telling.takes_with(order, thing):
            return
        elif thing.only_describes and order.things:
            telling.describe(order, thing, self._is, self._relative)
        else:
            self._flush()
            self._order = telling.order_with(order, thing)

    def _begin(self, thing: Thing, keep_act: bool = False) -> None:
        """Begins a new order with a thing."""
        self._flush(keep_act)
        self._order.things.append(thing)

    def _flush(self, keep_act: bool = False) -> None:
        order = self._order
        if "remark" in order.flags and order.last:
            order.last.article = order.last.article or "the"
        if order != Order():
            self._done.append(order)
        self._order = Order(order.act if keep_act else "")
        self._is = False
        self._with = ""
        self._alternate = ""
        self._relative = False
        self._several = None
