"""What a training takes, by arithmetic: steps, memory, and hours on this machine and on one GPU.

A token that passes P parameters takes 2P operations forward, and 4P more backward if they are trained. Hours are those of all
epochs: early stopping may end before. Memory is that of weights, gradients and the optimizer's states; for language models, that
of activations too (`adapters.memory`).
"""

import math
import timeit
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
import torch

from adapters.finetune import FinetuneJob
from adapters.labels import Pack
from adapters.memory import estimate, parameters
from adapters.model import without_weights
from harness.baselines.encoders import SMALL, EncoderSettings, load_encoder
from harness.baselines.world_state import CELLS
from harness.corpora.item import builder_turns, drawing_steps
from harness.engines.models.bases import load_config, resolve_base
from harness.engines.models.encoding import MINILM
from harness.engines.shared import in_bf16, missing_for_quantization, quiet_transformers
from harness.errors import EngineError
from harness.training.job import Job
from harness.training.plan import spread
from harness.training.trainable import BaselineJob
from harness.util.settings import read_values
from harness.worlds.hexagons import TILES
from prompts.render import Renderer
from serialization.contexts import CONTEXTS
from serialization.words import h3_tokens

BASES = Path(__file__).parent / "bases.yaml"
"""The published configurations of bases that may not be on this machine."""
CHARACTERS = 3.0
"""A text has a token for so many characters: words have four or more, coordinates two."""
WORDS = 3000
"""The size of a builder's vocabulary."""
CPU_SHARE = 0.7
"""The part of the speed of matrix products that a training reaches on a CPU; `cnn-gru` reached 0.6 to 0.9."""
GPU_SPEED, GPU_STEP = 0.25 * 989e12, 0.02
"""A quarter of the operations a second that an H100 can do in bfloat16, and the fewest seconds of a step, which launches many
kernels. We have measured neither."""
_SAMPLE = 100
"""Items whose lengths are measured."""


@dataclass(frozen=True)
class Cost:
    """What a training takes."""

    items: int
    steps: int
    """At most."""
    memory: float
    """Bytes."""
    operations: float
    """In all steps."""
    obstacle: str = ""
    """Why it cannot run here."""

    @property
    def here(self) -> float:
        """Hours on this machine."""
        return self.operations / speed() / 3600

    @property
    def on_gpu(self) -> float:
        """Hours on one H100."""
        return max(self.operations / GPU_SPEED, self.steps * GPU_STEP) / 3600

    def __str__(self) -> str:
        size = f"at most {self.steps:,} steps on {self.items:,} items; {self.memory / 1e9:.1f} GB"
        return f"{size}; {self.obstacle or f'{_hours(self.here)} on this machine'}, {_hours(self.on_gpu)} on one H100"


def together(costs: Sequence[Cost]) -> str:
    """All trainings, one after another."""
    here = sum(cost.here for cost in costs if not cost.obstacle)
    own = f"{_hours(here)} on this machine, " if here else ""
    return f"all trainings: {own}{_hours(sum(cost.on_gpu for cost in costs))} on one H100"


def _hours(value: float) -> str:
    return f"{value:,.0f} h" if value >= 10 else f"{value:.1f} h" if value >= 0.1 else f"{60 * value:.1f} min"


@cache
def speed() -> float:
    """The operations a second that a training reaches on this machine's CPU if nothing else runs."""
    side = 1024
    matrix = torch.ones(side, side)
    return CPU_SHARE * 2 * side**3 / min(timeit.repeat(lambda: matrix @ matrix, number=1, repeat=9))


def cost_of(job: Job, items: int) -> Cost | str:
    """The cost of a training on `items` items, like those of the job; why it is unknown, if a base is not known."""
    try:
        if isinstance(job, FinetuneJob):
            return _of_language_model(job, items)
        assert isinstance(job, BaselineJob)
        network, operations = NETWORKS[job.name](job)
    except EngineError as error:
        return f"{items:,} items; memory and hours are unknown: {error}"
    training = job.recipe.training
    epochs = training.epochs + (1 if training.curriculum else 0)
    steps, (trained, total) = epochs * math.ceil(items / training.batch_size), parameters(network)
    return Cost(items, steps, 12 * trained + 4 * total, epochs * items * operations)


