from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.corpora import load
from harness.errors import UsageError
from harness.worlds import hexagons, minecraft
from serialization.formats import FORMATS, Format, get_format
from serialization.hexagons_text import canonical
from serialization.parsed import MAX_CHARS

ALL = [f for formats in FORMATS.values() for f in formats.values()]
HEXAGONS = list(FORMATS["hexagons"].values())
MINECRAFT = list(FORMATS["minecraft"].values())
by_name = lambda f: f"{f.task}-{f.name}"  # noqa: E731

paints = st.lists(st.builds(hexagons.Paint, st.integers(0, 9), st.integers(0, 17), st.sampled_from(hexagons.COLORS)), max_size=60)
side, height = st.integers(-5, 5), st.integers(1, 9)
builds = st.lists(
    st.one_of(
        st.builds(minecraft.Action, st.just("place"), st.sampled_from(minecraft.COLORS), side, height, side),
        st.builds(minecraft.Action, st.just("remove"), st.none(), side, height, side),
    ),
    max_size=60,
)


@pytest.mark.parametrize("fmt", HEXAGONS, ids=by_name)
@given(actions=paints)
def test_hexagons_round_trip_is_exact(fmt: Format, actions: list[hexagons.Paint]) -> None:
    assert fmt.parse(fmt.write(canonical(actions))) == (canonical(actions), ())


@pytest.mark.parametrize("fmt", MINECRAFT, ids=by_name)
@given(actions=builds)
def test_minecraft_round_trip_is_exact(fmt: Format, actions: list[minecraft.Action]) -> None:
    assert fmt.parse(fmt.write(actions)) == (tuple(actions), ())


def test_json_keeps_the_color_of_a_removal() -> None:
    action = minecraft.Action("remove", "red", 0, 1, 0)
    assert get_format("minecraft", "json").parse('[["remove", "red", 0, 1, 0]]').actions == (action,)
    assert get_format("minecraft", "lines").write([action]) == "pick 0 1 0"


@pytest.mark.parametrize("fmt", ALL, ids=by_name)
@given(text=st.one_of(st.text(), st.text(alphabet="0123456789 -,;:[]()\n\"'=.redplacxyzknoblu\0", max_size=300)))
def test_any_text_is_parsed_into_actions_of_the_world(fmt: Format, text: str) -> None:
    for action in fmt.parse(text).actions:
        if fmt.task == "hexagons":
            assert hexagons.on_board(action.row, action.column)
            assert action.color in hexagons.COLORS
        else:
            assert minecraft.in_region(*action.cell)
            assert action.color in minecraft.COLORS or (action.kind == "remove" and action.color is None)


MONSTERS = {
    "empty": "",
    "ten megabytes": "x" * 10_000_000,
    "ten megabytes of digits": "7" * 10_000_000,
    "ten megabytes of minus signs": "-" * 10_000_000,
    "five million commas": ",;" * 5_000_000,
    "brackets 10,000 deep": "[" * 10_000 + "]" * 10_000,
    "a million open brackets": "[1" * 1_000_000,
    "numbers of 400 digits": f"{'9' * 400} 4 red; place red {'9' * 400} 1 0; red: {'9' * 400} 1; [[{'9' * 400}, 1, 'red']]",
    "NUL bytes": "\0" * 1000 + "1 \0 2 red",
    "endless color": "red: " * 20_000,
    "ranges on ranges": "red: " + "0-999," * 10_000 + "0 " + "0-999," * 10_000 + "0",
    "lone surrogates": "\ud800" * 10,
}


@pytest.mark.parametrize("fmt", ALL, ids=by_name)
@pytest.mark.parametrize("text", MONSTERS.values(), ids=MONSTERS)
def test_monsters_yield_nothing_and_say_why(fmt: Format, text: str) -> None:
    parsed = fmt.parse(text)
    assert len(parsed.actions) <= 180
    assert len(text) <= MAX_CHARS or any("beyond the first" in d.reason for d in parsed.discarded)
    assert all(len(d.text) <= 80 for d in parsed.discarded)


