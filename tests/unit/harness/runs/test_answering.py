import json
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.corpora.item import Executed, Item
from harness.engines.engine import Completion, Sampling
from harness.engines.scripted import ScriptedEngine
from harness.errors import EngineError, HarnessError, UsageError
from harness.prompting.prompted import Plan, Prompted
from harness.runs.answering import answer_items
from harness.runs.asked import Asked, AskedFile, read_asked
from harness.runs.folder import Run, find_run
from harness.worlds.hexagons import Paint
from prompts.render import Renderer
from prompts.rendered import Rendered
from prompts.shots import ShotPool
from prompts.spec import PromptSpec
from tests.helpers import cases
from tests.helpers.procedures import ITEMS


class Fake(ScriptedEngine):
    """Answers with the item's gold actions, and records its prompts; fails at the item `dies_at`."""

    def __init__(self, independent: bool, dies_at: str = "") -> None:
        super().__init__([])
        self.independent, self.dies_at = independent, dies_at
        self.asked: list[Rendered] = []

    def generate(self, prompts: Sequence[Rendered], sampling: Sampling) -> Iterator[Completion]:  # type: ignore[override]
        for prompt in prompts:
            if prompt.id == self.dies_at:
                raise EngineError("killed")
            self.asked.append(prompt)
            index, step = (int(part) for part in prompt.id.split("/")[2:])
            yield Completion(f"red: {index + 1} {step + 1}", "stop", 10, 5)


def plan(context: str = "full-history", format: str = "grouped") -> Plan:
    renderer = Renderer(PromptSpec.make("hexagons", context, format), None, 8192, 100)
    return Plan(renderer, Sampling(), ShotPool([], 0), 0, 4)


def run_all(folder: Path, engine: Fake, how: Plan, items: Sequence[Item] = ITEMS) -> list[dict[str, Any]]:
    with closing(Run(folder, {"a": 1})) as run:
        answer_items(run, items, Prompted(how, engine))
    return run.records


def test_a_conversation_shows_the_models_own_earlier_answers(tmp_path: Path) -> None:
    engine, gold = Fake(independent=False), (Paint(9, 9, "black"),)
    history = [tuple(Executed(gold) if isinstance(turn, Executed) else turn for turn in item.history) for item in ITEMS]
    items = [replace(item, actions=gold, history=turns) for item, turns in zip(ITEMS, history, strict=True)]
    run_all(tmp_path, engine, plan("conversation"), items)
    (asked,) = (prompt.messages for prompt in engine.asked if prompt.id == "hexagons/dev/2/3")
    assert [m["content"] for m in asked[1:]] == ["1. tile 1", "red: 3 2", "2. tile 2", "red: 3 3", "3. tile 3"]


def test_programs_build_on_what_earlier_answers_drew_and_never_on_gold(tmp_path: Path) -> None:
    class Copier(Fake):
        def generate(self, prompts: Sequence[Rendered], sampling: Sampling) -> list[Completion]:  # type: ignore[override]
            return [Completion("red 5:5" if prompt.id.endswith("/1") else "copy shift(step(-1),right 2)") for prompt in prompts]

    records = {one["id"]: one["actions"] for one in run_all(tmp_path, Copier(False), plan("no-history", format="program"))}
    assert records["hexagons/dev/0/2"] == [[4, 6, "red"]], "from its own tile, not from the gold one"
    assert records["hexagons/dev/0/3"] == [[4, 8, "red"]]


@pytest.mark.parametrize("context", ["full-history", "full-history+predicted-board", "conversation"])
@pytest.mark.parametrize("independent", [True, False])
def test_a_run_that_died_ends_with_the_same_bytes(tmp_path: Path, independent: bool, context: str) -> None:
    how = plan(context)
    run_all(tmp_path / "whole", Fake(independent), how)
    for dies_at in (ITEMS[0].id, ITEMS[5].id, ITEMS[8].id):
        folder = tmp_path / dies_at.replace("/", "-")
        with pytest.raises(EngineError):
            run_all(folder, Fake(independent, dies_at), how)
        with (folder / "predictions.jsonl").open("a") as file:
            file.write('{"id": "hexagons/de')
        run_all(folder, Fake(independent), how)
        assert (folder / "predictions.jsonl").read_bytes() == (tmp_path / "whole" / "predictions.jsonl").read_bytes()


def test_a_record_holds_what_was_said_and_read(tmp_path: Path) -> None:
    record = run_all(tmp_path, Fake(False), plan())[0]
    told = {"text": "red: 1 2", "format": "grouped", "discarded": [], "finish_reason": "stop"}
    counts = {"prompt_tokens": 10, "completion_tokens": 5, "dropped_history": 0, "dropped_shots": 0}
    assert record == {"id": "hexagons/dev/0/1", "actions": [[1, 0, "red"]], **told, **counts}


