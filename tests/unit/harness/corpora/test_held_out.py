"""No item of dev or test gets into a training, by any path and under any id."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from eval.answers import read_answers
from eval.attributes import group_scores
from eval.score_run import Benchmark
from harness.corpora import load
from harness.corpora.held_out import HeldOut, content, not_asked, train_targets
from harness.corpora.item import Item
from harness.corpora.records import to_full_record
from harness.errors import UsageError
from harness.tasks.registry import TASKS, tasks_in, world_of
from harness.util.files import json_line
from tests.helpers.finetuning import job_of


@pytest.fixture(autouse=True)
def _on_the_sample(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("harness.engines.models.bases.resolve_base", lambda name: str(name or ""))


def disguised(items: Sequence[Item]) -> list[Item]:
    """The items with other ids, procedures and targets."""
    names = {item.cluster: f"{item.task}-mine/train/{n}" for n, item in enumerate(items)}
    return [
        replace(item, id=f"{names[item.cluster]}/{n}", split="train", group=f"target-{n}", cluster=names[item.cluster])
        for n, item in enumerate(items)
    ]


@pytest.mark.parametrize("task", TASKS)
def test_held_out_items_under_other_ids_are_refused(task: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    items = [*load(task, "dev")[:20], *load(task, "test")[:20]]
    file = tmp_path / "mine.jsonl"
    file.write_text("".join(map(json_line, map(to_full_record, disguised(items)))))
    refused = rf"^mine.jsonl: {len(items)} of its items are in dev or test: .*\(the content of {task}/"
    with pytest.raises(UsageError, match=refused):
        job_of(monkeypatch, "llama-lora", "--task", world_of(task), "--data", str(file))


def test_dev_items_in_a_corpus_s_own_train_split_are_reported(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = [*load("hexagons"), *disguised(load("hexagons", "dev"))]
    for module in ("harness.corpora", "harness.corpora.held_out", "adapters.sources"):
        monkeypatch.setattr(f"{module}.load", lambda task, split=None: [item for item in whole if split in (None, item.split)])
    job_of(monkeypatch, "llama-lora", "--task", "hexagons")
    assert "7 train items say and do the same as an item of dev or test, as the corpus was published" in capsys.readouterr().out


def test_an_item_with_a_target_of_test_is_refused() -> None:
    item = replace(disguised(load("hexagons", "train"))[0], group=load("hexagons", "test")[0].group)
    with pytest.raises(UsageError, match=r"1 of its items are in dev or test: hexagons-mine/.* \(the target of "):
        HeldOut("hexagons").refuse("some", [item])


def test_answers_to_held_out_items_do_not_enter_a_history(monkeypatch: pytest.MonkeyPatch) -> None:
    dev = load("hexagons", "dev")
    folder = Path("runs/dev")
    folder.mkdir(parents=True)
    (folder / "run.yaml").write_text("settings: {task: hexagons, split: dev}\n")
    (folder / "predictions.jsonl").write_text("".join(json.dumps({"id": item.id, "actions": []}) + "\n" for item in dev))
    with pytest.raises(UsageError, match=f"--history dev: {len(dev)} of its items are in dev or test"):
        job_of(monkeypatch, "llama-lora", "--context", "conversation", "--history", "dev")


def test_an_item_is_not_an_example_for_itself_under_another_id() -> None:
    train = load("hexagons", "train")
    first = train[0]
    left = not_asked(train, disguised([first]))
    assert first not in left
    assert len(left) == sum(content(item) != content(first) for item in train)
    assert not_asked(train, train) == train


def test_simulated_items_that_happen_to_be_of_dev_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    dev = load("minecraft", "val")
    monkeypatch.setattr(
        "adapters.sources.simulated", lambda name, seed, split: disguised([*dev[:2], *load("minecraft", "train")[:3]])
    )
    job = job_of(monkeypatch, "llama-lora", "--task", "minecraft", "--set", "data=[{simulate: random, items: 5}]")
    assert len(job.items) == 3


def test_the_train_split_itself_is_compared_and_counted() -> None:
    held = HeldOut("iglu")
    train = load("iglu", "train")
    held.refuse("train", train)
    said = held.compared(train)
    assert said["items"] == {task: len(load(task, "dev")) + len(load(task, "test")) for task in tasks_in("minecraft")}
    assert set(said["shared_targets"]) <= {"minecraft", "iglu"}


@pytest.mark.slow
@pytest.mark.data
def test_targets_that_the_official_corpora_share() -> None:
    held, iglu = HeldOut("minecraft"), load("iglu", "train")
    held.refuse("iglu", iglu)
    assert held.shared_targets(iglu) == {"minecraft": (216, 1616), "iglu": (327, 606)}
    assert held.compared(iglu)["published_alike"] == 13
    assert HeldOut("hexagons").shared_targets(load("hexagons", "train")) == {}


def test_scores_by_targets_that_were_trained_on() -> None:
    items = load("iglu", "test")
    Path("answers.jsonl").write_text("".join(json.dumps({"id": item.id, "actions": []}) + "\n" for item in items))
    answers = read_answers(Path("answers.jsonl"))
    for tasks in ((), ("minecraft",), ("minecraft", "iglu")):
        now = replace(answers, settings={"trained_on": list(tasks)} if tasks else {})
        (table,) = group_scores(now, Benchmark(None, None), by=["seen"]).tables
        known = train_targets(tasks or ("iglu",))
        counts = {"seen": sum(item.group.upper() in known for item in items)}
        counts["new"] = len(items) - counts["seen"]
        assert {group["label"]: group["items"] for group in table["groups"]} == {k: v for k, v in counts.items() if v}
