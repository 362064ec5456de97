"""Which evaluation is the best, and when there were enough that were not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from adapters.packing import Packing, collate, pack_of
from adapters.recipe import FinetuneRecipe, load_recipe
from adapters.trainer import AnswerTrainer, best_point, out_of_patience, stopped_at, trainer_arguments
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
    assert best_point(points(*judged))["step"] == step


def test_patience_ends_after_so_many_evaluations_that_were_no_better(tmp_path: Path) -> None:
    judged = points((0.5, 2.0), (0.2, 1.0), (0.1, 1.0), (0.2, 1.0))
    assert [out_of_patience(judged[:count], 2) for count in range(5)] == [False, False, False, False, True]
    assert not out_of_patience(judged, 3)
    assert not out_of_patience(judged, None)
    assert stopped_at(tmp_path, 2) is None
    (tmp_path / "checkpoints/checkpoint-30").mkdir(parents=True)
    history = [{"step": p["step"], "eval_f1": p["dev_f1"], "eval_loss": p["dev_loss"]} for p in judged]
    (tmp_path / "checkpoints/checkpoint-30/trainer_state.json").write_text(json.dumps({"log_history": history}))
    assert (stopped_at(tmp_path, 2), stopped_at(tmp_path, 3)) == (30, None)


def test_a_steps_loss_is_the_mean_over_all_tokens_of_its_answers(tiny_base: Path, tmp_path: Path) -> None:
    """Trainer would count a token fewer for each pack, as if labels were those of a whole sequence."""
    from transformers import AutoModelForCausalLM

    recipe = load_recipe("llama-full", ["training.accumulation=2"])
    assert isinstance(recipe, FinetuneRecipe)
    packs = [pack_of([TrainingRow("a", (3, 4), (5,))]), pack_of([TrainingRow("b", (3,), (6, 7, 2))])]
    model = AutoModelForCausalLM.from_pretrained(tiny_base)
    arguments = trainer_arguments(recipe.training, len(packs), tmp_path)
    trainer = AnswerTrainer(model, arguments, tmp_path, packs, packs, 0, lambda model, **_: 0.0, recipe.training, Packing.TREE)
    batches = (collate([pack], Packing.TREE, pad=0) for pack in packs)
    _, count = trainer.get_batch_samples(batches, 2, "cpu")
    assert int(count) == 4
