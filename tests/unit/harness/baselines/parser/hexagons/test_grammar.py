"""The parser's lexicon and grammar: every phrase and rule is used for its example, and an invalid line is named."""

import re
from importlib.resources import files

import pytest

from harness.baselines.parser.hexagons.grammar import GRAMMAR, read_grammar
from harness.baselines.parser.hexagons.lexicon import read_lexicon
from harness.baselines.parser.hexagons.meaning import OF_PARTS, OF_WORDS
from harness.baselines.parser.hexagons.memory import Memory
from harness.baselines.parser.hexagons.ranker import RankReader

RANKER = RankReader({})
EXAMPLES = re.findall(
    r"(?m)^ *-?[0-9.]+ +([a-z_]+: .+)\n +(.+)$", files("harness.baselines.parser.hexagons").joinpath("grammar.txt").read_text()
)


@pytest.mark.parametrize(("line", "example"), EXAMPLES, ids=[line for line, _ in EXAMPLES])
def test_a_line_of_the_grammar_is_used_for_its_example(line: str, example: str) -> None:
    memory, *steps = Memory(), *example.split(" | ")
    for step in steps[:-1]:
        memory = RANKER.understand(step, memory).memory
    assert line in RANKER.understand(steps[-1], memory).reading.rules


def test_every_line_stands_once_with_an_example_and_every_function_of_meaning_is_used() -> None:
    names = [*(phrase.name for phrase in GRAMMAR.phrases), *(rule.name for rule in GRAMMAR.rules)]
    assert names == [line for line, _ in EXAMPLES]
    assert len(set(names)) == len(names)
    assert OF_WORDS.keys() | OF_PARTS.keys() <= {name.rpartition("-> ")[2].partition("(")[0] for name in names}


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (" 0.0  columns: COLUMN -> all(NUMBR)", "no category is called 'NUMBR'"),
        ("[rules]\n 0.0  region: tiles columns -> cross(tiles, rows)", "'rows' is not among the parts"),
    ],
)
def test_a_line_that_is_wrong_is_named(line: str, said: str) -> None:
    with pytest.raises(ValueError, match=re.escape(said)) as raised:
        read_grammar(f"[phrases]\n{line}")
    assert f"line {2 + line.count(chr(10))}" in str(raised.value)


def test_the_lexicon() -> None:
    costs, tokens = read_lexicon("# Things\nTILE 0.4: tile cell\n    spot\nCOLOR 1.0: pink=purple\nSKIPPED: the\n")
    assert costs == {"TILE": 0.4, "COLOR": 1.0}
    assert [tokens[word][::2] for word in ("spot", "pink", "reds")] == [("TILE", "spot"), ("COLOR", "purple"), ("COLOR", "red")]
    with pytest.raises(ValueError, match="in both TILE and CELL"):
        read_lexicon("TILE 0.4: tile\nCELL 0.4: tile\n")
