"""`harness simulate`: the same bytes on any machine, complete items after any fault, and files that can be read back."""

from __future__ import annotations

import itertools
import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from harness.cli import main
from harness.corpora import SPLITS, load
from harness.corpora.item import Item
from harness.corpora.records import from_record, read_items
from harness.errors import UsageError
from harness.simulators import games
from harness.simulators.games import game, simulator_splits, simulator_task, target_split
from harness.tasks import SIMULATORS
from tests.helpers import ROOT
from tests.helpers.simulated import first_items

pytestmark = pytest.mark.usefixtures("empty_folder")

BUILT = list(games.ARCHITECTS)


def simulate(*arguments: str) -> None:
    assert main(["simulate", *arguments]) == 0


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    capsys.readouterr()
    code = main(["simulate", *arguments])
    return code, capsys.readouterr().err


def made(simulator: str, count: int, split: str = "train", seed: int = 0) -> list[Item]:
    """The first items of a simulator, with `meta` in JSON types."""
    return [replace(item, meta=json.loads(json.dumps(item.meta))) for item in first_items(simulator, seed, count, split)]


@pytest.mark.parametrize("simulator", [name for name in SIMULATORS if name != "level-2"])
def test_a_game_is_a_function_of_its_arguments_and_its_ids_are_in_order(simulator: str) -> None:
    split = simulator_splits(simulator)[0]
    played = [game(simulator, 7, split, n) for n in range(12)]
    assert played == [game(simulator, 7, split, n) for n in range(12)]
    assert played != [game(simulator, 8, split, n) for n in range(12)]
    for n, items in enumerate(played):
        for item in items:
            assert (item.split, item.task) == (split, simulator_task(simulator))
            assert (item.id.rpartition("/")[0], item.cluster.rpartition("/")[2]) == (item.cluster, str(n))
        steps = [int(item.id.rpartition("/")[2]) for item in items]
        assert steps == sorted(set(steps))


@pytest.mark.parametrize("simulator", [name for name in SIMULATORS if name not in games.LEVELS])
def test_no_target_is_in_two_splits_and_every_split_gets_its_share(simulator: str) -> None:
    task = simulator_task(simulator)
    groups = {split: set[str]() for split in SPLITS[task]}
    skipped = dict.fromkeys(groups, 0)
    for split, seed, n in itertools.product(groups, range(2), range(40)):
        items = game(simulator, seed, split, n)
        skipped[split] += not items
        groups[split] |= {item.group for item in items}
        assert all(target_split(item.group, task) == split for item in items)
        assert len({item.group for item in items}) <= 1
    for one, other in itertools.combinations(groups.values(), 2):
        assert not one & other
    train, validation, test = skipped.values()
    assert train < 40 < min(validation, test)


