"""How the Instructor talks: one voice a drawing procedure, and the sentence frames."""

from __future__ import annotations

from random import Random

from harness.corpora.places import Places
from harness.corpora.wording import phrase, sentence

#: Slots: {what} tiles of a column, {column} one or more columns, {color}, {a} {b} {c} colors, {center} {start} {end} a tile,
#: {n} {k} numbers, {x} a color on the board, {way} a direction, {tile} and {tiles} the voice's word for them.
FRAMES: dict[str, tuple[str, ...]] = {
    "cells": (
        "in {column}, [paint|color|make] {what} {color}",
        "in {column} [paint|color|fill in] {what} {color}",
        "[paint|color|make] {what} [in|of|on] {column} {color}",
        "on {column}, fill [in|] {what} [in|with] {color}",
        "[using|with] {color}, [paint|color|fill in] {what} [in|of] {column}",
        "use {color} to [fill in|fill|paint|color] {what} [in|of] {column}",
        "fill [in|] {what} [in|of] {column} [with|in] {color}",
        "go to {column} and [make|paint|color] {what} {color}",
        "[move|go] to {column} and fill in {what} with {color}",
        "{what} [of|in] {column} [should be|is|are] {color}",
        "add {color} to {what} in {column}",
        "[go|move] to {column}. [Paint|Color] {what} {color}",
        "look at {column} and [paint|color] {what} {color}",
        "[going down|on] {column}, [paint|color] {what} in {color}",
        "color {column} as follows: {what} {color}",
    ),
    "column": (
        "[paint|color|make] [all of|the whole of|] {column} {color}",
        "fill [all of|in|] {column} with {color}",
        "[paint|color] every {tile} [in|of] {column} {color}",
        "[paint|color] {column} {color} from top to bottom",
        "[draw|make|create] a [vertical|] {color} line all the way down {column}",
        "[in|on] {column}, [paint|color|fill] all [the|ten|10] {tiles} {color}",
        "using {color}, fill [in the whole of|all of] {column}",
    ),
    "row": (
        "[paint|color|make] [every {tile} in|the whole of|all of] {row} {color}",
        "fill {row} [completely|] with {color}",
        "[paint|color] {row} {color} [from left to right|all the way across]",
        "using {color}, [paint|color] [all the {tiles} of|every {tile} on] {row}",
    ),
    "stack": (
        "in {column}, [paint|color|make] {n} {a}, {k} {b} and {m} {c}",
        "[on|in] {column}, [going down|from the top], fill {n} with {a}, then {k} with {b}, then {m} with {c}",
        "[starting at|from] the top of {column}, [paint|color] {n} {a}, {k} {b} and {m} {c}",
    ),
    "alternate": (
        "in {column}, alternate {a} and {b} [from top to bottom|all the way down], starting with {a}",
        "[paint|color|fill] {column} with alternating {a} and {b} {tiles}, [with {a} at the top|the top one is {a}]",
        "[from the top of|going down] {column}, [paint|color] one {tile} {a}, the next {b}, and [so on|repeat] until the bottom",
        "every other {tile} of {column} is {a}, starting [at the top|with the first]. The [others|rest] are {b}",
    ),
    "ring": (
        "[paint|color] all [of|] the {tiles} [around|surrounding|touching|adjacent to] {center} {color}",
        "[paint|color|make] the [six|6] {tiles} [touching|around|surrounding] {center} {color} [, leaving the center white|]",
        "[make|draw|create|paint] a {color} [flower|ring|circle] around {center}, [leave|leaving] the [center|middle] white",
        "[create|make|draw] a {color} [circle|ring] of [six|6] {tiles} with {center} as its [center|white center]",
        "[make|paint|draw] a {color} [ring|circle] of six {tiles}, [its|the] top {tile} is {start}",
        "[using|with] {color}, [surround|make a ring around|circle] {center}",
        "surround {center} [with|in] {color} [ {tiles}|]",
    ),
    "flower": (
        "[make|paint|draw|create] a flower with a {b} center [at|on|in] {center} and {a} petals",
        "[paint|color|make] {center} {b} [and|, then] [paint|color] all the {tiles} [around|touching|surrounding] it {a}",
        "[paint|color] {center} {b}. [Then|] [paint|color] [all|the six] {tiles} [touching|adjacent to|around] it {a}",
        "[make|create] {a} [petals|flower] around {center}, [and|] the center is {b}",
        "with {center} as {b} center, [paint|make] a {a} flower",
    ),
    "flowers": (
        "[make|paint|draw|create] {n} {a} flowers with {b} centers. The centers are {centers}",
        "[paint|color] {centers} {b}, [and|then] [paint|color] all [of|] the {tiles} [around|touching|surrounding] them {a}",
        "[make|draw] {a} [flowers|rings] around {centers} and [paint|color|fill] [each center|the centers|the middles] {b}",
    ),
    "diagonal": (
        "starting [at|in|from] {start}, [draw|paint|make] a {slant} line of {n} {color} {tiles} going {way}",
        "from {start}, [paint|color|fill in] {n} {tiles} {way} [in|with] {color} [, including that one|]",
        "[draw|create|make|paint] a [straight|] {color} line of {n} {tiles} that starts [at|in] {start} and [goes|runs] {way}",
        "[using|with] {color}, [start|begin] at {start} and [go|move] {way} for {n} {tiles} [in total|]",
        "make a {color} [{slant}|] line, {n} {tiles} long, {way} from {start}",
    ),
    "edge": (
        "[starting|beginning] [at|from] {start}, [paint|draw] a {color} line {way} to the edge of the [board|grid]",
        "[draw|make] a {color} [{slant}|] line from {start} {way} until you [reach the edge|run out of room|hit the border]",
    ),
    "connect": (
        "[connect|join] {start} [and|with|to] {end} [with|by] a [straight|{slant}] {color} line",
        "[draw|paint|make] a {color} [{slant}|straight|] line from {start} to {end}",
        "[paint|color] the {slant} line from {start} to {end} {color} [, both included|]",
    ),
    "between": (
        "[paint|color|fill in] [all|] the {tiles} between {start} and {end} {color}",
        "fill [the gap|the line|everything] between {start} and {end} [with|in] {color} [, not including those two|]",
        "[with|using] {color}, fill in the {tiles} in between {start} and {end}",
    ),
    "line-alternate": (
        "starting at {start}, go {way} for {n} {tiles} [alternating|and alternate] {a} and {b}",
        "[make|draw] a line of {n} {tiles} from {start} going {way}, first {a}, then {b}, then {a} and so on",
    ),
    "vee": (
        "[make|draw|create|paint] a {color} {shape} with its [point|tip] [at|on] {start}, each arm {n} {tiles} long",
        "from {start}, [draw|paint] two {color} lines of {n} {tiles}, one going {way} and the other [going|] {other}",
    ),
    "touching": (
        "[paint|color|make] all [the|of the|] [white|blank] {tiles} [touching|around|adjacent to] the {x} {tile_s} {color}",
        "[surround|circle] the {x} {tile_s} with {color}, only on [white|blank|empty] {tiles}",
        "use {color} to fill [all the|the] [blank|white] {tiles} [adjacent to|that touch|around] the {x} {tile_s}",
    ),
    "beside": (
        "[paint|color] the {tile} {side} [each|every] {x} {tile} {color}",
        "{side} [each|every] {x} {tile}, [paint|color|fill] one {tile} {color}",
        "[add|put|draw] a {color} {tile} {side} [each|every one] of the {x} {tiles}",
    ),
    "rest": (
        "[paint|color|fill] the [remaining|rest of the|other] [white|blank|empty] {tiles} [in|of] {column} {color}",
        "[fill in|fill] what is still [white|blank|empty] [in|on] {column} with {color}",
    ),
    "recolor": (
        "[change|turn] all [the|of the|] {x} {tiles} [to|into] {color}",
        "[repaint|recolor] [every|each] {x} {tile} {color}",
    ),
    "middle": (
        "[paint|color|fill] the [center|middle] of [the|that|this] [ring|flower|circle] [{color}|with {color}]",
        "fill in the [blank|empty|white] {tile} [in the middle|inside the ring|in the center of it] [with|in] {color}",
    ),
    "next": (
        "in the next column [to the right|], [paint|color|make] {what} {color}",
        "[move|go] to the next column and [paint|fill in|color] {what} [in|with] {color}",
        "next column, [color|paint|make] {what} {color}",
        "[paint|color] {what} of the next column [over|to the right|] {color}",
    ),
    "skip": (
        "skip a column [and|. Then] [paint|color|make] {what} of the next one {color}",
        "[leave the next column blank|skip one column]. In the [one after that|following column], [paint|color] {what} {color}",
    ),
    "again": (
        "[do|paint] the same [thing|] in {column}",
        "repeat [this|the last step|{step}|that] [in|on|for] {column}",
        "[paint|color|fill] {column} the same [way|way as {step}|as {step}]",
        "copy [the same|this] pattern [into|to] {column}",
        "[continue|keep going] like this in {column}",
    ),
    "again-color": (
        "repeat [this|that|{step}] in {column}, [but|this time] [in|with|using] {color}",
        "do the same [for|in] {column} but [use|with|in] {color}",
        "{column}: the same, [but|only] [in|with] {color}",
    ),
    "again-next": (
        "[do|repeat] the same [thing|] in the next column [to the right|]",
        "[mirror|repeat|copy] the previous column in the next [one|column]",
        "[continue|repeat this] in the next column",
    ),
    "again-next-color": (
        "[do|paint|repeat] the same in the next column, [but|this time] [in|with|using] {color}",
        "next column, same [tiles|thing] but {color}",
    ),
    "carry": (
        "[also|then|now also] [paint|color|fill in] {what} [in|of] {column} [the same color|]",
        "[do the same with|same color for|and also] {what} [in|of] {column}",
        "using the same color, [paint|fill in|color] {what} [in|of] {column}",
    ),
    "below": (
        "[paint|color] the next {n} {tiles} [below|below that|directly below|down] {color}",
        "[directly|right|] below [that|it|the last one], [paint|color|make] {n} [more|] {tiles} {color}",
        "[then|now] [paint|fill in|color] the {n} {tiles} below [it|that|the last one] [in|with] {color}",
        "continue down [the same column|] with {n} {color} {tiles}",
    ),
    "below-one": (
        "[paint|color] the [next|] {tile} [below|below it|below that|directly below|down] {color}",
        "the {tile} [below|under] [it|that] is {color}",
        "now [make|color|paint] the next {tile} down {color}",
    ),
    "below-skip": (
        "skip [a|one] {tile} and [paint|color|make] the next [one|{tile}] {color}",
        "leave [the|one] {tile} below [blank|white|empty] and [paint|color] the one after it {color}",
    ),
    "shift": (
        "[repeat|copy|paint|draw] the same [shape|figure|pattern|thing] [again|] {k} {steps} {toward}",
        "[repeat|copy] [{step}|the last step|what you just painted] {k} {steps} {toward}",
        "[do|make] the same again {k} {steps} {toward}",
    ),
    "shift-color": (
        "[make|draw|create] [another|an identical] [shape|figure|one] in {color} {k} {steps} {toward}",
        "[repeat|copy] [{step}|the last shape|what you just painted] {k} {steps} {toward} [with|in|using] {color}",
        "do the same again {k} {steps} {toward}, [but|this time] [in|using|with] {color}",
    ),
    "remark": (
        "[check|make sure] that [the board|everything] [is as described|looks right|is as before] [so far|]",
        "[now|] [notice|look at] the [pattern|shape|figure] [you have made|created|so far]",
        "do not [paint|change|color] anything [in this step|yet|now]",
        "the other {tiles} [stay|remain|are left] [white|blank|empty]",
        "you [are|should be] [done|finished|ready] [now|]",
        "[click|press] [done|DONE|START|next]",
        "leave the rest [of the board|of the grid|] [white|blank|as it is]",
    ),
}


class Voice(Places):
    """One person's habits: those of `Places`, and whether sentences have capitals and full stops."""

    def __init__(self, rng: Random) -> None:
        super().__init__(rng)
        self.formal = rng.random() < 0.85

    def say(self, frame: str, **slots: str) -> str:
        text = phrase(self.rng, FRAMES[frame], tile=self.tile, tiles=self.tiles, **slots)
        return sentence(text) if self.formal else text
