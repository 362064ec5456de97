import json
import re
from collections.abc import Sequence
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.worlds import World, hexagons, minecraft
from harness.worlds.hexagons import canonical
from serialization.formats import Format, formats_in, get_format
from serialization.formats.answer import MAX_CHARS, losses

ALL = [form for world in get_args(World) for form in formats_in(world).values()]
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


LABELS = ["Answer: ", "Output:\n", "**Answer:**\n", "Here is the answer:\n", "Sure! Here are the actions:\n\n", "The answer is: "]
THOUGHTS = ["<think>{other}</think>\n\n", "{other}\n</think>", "<THINKING>{other}</THINKING>"]
FAMILIES = [
    "<seed:think>{other}</seed:think>", "<mm:think>\n{other}\n</mm:think>\n\n", "[THINK]{other}[/THINK]", "{other}[/THINK]",
    "◁think▷{other}◁/think▷", "<|open|>think<|sep|>{other}<|close|>think<|sep|><|open|>response<|sep|>",
    "<|START_THINKING|>{other}<|END_THINKING|><|START_RESPONSE|>", "<|channel>thought\n{other}<channel|>",
    "<|channel|>analysis<|message|>{other}<|end|><|start|>assistant<|channel|>final<|message|>",
    "<|channel|>commentary<|message|>{other}<|end|><|start|>assistant<|channel|>final <|constrain|>json<|message|>",
    "analysisWe need {other}.assistantfinal", "analysisHm.assistantcommentary{other}assistantfinal",
]  # fmt: skip
EXPLANATIONS = [
    "\n\nThis is what the instruction asks for, not {other}.",
    "\n\n**Explanation:**\n- {other}\n",
    "\nNote: {other}",
    "\n\nI left out `{other}`.",
]


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
    text = draw(st.sampled_from(["", *LABELS])) + ("\n" if fence else "") + text
    text += draw(st.sampled_from(["", *EXPLANATIONS])).format(other=other)
    thought = draw(st.sampled_from(["", *THOUGHTS])).format(other=other)
    return draw(st.sampled_from(["", "\n", "  "])) + thought + text


OTHER = {
    "triplets": "9 17 white", "grouped": "white: 18 10", "lines": "pick 5 9 5", "calls": "pick(x=5,y=9,z=5)",
    ("hexagons", "json"): '[9, 17, "white"]',
    ("hexagons", "tools"): '{"name": "paint", "arguments": {"color": "white", "column": 18, "row": 10}}',
    ("minecraft", "tools"): '{"name": "remove", "arguments": {"x": 5, "y": 9, "z": 5}}',
    ("minecraft", "json"): '["remove", null, 5, 9, 5]', ("hexagons", "program"): "white 18:10",
    ("minecraft", "program"): "remove 5,9,5",
}  # fmt: skip


def other_of(fmt: Format) -> str:
    return OTHER.get(fmt.name) or OTHER[fmt.world, fmt.name.removeprefix("bare-")]


@pytest.mark.parametrize("fmt", ALL, ids=by_name)
@given(data=st.data())
def test_what_a_chat_model_writes_around_an_answer_changes_nothing(fmt: Format, data: st.DataObject) -> None:
    text = fmt.write(data.draw(actions_of(fmt)))
    wrapped = data.draw(decorated(text, other_of(fmt), fmt.world))
    assert fmt.parse(wrapped).actions == fmt.parse(text).actions, wrapped


@pytest.mark.parametrize("fmt", ALL, ids=by_name)
@pytest.mark.parametrize("thought", [*THOUGHTS, *FAMILIES])
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


TYPED = {
    "-": "\u2010\u2011\u2012\u2013\u2212\ufe63\uff0d",
    " ": "\u00a0\u2002\u2003\u2007\u2009\u200a\u202f\u205f\u3000",
    '"': "\u201c\u201d\u201e\u2033\uff02",
    "'": "\u2018\u2019\u201a\u2032\uff07",
    ",": "\uff0c\u3001\ufe50",
    "x": "\u00d7\uff58",
    "\n": "\n\u2028\u2029",
    **{digit: chr(0xFF10 + n) + chr(0x0660 + n) + chr(0x1D7CE + n) for n, digit in enumerate("0123456789")},
}
"""Characters that models write in place of those of ASCII."""


@st.composite
def typed(draw: st.DrawFn, text: str) -> str:
    """The text with typographic, full-width and invisible characters."""
    chosen = {char: draw(st.sampled_from(char + others)) for char, others in TYPED.items()}
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


