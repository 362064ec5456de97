"""The words that the parser knows. Each becomes a letter, so that a rule over words is a regular expression over letters."""

from __future__ import annotations

from harness.corpora.wording import NUMBERS, ORDINALS
from harness.worlds.hexagons import COLORS

LETTERS = {
    "C": "column columns col cols collumn collumns colum colums coloumn coloumns coloum coumn columm",
    "T": "tile tiles hexagon hexagons hex hexes cell cells spot spots space spaces block blocks square squares box boxes "
    "position slot slots dot dots tiled hexs hexaogns hexagaons circlelet octagon octagons",
    "R": "row rows",
    ",": ", and & plus also then followed",
    "-": "- – through thru thorugh",
    ">": "to until till toward towards into",
    "t": "top topmost upper uppermost highest",
    "b": "bottom bottommost lower lowest lowermost",
    "l": "left leftmost leftward leftwards",
    "r": "right rightmost rightward rightwards",
    "m": "middle center centre central centermost",
    "e": "last final",
    "f": "from",
    "o": "of in on at along within across",
    "S": "starting start starts beginning begin begins started staring commencing",
    "E": "ending end ends finishing finish",
    "B": "between",
    "J": "connect connecting connects join joining connected",
    "n": "next following subsequent proceeding succeeding consecutive",
    "s": "same",
    "a": "all every each entire whole both any everything entirely completely full",
    "q": "alternating alternate alternately alternates",
    "h": "other others",
    "H": "remaining rest remainder",
    "u": "up upward upwards ascending",
    "d": "down downward downwards descending",
    "U": "above over",
    "D": "below under beneath underneath",
    "g": "diagonal diagonally diagonals",
    "i": "line lines stripe stripes stem",
    "G": "go going goes move moving moves shift jump proceed travel",
    "L": "find locate identify pick notice focus",
    "&": "alldirections",
    "<": "eitherside",
    "=": "pattern patterns sequence design designs image drawing",
    "/": "sidelong",
    "v": "paint color colour fill make shade add draw create use using painting coloring colouring filling put form place do "
    "build making drawing creating colored painted filled turn",
    "k": "skip skipping leave leaving skipped",
    "p": "repeat copy recreate duplicate replicate repeating repeats redo reproduce",
    "w": "mirror mirrored mirroring reflect reflection mirrors",
    "%": "inside interior enclosed inner surrounded encircled",
    "c": "touching adjacent surrounding around surround touch surrounds neighboring bordering border touches encircle "
    "encircling abutting connects contiguous",
    "z": "flower ring circle flowers rings circles",
    "y": "triangle triangles pyramid pyramids",
    "j": "step steps",
    "!": "except but excluding besides omitting omit minus",
    "W": "white blank blanks empty unfilled uncolored unpainted untouched clear uncoloured unused",
    "I": "it this that these those them ones its which",
    "P": "previous just original earlier",
    "A": "another more again additional",
    "X": "times",
    "Q": "odd even",
    ".": ". ; ! ? ( ) :",
    "V": "vertical vertically straight",
    "Z": "horizontal horizontally",
    "K": "pink violet magenta",
    "@": "counting working",
    "~": "onandon",
    "*": "reversed reverse reversing inverted inverting invert inverse swapped swapping swap switched switching switch",
    "^": "corner corners",
    "$": "inkof",
    "0": "erased",
    "x": "",
}
"""What each letter stands for. N and O, numbers and ordinals, and K, colors, have values; x is any other word."""

_SKIPPED = """
    a an the number numbered no # very so will be is are should with as by just directly immediately far side
    slightly edge hand now well board grid exactly located which most you your only going grid's there paint's board's
    way count over respectively too both's please again also's
"""
SKIPPED = frozenset(_SKIPPED.split())
"""Between words that belong together."""

