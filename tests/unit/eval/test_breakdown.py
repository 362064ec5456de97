"""Scores in groups: each item is in one group, each mean is over items, and our labels are marked as ours."""

import json
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kruskal

from eval.annotation import LEVELS, read_levels
from eval.answers import read_answers
from eval.attributes import group_scores
from eval.breakdown import break_down
from eval.items import ItemScore
from eval.score_run import Benchmark
from harness.corpora import load
from tests.helpers import Command
from tests.helpers.scored import perfect, write_lines, write_run


def scored(number: int, f1: float, wanted: int = 1, cluster: str = "c") -> ItemScore:
    return ItemScore(f"i{number}", cluster, f1, f1 == 1, wanted, 1, 0, ())


def test_the_numbers_of_a_table() -> None:
    scores = [scored(n, f1, cluster=str(n // 2)) for n, f1 in enumerate((0.5, 1.0, 0.0, 0.25, 1.0))]
    (table,) = break_down("hexagons", scores, {f"i{n}": {"category": c} for n, c in enumerate("bbaab")}, by=["category"]).tables
    assert (table["name"], [group["label"] for group in table["groups"]]) == ("category", ["a", "b"])
    first, second = table["groups"]
    assert [first[key] for key in ("items", "f1", "em", "interval")] == [2, 0.125, 0.0, None]
    assert (second["items"], second["f1"], second["em"]) == (3, pytest.approx(2.5 / 3), pytest.approx(2 / 3))
    low, high = second["interval"]
    assert low <= 2.5 / 3 <= high
    for metric, samples in {"f1": ([0.0, 0.25], [0.5, 1.0, 1.0]), "em": ([0, 0], [0, 1, 1])}.items():
        expected = kruskal(*samples)
        assert table["tests"][metric] == {"name": "Kruskal-Wallis", "statistic": expected.statistic, "p": expected.pvalue}
    json.dumps(table, allow_nan=False)


items = st.lists(
    st.tuples(st.floats(0, 1), st.integers(0, 70), st.sampled_from("abc"), st.sampled_from(["", *LEVELS])), min_size=1
)


@given(items)
def test_groups_are_a_partition_and_their_means_make_the_whole(drawn: list[tuple[float, int, str, str]]) -> None:
    scores = [scored(n, f1, wanted, cluster) for n, (f1, wanted, cluster, _) in enumerate(drawn)]
    attributes = {f"i{n}": {"level": level} for n, (*_, level) in enumerate(drawn)}
    found = break_down("hexagons", scores, attributes)
    for table in found.tables:
        labels = found.labels[table["name"]]
        assert sum(group["items"] for group in table["groups"]) == len(labels)
        assert len({group["label"] for group in table["groups"]}) == len(table["groups"])
        total = sum(group["items"] * group["f1"] for group in table["groups"])
        assert total == pytest.approx(sum(score.f1 for score in scores if score.id in labels))
        for group in table["groups"]:
            assert 0 <= group["em"] <= group["f1"] + 1e-9 <= 1 + 2e-9
    assert len(found.labels["gold actions"]) == len(scores)


# Whole runs.


@pytest.fixture
def run(command: Command, empty_folder: None) -> Command:
    """Scores a run on the shipped sample's dev steps: the first answer is right, the others are empty."""
    first, *others = perfect(load("hexagons", "dev"))
    write_run("mine", [first, *(other | {"actions": []} for other in others)])
    return partial(command, "score", "mine")


def test_groups_in_the_json_and_on_the_screen(run: Command) -> None:
    scores = json.loads(run("--by", "position", "--by", "actions", "--json")[1])
    assert [table["name"] for table in scores["groups"]] == ["position of the step", "gold actions"]
    assert scores["groups"][0]["groups"][0]["label"] == "first"
    out = run("--by", "all")[1]
    assert ("Kruskal-Wallis" in out, "annotation round" in out) == (True, True)
    assert "level of abstraction" not in out, "the sample has no levels"
    assert "has a label for level of abstraction" in run("--by", "level")[2]


def counted(folder: Path, task: str, split: str, benchmark: str | None = None) -> dict[str, dict[str, int]]:
    """How many items each group of a split has, with the gold actions as predictions."""
    answers = read_answers(write_lines(folder / "gold.jsonl", perfect(load(task, split))))
    tables = group_scores(answers, Benchmark(benchmark)).tables
    return {table["name"]: {group["label"]: group["items"] for group in table["groups"]} for table in tables}


@pytest.mark.data
def test_the_steps_of_dev_by_their_known_properties(data_dir: Path, tmp_path: Path, command: Command) -> None:
    found = counted(tmp_path, "hexagons", "dev")
    assert found["level of abstraction"] == {"none": 172, "low": 104, "mid": 99, "high": 71}
    assert list(found["gold actions"].values()) == [4, 57, 143, 130, 65, 39, 8]
    assert found["annotation round"] == {"recruitment": 14, "round I": 303, "round II": 129}
    assert found["position of the step"] == {"only": 2, "first": 60, "middle": 324, "last": 60}
    assert found["category"]["NONE"] == 129
    assert "our labels, not the paper's" in command("score", tmp_path / "gold.jsonl", "--by", "level")[1]
    assert set(read_levels()) == {item.id for item in load("hexagons", "dev")}
