"""The parser's lexicon and grammar: every phrase and rule is used for its example, and an invalid line is named."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from harness.baselines.parser.hexagons.grammar import GRAMMAR, SYMBOLS, PhraseRule, Rule, read_grammar
from harness.baselines.parser.hexagons.lexicon import read_lexicon, read_tokens
from harness.baselines.parser.hexagons.meaning import OF_PARTS, OF_WORDS, PhraseMatch
from harness.baselines.parser.hexagons.memory import Memory
from harness.baselines.parser.hexagons.ranker import RankReader

RANKER = RankReader({})
LINES: list[PhraseRule | Rule] = [*GRAMMAR.phrases, *GRAMMAR.rules]


@pytest.mark.parametrize("line", LINES, ids=lambda line: line.name)
def test_a_line_of_the_grammar_is_used_for_its_example(line: PhraseRule | Rule) -> None:
    memory, *steps = Memory(), *line.example.split(" | ")
    for step in steps[:-1]:
        memory = RANKER.understand(step, memory).memory
    assert line.name in RANKER.understand(steps[-1], memory).reading.rules


def test_no_line_stands_twice() -> None:
    assert [name for name, times in Counter(line.name for line in LINES).items() if times > 1] == []


def test_every_function_of_meaning_is_used() -> None:
    meanings = {line.name.rpartition("-> ")[2].partition("(")[0] for line in LINES}
    assert OF_WORDS.keys() | OF_PARTS.keys() <= meanings


GIVEN = """
[parts]
joint = (AND|TO)+
numbers = NUMBER (joint NUMBER)*

[phrases]
 0.0  columns: COLUMN number=numbers not_before(TILE) -> select
 0.0  steps: [ALL] STEP NUMBER -> steps(NUMBER, all)
 0.0  rows: after(COLUMN|TO ROW) (other_than(COLOR) | end) -> rows

[rules]
-0.5  columns: columns AND columns -> both_columns(columns, columns)
 0.2  frame: steps no AND columns -> frame + columns + steps
      Nothing of the kind.
"""


def symbols(categories: str) -> str:
    return "".join(SYMBOLS[category] for category in categories.split())


def test_the_notation_of_patterns() -> None:
    columns, _, rows = (phrase.pattern for phrase in read_grammar(GIVEN).phrases)
    assert columns.fullmatch(symbols("COLUMN NUMBER AND TO NUMBER"))
    assert not columns.fullmatch(symbols("COLUMN NUMBER AND"))
    assert not columns.search(symbols("COLUMN NUMBER TILE"))
    assert rows.search(symbols("COLUMN NUMBER"))
    assert rows.search(symbols("TO ROW"))
    assert not rows.search(symbols("COLUMN COLOR"))


def test_the_notation_of_meanings() -> None:
    grammar = read_grammar(GIVEN)
    tokens = read_tokens("columns 2, 4 and 6 of all steps 3")
    said = [
        PhraseMatch(match, tokens)
        for phrase in grammar.phrases[:2]
        if (match := phrase.pattern.search(symbols(" ".join(token.category for token in tokens))))
    ]
    assert [word.word for word in said[0].role("number")] == ["2", ",", "4", "and", "6"]
    assert said[1].role("number") == []
    columns, steps = (phrase.means(one) for phrase, one in zip(grammar.phrases, said, strict=False))
    assert str(columns) == "(at 2,4,6 )"
    assert str(steps) == "(steps 3 all)"
    both, frame = grammar.rules
    assert (both.joined, both.together, both.score, both.example) == (True, False, -0.5, "")
    assert (frame.joined, frame.together, frame.example) == (False, True, "Nothing of the kind.")
    assert str(frame.means(steps, columns)) == "(frame (columns (at 2,4,6 )) (steps (steps 3 all)))"


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (" 0.0  columns: COLUM -> all", "no category and no part is called 'COLUM'"),
        (" 0.0  columns: (COLUMN -> all", "'(' is not closed"),
        (" 0.0  columns: COLUMN) -> all", "')' is unexpected here"),
        (" 0.0  columns: COLUMN side= -> all", "no category and no part is called 'side='"),
        (" 0.0  columns: COLUMN % -> all", "not in the notation"),
        (" 0.0  columns: COLUMN -> all(NUMBR)", "no category is called 'NUMBR'"),
        (" 0.0  columns: not_after(AND+) COLUMN -> all", "look-behind requires fixed-width pattern"),
        ("columns", "neither a part, a phrase, a rule nor an example"),
        ("[rules]\n 0.0  region: tiles columns -> cross(tiles, rows)", "'rows' is not among the parts"),
        ("[rules]\n 0.0  region: tiles columns rows -> tiles", "a rule has one or two parts"),
    ],
)
def test_a_line_that_is_wrong_is_named(line: str, said: str) -> None:
    with pytest.raises(ValueError, match=re.escape(said)) as raised:
        read_grammar(f"[phrases]\n{line}")
    assert f"line {2 + line.count(chr(10))}" in str(raised.value)


def test_the_lexicon() -> None:
    costs, tokens = read_lexicon("# Things\nTILE 0.4: tile cell\n    spot\nCOLOR 1.0: pink=purple\nSKIPPED: the\n")
    assert costs == {"TILE": 0.4, "COLOR": 1.0}
    assert {word: (token.category, token.value) for word, token in tokens.items() if word in ("spot", "pink", "reds", "the")} == {
        "spot": ("TILE", "spot"), "pink": ("COLOR", "purple"), "reds": ("COLOR", "red"), "the": ("SKIPPED", "the")
    }  # fmt: skip
    with pytest.raises(ValueError, match="'tile' is in both TILE and CELL"):
        read_lexicon("TILE 0.4: tile\nCELL 0.4: tile\n")
    with pytest.raises(ValueError, match="not `NAME cost: words`"):
        read_lexicon("TILE tile\n")
