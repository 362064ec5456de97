"""The shared notation of both tasks' language files: word entries, and category patterns that become regular expressions.

Each task's grammar.txt explains how patterns are written.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TypeVar

Line = TypeVar("Line")
_SECTION = re.compile(r"\[(parts|phrases|rules)\]")
_PART = re.compile(r"([a-z_]+) = (.+)")
_EXAMPLE = re.compile(r"\s+(\S.*)")
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


def read_lines(
    text: str, symbols: Mapping[str, str], read: Callable[[str, str, Mapping[str, str]], Line | None]
) -> list[tuple[Line, str]]:
    """The phrases and rules of a grammar, each with its example, which is empty if there is none.

    `read` gets a line, the name of its section and the regular expressions of the parts above it, and returns None for a line
    that is neither a phrase nor a rule. Raises a ValueError that names the first invalid line.
    """
    parts: dict[str, str] = {}
    lines: list[tuple[Line, str]] = []
    section = ""
    for number, line in enumerate(text.splitlines(), 1):
        try:
            if header := _SECTION.fullmatch(line):
                section = header[1]
            elif (entry := read(line, section, parts)) is not None:
                lines.append((entry, ""))
            elif part := _PART.fullmatch(line):
                parts[part[1]] = pattern_regex(part[2], symbols, parts)
            elif lines and (example := _EXAMPLE.fullmatch(line)):
                lines[-1] = lines[-1][0], example[1]
            elif line and not line.startswith("#"):
                raise ValueError("neither a part, a phrase, a rule nor an example")
        except (ValueError, re.error) as error:
            raise ValueError(f"line {number}, {line.strip()!r}: {error}") from None
    return lines


def symbols(names: Iterable[str]) -> dict[str, str]:
    """One character per name; none of them has a special meaning in regular expressions."""
    return {name: chr(0x4E00 + n) for n, name in enumerate(names)}


def pattern_regex(pattern: str, symbols: Mapping[str, str], parts: Mapping[str, str]) -> str:
    """The regular expression of a pattern, over the characters of categories; `parts` has the regular expressions of other
    patterns by name. Raises ValueError for a pattern that breaks the notation."""
    return _Pattern(pattern, symbols, parts).regex()


_WORDS = re.compile(r"\s*((?:not_)?(?:before|after)\(|other_than\(|[a-z]+=|[A-Z_]+|[a-z_]+|[][()|+*])")


class _Pattern:
    """Reads a pattern from left to right."""

    def __init__(self, pattern: str, symbols: Mapping[str, str], parts: Mapping[str, str]) -> None:
        self._left = _WORDS.findall(pattern)
        if "".join(self._left) != pattern.replace(" ", ""):
            raise ValueError("not in the notation")
        self._symbols = symbols
        self._parts = parts

    def regex(self) -> str:
        expression = self._choice()
        if self._left:
            raise ValueError(f"{self._left[0]!r} is unexpected here")
        return expression

    def _choice(self) -> str:
        return _either(self._ways())

    def _ways(self) -> list[str]:
        """The alternatives up to a closing bracket or the end."""
        ways = [""]
        while self._left and self._left[0] not in (")", "]"):
            if self._left[0] == "|":
                self._left.pop(0)
                ways.append("")
            else:
                ways[-1] += self._piece()
        return ways

    def _piece(self) -> str:
        atom = self._atom(self._left.pop(0))
        if self._left[:1] in (["+"], ["*"]):
            return f"(?:{atom}){self._left.pop(0)}"
        return atom

    def _atom(self, word: str) -> str:
        if word in self._symbols:
            return self._symbols[word]
        if word in self._parts:
            return f"(?:{self._parts[word]})"
        if word in ("start", "end"):
            return "^" if word == "start" else "$"
        if word.endswith("=") and self._left:
            return f"(?P<{word[:-1]}>{self._atom(self._left.pop(0))})"
        if word not in _GROUPS or not self._left:
            raise ValueError(f"no category and no part is called {word!r}")
        ways = self._ways()
        if self._left[:1] != ["]" if word == "[" else ")"]:
            raise ValueError(f"{word!r} is not closed")
        self._left.pop(0)
        return _GROUPS[word](ways)


def _either(ways: list[str]) -> str:
    if len(ways) == 1:
        return ways[0]
    return f"[{''.join(ways)}]" if all(len(way) == 1 for way in ways) else f"(?:{'|'.join(ways)})"


_GROUPS: dict[str, Callable[[list[str]], str]] = {
    "(": _either,
    "[": lambda ways: f"(?:{_either(ways)})?",
    "before(": lambda ways: f"(?={'|'.join(ways)})",
    "not_before(": lambda ways: f"(?!{'|'.join(ways)})",
    "after(": lambda ways: _either([f"(?<={way})" for way in ways]),
    "not_after(": lambda ways: "".join(f"(?<!{way})" for way in ways),
    "other_than(": lambda ways: f"[^{''.join(ways)}]",
}
"""The regular expression of a group's alternatives, by its opening word. A lookbehind must have a fixed width, so each
alternative gets its own."""
