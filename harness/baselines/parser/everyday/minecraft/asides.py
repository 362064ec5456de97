"""Reads what a sentence says besides its orders: words to skip, comparisons, and what follows a place."""

from __future__ import annotations

from harness.baselines.parser.everyday.minecraft.acts import BUILDING
from harness.baselines.parser.everyday.minecraft.meaning import Growth, Order, Thing
from harness.baselines.parser.everyday.minecraft.reading import ThingReader
from harness.baselines.parser.everyday.minecraft.words import word_set

_AS_FAR_AS_IT_GOES = word_set("edge end area border frame wall room fit fits space")


class Asides(ThingReader):
    """Reads what only adds to an order; a method changes nothing if its words do not begin at the current token."""

    def aside(self, order: Order) -> bool:
        """`with nothing under it`, `touching it`, `for my doll`, `like a flower`, `than the red one`, `2 more times`."""
        token, after = self.peek(), self.peek(1)
        if token.text == "nothing" and after.kind in {"relation", "side"}:
            self.at += 1
            while (place := self.place()) is not None:
                self.accept("link")
                if place.landmark.noun == "middle" and order.last:
                    order.last.flags.add("hollow")
        elif (token.text == "like" or (token.meaning == "touching" and order.places)) and self.refers(1):
            self.at += 1
            self.thing()
        elif token.text == "because" or (token.text in {"so", "so that"} and self._purpose(order)):
            while self.peek().kind not in {"link", "end"}:
                self.at += 1
        elif token.text == "than":
            self.at += 1
            if self.growth() is None:
                self.thing()
                self.accept("side", "front")
        elif token.kind == "number" and after.meaning == "extra" and self.peek(2).text in {"times", "time"}:
            self.at += 3
            order.growth = Growth("", factor=token.number)
        else:
            return self._more_than(order) or (token.text == "for" and self._for_somebody())
        return True

    def _for_somebody(self) -> bool:
        """`for the princess`, `for my doll`: who or what something is for does not matter."""
        start = self.at
        self.skip()
        thing = self.thing()
        if thing is not None and thing.noun in {"named", "sign"} and thing.definite and not thing.colors:
            return True
        self.at = start
        return False

    def _purpose(self, order: Order) -> bool:
        """`so that I get a square`, `move it so it fits`: a result, which is not another order."""
        ahead = next((n for n in range(1, 4) if self.peek(n).kind != "skip"), 3)
        gets = ahead > 1 and self.peek(ahead).meaning in {"make", "build", "with", "look"}
        return gets or (order.act not in BUILDING and self.peek(1).kind == "it")

    def _more_than(self, order: Order) -> bool:
        """`more blue than red`: two of one color for each of the other."""
        said = [self.peek(n) for n in range(4)]
        if [said[0].text, said[1].kind, said[2].text, said[3].kind] != ["more", "color", "than", "color"] or not order.things:
            return False
        thing = order.things[-1]
        thing.colors = [said[1].meaning, said[3].meaning, said[1].meaning]
        thing.count, thing.few = thing.count or 3, False
        self.at += 4
        return True

    def lacking(self) -> None:
        """`no blocks missing underneath`: the place where something is missing is not where to build."""
        start = self.at
        self.skip("skip", "common", "unknown")
        place = self.place()
        if place is None or place.of is not None or place.relation not in {"below", "on", "inside", "between"}:
            self.at = start

    def until(self, order: Order) -> None:
        """`until you hit the edge`, `till you run out of room`: as far as the area goes."""
        ahead = next((n for n in range(6) if self.peek(n).kind in {"link", "end"}), 6)
        if any({one.meaning, one.text} & _AS_FAR_AS_IT_GOES for one in map(self.peek, range(ahead))):
            self.at += ahead
            order.flags.add("max_to_edge")

    def compare(self, order: Order) -> bool:
        """`as long as the body`, `the same height as it`: the size is that of another thing."""
        color = self.peek().kind == "as" and self.peek(-1).text.endswith("color")
        if self.peek().kind != "dim" and not color:
            return False
        dim = self.take() if not color else self.peek()._replace(meaning="color")
        if self.accept("as"):
            if self.peek().text in {"possible", "you"}:
                order.flags.add("max_to_edge")
            other = self.thing()
            if other and other.kind and order.last:
                order.last.like[dim.meaning] = other
        return True

    def thing_follows(self) -> bool:
        """Whether a place is followed by what is put there: `..., and on top a red block`."""
        start = self.at
        self.skip("link", "unknown", "common", "be", "skip")
        self.accept("verb", "look", "build", "make")
        if self.accept("flag", "touching") and self.accept("it"):
            self.skip("link")
        follows = self.peek()
        if self.place() is not None:
            thing = self.thing() if not self.thing_follows() else Thing(noun="block")
            new = thing is not None and not thing.definite and (bool(thing.noun) or thing.word == "1")
        else:
            measure = follows.kind == "number" and self.peek(1).kind == "dim"
            new = (follows.kind in {"color", "pick", "number"} or follows.meaning in {"a", "another"}) and not measure
        self.at = start
        return new
