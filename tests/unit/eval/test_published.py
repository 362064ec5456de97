"""The papers' scores appear only beside scores of the same setting, and in the papers' own tables with ours."""

from typing import Any

from eval.paper_table import Place, find_table, paper_table, places
from eval.published import Beside, beside, published
from tests.helpers.scored import built_scores


def test_every_score_is_a_percentage_in_a_known_setting() -> None:
    for table, setting, value in published().values():
        assert 0 < value < 100
        assert table.paper in published().papers
        assert (setting.set in published().sets, setting.system in published().systems) == (True, True)
        assert None not in (setting.average, setting.metric)


# Beside a run.


def lines(table: Beside) -> list[str]:
    """What a reader sees."""
    told = (f"{line.system}: {' '.join(filter(None, line.cells))}; {line.place}; {line.obstacle}" for line in table.lines)
    return [line.rstrip("; ") for line in told]


def test_legacy_scores() -> None:
    (table,) = beside({"mine": built_scores()})
    assert lines(table) == [
        "mine: 50.00",
        "CNN + GRU, corpus: 21.2; [1] section 2.6",
        "CNN + GRU, corpus: 21.1; [1] section 4.4",
        "Nebula, Llama-3-8B: 39.2; [1] section 8.3; 1,575 items",
        "GPT-4, examples in the prompt: 39.0; [1] section 8.3; items unknown",
        "Nebula+, Llama-3-8B: 39.1; [1] section 15.2; 1,575 items",
        "CNN + GRU, corpus, first model: 11.8; [2]",
    ]
    assert table.papers[0] == "BAP v2 (arXiv 2501.10836)"
    assert beside({"mine": built_scores(items=50)})[0].lines[1].obstacle == "1,616 items"


def test_simulated_games() -> None:
    scores = built_scores(benchmark="fair", split="blocks.jsonl", simulated=["minecraft-blocks"], items=1181)
    assert "CNN + GRU, all data, curriculum: 84.0; [1] Table 5; other games" in lines(beside({"mine": scores})[0])
    assert not beside({"mine": scores | {"simulated": ["minecraft-blocks", "minecraft-random"]}})


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
