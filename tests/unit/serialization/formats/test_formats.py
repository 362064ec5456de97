import json
import re
from collections.abc import Sequence
from operator import itemgetter
from pathlib import Path
from typing import Any, get_args

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from harness.worlds import World, hexagons, minecraft
from harness.worlds.hexagons import canonical
from serialization.formats import Format, formats_in, get_format
from serialization.formats.answer import MAX_CHARS, losses

ALL = [form for world in get_args(World) for form in formats_in(world).values()]
CASES = yaml.safe_load(Path(__file__).with_name("answers.yaml").read_text())
by_name = lambda f: f"{f.world}-{f.name}"  # noqa: E731

paints = st.lists(st.builds(hexagons.Paint, st.integers(0, 9), st.integers(0, 17), st.sampled_from(hexagons.COLORS)), max_size=60)
side, height = st.integers(-5, 5), st.integers(1, 9)
builds = st.lists(
    st.one_of(
        st.builds(minecraft.Action, st.just("place"), st.sampled_from(minecraft.COLORS), side, height, side),
        st.builds(minecraft.Action, st.just("remove"), st.none(), side, height, side),
    ),
    max_size=60,
)


def actions_of(fmt: Format) -> st.SearchStrategy[Sequence[Any]]:
    return paints.map(canonical) if fmt.world == "hexagons" else builds


@pytest.mark.parametrize("fmt", ALL, ids=by_name)
@given(data=st.data())
def test_a_round_trip_is_exact_and_the_grammar_admits_what_is_written(fmt: Format, data: st.DataObject) -> None:
    actions = data.draw(actions_of(fmt))
    text, constraint = fmt.write(actions), fmt.constraint()
    assert fmt.parse(text) == (tuple(actions), ())
    if constraint.kind == "regex":
        assert re.fullmatch(constraint.value, text)
    elif constraint.kind == "grammar":
        testing = pytest.importorskip("xgrammar.testing")
        assert testing._is_grammar_accept_string(constraint.value, text)
    else:
        import jsonschema

        jsonschema.validate(json.loads(text), json.loads(constraint.value))


@pytest.mark.parametrize("fmt", ALL, ids=by_name)
@given(text=st.one_of(st.text(), st.text(alphabet="0123456789 -,;:[]()<>/*`#\n\"'=.redplacxyzknobluthi\0", max_size=300)))
def test_any_text_is_parsed_into_actions_of_the_world(fmt: Format, text: str) -> None:
    for action in fmt.parse(text).actions:
        if fmt.world == "hexagons":
            assert hexagons.on_board(action.row, action.column)
            assert action.color in hexagons.COLORS
        else:
            assert minecraft.in_region(*action.cell)
            assert action.color in minecraft.COLORS or (action.kind == "remove" and action.color is None)


@st.composite
def decorated(draw: st.DrawFn, text: str, other: str, task: str) -> str:
    """The text as a chat model writes it, with other actions in its thoughts and in its explanation after the answer."""
    bullet = draw(st.sampled_from(["", "- ", "* ", "  • ", "{n}. ", "{n}) ", "`"]))
    lines = [bullet.format(n=n) + line + ("`" if bullet == "`" else "") for n, line in enumerate(text.split("\n"), 1)]
    text = "\n".join(lines)
    if draw(st.booleans()):
        text = f"**{text}**"
    fence = draw(st.sampled_from(["", "```", "```text", "```python\n", "~"])).strip("~")
    if fence:
        text = f"{fence.strip()}\n{text}\n```"
    text = draw(st.sampled_from(["", *CASES["labels"]])) + ("\n" if fence else "") + text
    text += draw(st.sampled_from(["", *CASES["explanations"]])).format(other=other)
    thought: str = draw(st.sampled_from(["", *CASES["thoughts"]])).format(other=other)
    return draw(st.sampled_from(["", "\n", "  "])) + thought + text


def other_of(fmt: Format) -> str:
    other: dict[str, str] = CASES["other"]
    return other.get(fmt.name) or other[f"{fmt.world} {fmt.name.removeprefix('bare-')}"]


@pytest.mark.parametrize("fmt", ALL, ids=by_name)
@given(data=st.data())
def test_what_a_chat_model_writes_around_an_answer_changes_nothing(fmt: Format, data: st.DataObject) -> None:
    text = fmt.write(data.draw(actions_of(fmt)))
    wrapped = data.draw(decorated(text, other_of(fmt), fmt.world))
    assert fmt.parse(wrapped).actions == fmt.parse(text).actions, wrapped


@pytest.mark.parametrize("fmt", ALL, ids=by_name)
@pytest.mark.parametrize("thought", [*CASES["thoughts"], *CASES["families"]])
def test_a_thought_is_not_an_answer(fmt: Format, thought: str) -> None:
    other = other_of(fmt)
    gold = fmt.parse(other)
    assert gold.actions
    assert fmt.parse(f"<think>{'hm ' * MAX_CHARS}</think>{other}").actions == gold.actions
    assert fmt.parse(thought.format(other=other)).actions == ()
    read = fmt.parse(thought.format(other=f"{other} or {other}") + other)
    assert (read.actions, losses(read.discarded)) == (gold.actions, losses(gold.discarded))
    *marks, _ = thought.partition("{other}")
    # A thought that was cut off.
    assert not marks[0] or fmt.parse(marks[0] + other).actions == ()
    assert fmt.parse(f"{other}<|END_RESPONSE|>") == fmt.parse(f"{other}\n")