@pytest.mark.parametrize(
    ("task", "name", "text", "actions", "discarded"),
    [
        ("hexagons", "triplets", "0 4 red, 0 5 blue", 2, []),
        ("hexagons", "triplets", "Sure! 0 4 RED, 12 3 red, 1 1 pink.", 1, ["not an action", "off the board", "unknown color"]),
        ("hexagons", "triplets", "0 4 red, 0 4 blue", 1, []),
        ("hexagons", "triplets", "none", 0, []),
        ("hexagons", "triplets", "-1 4 red", 0, ["off the board"]),
        ("hexagons", "grouped", "red: 3,5 0-9; 7 1; blue: 1 0", 22, []),
        (
            "hexagons",
            "grouped",
            "3 4; pink: 1 1; red: 17-20 9-12; red 1",
            1,
            ["no color", "unknown color", "partly off the board", "not a group"],
        ),
        ("hexagons", "grouped", "red: 5-3 1", 3, []),
        ("hexagons", "json", '[[0, 4, "red"], [0, 5, "bl', 1, ["not an action"]),
        (
            "hexagons",
            "json",
            '[[0, 4, "red"], [10, 5, "blue"], [1, 2], [NaN, 1, "red"], [1.5, 2, "red"]]',
            1,
            ["not an action: "] * 4,
        ),
        ("minecraft", "lines", "place red 0 1 0\npick 0 1 0", 2, []),
        (
            "minecraft",
            "lines",
            "place red 0 1 0 place blue 6 1 0\nplace pink 0 1 0\nhm",
            1,
            ["outside the build region", "unknown color", "not an action"],
        ),
        ("minecraft", "calls", "place(color='red',x=0,y=1,z=0)\npick(x=0,y=1,z=0)", 2, []),
        (
            "minecraft",
            "calls",
            "place( color = \"red\", x = 0, y = 1, z = -5 ); place(x=0,y=1,z=0); __import__('os')",
            1,
            ["no color", "not an action"],
        ),
        ("minecraft", "json", '[["place", "red", 0, 1, 0], ["remove", null, 0, 1, 0]]', 2, []),
        ("minecraft", "json", '[["place", null, 0, 1, 0], ["remove", null, 0, 0, 0], []]', 0, ["not an action: "] * 2),
    ],
)
def test_what_is_read_and_what_is_thrown_away(task: str, name: str, text: str, actions: int, discarded: list[str]) -> None:
    parsed = get_format(task, name).parse(text)
    assert len(parsed.actions) == actions, parsed
    assert len(parsed.discarded) == len(discarded), parsed
    for piece, reason in zip(sorted(d.reason for d in parsed.discarded), sorted(discarded), strict=True):
        assert piece.startswith(reason)


@pytest.mark.parametrize("fmt", ALL, ids=by_name)
@given(data=st.data())
def test_the_grammar_admits_what_is_written(fmt: Format, data: st.DataObject) -> None:
    actions: list[Any] = data.draw(paints.map(canonical) if fmt.task == "hexagons" else builds)
    constraint = fmt.constraint()
    if constraint.kind == "regex":
        assert re.fullmatch(constraint.value, fmt.write(actions))
    elif constraint.kind == "grammar":
        testing = pytest.importorskip("xgrammar.testing")
        assert testing._is_grammar_accept_string(constraint.value, fmt.write(actions))
    else:
        import jsonschema

        jsonschema.validate(json.loads(fmt.write(actions)), json.loads(constraint.value))


@pytest.mark.parametrize(
    ("task", "name", "text"),
    [
        ("hexagons", "triplets", "10 4 red"),
        ("hexagons", "triplets", "0 18 red"),
        ("hexagons", "grouped", "red: 3"),
        ("hexagons", "grouped", "red: 18 1"),
        ("minecraft", "lines", "place white 0 1 0"),
        ("minecraft", "lines", "place red 0 0 0"),
        ("minecraft", "lines", "pick red 0 1 0"),
        ("minecraft", "calls", "place(x=0,y=1,z=0)"),
    ],
)
def test_the_grammar_refuses_what_is_wrong(task: str, name: str, text: str) -> None:
    assert not re.fullmatch(get_format(task, name).constraint().value, text)


def test_unknown_names_get_a_suggestion() -> None:
    with pytest.raises(UsageError, match="did you mean triplets"):
        get_format("hexagons", "triplet")
    with pytest.raises(UsageError, match="known: hexagons, minecraft"):
        get_format("chess", "lines")


@pytest.mark.data
def test_every_gold_answer_survives_every_format(data_dir: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HARNESS_DATA", str(data_dir))
    lengths: dict[str, list[int]] = {}
    for fmt in ALL:
        for item in load(fmt.task):
            written = fmt.write(item.actions)
            actions = item.actions
            if fmt.task == "minecraft" and fmt.name != "json":
                actions = tuple(a._replace(color=None) if a.kind == "remove" else a for a in item.actions)  # type: ignore[union-attr]
            assert fmt.parse(written) == (actions, ())
            lengths.setdefault(fmt.name, []).append(len(written) if item.actions else 0)
    triplets = sorted(lengths["triplets"])
    assert (triplets[len(triplets) // 2], triplets[-1], round(sum(triplets) / len(triplets), 1)) == (58, 1694, 106.8)
    assert sum(lengths["grouped"]) <= 0.29 * sum(triplets)
