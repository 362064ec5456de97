"""The papers' tables as experiments: checked before anything is trained, and run to their end with tiny models."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from eval.paper_table import Place, places
from eval.score_run import Benchmark
from harness.baselines.builder_network import WorldHead
from harness.baselines.cnn_gru.baseline import CnnGru
from harness.cli import main
from harness.commands.baseline import Train, check_training
from harness.commands.experiment import steps
from harness.corpora import load
from harness.engines.models.bases import DEFAULT_BASE, resolve_base
from harness.experiments.costs import Cost, cost_of
from harness.experiments.file import SHIPPED, load_scale
from harness.experiments.grid import Answered, Row
from harness.experiments.rows import Asked, Plan, read_experiment
from harness.experiments.tables import chosen
from tests.helpers import ROOT, cases

CASES = cases(__file__)

pytestmark = pytest.mark.usefixtures("empty_folder")
PAPERS = sorted(path.stem for path in (SHIPPED / "papers").glob("*-[0-9]*.yaml"))
"""The files of tables and figures."""


def plan(name: str, **asked: Any) -> Plan:
    return read_experiment(SHIPPED / "papers" / f"{name}.yaml", "t", steps(), Asked(scale=load_scale("tiny"), **asked))


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, list[str], list[str]]:
    capsys.readouterr()
    code = main(["experiment", *words])
    captured = capsys.readouterr()
    return code, captured.out.splitlines(), captured.err.splitlines()


@pytest.mark.parametrize(("changes", "problem"), CASES["problems"])
def test_what_does_not_fit_is_one_line_before_anything_is_trained(
    changes: dict[str, Any], problem: str, capsys: pytest.CaptureFixture[str]
) -> None:
    values: dict[str, Any] = {
        "data": {"blocks": {"simulate": {"simulator": "blocks", "items": 9}}, "drawn": {"augment": {"task": "hexagons"}}},
        "tests": {"D_r": {"items": "blocks"}},
        "train": {"baseline": "cnn-gru"},
    }
    asked = [word for key in ("only", "checkpoint") if key in changes for word in (f"--{key}", changes[key])]
    Path("e.yaml").write_text(yaml.safe_dump(values | ({} if asked else changes)))
    code, out, err = run(capsys, "e.yaml", *asked)
    assert (code, out, len(err)) == (2, [], 1), err
    assert err[0].startswith("Error: e.yaml: ")
    assert problem in err[0]
    assert not Path("runs").exists()


def test_a_grid_of_curricula_and_models_in_place_of_trainings(capsys: pytest.CaptureFixture[str]) -> None:
    resolve_base(DEFAULT_BASE)  # Its conversion is told on stderr.
    code, out, err = run(
        capsys, "papers/bap-v2-table-5", "--scale", "tiny", "--dry-run", "--only", "M_agg+cl", "--checkpoint", "M_mc=cnn-gru"
    )
    assert (code, err) == (0, [])
    heads = [line for line in out if line.startswith("# M_")]
    names = [f"# M_agg+cl_{metric}_buckets-{count}" for metric in ("D", "L_A") for count in (5, 10)]
    assert heads == ["# M_mc: left out by --only", "# M_agg: left out by --only", *names]
    trained = [line for line in out if "baseline train" in line]
    assert len(trained) == 4
    assert all(line.count("--data runs/papers/bap-v2-tiny/data/") == 4 and line.count("--dev-data ") == 3 for line in trained)
    assert '--set training.curriculum.difficulty="L_A" --set training.curriculum.buckets=10' in trained[3].replace("'", "")
    assert sum("baseline predict" in line for line in out) == 4 * 5
    _, out, _ = run(capsys, "papers/bap-v2-table-1", "--scale", "tiny", "--dry-run", "--checkpoint", "M_mc=cnn-gru")
    assert not any("train" in line for line in out)
    assert "harness baseline predict cnn-gru --checkpoint cnn-gru --split test --steps 20" in out[-1]


def test_the_table_has_the_best_of_the_rows_that_lists_make() -> None:
    def row(name: str) -> Row:
        tests = {test: Answered(Path(name, test), Benchmark()) for test in ("D_mc", "val")}
        return Row(name=name, tests=tests, place=Place("", "M_agg+cl"), choose="val")

    def line(name: str, test: str, f1: float) -> dict[str, Any]:
        micro = {metric: {"f1": f1} for metric in ("overall", "shape")}
        ends = {average: {metric: [f1, f1] for metric in micro} for average in ("micro", "macro")}
        scores = {"task": "minecraft", "micro": micro, "macro": dict.fromkeys(micro, f1), "intervals": ends, "name": name}
        return {"row": name, "test": test, "error": None, "scores": scores}

    lines = [line("a", "val", 0.2), line("a", "D_mc", 0.9), line("b", "val", 0.3), line("b", "D_mc", 0.1), line("c", "val", 0.9)]
    runs, said = chosen([row("a"), row("b"), row("c")], lines)
    assert {place.set: scores["name"] for place, scores in runs.items()} == {"D_mc": "b", "val": "b"}
    assert said == ["M_agg+cl: b, the best of 2 on val (30.00 [30.0, 30.0])"]


def test_operations_are_counted_as_torch_counts_them(monkeypatch: pytest.MonkeyPatch) -> None:
    from torch.utils.flop_counter import FlopCounterMode

    # The count is that of whole grids, as on a GPU; a CPU needs fewer operations, which are slower.
    monkeypatch.setattr(WorldHead, "see_steps", WorldHead.see)

    items = load("minecraft", "train")
    job = check_training(Train(baseline="cnn-gru", max_epochs=3), untrained=False)
    cost = cost_of(job, 100)
    assert isinstance(cost, Cost)
    assert (cost.items, cost.steps) == (100, 300)
    begun = CnnGru().begin(items, items, CnnGru().recipe([]))
    with FlopCounterMode(display=False) as counter:
        begun.network(begun.data.collate(begun.data.items))
    assert cost.operations / 300 == pytest.approx(3 * counter.get_total_flops() / len(items), rel=0.4)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which tables find the trainings of others."""
    return tmp_path_factory.mktemp("papers")


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("name", PAPERS)
def test_a_file_runs_to_its_end_with_tiny_models(
    name: str, shared: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its plan has a row for every score of its table; it is run with its first row, one file with all rows."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT), prepend=":")
    monkeypatch.chdir(shared)
    made = plan(name)
    assert made.table is not None
    there = {row.place._replace(set=test) for row in made.rows if row.place for test in row.tests}
    lacking = {place for place in places(made.table) if place not in there}
    # At this scale, lists have two values, so most contexts are left out.
    assert {place.system for place in lacking if not place.context} <= {row.of for row in made.rows if row.reason}
    first = next(row for row in made.rows if row.tests)
    only = [] if name == "bap-v2-table-5" else ["--only", first.name]
    code, out, err = run(capsys, f"papers/{name}", "--scale", "tiny", "--json", *only)
    assert code == 0, err
    lines = json.loads(out[-1])
    assert [line["test"] for line in lines if line["row"] == first.name and not line["error"]] == list(first.tests)
    assert only or not [line for line in lines if line["error"]]
    page = next(Path("runs/papers").glob(f"*-tiny/{name}.md")).read_text()
    assert page.count("\n|") == 1 + len(made.table.rows)
    assert only or "the best of 4 on val" in page
    code, _, err = run(capsys, f"papers/{name}", "--scale", "tiny", "--json", *only)
    assert code == 0
    assert all(line.endswith("finished before") for line in err)