@st.composite
def typed(draw: st.DrawFn, text: str) -> str:
    """The text with typographic, full-width and invisible characters."""
    chosen = {char: draw(st.sampled_from(char + others)) for char, others in CASES["typed"].items()}
    wide = draw(st.booleans())
    typed = "".join(chosen.get(char) or (chr(ord(char) + 0xFEE0) if wide and "!" <= char <= "~" else char) for char in text)
    return draw(st.sampled_from(["", "\ufeff", "\u200b", "\u2060"])) + typed.replace(":", ":\u200b")


@pytest.mark.parametrize("fmt", ALL, ids=by_name)
@given(data=st.data())
def test_typographic_characters_change_nothing(fmt: Format, data: st.DataObject) -> None:
    text = fmt.write(data.draw(actions_of(fmt)))
    written = data.draw(typed(text))
    assert fmt.parse(written) == fmt.parse(text), written


@pytest.mark.parametrize("fmt", ALL, ids=by_name)
@given(data=st.data())
def test_an_answer_inside_a_json_string_is_read(fmt: Format, data: st.DataObject) -> None:
    text = fmt.write(data.draw(actions_of(fmt)))
    inside: Any = data.draw(typed(text) | st.just(text))
    inside = {"answer": inside} if data.draw(st.booleans()) else inside
    written = json.dumps(inside, ensure_ascii=data.draw(st.booleans()))
    fenced = f"```json\n{written}\n```" if data.draw(st.booleans()) else written
    assert fmt.parse(fenced) == fmt.parse(text), written


def test_a_json_string_that_is_cut_off_yields_the_actions_before_the_cut() -> None:
    whole = json.dumps({"thought": "red first", "actions": '[[0, 4, "red"], [1, 0, "blue"]]'})
    assert len(get_format("hexagons", "json").parse(whole[:-12]).actions) == 1
    assert len(get_format("hexagons", "grouped").parse('"red: 3 4\\nblue: 1 1\\ngr').actions) == 2


@pytest.mark.parametrize(
    ("name", "text", "meant"), [(name, *case) for name, cases in CASES["meant"].items() for case in cases.items()]
)
def test_what_chat_models_write(name: str, text: str, meant: str) -> None:
    fmt = get_format(*name.split())
    parsed = fmt.parse(text)
    assert parsed.actions == fmt.parse(meant).actions
    assert parsed.actions or parsed.discarded


MONSTERS = {
    "thoughts on thoughts": "<think>" * 100_000 + "</think>" * 100_000 + "x" * MAX_CHARS * 2,
    "endless labels": "Here is the answer: " * 10_000,
    "endless calls": "place(1,place('red'," * 10_000,
    "ten megabytes": "x" * 10_000_000,
    "a million open brackets": "[1" * 1_000_000,
    "numbers of 400 digits": f"{'9' * 400} 4 red; place red {'9' * 400} 1 0; red: {'9' * 400} 1; [[{'9' * 400}, 1, 'red']]",
    "NUL bytes": "\0" * 1000 + "1 \0 2 red",
    "ranges on ranges": "red: " + "0-999," * 10_000 + "0 " + "0-999," * 10_000 + "0",
    "a JSON string of monsters": '"' + "\\ud800\\n[" * 10_000,
    "10,000 parentheses": f"red {'(' * 10_000}3:4{')' * 10_000}",
    "10,000 braces": "repeat 3 {" * 10_000,
    "a long union": f"red {'1:1+' * 4_990}1:1",
    "a long chain of minus": f"red {'-' * 19_990}1",
    "every character": "".join(map(chr, range(0x80, 0x11000))),
}


@pytest.mark.parametrize("fmt", ALL, ids=by_name)
@pytest.mark.parametrize("text", MONSTERS.values(), ids=MONSTERS)
def test_monsters_yield_nothing_and_say_why(fmt: Format, text: str) -> None:
    parsed = fmt.parse(text)
    assert len(parsed.actions) <= 180
    assert len(text) <= MAX_CHARS or any("beyond the first" in d.reason for d in parsed.discarded)
    assert all(len(d.text) <= 80 for d in parsed.discarded)


@pytest.mark.parametrize("case", CASES["faulty"], ids=itemgetter("format"))
def test_what_is_read_and_what_is_discarded(case: dict[str, Any]) -> None:
    parsed = get_format(*case["format"].split()).parse(case["text"])
    assert len(parsed.actions) == case["actions"], parsed
    for piece, reason in zip(sorted(d.reason for d in parsed.discarded), sorted(case["discarded"]), strict=True):
        assert piece.startswith(reason)


@pytest.mark.parametrize("name", CASES["ungrammatical"])
def test_the_grammar_refuses_what_is_wrong(name: str) -> None:
    grammar = get_format(*name.split()).constraint().value
    assert [text for text in CASES["ungrammatical"][name] if re.fullmatch(grammar, text)] == []
