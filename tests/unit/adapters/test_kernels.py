"""Every kernel that a recipe may name gives the losses of single rows."""

from contextlib import nullcontext
from pathlib import Path

import pytest
import torch
from transformers import AutoModelForCausalLM

from adapters.attention import register
from adapters.labels import Packing
from adapters.layout import Layout, attention_of, layout_of
from adapters.model import with_lora
from adapters.packing import plan_packs
from adapters.recipe import load_recipe
from adapters.trainer import AnswerTrainer, trainer_arguments
from harness.engines.shared import in_bf16
from harness.errors import UsageError
from prompts.rendered import TrainingRow

BEGINNING = tuple(range(10, 50))
ROWS = [
    TrainingRow("a", (*BEGINNING, 5), (60, 61, 2)),
    TrainingRow("b", (*BEGINNING, 5), (60, 70, 71, 2)),  # Continues differently after the same token.
    TrainingRow("c", (*BEGINNING, 5), (60, 61, 2)),
    TrainingRow("d", (*BEGINNING, 6, 7), (80, 2)),
    TrainingRow("e", tuple(range(100, 130)), (90, 91, 92, 2)),
]
SETTINGS = (
    "training.gradient_checkpointing=false", "training.learning_rate=0.01", "training.warmup=0", "training.evaluations=1",
    "lora.dropout=0.0", "lora.r=8",
)  # fmt: skip


def losses(base: Path, folder: Path, attention: str, *settings: str, fused: bool = True, steps: int = 2) -> list[float]:
    """The losses of full steps over all rows; for 0 steps, the loss without a backward pass."""
    recipe = load_recipe("llama-lora", [*SETTINGS, *settings])
    model = AutoModelForCausalLM.from_pretrained(base, attn_implementation=attention)
    packing = layout_of(model.config, 2048, recipe.training.per_device_train_batch_size).packing
    packs = list(plan_packs(ROWS, [range(4), range(4, len(ROWS))], 64, 128, packing))
    training = recipe.training.model_copy(update={"accumulation": len(packs)})
    arguments = trainer_arguments(training, len(packs) * max(1, steps), folder)
    arguments.set_evaluate(strategy="no")
    arguments.eval_on_start = False
    arguments.set_save(strategy="no")
    arguments.load_best_model_at_end = False
    if arguments.torch_compile:
        # The default backend takes minutes to compile.
        arguments.torch_compile_backend = "aot_eager"
    torch.manual_seed(0)
    trainer = AnswerTrainer(
        with_lora(recipe, model), arguments, folder, packs * max(1, steps), packs, 0, lambda model, **_: 0.0, training, packing
    )
    trainer.fused &= fused
    if not steps:
        return [trainer.dev_loss()]
    trainer.train()
    return [entry["loss"] for entry in trainer.state.log_history if "loss" in entry]


@pytest.fixture(scope="module")
def one_by_one(tiny_base: Path, tmp_path_factory: pytest.TempPathFactory) -> list[float]:
    """The losses of transformers' own eager attention on one row at a time, with complete logits, in float32."""
    alone = ("training.per_device_train_batch_size=1", "training.precision=float32")
    return losses(tiny_base, tmp_path_factory.mktemp("one"), "eager", *alone, fused=False)


def test_the_loss_is_the_mean_over_the_answers_tokens_as_transformers_alone_computes_it(
    tiny_base: Path, tmp_path: Path, one_by_one: list[float], rounding: float
) -> None:
    """8.160 in float32 and 8.218 in bfloat16: nothing but transformers' own casts makes the difference."""
    model = AutoModelForCausalLM.from_pretrained(tiny_base, attn_implementation="eager")
    with torch.no_grad(), torch.autocast("cpu", torch.bfloat16, enabled=in_bf16()):
        logits = [model(torch.tensor([row.token_ids])).logits[0, len(row.prompt_ids) - 1 : -1] for row in ROWS]
    labels = torch.tensor([token for row in ROWS for token in row.completion_ids])
    alone = float(torch.nn.functional.cross_entropy(torch.cat(logits).float(), labels))
    found = losses(tiny_base, tmp_path, "eager", "training.per_device_train_batch_size=1", fused=False)
    assert found[0] == pytest.approx(alone, rel=1e-4)
    assert found == pytest.approx(one_by_one, rel=rounding)
    assert found[1] < found[0]


# torch warns about transformers and TRL while it compiles them.
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("attention", "settings", "steps"),
    [
        ("blocks", [], 2),
        ("sdpa", [], 2),
        ("eager", [], 2),
        # torch has no backward pass for it on a CPU.
        ("flex_attention", [], 0),
        ("blocks", ["training.gradient_checkpointing=true"], 2),
        pytest.param("sdpa", ["training.torch_compile=true"], 2, marks=pytest.mark.slow),
    ],
)
def test_every_kernel_gives_the_losses_of_the_rows_one_by_one(
    tiny_base: Path, tmp_path: Path, one_by_one: list[float], rounding: float, attention: str, settings: list[str], steps: int
) -> None:
    register()
    # FlexAttention is compiled only on a GPU.
    eager = torch.compiler.set_stance("force_eager") if attention == "flex_attention" else nullcontext()
    with eager:
        found = losses(tiny_base, tmp_path, attention, *settings, steps=steps)
    assert found == pytest.approx(one_by_one[: max(1, steps)], rel=rounding)


def test_attention_suits_the_packs(monkeypatch: pytest.MonkeyPatch) -> None:
    tree, eager, single = (
        Layout(packing, "", own) for packing, own in ((Packing.TREE, None), (Packing.TREE, "eager"), (Packing.SINGLE, None))
    )
    assert [attention_of(layout, None) for layout in (tree, eager, single)] == ["blocks", "eager", None]
    with pytest.raises(UsageError, match="flex_attention needs an NVIDIA GPU"):
        attention_of(tree, "flex_attention")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert [attention_of(layout, None) for layout in (tree, eager, single)] == ["sdpa", "eager", None]
    assert attention_of(tree, "flex_attention") == "flex_attention"
    assert attention_of(single, "flash_attention_2") == "flash_attention_2"
    with pytest.raises(UsageError, match="needs eager attention"):
        attention_of(eager, "sdpa")
    with pytest.raises(UsageError, match="per_device_train_batch_size=1"):
        attention_of(tree, "flash_attention_2")
