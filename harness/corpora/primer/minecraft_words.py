"""How the primer's Architect and Builder talk: one voice a game, and the sentence frames."""

from __future__ import annotations

from random import Random

from harness.corpora.wording import NUMBERS, listing, phrase, sentence

#: Slots: {block} some blocks with their color, {where} a place, {it} a block that is there, {n} {k} numbers, {colors} a list.
FRAMES: dict[str, tuple[str, ...]] = {
    "block": (
        "[place|put|add|build] {block} {where}",
        "[start|begin] [with|by placing] {block} {where}",
        "[ok|first|to start], [place|put] {block} {where}",
        "{where}, [place|put|add] {block}",
        "we [start|will start|are starting] with {block} {where}",
    ),
    "relate": (
        "[place|put|add|build] {block} {where}",
        "{where}, [place|put|add] {block}",
        "{where} [place|put|add|goes] {block}",
        "{block} {where}",
        "[can|could] you [put|place|add] {block} {where}?",
        "{block} [goes|should go|comes] {where}",
        "there [should be|is|needs to be] {block} {where}",
        "[i need|we need|you need] {block} {where}",
        "and [then|] {block} {where}",
        "attach {block} {where}",
    ),
    "line": (
        "[place|put|add|build] {block} [in a row|in a line|] {where}",
        "{where}, [place|put|add|build] {block} [in a line|in a row|]",
        "[make|build|add] a [line|row] of {block} starting {where}",
        "{block} in a [row|line] {where}",
        "[extend|continue] with {block} {where}",
    ),
    "stack": (
        "[stack|place|put|add|build] {block} {where}",
        "{where}, [stack|add|place|put] {block}",
        "[make|build] a [tower|column|stack] of {block} {where}",
        "{block} [high|] {where}",
    ),
    "another": (
        "[another|another one|one more|1 more|add another|place another one] {way}",
        "[and|then|now] [one more|another one|the same] {way}",
        "[do|place|add] one more [of those|like that|] {way}",
    ),
    "tower": (
        "[build|make|place] a [tower|column|stack] of {block} {where}",
        "[stack|pile] {block} [up|on top of each other|] {where}",
        "{where}, [build|make] a {color} [tower|column|pillar] [that is|] {n} [blocks|] [tall|high]",
        "[build|make|we need] a {n} [block|blocks] [tall|high] {color} [tower|column|pillar] {where}",
    ),
    "row": (
        "[build|make|place] a [row|line] of {block} {where}, {way}",
        "[place|put|lay] {block} in a [row|line|straight line] {way}, {where}",
        "{where}, [make|place|build] a {color} [line|row] of {n}, {way}",
        "[build|make] a [horizontal|] {color} [row|line] [that is|] {n} [long|blocks long|wide] {where}, {way}",
    ),
    "colors": (
        "[build|make|place] a row {way} {where}: {colors}",
        "[make|build] a line of {n} {where} {way}. The [colors are|order is] {colors}",
    ),
    "colors-tower": (
        "[build|make] a tower {where}, from [the bottom|bottom] [up|to top]: {colors}",
        "stack {n} [blocks|] {where}: {colors}, [with|and] {first} [at the bottom|on the ground]",
    ),
    "square": (
        "[build|make|place] a [flat|] {n}x{n} {color} square [on the ground|] {where}",
        "{where}, [make|build] a {n} by {n} {color} [square|platform] [flat|lying|] on the [ground|floor]",
        "[lay down|place] a {color} [layer|square] of {n}x{n} blocks {where}",
        "we need a {n} x {n} base [made|] of {color} {where}",
    ),
    "hollow": (
        "[build|make|place] a [hollow|] {n}x{n} {color} square {where}, [just the outline|only the outline|with nothing inside]",
        "[make|build] the outline of a {n} by {n} square in {color} {where}",
        "{where}, [make|build] a {n}x{n} {color} [ring|frame] on the ground, [the inside stays empty|leave the middle empty]",
    ),
    "ell": (
        "[make|build] a [flat|] {color} L {where}: {n} {way} and then {k} more [going|] {other} from the {end} end",
        "{where}, [place|put|lay] {n} {color} blocks {way}, then [add|put] {k} {other} [from|at] the {end} end to make an L",
    ),
    "ell-up": (
        "[make|build] [an upright|a standing|a vertical] {color} L {where}: {n} {way} and {k} on top of the {end} one",
        "{where}, [place|put] a row of {n} {color} {way}, then stack {k} [more|] on the {end} end",
    ),
    "plus": (
        "[make|build|place] a {color} plus [sign|] flat on the ground {where}",
        "{where}, [make|build] a [flat|] {color} cross of 5 blocks [on the ground|on the floor]",
    ),
    "floating": (
        "[place|put|build] {block} {where} that [floats|is floating], with {n} [space|empty space|spaces] under it",
        "{where}, {block} [floating|in the air] [on level|at height] {height}",
        "we need {block} floating [{n} above the ground|with {n} empty below it] {where}",
    ),
    "diagonal": (
        "[place|put|add] {block} diagonally {way} [from|of] {it}",
        "{block} {way} of {it}, [diagonal|so only the edges touch|diagonally]",
        "[now|then] {block} diagonal to {it}, {way}",
    ),
    "each": (
        "[place|put|add] {block} on top of [each|every] {x} block",
        "[on|on top of] [each|every one] of the {x} blocks, [place|put|add] {block}",
        "[cover|top] [every|each] {x} block with {block}",
        "every {x} block gets {block} on top",
    ),
    "ends": (
        "[place|put|add] {block} on [both ends|each end] of the {x} row[, left and right|]",
        "extend the {x} row by {block} [on each side|to the left and to the right]",
    ),
    "remove": (
        "[remove|delete|break|get rid of|take away|destroy|pick up] {it}",
        "[can|could] you [remove|delete|break] {it}[|?]",
        "[now|ok] [take out|remove|break] {it}",
        "{it} [should|has to|needs to] [go|be removed]",
        "we [don't|do not] need {it} [any more|anymore|]",
    ),
    "replace": (
        "[replace|switch|swap] {it} with {block}",
        "[make|change] {it} [{color}|{color} instead]",
        "{it} [should|needs to] be {color}",
        "[sorry|oops|my mistake], {it} is {color}",
    ),
    "move": (
        "move {it} [one|1] [space|block] {way}",
        "[shift|bring] {it} {way} by [one|1]",
        "{it} [should|has to] be [one|1] [space|block] [more|further] {way}",
    ),
    "again": (
        "[build|make] [the same|another one|an identical one] {k} [spaces|blocks] {way} [of it|]",
        "[do|repeat] the same [thing|] {k} [spaces|blocks] {way}",
        "copy that {k} [spaces|blocks] {way}",
    ),
    "again-color": (
        "[build|make] [the same|another one] in {color} {k} [spaces|blocks] {way}",
        "the same {k} [spaces|blocks] {way}, but {color}",
    ),
    "greeting": (
        "[hi|hello|hey]",
        "[hi|hello|hey] [builder|there]!",
        "[hello|hi], [ready|let's start|are you ready?]",
        "good [morning|afternoon]!",
    ),
    "hello": (
        "[hi|hello|hey|heyo]",
        "[ready|ready!|i'm ready|lets go]",
        "[what are we building today?|what are we making?|whats first?]",
    ),
    "announce": (
        "this one [looks like|is] [a weird shape|a table|a letter|a little house|a chair|a bridge|a flower]",
        "[today we're making|we are building] [something tall|a few separate things|a structure|a tower|a person]",
        "[its|it's] [a simple one|not too big|a bit tricky]",
    ),
    "praise": (
        "[great|good|perfect|nice|yes|yup|yep|yeah|ok|okay|awesome|cool|excellent|sweet]",
        "[great|perfect|nice|good] job",
        "[yes|yeah|yep], [perfect|that's right|exactly|like that|that's good]",
        "[looks good|that works|that is right|right|correct]",
    ),
    "check": (
        "[like this|like that|like so|is this right|is this good|here|there|this|good|done|how's that]?",
        "[ok|okay|got it|gotcha|done|alright|k|cool|np|sure|ok done]",
        "[what's next|what now|next]?",
    ),
    "lead": ("[now|next|then|ok|okay|alright|ok now|great, now|good. now|perfect. next|now we need|so]",),
    "which": ("[what color|color|which color|what colour]?", "what color should [it|that] be?"),
    "color": ("{color}", "[it's|make it|in] {color}", "{color} [please|again|one|this time]", "[sorry|oh], {color}"),
    "where": ("[where|where?|does it matter where?|in the middle or in a corner?|where should i put it?|where exactly?]",),
}
RELATIONS = {
    "right": "[to the right of|right of|on the right side of|on the right of] {it}",
    "left": "[to the left of|left of|on the left side of|on the left of] {it}",
    "top": "[on top of|on top of|above|on] {it}",
    "below": "[under|below|underneath|beneath] {it}",
    "front": "[in front of|in front of|to the front of] {it} [||, towards you|, on the side closest to you]",
    "behind": "behind {it} [||, away from you|, on the far side]",
}
WAYS = {
    "right": "[to the right|on the right|right]",
    "left": "[to the left|on the left|left]",
    "top": "[up|on top]",
    "below": "[down|below]",
    "front": "[towards you|toward you|closer to you|in front]",
    "behind": "[away from you|behind|further away]",
}
ROWS = {
    "right": "[from left to right|left to right|going right|going to the right]",
    "left": "[from right to left|right to left|going left|going to the left]",
    "front": "[going towards you|coming towards you|towards you]",
    "behind": "[going away from you|away from you|extending away from you]",
}
EXTREMES = {
    "right": "[rightmost|right most|furthest right]",
    "left": "[leftmost|left most|furthest left]",
    "top": "[top|topmost|highest]",
    "below": "[bottom|lowest]",
    "front": "[closest|nearest]",
    "behind": "[farthest|furthest]",
}


