"""Every family of models computes the same in packed training as on single rows: windows, chunks, sinks, caps, states."""

from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
import yaml
from torch import Tensor

from adapters.attention import register
from adapters.labels import Packing, collate, fuse_head, log_probs_of, logits_of
from adapters.layout import layout_of
from adapters.packing import plan_packs
from harness.engines.models.bases import exact_attention
from prompts.rendered import TrainingRow

FAMILIES = yaml.safe_load(Path(__file__).with_name("families.yaml").read_text())
SMALL: dict[str, Any] = FAMILIES["all"]


def rows() -> list[TrainingRow]:
    """Two procedures with three rows each that share a prefix; one row occurs twice."""
    generator = torch.Generator().manual_seed(1)

    def tokens(count: int) -> tuple[int, ...]:
        return tuple(torch.randint(3, SMALL["vocab_size"], (count,), generator=generator).tolist())

    shared = [tokens(11), tokens(9)]
    made = [TrainingRow(f"{n}", beginning + tokens(4 * n), tokens(3 + n)) for beginning in shared for n in range(3)]
    return [*made, made[1]]


def configuration(family: str, **changes: Any) -> Any:
    return getattr(transformers, f"{family}Config")(**SMALL | (FAMILIES["tree"] | FAMILIES["batch"])[family] | changes)


def built(config: Any, attention: str | None = None) -> Any:
    """A random model whose attention is far from uniform, with sinks and biases that matter."""
    torch.manual_seed(0)
    model = transformers.AutoModelForCausalLM.from_config(config, attn_implementation=attention)
    for name, parameter in model.named_parameters():
        if "sinks" in name or ("bias" in name and parameter.ndim == 1):
            torch.nn.init.normal_(parameter, std=1.0)
    return model.eval()


def one_by_one(model: Any) -> Tensor:
    """The logits that carry loss, without packs, padding or masks."""
    with torch.no_grad():
        return torch.cat([model(torch.tensor([row.token_ids])).logits[0, len(row.prompt_ids) - 1 : -1] for row in rows()])


@pytest.mark.parametrize(("packing", "family"), [(packing, name) for packing in ("tree", "batch") for name in FAMILIES[packing]])
def test_training_computes_the_same_as_single_rows(packing: str, family: str) -> None:
    config = configuration(family)
    layout = layout_of(config, 64)
    assert layout.packing is Packing[packing.upper()], layout
    wanted = one_by_one(built(config, exact_attention(config)))
    register()
    names = [layout.attention] if layout.attention else ["sdpa", "blocks"] if layout.packing is Packing.TREE else [None]
    for attention in names:
        model = built(config, attention)
        # Llama 4's text model does not name its body.
        fused = fuse_head(model)
        assert fused == (family != "Llama4Text")
        found, likely = [], []
        for plan in plan_packs(rows(), [range(3), range(3, len(rows()))], 64, 64, layout.packing):
            inputs = collate(plan.write(), layout.packing, pad=0, multiple=16)
            labels = inputs.pop("labels")
            with torch.no_grad():
                found.append(logits_of(model, inputs, use_cache=False))
                likely += [log_probs_of(model, inputs, labels)] if fused else []
        error = float((torch.cat(found) - wanted).abs().max())
        assert error < 1e-4 * float(wanted.std()), attention
        labels = torch.tensor([token for row in rows() for token in row.completion_ids])
        expected = wanted.log_softmax(-1).gather(1, labels[:, None])[:, 0]
        if fused:
            torch.testing.assert_close(torch.cat(likely), expected, rtol=1e-4, atol=1e-4)


def test_an_unsupported_model_is_read_row_by_row_with_the_reason() -> None:
    long = configuration("Phi3", original_max_position_embeddings=16, rope_parameters={
        "rope_type": "longrope", "short_factor": [1.0] * 8, "long_factor": [2.0] * 8,
    })  # fmt: skip
    assert layout_of(long, 64).packing is Packing.SINGLE
    assert "change beyond 16 tokens" in str(layout_of(long, 64))
    assert layout_of(long, 16).packing is Packing.TREE
    assert "a mask does not separate rows in its layers (conv)" in str(layout_of(configuration("Lfm2"), 64))
