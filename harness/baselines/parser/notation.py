"""The shared notation of both tasks' language files: word entries, and category patterns that become regular expressions.

Each task's grammar.txt explains how patterns are written.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TypeVar

Line = TypeVar("Line")
_SECTION = re.compile(r"\[(parts|phrases|rules)\]")
_PART = re.compile(r"([a-z_]+) = (.+)")
_ENTRY = re.compile(r"(\S+)(?: ([0-9.]+))?:(?: (.*))?")


def entries(text: str) -> Iterator[tuple[str, float, list[tuple[str, str]]]]:
    """The entries of a lexicon, `NAME cost: word word=value`: name, cost (0 if none is given), and words with their values,
    which are empty if none are given. Raises ValueError for a line that is not an entry."""
    lines = re.sub(r"(?m)^#.*\n", "", text).replace("\n    ", " ").splitlines()
    for line in filter(None, lines):
        entry = _ENTRY.fullmatch(line)
        if not entry:
            raise ValueError(f"not `NAME cost: words`: {line!r}")
        listed = (word.partition("=") for word in (entry[3] or "").split())
        yield entry[1], float(entry[2] or 0), [(word, value) for word, _, value in listed]


def read_lines(text: str, symbols: Mapping[str, str], read: Callable[[str, str, Mapping[str, str]], Line | None]) -> list[Line]:
    """The phrases and rules of a grammar. Indented lines below them are examples, which only tests read.

    `read` gets a line, the name of its section and the regular expressions of the parts above it, and returns None for a line
    that is neither a phrase nor a rule. Raises a ValueError that names the first invalid line.
    """
    parts: dict[str, str] = {}
    lines: list[Line] = []
    section = ""
    for number, line in enumerate(text.splitlines(), 1):
        try:
            if header := _SECTION.fullmatch(line):
                section = header[1]
            elif (entry := read(line, section, parts)) is not None:
                lines.append(entry)
            elif part := _PART.fullmatch(line):
                parts[part[1]] = pattern_regex(part[2], symbols, parts)
            elif line and not line.startswith(("#", " ")):
                raise ValueError("neither a part, a phrase, a rule nor an example")
        except (ValueError, re.error) as error:
            raise ValueError(f"line {number}, {line.strip()!r}: {error}") from None
    return lines


def symbols(names: Iterable[str]) -> dict[str, str]:
    """One character per name; none of them has a special meaning in regular expressions."""
    return {name: chr(0x4E00 + n) for n, name in enumerate(names)}


_TOKEN = re.compile(r"\s*(?:([a-z]+)=)?(other_than\([A-Z_|]+\)|(?:not_)?(?:before|after)\(|[A-Z_]+|[a-z_]+|[][()|+*])")
_WRITTEN = {
    "(": "(?:",
    "[": "(?:",
    "]": ")?",
    "before(": "(?=",
    "not_before(": "(?!",
    "after(": "(?<=",
    "not_after(": "(?<!",
    "start": "^",
    "end": "$",
    **{sign: sign for sign in ")|+*"},
}
"""The regular expressions of the notation's own words. The alternatives of a lookbehind must have the same length."""


def pattern_regex(pattern: str, symbols: Mapping[str, str], parts: Mapping[str, str]) -> str:
    """The regular expression of a pattern, over the characters of categories; `parts` has the regular expressions of other
    patterns by name. Raises ValueError for an unknown name, and for what is not in the notation."""
    known = {**symbols, **_WRITTEN, **{name: f"(?:{part})" for name, part in parts.items()}}

    def written(token: re.Match[str]) -> str:
        role, word = token.groups()
        names = word.removeprefix("other_than(").removesuffix(")").split("|") if word.startswith("other_than(") else [word]
        if unknown := [name for name in names if name not in known]:
            raise ValueError(f"no category and no part is called {unknown[0]!r}")
        regex = known[word] if word in known else f"[^{''.join(symbols[name] for name in names)}]"
        return f"(?P<{role}>{'' if word == '(' else f'{regex})'}" if role else regex

    if left := _TOKEN.sub("", pattern).strip():
        raise ValueError(f"{left!r} is not in the notation")
    return _TOKEN.sub(written, pattern).strip()
