"""A paper's table: in its own rows and columns, our scores beside the printed ones."""

from __future__ import annotations

from typing import Any

import pytest

from eval.paper_table import Place, find_table, notes, paper_table, places
from tests.helpers.scored import built_scores


def minecraft(f1: float, **more: Any) -> dict[str, Any]:
    return built_scores(f1, **{"benchmark": "v2", "items": 1155, **more})


def test_a_cell_has_our_score_with_its_interval_and_the_papers() -> None:
    table = find_table("bap-v2", 4)
    assert [place.system for place in places(table)] == [
        name for name in ("M_mc", "M_bs", "M_ss", "M_r", "M_agg") for _ in range(4)
    ]
    games = minecraft(0.25, benchmark="fair", items=40, simulated=["minecraft-blocks"])
    head, rows = paper_table(table, {Place("D_mc", "M_mc"): minecraft(0.5), Place("D_bs", "M_agg"): games})
    assert head == ["", "D_bs", "D_ss", "D_r", "D_mc"]
    assert rows[0] == ["M_mc", "- / 35.2", "- / 19.1", "- / 12.4", "50.00 [0.0, 100.0] / 27.3"]
    assert rows[4] == ["M_agg", "25.00 [0.0, 100.0] / 83.4", "- / 68.8", "- / 63.6", "- / 30.3"]


def test_boards_and_averages_are_the_tables_own() -> None:
    scores = minecraft(0.5)
    scores["subsets"]["NEB"] = {"items": 0}
    _, rows = paper_table(find_table("bap-v2", 8), {Place("D_mc", "M_mc"): scores})
    assert [row[0] for row in rows] == ["EB M_mc", "EB M_agg+cl", "NEB M_mc", "NEB M_agg+cl", "M_mc", "M_agg+cl"]
    assert [row[5] for row in rows[::2]] == ["24.50 [0.0, 100.0] / 61.2", "- / 25.2", "25.00 [0.0, 100.0] / 28.1"]


def test_a_figure_has_our_points_by_level_and_size() -> None:
    levels = {"name": "level of abstraction", "groups": [{"label": "none", "f1": 0.5, "em": 0.25, "interval": (0.4, 0.6)}]}
    scores = {"task": "hexagons", "split": "dev", "items": 446, "action": {"f1": 0.2, "em": 0.1}, "groups": [levels]}
    table = find_table("hexagons", None, 6)
    head, rows = paper_table(table, {Place("dev", "DeBERTa", "full-history", 820): scores})
    assert head[:6] == ["", "none F1", "low F1", "mid F1", "high F1", "F1"]
    assert rows[0] == ["820 items", "50.00 [40.0, 60.0]", "-", "-", "-", "20.00", "25.00", "-", "-", "-", "10.00"]
    assert rows[3] == ["all", *["-"] * 10]


@pytest.mark.parametrize(
    ("scores", "note"),
    [
        (minecraft(0.5), None),
        (minecraft(0.5, items=1312), "D_mc: the paper has 1,155 items"),
        (minecraft(0.5, benchmark="fair"), "D_mc: ours are scores of minecraft/test, fair"),
    ],
)
def test_notes_say_where_the_papers_scores_are_of_other_items(scores: dict[str, Any], note: str | None) -> None:
    told = list(notes(find_table("bap-v2", 1), {Place("D_mc", "M_mc"): scores}))
    assert told[0] == "BAP v2 (arXiv 2501.10836), Table 1, percent, micro F1"
    assert told[2:] == ([note] if note else [])
