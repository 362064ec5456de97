"""The commands shown in README.md and docs/, split as by a shell."""

import re
import shlex
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.helpers import ROOT

PAGES = (
    *(page for page in (ROOT / "README.md", ROOT / "CONTRIBUTING.md") if page.is_file()),
    *sorted((ROOT / "docs").rglob("*.md")),
)
"""The pages that show commands."""

_FENCE = re.compile(r" *(`{3,}|~{3,})")
_SPAN = re.compile(r"(?<!`)`(harness [^`]+)`(?!`)")
_BLOCK = re.compile(r"(?:\w+=\S* +)*(?:harness|echo) |.*\| *harness |torchrun .* -m harness\.cli (?!.*\.\.\.$)")
_EXAMPLE = re.compile(r"^( *)```(\w*)\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Shown:
    """A line of a page's code block, continued lines joined, or (`in_text`) a code span that begins with `harness`."""

    page: Path
    line: int
    text: str
    in_text: bool = False

    def __str__(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}: {self.text}"


@dataclass(frozen=True)
class Command:
    """A command's words, its input from an `echo`, and the file for its output."""

    words: tuple[str, ...]
    typed: str = ""
    out: str | None = None


def shown(page: Path, text: str) -> Iterator[Shown]:
    """The lines with commands in a page's code blocks, and the code spans of commands in its text."""
    fence, held, first = "", "", 0
    for number, line in enumerate(text.splitlines(), start=1):
        mark = _FENCE.match(line)
        if mark and fence in ("", mark[1]):
            fence, held = "" if fence else mark[1], ""
        elif fence:
            held, first = (f"{held} {line.strip()}", first) if held else (line.strip().removeprefix("$ "), number)
            if held.endswith("\\"):
                held = held[:-1].rstrip()
                continue
            if _BLOCK.match(held):
                yield Shown(page, first, held)
            held = ""
        else:
            yield from (Shown(page, number, span[1], in_text=True) for span in _SPAN.finditer(line))


def blocks(page: Path) -> Iterator[tuple[str, str]]:
    """The code blocks of a page: language (empty: commands) and text."""
    for match in _EXAMPLE.finditer(page.read_text()):
        yield match[2], textwrap.dedent(match[3])


def commands(text: str) -> list[Command]:
    """The commands of a line, comments left out. Raises ValueError for a quote that is not closed."""
    lexer = shlex.shlex(text, posix=True, punctuation_chars="|&;>")
    lexer.whitespace_split = True
    found: list[Command] = []
    words: list[str] = []
    typed = ""
    for word in [*lexer, ";"]:
        if not set(word) <= set("|&;"):
            words.append(word)
            continue
        out = words[words.index(">") + 1] if ">" in words else None
        own = words[: words.index(">")] if ">" in words else words
        while own and re.match(r"[A-Za-z_]\w*=", own[0]):
            own = own[1:]
        if own[:1] == ["torchrun"]:
            own = ["harness", *own[own.index("harness.cli") + 1 :]]
        if own:
            found.append(Command(tuple(own), typed, out))
        typed = " ".join(own[1:]) + "\n" if word == "|" and own[:1] == ["echo"] else ""
        words = []
    return found
