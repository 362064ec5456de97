"""What all formats share: constraints, the parsers' result, and finding and scanning the answer in a chat model's reply."""

import json
import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

from serialization.formats.thoughts import without_thoughts

MAX_CHARS = 100_000
"""Characters of an answer beyond this many are discarded unread; the longest gold answer of any task has under 2,000."""

NOTHING = "none"
"""The text formats write an empty list of actions this way because some endpoints refuse an empty answer."""

BLANK, GAP, NUMBER = r"[ \t]{0,4}", r"[ \t]{1,4}", r"(-?\d{1,6})"
"""Pieces of the formats' patterns; the group holds the number."""

THOUGHT, EXPLANATION, OUTSIDE = "thought", "explanation", "outside the code block"
_AROUND = frozenset({THOUGHT, EXPLANATION, OUTSIDE})
"""Reasons for discarding pieces around an answer. An answer that loses nothing else was read completely."""

_ANSWER_TAG = re.compile(
    r"</?(?:answer|output|response)>|<\|(?:START|END)_(?:RESPONSE|TEXT)\|>|<\|(?:open|close)\|>response<\|sep\|>|<\|(?:end|return)\|>",
    re.IGNORECASE,
)
_FOREIGN = re.compile(r"[^\x00-\x7f]")
_ASCII = str.maketrans("−×、“”„‟«»″‘’‚‛‹›′", "-x," + '"' * 7 + "'" * 7)
_FENCE = re.compile(r"`{3,}")
_LANGUAGE = re.compile(r"[ \t]{0,4}[\w+-]{0,20}[ \t]{0,4}\r?\n")
_MARKUP = re.compile(r"\*\*|`")

_NOUN = "(?:answer|output|response|result|solution|actions?|program|code|drawing|steps?|moves?)"
_SURE = r"(?:(?:sure|certainly|of course|okay|ok|yes|great)[,.!]?[ \t]{1,4})?"
_LABEL = (
    rf"{_SURE}(?:here(?:'s| is| are)[^\n:]{{0,80}}:"
    rf"|(?:the |my )?(?:final |correct )?(?:{_NOUN}(?: \d{{1,3}})?(?: is| are)?(?: as follows)?[ \t]{{0,2}}:|answer is(?=[ \t])))"
)
_MARK = r"(?:[*+•-][ \t]{1,4}|\d{1,3}[.)](?![\d.])[ \t]{0,4})?"
_LEAD = re.compile(
    rf"[ \t>]{{0,20}}{_MARK}(?:(?:#{{1,6}}[ \t]{{1,4}})?{_LABEL}[ \t]{{0,20}}{_MARK})?[ \t]{{0,20}}", re.IGNORECASE
)
_EXPLANATION = re.compile(r"\n[ \t>#*-]{0,8}(?:explanation|reasoning|rationale|notes?)[ \t]{0,2}(?::|\r?\n|$)", re.IGNORECASE)
_ANSWER = re.compile(r"\n[ \t>#*-]{0,8}(?:the |my )?(?:final )?(?:answer|output)\b", re.IGNORECASE)

_SEPARATORS = " \t\r\n,;.()[]\"'"
_WORD = re.compile("[A-Za-z]{2,}")
_REMARK = re.compile(r"#|//|I\b")
_JOINTS = {"", NOTHING, "and", "then", "and then"}


@dataclass(frozen=True, slots=True)
class Constraint:
    """A regular expression (no look-around, matched against the whole answer), a JSON Schema as JSON text, or a GBNF grammar."""

    kind: Literal["regex", "json", "grammar"]
    value: str

    def after(self, opening: str) -> "Constraint":
        """The constraint for answers that begin with the blanks of `opening`; schemas and grammars stay as they are."""
        if not opening or self.kind != "regex":
            return self
        blanks = opening.replace("\n", r"\n").replace("\t", r"\t")
        return replace(self, value=f"{blanks}({self.value})")


class Discarded(NamedTuple):
    """A piece of the text that did not become an action (at most 80 characters of it), and why."""

    text: str
    reason: str


class Parsed(NamedTuple):
    """The actions a text asks for, in the order of the text unless the format sorts them, and the discarded pieces."""

    actions: tuple[Any, ...]
    discarded: tuple[Discarded, ...]


class AnswerText(NamedTuple):
    """The part of a text that may be an answer, without its markup, and the discarded pieces around it."""

    text: str
    discarded: tuple[Discarded, ...]


def discard(text: str, reason: str) -> Discarded:
    """A discarded piece; of a long text, its beginning."""
    return Discarded(text if len(text) <= 80 else text[:77] + "...", reason)


def losses(discarded: Iterable[Sequence[str]]) -> frozenset[str]:
    """The reasons why pieces of an answer (text, reason) were discarded, except those that only concern text around it."""
    return frozenset(reason for _, reason in discarded) - _AROUND


def answer_in(text: str) -> AnswerText:
    """The answer without thoughts, code fences, bold type and back-ticks, and without the explanation that follows it.

    Typographic characters become those of ASCII. If there are code blocks, only their contents are the answer, and if it is a
    JSON string, its text. Total, and linear in the length of the text.
    """
    discarded: list[Discarded] = []
    text, thought, _ = without_thoughts(text)
    if thought:
        discarded.append(discard(thought, THOUGHT))
    if "<" in text:
        text = _ANSWER_TAG.sub("\n", text)
    if len(text) > MAX_CHARS:
        discarded.append(discard(text[MAX_CHARS:], f"beyond the first {MAX_CHARS:,} characters"))
        text = text[:MAX_CHARS]
    if "```" in text:
        text = _in_fences(text, discarded)
    if "`" in text or "**" in text:
        text = _MARKUP.sub("", text)
    text = _FOREIGN.sub(_ascii, _unwrapped(text))
    if "\n" in text:
        text = _without_explanation(text, discarded)
    return AnswerText(text, tuple(discarded))