def test_prompts_are_kept_verbatim_with_their_seconds(tmp_path: Path) -> None:
    engine = Fake(independent=False)
    run_all(tmp_path, engine, plan("full-history+predicted-board"))
    asked = list(read_asked(tmp_path / "asked.jsonl"))
    assert [(item_id, one.prompt) for item_id, one in asked] == [(prompt.id, prompt.text) for prompt in engine.asked]
    assert 0 < sum(one.seconds for _, one in asked) < 60
    prompts = sum(len(prompt.text) for prompt in engine.asked)
    assert (tmp_path / "asked.jsonl").stat().st_size < prompts / 3, "what prompts share is written once"


@given(st.lists(st.text(st.sampled_from("ab\n\ud800é")), max_size=8), st.sets(st.integers(0, 7)))
def test_prompts_come_back_whatever_is_kept(prompts: list[str], kept: set[int]) -> None:
    with TemporaryDirectory() as folder:
        file, path = AskedFile(Path(folder, "asked.jsonl")), Path(folder, "asked.jsonl")
        for number, prompt in enumerate(prompts):
            file.append(str(number), Asked(0.25, prompt))
            file.append(f"{number}b", Asked(0.5))
        file.keep({str(number) for number in kept})
        file.append("last", Asked(1.5, "abb"))
        file.close()
        expected = [(str(n), Asked(0.25, prompt)) for n, prompt in enumerate(prompts) if n in kept]
        assert list(read_asked(path)) == [*expected, ("last", Asked(1.5, "abb"))]


def begun(folder: Path, **settings: Any) -> None:
    """Opens a run with one record, or resumes it."""
    with closing(Run(folder, settings)) as run:
        run.keep([{"id": "a", "actions": []}])


@pytest.mark.parametrize(("there", "refused", "taken"), cases(__file__)["settings"])
def test_other_settings_are_refused_unless_they_are_unused_or_only_name_the_base_better(
    tmp_path: Path, there: dict[str, Any], refused: dict[str, Any], taken: dict[str, Any]
) -> None:
    begun(tmp_path, **there)
    name = next(name for name in refused if refused[name] != there[name])
    with pytest.raises(UsageError, match=rf"{name}: {there[name]} there, {refused[name]} now.*--name"):
        begun(tmp_path, **refused)
    begun(tmp_path, **taken)


def test_a_folder_has_one_run_at_a_time(tmp_path: Path) -> None:
    with closing(Run(tmp_path, {})), pytest.raises(HarnessError, match="is being written by another run"):
        Run(tmp_path, {})
    Run(tmp_path, {}).close()


def test_a_broken_run_folder_is_named(tmp_path: Path) -> None:
    Run(tmp_path, {}).close()
    (tmp_path / "predictions.jsonl").write_bytes(b"{}\nnot json\n{}\n")
    with pytest.raises(HarnessError, match=r"predictions\.jsonl: a line is not JSON"):
        Run(tmp_path, {})
    for strange in ("[]", '{"id": 3, "actions": []}', '{"id": "x"}'):
        (tmp_path / "predictions.jsonl").write_text(strange + "\n")
        with pytest.raises(HarnessError, match=r"predictions\.jsonl:1: not an answer"):
            Run(tmp_path, {})
    (tmp_path / "predictions.jsonl").unlink()
    (tmp_path / "run.yaml").write_text("- nothing")
    with pytest.raises(HarnessError, match="does not describe a run"):
        Run(tmp_path, {})
    with pytest.raises(UsageError, match="no run named 'nowhere'"):
        find_run("nowhere")
    (tmp_path / "run.yaml").write_text("settings: {command: finetune}")
    with pytest.raises(
        UsageError, match=f"is a training run and holds no predictions; ask it: harness prompt --adapter {tmp_path}"
    ):
        find_run(str(tmp_path))


def test_run_yaml_says_what_reruns_it(tmp_path: Path) -> None:
    import yaml

    Run(tmp_path, {"shots": 5}).close()
    described = yaml.safe_load((tmp_path / "run.yaml").read_text())
    assert described["settings"] == {"shots": 5}
    assert {"started", "versions", "git"} <= described.keys()
    assert {"python", "torch", "transformers"} <= described["versions"].keys()
    assert json.dumps(described)


@pytest.mark.parametrize(("independent", "missing"), [(True, 6), (False, 4)])
def test_only_what_is_missing_is_asked_again(tmp_path: Path, independent: bool, missing: int) -> None:
    with pytest.raises(EngineError):
        run_all(tmp_path, Fake(independent, ITEMS[6].id), plan())
    again = Fake(independent)
    run_all(tmp_path, again, plan())
    assert [prompt.id for prompt in again.asked] == [item.id for item in ITEMS[missing:]]