@pytest.mark.parametrize(("simulator", "kind"), [("shapes", "jsonl"), ("random", "parquet")])
def test_the_same_bytes_for_any_number_of_workers_and_any_hash_seed(simulator: str, kind: str) -> None:
    options = [simulator, "--items", "500", "--seed", "3"]
    simulate(*options, "--out", f"one.{kind}")
    command = [sys.executable, "-m", "harness.cli", "simulate", *options, "--workers", "3", "--out", f"three.{kind}"]
    environment = os.environ | {"PYTHONHASHSEED": "1", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert Path(f"three.{kind}").read_bytes() == Path(f"one.{kind}").read_bytes()


@pytest.mark.slow
def test_a_killed_worker_is_an_error_of_one_line() -> None:
    with running() as (process, children):
        # The first child is multiprocessing's resource tracker or a worker; the last one is a worker.
        os.kill(int(children[-1]), signal.SIGKILL)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 1
    assert (
        err.splitlines()[-1]
        == "Error: a worker process was killed, perhaps because memory ran out: use fewer --workers, or set HARNESS_WORKERS"
    )
    assert list(read_items(Path("a.jsonl")))


@contextmanager
def running() -> Iterator[tuple[subprocess.Popen[str], list[str]]]:
    """A command that writes to a.jsonl forever, and its children."""
    options = ["simulate", "random", "--items", "10000000", "--workers", "2", "--out", "a.jsonl"]
    command, environment = [sys.executable, "-m", "harness.cli", *options], os.environ | {"PYTHONPATH": str(ROOT)}
    with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert _soon(lambda: Path("a.jsonl").exists() and Path("a.jsonl").stat().st_size > 500_000)
            children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
            if not children.exists():
                pytest.skip("no /proc to find the workers in")
            yield process, children.read_text().split()
        finally:
            process.kill()


def _soon(is_true: Callable[[], bool]) -> bool:
    """Whether the condition becomes true within a minute."""
    for _ in range(600):
        if is_true():
            return True
        time.sleep(0.1)
    return False


@pytest.mark.parametrize(
    ("simulator", "name"),
    [*((simulator, "items.parquet") for simulator in SIMULATORS), ("random", "items.jsonl"), ("shapes", "items.jsonl.gz")],
)
def test_a_file_is_read_back_to_the_same_items(simulator: str, name: str) -> None:
    simulate(simulator, "--items", "60", "--out", name)
    assert list(read_items(Path(name))) == made(simulator, 60, simulator_splits(simulator)[0])


def test_what_data_items_prints_can_be_read(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["data", "items", "minecraft", "--split", "test"]) == 0
    Path("items.jsonl").write_text(capsys.readouterr().out)
    whole = [replace(item, meta={}, group=item.cluster) for item in load("minecraft", "test")]
    assert list(read_items(Path("items.jsonl"))) == whole


def test_datasets_reads_parquet_with_the_card_beside_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    import datasets

    monkeypatch.setattr(datasets.config, "HF_DATASETS_OFFLINE", True)
    datasets.disable_progress_bars()
    simulate("random", "--items", "40", "--split", "val", "--out", "d/random.parquet", "--card")
    plain = datasets.load_dataset("parquet", data_files="d/random.parquet", cache_dir=str(tmp_path / "c"))["train"]
    named = datasets.load_dataset("d", "random", cache_dir=str(tmp_path / "c"))["validation"]
    assert plain["id"][:] == named["id"][:] == [item.id for item in made("random", 40, "val")]
    assert plain.column_names == ["id", "history", "before", "pose", "actions", "after", "group", "cluster", "meta"]


@pytest.mark.parametrize("name", ["items.jsonl", "items.jsonl.gz", "items.parquet"])
def test_what_exists_is_replaced_only_if_asked(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["random", "--items", "20", "--out", name]
    simulate(*options)
    code, err = refused(capsys, *options)
    assert (code, err) == (2, f"Error: {name} exists: choose another --out, or --overwrite it\n")
    simulate(*options, "--seed", "1", "--overwrite")
    assert [item.actions for item in read_items(Path(name))] == [item.actions for item in made("random", 20, seed=1)]
    assert not [path for path in Path().iterdir() if path.name != name]


FULL = """
import resource, sys
from harness.cli import main
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]), int(sys.argv[1])))
sys.exit(main(["simulate", "random", "--items", "5000", "--overwrite", "--out", *sys.argv[2:]]))
"""


@pytest.mark.parametrize(("name", "bytes_"), [("a.jsonl", 2_000_000), ("a.jsonl.gz", 100_000), ("a.parquet", 20_000)])
def test_a_full_disk_leaves_whole_items_or_nothing(name: str, bytes_: int) -> None:
    command = [sys.executable, "-c", FULL, str(bytes_), name]
    done = subprocess.run(command, env=os.environ | {"PYTHONPATH": str(ROOT)}, capture_output=True, text=True, timeout=120)
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    error = done.stderr.splitlines()[-1]
    assert error.startswith(f"Error: {name}: cannot be written: ")
    assert "File too large" in error
    if name == "a.parquet":
        assert not list(Path().iterdir())
    else:
        items = list(read_items(Path(name)))
        assert items == made("random", len(items))
        assert error.endswith(f"; it holds the first {len(items):,} of 5,000 items")


def test_a_killed_run_leaves_whole_lines_and_no_worker() -> None:
    with running() as (process, children):
        process.kill()
    whole, _, _ = Path("a.jsonl").read_bytes().rpartition(b"\n")
    items = [from_record(line, "a.jsonl") for line in whole.splitlines()[:200]]
    assert items == made("random", 200)
    assert _soon(lambda: not any(_alive(child) for child in children))


def _alive(process: str) -> bool:
    try:
        return "multiprocessing" in Path(f"/proc/{process}/cmdline").read_text()
    except OSError:
        return False


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["random", "--items", "0", "--out", "a.jsonl"], "'--items': 0 is not in the range x>=1"),
        (["random", "--items", "5", "--workers", "0", "--out", "a.jsonl"], "'--workers': 0"),
        (["random", "--items", "5", "--seed", "-1", "--out", "a.jsonl"], "'--seed': -1"),
        (["randon", "--items", "5", "--out", "a.jsonl"], "no simulator named 'randon': did you mean random?"),
        (["random", "--items", "5"], "Missing option '--out'"),
        (["random", "--out", "a.jsonl"], "give a SIMULATOR and --items"),
        (["random", "--items", "5", "--split", "tset", "--out", "a.jsonl"], "did you mean test?"),
        (["level-1", "--items", "5", "--split", "train", "--out", "a.jsonl"], "no split of level-1 named 'train': known: test"),
        (["level-1", "--items", "1369", "--out", "a.jsonl"], "--items 1,369: level-1 has 1,368"),
        (["random", "--items", "5", "--out", "a.csv"], "--out a.csv: give a name that ends in .jsonl"),
        (["random", "--preset", "paper", "--out", "a"], "leave out SIMULATOR"),
        (["shapes", "--items", "5", "--set", "longest=12", "--out", "a.jsonl"], "longest is a whole number from 3 to 11"),
        (["shapes", "--items", "5", "--set", "figures=0", "--out", "a.jsonl"], "figures is a whole number from 1 to 6"),
        (["random", "--items", "5", "--set", "turns=ten", "--out", "a.jsonl"], "turns is a whole number from 1 to 200"),
        (["random", "--items", "5", "--set", "figures=2", "--out", "a.jsonl"], "random takes turns=N"),
    ],
)
def test_wrong_usage(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, err = refused(capsys, *arguments)
    assert code == 2
    assert message in err
    assert not list(Path().iterdir())


def test_the_papers_files(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(games, "PAPER", {name: {"train": 30, "val": 4, "test": 3} for name in BUILT})
    simulate("--preset", "paper", "--seed", "5", "--out", "data", "--card")
    names = [f"minecraft-{name}.{split}.jsonl" for name in BUILT for split in SPLITS["minecraft"]]
    assert sorted(path.name for path in Path("data").iterdir()) == sorted([*names, "README.md"])
    assert list(read_items(Path("data/minecraft-random.val.jsonl"))) == made("random", 4, "val", 5)
    card = Path("data/README.md").read_text()
    assert "    harness simulate --preset paper --seed 5 --out data\n" in card
    assert "| minecraft-random.train.jsonl | random | train | 5 | " in card
    assert "configs" not in card
    assert refused(capsys, "--preset", "paper", "--out", "data")[0] == 2
    assert "README.md exists" in refused(capsys, "random", "--items", "3", "--out", "data/a.jsonl", "--card")[1]


def test_finetuning_on_simulated_items_says_so_in_its_settings(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from harness.runs.folder import items_hash
    from tests.helpers.finetuning import job_of

    monkeypatch.setattr("harness.engines.models.bases.resolve_base", lambda name: str(tmp_path))
    simulate("random", "--items", "30", "--out", "a.jsonl")
    simulate("random", "--items", "10", "--seed", "1", "--split", "val", "--out", "b.parquet")

    def train(task: str, *files: str) -> Sequence[Item]:
        data = [word for file in files for word in ("--data", file)]
        return list(job_of(monkeypatch, "llama-lora", "--task", task, "--name", "r", *data).items)

    assert train("minecraft", "a.jsonl", "b.parquet") == [
        *load("minecraft", "train"),
        *made("random", 30),
        *made("random", 10, "val", 1),
    ]
    assert "of the sample corpus and a.jsonl and b.parquet; runs/r\n" in capsys.readouterr().out
    hashes = yaml.safe_load(Path("runs/r/run.yaml").read_text())["settings"]["data"]
    assert hashes == {"a.jsonl": items_hash(made("random", 30)), "b.parquet": items_hash(made("random", 10, "val", 1))}
    with pytest.raises(UsageError, match=r"but --task is hexagons"):
        train("hexagons", "a.jsonl")


def test_settings_shape_the_games() -> None:
    assert main(["simulate", "shapes", "--set", "figures=1", "--set", "longest=11", "--items", "200", "--out", "x.jsonl"]) == 0
    records = [json.loads(line) for line in Path("x.jsonl").read_text().splitlines()]
    assert all(not record["before"] for record in records)
    rows = [record["meta"]["sizes"][0] for record in records if record["meta"]["shape"] in ("row", "diagonal")]
    assert max(rows) > 6
    assert main(["simulate", "random", "--set", "turns=3", "--items", "30", "--out", "y.jsonl"]) == 0
    games = Counter(json.loads(line)["cluster"] for line in Path("y.jsonl").read_text().splitlines())
    assert set(games.values()) == {3}