def _ascii(match: re.Match[str]) -> str:
    """The ASCII for a minus sign, a dash, a blank, a quote, a full-width form or a digit of any script; nothing for an invisible
    character; any other character itself."""
    char, kind = match[0], unicodedata.category(match[0])
    if kind == "Nd":
        return str(unicodedata.decimal(char))
    if unicodedata.decomposition(char).startswith(("<wide>", "<small>")):
        return unicodedata.normalize("NFKC", char)
    return {"Zs": " ", "Zl": "\n", "Zp": "\n", "Pd": "-", "Cf": ""}.get(kind, char.translate(_ASCII))


def _unwrapped(text: str) -> str:
    """The text in a JSON string, or in an object that holds one string; any other text as it is. The end may be cut off."""
    for end in ("", '"', '"}') if text.lstrip().startswith(('"', "{")) else ():
        with suppress(ValueError, RecursionError):
            value = json.loads(text + end, strict=False)
            inner = next(iter(value.values())) if isinstance(value, dict) and len(value) == 1 else value
            return inner if isinstance(inner, str) else text
    return text


def _in_fences(text: str, discarded: list[Discarded]) -> str:
    """The contents of the code blocks. If there is a single fence, or all blocks are empty, only the fences are removed."""
    parts = _FENCE.split(text)
    blocks = [_without_language(part) for part in parts[1::2]]
    if len(parts) < 3 or not any(block.strip() for block in blocks):
        return "\n".join([parts[0], *(_without_language(part) for part in parts[1:])])
    discarded += [
        discard(part.strip(), "outside the code block") for part in parts[::2] if part.strip() and undecorated(part).strip()
    ]
    return "\n".join(blocks)


def _without_language(block: str) -> str:
    """The block without the name of a language on its first line, unless nothing follows the name."""
    language = _LANGUAGE.match(block)
    return block[language.end() :] if language and block[language.end() :].strip() else block


def _without_explanation(text: str, discarded: list[Discarded]) -> str:
    """The text before the heading of an explanation, unless that text is empty or an answer is announced further down."""
    heading = _EXPLANATION.search(text)
    if heading is None or not text[: heading.start()].strip() or _ANSWER.search(text, heading.end() - 1):
        return text
    discarded.append(discard(text[heading.start() :].strip(), EXPLANATION))
    return text[: heading.start()]


def undecorated(line: str) -> str:
    """A line without its bullet or its number in a list, and without a label such as "Answer:"."""
    lead = _LEAD.match(line)
    return line[lead.end() :] if lead else line


def scan(text: str, pattern: re.Pattern[str], read: Callable[[re.Match[str]], Any]) -> Parsed:
    """Read every match of `pattern` from left to right; `read` returns an action, or the reason why there is none.

    Matches inside sentences count only if no line begins with a match or says that there is nothing to do. Text between the
    matches is reported as discarded unless it consists of separators, bullets and labels. The time is linear in the length of
    the text if `pattern` is: bound its repetitions and let it start at word boundaries only.
    """
    answer = answer_in(text)
    text = answer.text
    pieces: list[tuple[re.Match[str], bool] | Discarded] = []
    end, plain, stated = 0, True, False
    for match in pattern.finditer(text):
        gap = text[end : match.start()]
        if gap not in ("", ", ", "\n"):
            _, newline, lead = gap.rpartition("\n")
            if not _is_lead(lead):
                plain = False
            elif newline or end == 0:
                plain = True
            stated = _between(gap, pieces) or stated
        elif gap == "\n":
            plain = True
        end, stated = match.end(), stated or plain
        pieces.append((match, plain))
    stated = _between(text[end:], pieces) or stated
    return _judged(answer, pieces, stated, read)


def _is_lead(lead: str) -> bool:
    """Whether an answer may follow this beginning of a line, so that a match after it is not inside a sentence."""
    rest = undecorated(lead).strip(_SEPARATORS)
    if _REMARK.match(rest):
        return False
    # A single word is a broken piece of an answer rather than the beginning of a sentence.
    return rest.lower() in _JOINTS or (len(rest) <= 80 and rest.endswith(":")) or len(_WORD.findall(rest[:200])) < 2


def _between(gap: str, pieces: list[Any]) -> bool:
    """Discard anything but separators, and return whether a line of the gap says that there is nothing to do."""
    if not gap.strip(_SEPARATORS):
        return False
    rests = [undecorated(line).strip(_SEPARATORS).lower() for line in gap.split("\n")]
    if not all(rest in _JOINTS for rest in rests):
        pieces.append(discard(gap.strip(_SEPARATORS), "not an action"))
    return NOTHING in rests


def _judged(answer: AnswerText, pieces: list[Any], stated: bool, read: Callable[[re.Match[str]], Any]) -> Parsed:
    actions: list[Any] = []
    discarded = list(answer.discarded)
    for piece in pieces:
        if isinstance(piece, Discarded):
            discarded.append(piece)
            continue
        match, plain = piece
        result = read(match) if plain or not stated else "inside a sentence"
        if isinstance(result, str):
            discarded.append(discard(match.group(), result))
        else:
            actions.append(result)
    return Parsed(tuple(actions), tuple(discarded))