SPELLINGS = (
    (r"\b(\w+) by \1\b", r"sidelong \1"),
    (r"\bsides? (?:of|with|are|that are|being|is)(?: exactly)?(?= \w+ (?:tile|hex|cell|space|spot|dot))", "sidelong"),
    (r"\b(\w+) (?:tiles?|hex\w*|cells?|spaces?|spots?) (?:on|to|per) (?:a|each|every|the|one) side\b", r"sidelong \1"),
    (r"\bvertical (?=columns?\b)", ""),
    (
        r"\b(?:all the way )?(?:(?:going|moving|working|reading) )?(?:from )?(?:the )?"
        r"(?:left to (?:the )?right|top to (?:the )?bottom)\b",
        " ",
    ),
    (r"\b(?:starting|beginning|working) (?:on|at|from) the (?:far )?left,", " "),
    (r"\((black|yellow|green|red|blue|purple|orange)\)", r"\1"),
    (r"\b(?:in |on |to )?(?:all|each|every)(?: of the)?(?: six| 6)? (?:directions?|sides)\b", " alldirections "),
    (
        r"\b(?:on |to )?(?:(?:either|each) sides?|both sides|(?:the )?(?:left and right|right and left)(?: sides?)?)\b",
        " eitherside ",
    ),
    (r"\b(top|bottom|left|right|upper|lower)[ -]+most\b", r"\1most"),
    (r"\b(?:vertical|columnar)(?:ly)? rows?\b", "column"),
    (r"(?<=[tdh]) (?:vertical|columnar)(?:ly)? line\b", " column"),
    (
        r"\b(?:as|like|way) (?:you|that you|we|was|was done|is|that of)(?: just)?"
        r" ?(?:painted|colored|did|filled|made|done|drew)?\b",
        "repeat",
    ),
    (r"\bsame as\b", "repeat"),
    (r"\b(?:parts?|steps?)(?: used)? (?:of|in) (?:step )?number (?=[0-9])", "step "),
    (r"\b(?:just |exactly )?like (?:this|that|the) (?:one|first|previous|last|other)(?: ones?)?\b", "repeat"),
    (
        r"\b(?:exact )?(?:same|similar|identical) "
        r"(?:shape|pattern|design|configuration|figure|image|structure|object|form|thing)s?\b",
        "repeat",
    ),
    (
        r"\b(?:follow|do|use|make|create|paint|draw|continue|apply|add)(?:ing)? (?:the |this |that )?(?:exact )?same\b(?! color)",
        "repeat",
    ),
    (r"\b(?:follow|continue|use)(?:ing)? (?:the |this |that )pattern\b", "repeat"),
    (r"\brows? \(?(?:vertical(?:ly)?|columnar|column)\)?", "column"),
    (r"\brows?, vertical(?:ly)?,", "column"),
    (r"\bevery (?:other|second|2nd)\b", "everyother"),
    (r"\b(?:second|next|2nd)(?:-| )to(?:-| )(?:the )?last\b", "penultimate"),
    (r"(?<=st|nd|rd|th) ones? (?=from|on the)", " tile "),
    (r"\b(?:uncolou?r|erase|remove|unpaint)(?: the (?:color|paint) (?:from|of|in))?\b", " erased "),
    (r"\bone (?=(?:above|below|under|to)\b)", "tile "),
    (r"\bright (?=(?:above|below|under|next|beneath)\b)", ""),
    (r"\bstill (?=\w)", ""),
    (r"\ball (?:but|except)\b", "allbut"),
    (r"\btwice\b", "two times"),
    (r"\bonce\b", "one times"),
    (r"(\d)(?:st|nd|rd|th)?-(\d)", r"\1 through \2"),
    (
        r"\b(?:(?:until|till) (?:you (?:reach|get to) )?(?:the )?(?:very )?(?:end|bottom|edge)|to the end)"
        r"(?: of the (?:column|row|board|grid|page))?"
        r"|(?:until|till) (?:(?:you|it|they) )?(?:(?:reach|hit)(?:es|s|ing|ting)?|(?:get|run)(?:s|ting|ning)? (?:to|out of))"
        r" (?:the )?(?:very |far |right ?(?:most)? |other )*(?:end|bottom|edge|side|last column|column|room|space|tiles|columns)"
        r"(?: o[fn] the (?:column|row|board|grid|page))?"
        r"|across the (?:whole |entire |rest of the )?(?:board|grid|drawing|page|image)"
        r"|for the (?:rest|remainder) of the (?:board|grid|columns|image|drawing)|to fill (?:up )?the (?:column|grid|board|row)"
        r"|as far as (?:the \w+ (?:will )?allows?|possible)"
        r"|all the way (?:across|down|up|to the (?:right|end|bottom|top))",
        " onandon ",
    ),
    (r"\bas (?=(?:the )?(?:\w+ )?columns?\b)", "like "),
    (
        r",? (?:for a (?:total|line) of|(?:to (?:make|create|form)|making|creating|forming|giving you|leaving) a total of"
        r"|resulting in|so (?:that )?(?:it|you|there|they|the)\b|until you have|for a total)[^.!?;\n,]*",
        " ",
    ),
    (
        r", (?:to (?:make|form|create)|making|forming|creating|completing) (?:a|an|the|another|two)\b"
        r"(?! line)(?:(?! and | then | of )[^.!?;\n,])*",
        " ",
    ),
    (
        r"\b(?:(?:that|which) )?(?:(?:have|has|are|were|was|is) )?already(?: been)? (?:painted|colored|filled)(?: in)?(?: \w+)?",
        " ",
    ),
    (r"\b(black|yellow|green|red|blue|purple|orange) one\b", r"\1 tile"),
    (r",? (?:and |but )?leav(?:e|ing) (?:the )?(\w+) (?:tile|cell|hex|space|spot)\w* \1\b", " "),
    (r",? (?:starting|beginning) (?:from|at) (?:the )?top(?=[,.;])", ""),
    (r"\bodd[ -]numbered\b", "odd"),
    (r"\beven[ -]numbered\b", "even"),
    (r"\b(\w+?)[’']s\b", r"\1"),
    (
        r"\b(?:with|using|use|in)(?: the)?(?: colou?r)?(?: of)? (black|yellow|green|red|blue|purple|orange)(?: paint| colou?r)?\b"
        r"(?!,? (?:\w+ )?(?:tile|hex|cell|spot|space|square|dot|line|column|row|ring|circle|flower|triangle|shape|one))",
        r"inkof \1",
    ),
)
"""Spellings that are evened out before the words are read."""

_MISSPELLED = {"fouth": 4, "forth": 4, "fith": 5, "eigth": 8, "eight": 8, "nineth": 9, "twelth": 12, "twelveth": 12, "thirst": 3}


def _known() -> dict[str, tuple[str, object]]:
    known: dict[str, tuple[str, object]] = {}
    for letter, words in LETTERS.items():
        known |= {word: (letter, word) for word in words.split()}
    known |= {word: ("O", n) for word, n in _MISSPELLED.items()}
    known |= {word: ("N", n) for n, word in enumerate(NUMBERS) if n}
    known |= {word: ("O", n) for n, word in enumerate(ORDINALS) if n}
    known |= {color: ("K", color) for color in COLORS if color != "white"}
    known |= {f"{color}s": ("K", color) for color in COLORS}
    known |= dict.fromkeys(("pink", "violet", "magenta"), ("K", "purple"))
    known |= {"everyother": ("q", "every other"), "penultimate": ("e", 2), "allbut": ("!", "all but"), "once": ("N", 1)}
    known |= {"pair": ("N", 2), "couple": ("N", 2), "trio": ("N", 3)}
    return known


KNOWN = _known()
"""The letter and the value of every known word."""
