"""Items as rows for other harnesses."""

import pytest

import harness
from harness.errors import UsageError
from harness.plugins.rows import dataset, rows, score_row, two_messages
from harness.plugins.trl import reward
from tests.helpers import Command


@pytest.mark.parametrize("task", ["hexagons", "minecraft"])
def test_a_row_says_all_that_its_score_needs(task: str) -> None:
    for row, item in zip(rows(task, "dev"), harness.load(task, "dev"), strict=True):
        assert row["id"] == item.id
        assert row["messages"] == harness.render(item)
        assert score_row(row["id"], row["spec"], row["answer"]).exact
    assert len(rows(task, "dev", limit=2)) == 2


def test_another_prompt_format() -> None:
    (row,) = rows("minecraft", "dev", 1, context="h3", format="calls", frame="builder")
    spec = harness.PromptSpec.make("minecraft", "h3", "calls", "builder")
    item = harness.load("minecraft", "dev")[0]
    assert row["answer"] == harness.gold(item, spec)
    assert score_row(row["id"], row["spec"], row["answer"]).exact


def test_what_has_no_row_is_refused() -> None:
    row = rows("minecraft", "dev", 1)[0]
    assert two_messages(row)[1]
    longest = max(rows("minecraft", "dev", context="conversation"), key=lambda row: len(row["messages"]))
    with pytest.raises(UsageError, match="makes a chat of several turns"):
        two_messages(longest)
    with pytest.raises(UsageError, match="shows a model's earlier answers"):
        rows("hexagons", "dev", context="conversation")
    with pytest.raises(UsageError, match="no item minecraft/dev/none/1: set HARNESS_DATA as it was"):
        score_row("minecraft/dev/none/1", row["spec"], "")


def test_a_dataset_and_its_rewards() -> None:
    table = dataset("minecraft", "dev")
    assert table.column_names == ["prompt", "completion", "id", "spec"]
    assert reward(table["completion"], id=table["id"], spec=table["spec"]) == [1.5] * len(table)
    assert reward(["no"], id=table["id"][:1], spec=table["spec"][:1]) == [0.0]


def test_the_command_says_how(command: Command) -> None:
    assert "vf-eval harness-verifiers" in command("plugins")[1]
    assert command("plugins", "lm-eval")[1].strip().endswith("lm_eval")
