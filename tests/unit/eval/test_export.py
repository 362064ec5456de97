"""`harness export`: headline numbers in other people's formats, and learning curves."""

import json
import re
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.registry import CONFIG_FILE, HARNESS_FILE, SHIPPED, WEIGHTS_FILE
from eval.export import WRITERS
from eval.report.curves import training_svg
from harness.corpora import load
from harness.engines.models.bases import fingerprint
from tests.helpers import Command, cases
from tests.helpers.scored import built_scores, perfect, write_run

OURS: dict[str, Any] = {"benchmark": "v2", "annotation": "our annotation", "items": 1312}


def test_tables_in_markdown_name_the_benchmark_and_what_is_missing() -> None:
    """The later tables are as Tables 7 and 8 of BAP v2."""
    runs = {"a|b": built_scores(**OURS), "old": built_scores(off_board=3, errors=2)}
    (head, _, *first), (columns, _, *micro), (*_, macro), notes = map(str.splitlines, WRITERS["markdown"](runs).split("\n\n"))
    assert head == "| run | benchmark | items | micro F1 | macro F1 | shape, micro F1 |"
    assert first[0].startswith(
        r"| a\|b | minecraft/test, v2 (our annotation) | 1,312 | 50.00 [0.0, 100.0] | 25.00 [0.0, 100.0] |"
    )
    assert columns == "| run | micro F1 | items | type | color | location | shape | overall |"
    assert [row.split(" | ")[1:3] for row in micro[3:]] == [["EB", "100"], ["NEB", "1,516"], ["all", "1,616"]]
    assert micro[3] == "| old | EB | 100 | 39.00 | 29.00 | 19.00 | 9.00 | 49.00 [0.0, 100.0] |"
    assert macro.startswith("| old | all | 1,616 | 20.00 |")
    assert "over whole games. old: 0 items missing and 2 with an error" in notes[0]
    assert "old: 3 predicted actions outside the build region, left out." in notes[0]
    assert WRITERS["latex"](runs).count(r"\begin{tabular}{llrrrrrr}") == 2


@given(st.text(st.characters(codec="utf-8"), min_size=1))
def test_no_name_breaks_a_latex_row(name: str) -> None:
    numbers = {kind: {"f1": 0.1263, "em": 0.0625} for kind in ("action", "board", "procedure_macro")}
    ends = {kind: {"f1": [0.1, 0.2], "em": None} for kind in numbers}
    head = {"task": "hexagons", "split": "dev", "items": 446, "missing": 0, "errors": 0}
    text = WRITERS["latex"]({name: {**head, **numbers, "intervals": ends}})
    body = text[text.index("\\midrule\n") + 9 : text.index("\\bottomrule")]
    plain = re.sub(r"\\textbackslash\{\}|\\textasciitilde\{\}|\\textasciicircum\{\}|\\[&%$#_{}]|\{\[\}", "", body)
    assert plain.count("&") == 6
    assert plain.count("\\") == 2
    assert not set(plain) & set("%$#_{}~^[")


@pytest.fixture
def runs(empty_folder: None) -> Path:
    """Runs on the sample: `half` records no train items, `some` records 9, `whole` used an adapter trained on 18."""
    items = load("hexagons", "dev")
    adapter = Path("runs/lora/adapter").absolute()
    adapter.mkdir(parents=True)
    for name in (CONFIG_FILE, WEIGHTS_FILE):
        (adapter / name).write_text("{}")
    shipped = json.loads((SHIPPED / "hexagons" / HARNESS_FILE).read_text())
    (adapter / HARNESS_FILE).write_text(json.dumps(shipped | {"items": 18}))
    write_run("half", perfect(items[::2]), task="hexagons", split="dev", adapter=None)
    write_run("some", perfect(items[::2]), task="hexagons", split="dev", train_items=9)
    used: dict[str, Any] = {"adapter": "lora", "adapter_fingerprint": fingerprint(adapter)}
    write_run("whole", perfect(items), task="hexagons", split="dev", **used)
    return Path("runs").absolute()


@pytest.fixture
def export(command: Command) -> Command:
    return partial(command, "export")


@pytest.mark.parametrize("form", WRITERS)
def test_runs_are_scored_and_written(runs: Path, export: Command, form: str) -> None:
    assert export("half", "whole", "--as", form, "--out", "deep/table") == (0, "deep/table\n", "")
    assert re.search(r"half.*100\.0", Path("deep/table").read_text(), re.DOTALL)


def test_the_size_of_a_run_is_read_from_its_adapter(runs: Path, export: Command) -> None:
    assert "| ---: | --- | ---: | ---: |\n| 18 | whole | 100.00 [100.0, 100.0] |" in export("whole", "--as", "curve")[1]
    (runs / "lora" / "adapter" / CONFIG_FILE).write_text('{"r": 8}')
    code, _, err = export("whole", "--as", "curve")
    assert (code, "is not the adapter that the run used" in err, err.count("\n")) == (1, True, 1)


def test_a_curve_by_groups(runs: Path, export: Command) -> None:
    by_position = ["some", "whole", "--as", "curve", "--by", "position"]
    lines = (out := export(*by_position)[1]).splitlines()
    assert lines[0].startswith("| train items | run | first, F1 | middle, F1 | last, F1 | first, EM |")
    assert lines[3].count("100.00") == 6
    assert "by position of the step" in out
    assert export(*by_position, "--out", "c.svg")[0] == 0
    assert "last, EM" in Path("c.svg").read_text()


@pytest.mark.parametrize(("arguments", "message"), cases(__file__)["refused"])
def test_wrong_usage(runs: Path, export: Command, arguments: list[str], message: str) -> None:
    code, out, err = export(*arguments)
    assert (code, out) == (2, "")
    assert message in err


@pytest.mark.parametrize(
    ("rewards", "ends"), [((0.2, 0.5), ("0.0", "1.0")), ((0.5, 1.5), ("0.0", "1.4")), ((-0.4, 0.3), ("−0.4", "1.0"))]
)
def test_a_reward_outside_of_shares_is_drawn(rewards: tuple[float, ...], ends: tuple[str, str]) -> None:
    picture = training_svg("mine", [{"step": step, "reward": reward} for step, reward in enumerate(rewards)], {})
    _, ticks = picture.split(">step<")
    shown = re.findall(r">([^<>\n]*\.\d)</text>", ticks)
    assert (shown[0], shown[-1]) == ends