CHAT: dict[tuple[str, str], dict[str, str]] = {
    ("hexagons", "triplets"): {
        "(0, 4, red), (1, 0, 'blue')": "0 4 red, 1 0 blue",
        "red: 0 4 blue: 1 0": "none",
        "1.0 4 red": "none",
    },
    ("hexagons", "grouped"): {
        "red: columns 3 to 5 and rows 1 to 10": "red: 3-5 1-10",
        "* **red**:\n  * 3 4\n  * 5 6": "red: 3 4; 5 6",
        "red: (3,4) (5,6)": "none",
        "red: columns 3 columns 4": "none",
        "blue: 1 1\nNow the red ones:\n3 4": "blue: 1 1",
        "Here is red: 3 4": "none",
    },
    ("minecraft", "lines"): {
        "Place a red block at (0, 1, 0).": "place red 0 1 0",
        "place red at x=0, y=1, z=-5": "place red 0 1 -5",
        "place red 0 1 0.5\nplace red 0 1 0-3\nplace 5 red blocks at (0, 1, 0)": "none",
    },
    ("minecraft", "calls"): {
        "place('red', 0, y=1, z=2)": "place(color='red',x=0,y=1,z=2)",
        "pick(0, 1, 0); pick( x = 0, y = 2, z = 0 )": "pick(x=0,y=1,z=0)\npick(x=0,y=2,z=0)",
        "```python\nbuilder.pick(0, 1, 0)\n```": "pick(x=0,y=1,z=0)",
        "pick(0, 1)\npick(0, 1, 0, 2)\npick(z=0, 1, 2)\npick(0, x=1, y=1)\npick(x, 1, 0)\npick(0, 1, 'red')": "none",
        "place(0, 1, 0)\nplace('red', 'blue', 0, 1, 0)\nplace(color=0, x=1, y=1, z=0)\nplace(xy=0, 1, 0)": "none",
    },
    ("hexagons", "json"): {"Answer: [[0, 4, 'red']]": '[[0, 4, "red"]]'},
    ("minecraft", "json"): {"[['remove', None, 0, 1, 0]]": '[["remove", null, 0, 1, 0]]'},
}


@pytest.mark.parametrize(
    ("task", "name", "text", "meant"), [(*key, text, meant) for key, cases in CHAT.items() for text, meant in cases.items()]
)
def test_what_chat_models_write(task: str, name: str, text: str, meant: str) -> None:
    fmt = get_format(task, name)
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


OUTSIDE, UNREAD = "outside the build region", "not an action"
READ: list[tuple[str, str, str, int, list[str]]] = [
    ("hexagons", "triplets", "Sure! 0 4 RED, 12 3 red, 1 1 pink.", 1, [UNREAD, "off the board", "unknown color"]),
    ("hexagons", "triplets", "0 4 red, 0 4 blue", 1, []),
    ("hexagons", "grouped", "3 4; pink: 1 1; red: 18-20 10-12", 1, ["no color", "partly off the board", "unknown color"]),
    ("hexagons", "grouped", "red: 5-3 1", 3, []),
    ("hexagons", "json", '[[0, 4, "red"], [0, 5, "bl', 1, [UNREAD]),
    ("hexagons", "json", '[[0, 4, "red"], [10, 5, "blue"], [NaN, 1, "red"]]', 1, [UNREAD] * 2),
    ("minecraft", "lines", "place red 0 1 0 place blue 6 1 0\nplace pink 0 1 0\nhm", 1, [UNREAD, OUTSIDE, "unknown color"]),
    ("minecraft", "calls", 'place( color = "red", x = 0, y = 1, z = -5 ); place(x=0,y=1,z=0); os()', 1, ["no color", UNREAD]),
    ("minecraft", "tools", '{"name": "place", "arguments": {"color": "pink", "x": 0, "y": 1, "z": 0}}', 0, ["unknown color"]),
    ("minecraft", "tools", '{"name": "remove", "arguments": {"x": 0, "y": "1", "z": 0}}', 0, ["y is not an integer"]),
    (
        "minecraft",
        "tools",
        '{"name": "remove", "arguments": {"x": 0}} {"name": "f", "arguments": {}}',
        0,
        ["no tool", "without y"],
    ),
    ("minecraft", "tools", '{"name": "remove", "arguments": {"x": 6, "y": 1, "z": 0}}', 0, [OUTSIDE]),
    ("hexagons", "tools", '{"name": "paint", "arguments": {"color": "red", "column": 19, "row": 1}}', 0, ["off the board"]),
    ("hexagons", "tools", '{"name": "look", "arguments": {}}\n{"name": "done", "arguments": {}}', 0, []),
    ("minecraft", "json", '[["place", null, 0, 1, 0], ["remove", null, 0, 0, 0], []]', 0, [UNREAD] * 2),
]


@pytest.mark.parametrize(("task", "name", "text", "actions", "discarded"), READ)
def test_what_is_read_and_what_is_discarded(task: str, name: str, text: str, actions: int, discarded: list[str]) -> None:
    parsed = get_format(task, name).parse(text)
    assert len(parsed.actions) == actions, parsed
    for piece, reason in zip(sorted(d.reason for d in parsed.discarded), sorted(discarded), strict=True):
        assert piece.startswith(reason)


UNGRAMMATICAL = {
    ("hexagons", "triplets"): ["10 4 red"],
    ("hexagons", "grouped"): ["red: 19 1", "red: 1 11"],
    ("minecraft", "lines"): ["place white 0 1 0", "place red 0 0 0"],
    ("minecraft", "calls"): ["place(x=0,y=1,z=0)"],
}


@pytest.mark.parametrize(("task", "name"), UNGRAMMATICAL)
def test_the_grammar_refuses_what_is_wrong(task: str, name: str) -> None:
    grammar = get_format(task, name).constraint().value
    assert [text for text in UNGRAMMATICAL[task, name] if re.fullmatch(grammar, text)] == []
