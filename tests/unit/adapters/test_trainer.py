"""The choice of the best evaluation, and early stopping."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from adapters.labels import Packing, collate
from adapters.packing import PackPlan, Packs, listed, plan_packs
from adapters.recipe import load_recipe
from adapters.trainer import AnswerTrainer, trainer_arguments
from harness.errors import HarnessError
from harness.training.checkpoints import finished_at, last_state
from prompts.rendered import TrainingRow

Point = dict[str, float]


def points(*judged: tuple[float, float]) -> list[Point]:
    """F1 and loss, at steps 0, 10, ..."""
    return [{"step": 10 * number, "dev_f1": f1, "dev_loss": loss} for number, (f1, loss) in enumerate(judged)]


@pytest.mark.parametrize(
    ("judged", "step"),
    [
        ([(0.1, 2.0), (0.2, 1.0)], 10),
        ([(0.9, 0.1), (0.2, 1.0), (0.3, 1.0)], 20),
        ([(0.0, 2.0), (0.2, 1.0), (0.2, 0.9), (0.2, 0.9)], 20),
        ([(0.0, 2.0), (0.3, 9.0), (0.2, 0.1)], 10),
    ],
)
def test_the_best_is_by_score_then_by_loss_then_the_first_after_training_began(
    judged: list[tuple[float, float]], step: int
) -> None:
    assert max(points(*judged), key=AnswerTrainer.score)["step"] == step


def test_a_finished_run_says_so_in_its_last_checkpoint(tmp_path: Path) -> None:
    assert finished_at(last_state(tmp_path)) is None
    (tmp_path / "checkpoints/checkpoint-30").mkdir(parents=True)
    for over, step in ((False, None), (True, 30)):
        control = {"TrainerControl": {"args": {"should_training_stop": over}}}
        state = {"global_step": 30, "stateful_callbacks": control}
        (tmp_path / "checkpoints/checkpoint-30/trainer_state.json").write_text(json.dumps(state))
        assert finished_at(last_state(tmp_path)) == step


def test_a_steps_loss_is_the_mean_over_all_tokens_of_its_answers(tiny_base: Path, tmp_path: Path) -> None:
    """Trainer would count one token fewer for each pack, as if the labels were of a whole sequence."""
    from transformers import AutoModelForCausalLM

    recipe = load_recipe("llama-full", ["training.accumulation=2"])
    rows = listed([TrainingRow("a", (3, 4), (5,)), TrainingRow("b", (3,), (6, 7, 2))])
    packs = list(plan_packs(rows, [[0], [1]], 4, 4))
    model = AutoModelForCausalLM.from_pretrained(tiny_base)
    arguments = trainer_arguments(recipe.training, len(packs), tmp_path)
    trainer = AnswerTrainer(model, arguments, tmp_path, packs, packs, 0, lambda model, **_: 0.0, recipe.training, Packing.TREE)
    batches = (collate(pack.write(), Packing.TREE, pad=0) for pack in packs)
    _, count = trainer.get_batch_samples(batches, 2, "cpu")
    assert int(count) == 4


def test_rows_of_a_later_epoch_that_a_worker_cannot_make_are_an_error_of_one_line(
    tiny_base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from transformers import AutoModelForCausalLM

    def later(epoch: int) -> list[PackPlan]:
        raise HarnessError("rows: cannot be written")

    monkeypatch.setenv("HARNESS_WORKERS", "1")
    recipe = load_recipe("llama-full", ["training.accumulation=1", "training.evaluations=1", "training.keep=last"])
    first = list(plan_packs(listed([TrainingRow("a", (3, 4), (5,))]), [[0]], 4, 4))
    model = AutoModelForCausalLM.from_pretrained(tiny_base)
    arguments = trainer_arguments(recipe.training, 2, tmp_path)
    packs = Packs(first, 2, later)
    trainer = AnswerTrainer(model, arguments, tmp_path, packs, first, 0, lambda model, **_: 0.0, recipe.training, Packing.TREE)
    with pytest.raises(HarnessError) as caught:
        trainer.go_on()
    assert str(caught.value) == "rows: cannot be written"