class Voice:
    """A pair's habits: the word for a block, digits or words, capitals and full stops."""

    def __init__(self, rng: Random) -> None:
        self.rng = rng
        self.block = rng.choices(("block", "brick", "cube"), (85, 12, 3))[0]
        self.digits = rng.random() < 0.5
        self.formal = rng.random() < 0.15
        self.capital = rng.random() < 0.15

    def say(self, frame: str, **slots: str) -> str:
        text = phrase(self.rng, FRAMES[frame], **slots)
        return sentence(text) if self.formal else text[:1].upper() + text[1:] if self.capital else text

    def draw(self, *frames: str, **slots: str) -> str:
        return phrase(self.rng, frames, **slots)

    def number(self, n: int) -> str:
        return str(n) if self.digits else NUMBERS[n]

    def blocks(self, count: int, color: str | None) -> str:
        """Some blocks of a color, or of a color not said."""
        if count > 1:
            return f"{self.number(count)} {color or ''} {self.block}s"
        article = "an" if color == "orange" else "a"
        return self.draw(
            f"[{article}|{article}|{article}|{self.number(1)}] {color or ''} {self.block}" if color else f"a {self.block}"
        )

    def listing(self, colors: list[str]) -> str:
        return ", ".join(colors) if self.rng.random() < 0.6 else listing(self.rng, colors)