def _of_language_model(job: FinetuneJob, items: int) -> Cost:

    recipe, training = job.recipe, job.recipe.training
    renderer = Renderer(job.spec, None, 100_000, 1)
    sizes = [[len(part) / CHARACTERS for part in renderer.training_text(item)] for item in spread(job.items, _SAMPLE)]
    tokens, longest = fmean(map(sum, sizes)), max(sizes, key=sum)
    model = without_weights(recipe, _config(job.base))  # `estimate` counts quantized weights as such.
    rows = training.accumulation * (training.per_device_train_batch_size or max(1, training.tokens / tokens))
    steps = training.max_steps or math.ceil(training.epochs * items / rows)
    empty = np.zeros(int(sum(longest)), np.int32)
    pack = Pack(empty, empty, empty, np.zeros(int(longest[1]) or 1, np.int32), empty)
    memory = estimate(model, recipe, [pack], int(sum(longest)), in_bf16(training.precision)).total
    trained, total = parameters(model)
    passed = total - model.get_input_embeddings().weight.numel()
    passes = 4 + (2 if training.gradient_checkpointing else 0)
    operations = steps * rows * tokens * (passes * passed + 2 * trained)
    lacking = missing_for_quantization() if recipe.quantize else None
    return Cost(items, steps, memory, operations, f"4 bits need {lacking}" if lacking else "")


def _config(base: str) -> Any:
    """The configuration of a base. Raises EngineError if it is neither known nor here."""
    from transformers import AutoConfig

    known = read_values(BASES)
    return AutoConfig.for_model(**known[base]) if base in known else load_config(resolve_base(base))


def _size(module: Any) -> int:
    return parameters(module)[1]


def _layers(model: Any) -> int:
    """The parameters that every token passes: all but its embeddings."""
    return _size(model) - int(model.get_input_embeddings().weight.numel())


def _encoder(settings: EncoderSettings) -> Any:
    import transformers

    if settings.name in (SMALL, MINILM):
        return load_encoder(settings)[0]
    with torch.device("meta"), quiet_transformers():
        return transformers.AutoModel.from_config(_config(settings.name)).requires_grad_(settings.tuned)


def _builder(job: BaselineJob) -> tuple[Any, float]:
    from harness.baselines.bert_transformer.baseline import BertNetwork
    from harness.baselines.cnn_gru.baseline import CnnGruNetwork

    recipe, items = job.recipe, spread(builder_turns(job.items), _SAMPLE)
    encoder = _encoder(recipe.encoder) if job.name == "bert-transformer" else None
    with torch.device("meta"):
        network: Any = BertNetwork(recipe.network, encoder) if encoder else CnnGruNetwork(recipe.network, WORDS)
    # The operations on a token of the history.
    reading = (6 if recipe.encoder.tuned else 2) * _layers(encoder) if encoder else 6 * _size(network.encoder)
    decoder, cells = network.decoder, _size(network.decoder.world) + _size(network.decoder.head)
    steps = fmean(len(item.actions) + 1 for item in items)
    words = fmean(len(h3_tokens(item)) for item in items)
    return network, 6 * steps * (cells * CELLS + _size(decoder) - cells) + reading * words


def _deberta(job: BaselineJob) -> tuple[Any, float]:
    from harness.baselines.deberta.batches import instructions
    from harness.baselines.deberta.network import TextPerTile, TileQueries

    recipe, context = job.recipe, CONTEXTS["hexagons"][job.recipe.context]
    encoder, per_tile = _encoder(recipe.encoder), recipe.variant == "paper"
    items = spread(drawing_steps(job.items), _SAMPLE)
    tokens = fmean(sum(map(len, instructions(item, context))) / CHARACTERS for item in items)
    with torch.device("meta"):
        network = TextPerTile(encoder, recipe.network) if per_tile else TileQueries(encoder, recipe.network, board=True)
    # A text for each tile has the names of all tiles' colors, and its activations are computed twice.
    texts = TILES * (tokens + (2 * TILES if context.board else 0)) if per_tile else tokens
    passes = 2 if not recipe.encoder.tuned else 8 if per_tile else 6
    own = _size(network) - _size(encoder)
    return network, passes * _layers(encoder) * texts + 6 * own * (1 if per_tile else TILES)


def _t5(job: BaselineJob) -> tuple[Any, float]:
    import transformers

    from harness.baselines.t5.baseline import small

    recipe, items = job.recipe, spread(drawing_steps(job.items), _SAMPLE)
    with torch.device("meta"), quiet_transformers():
        own = recipe.model == SMALL
        model = small(recipe.network)[0] if own else transformers.AutoModelForSeq2SeqLM.from_config(_config(recipe.model))
    read, written = (
        fmean(map(len, texts)) / CHARACTERS
        for texts in (map(recipe.input_of, items), [recipe.written.write(item.actions) for item in items])
    )
    return model, 6 * (_layers(model.get_encoder()) * read + _layers(model.get_decoder()) * written)


NETWORKS: dict[str, Callable[[BaselineJob], tuple[Any, float]]] = {
    "cnn-gru": _builder,
    "bert-transformer": _builder,
    "deberta": _deberta,
    "t5": _t5,
}
"""By baseline: the network, and the operations of a training step for each item."""
