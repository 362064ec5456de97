"""Splits text into words with a category and a value; lexicon.txt lists them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

from harness.baselines.parser.notation import entries
from harness.corpora.wording import NUMBERS, ORDINALS
from harness.worlds.hexagons import COLORS

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
"""Spellings that are normalized before the words are read."""
_REMARK = re.compile(
    r"(?:^|(?<=[.!?;\n])) *(?:so |and |now,? |if done correctly,? )*"
    r"(?:you(?:'ll| should| will(?! (?:draw|paint|colou?r|fill|connect|leave|skip|repeat|use)\b)| have| now have| can)"
    r"|there should|this (?:should|forms?|makes|creates|completes|gives)"
    r"|it should|make sure|the (?:result|drawing|image|shape) (?:is|should|will)|these should|note that|notice)\b[^.!?;\n]*"
)
"""A sentence that describes the result and asks for nothing."""
_NUMBERED = re.compile(r"^\s*(?:step\s*)?[0-9]{1,2}\s*[.:)]\s*")
_TOKEN = re.compile(r"[a-z]+|[0-9]+(?:st|nd|rd|th)?|[,&–;.!?():\n#-]")
_DIGITS = re.compile(r"([0-9]{1,3})(st|nd|rd|th)?")
_SPELLED = tuple((re.compile(pattern), spelled) for pattern, spelled in SPELLINGS)
_SKIPPED = "SKIPPED"


class LexiconToken(NamedTuple):
    """A word as the grammar sees it."""

    category: str
    """A key of `COSTS`."""
    word: str
    value: int | str
    """The number or the color that it stands for; otherwise the word itself."""


def read_lexicon(text: str) -> tuple[dict[str, float], dict[str, LexiconToken]]:
    """The cost of skipping a word, by category, and the tokens of the words. Raises ValueError for a word that is in two
    categories, and for a line that is not an entry."""
    costs: dict[str, float] = {}
    tokens: dict[str, LexiconToken] = {}
    for category, cost, words in entries(text):
        if category != _SKIPPED:
            costs[category] = cost
        valued = [(word, int(value) if value.isdecimal() else value or word) for word, value in words]
        for word, value in valued + _unlisted(category):
            if word in tokens:
                raise ValueError(f"{word!r} is in both {tokens[word].category} and {category}")
            tokens[word] = LexiconToken(category, word, value)
    return costs, tokens


def _unlisted(category: str) -> list[tuple[str, int | str]]:
    """The words of a category that need no listing."""
    if category == "COLOR":
        return [(color + s, color) for color in COLORS for s in ("", "s") if color + s != "white"]
    return [(word, n) for n, word in enumerate({"NUMBER": NUMBERS, "ORDINAL": ORDINALS}.get(category, ())) if n]


COSTS, _TOKENS = read_lexicon((Path(__file__).parent / "lexicon.txt").read_text(encoding="utf-8"))
WORDS = tuple(_TOKENS)
"""Every word of the lexicon, including those without meaning."""


def read_tokens(text: str) -> list[LexiconToken]:
    """The words of a text that mean something, in order; case and articles do not matter."""
    text = _REMARK.sub("", _NUMBERED.sub("", text.lower()))
    for pattern, spelled in _SPELLED:
        text = pattern.sub(spelled, text)
    return [token for word in _TOKEN.findall(text) if (token := _read(word)).category != _SKIPPED]


def _read(word: str) -> LexiconToken:
    if digits := _DIGITS.fullmatch(word):
        return LexiconToken("ORDINAL" if digits[2] else "NUMBER", word, int(digits[1]))
    if word == "\n":
        return _TOKENS["."]._replace(word=word)
    return _TOKENS.get(word) or LexiconToken("UNKNOWN", word, word)


def list_numbers(tokens: list[LexiconToken]) -> list[int]:
    """The numbers of a list such as "2, 4 and 6 through 8"; a range that does not rise stands for its two ends."""
    numbers: list[int] = []
    through = False
    for token in tokens:
        if isinstance(token.value, int):
            rises = through and numbers and numbers[-1] < token.value <= 18
            numbers += range(numbers[-1] + 1, token.value + 1) if rises else [token.value]
        through = token.category in ("THROUGH", "TO")
    return numbers
