"""What a training would do, computed without the model's weights: rows, packs, steps, parameters, memory, some rows to read."""

import json
from collections.abc import Callable

from adapters.finetune import FinetuneJob, answer_room, prepare
from adapters.memory import estimate, largest, parameters
from adapters.model import without_weights
from harness.engines.shared import in_bf16, missing_for_quantization
from harness.training.plan import spread
from harness.util.settings import flat

SHOWN = 5
"""Rows that are shown, evenly spread over the train rows."""
MARKS = ("⟦", "⟧")
"""Put around the tokens in the loss mask."""


def dry_run(job: FinetuneJob, say: Callable[[str], None]) -> None:
    """Prepares a training as `finetune` does, from the base's configuration and tokenizer alone, and says what it would do: the
    counts, the memory, the notes and some rows. Writes nothing.

    Raises EngineError if the configuration or the tokenizer is missing, and HarnessError if no row is short enough.
    """
    tokenizer, training = job.tokenizer, job.recipe.training
    for section, given in {"trainer": job.recipe.trainer, "peft": job.recipe.peft}.items():
        if given:
            say(f"{section}: {', '.join(f'{key}={json.dumps(value)}' for key, value in flat(given).items())}")
    if job.pairs:
        from adapters.preference_training import answered_pairs

        for row in answered_pairs(job, say)[0]:
            say(f"\n--- {row.id}\n{tokenizer.decode(row.prompt_ids)}{tokenizer.decode(row.completion_ids).join(MARKS)}")
        return
    prepared = prepare(job)
    rows, packs = prepared.rows, prepared.packs
    # `estimate` counts quantized weights as such.
    model = without_weights(job.recipe, job.config)
    asked = max(len(row.prompt_ids) for row in prepared.dev_rows) + answer_room(training, job.length)
    half = in_bf16(training.precision)
    memory = estimate(model, job.recipe, largest(packs), asked, half)
    trained, total = parameters(model)
    for line in prepared.counts:
        say(line)
    sizes = [pack.tokens for pack in packs]
    say(f"packs: {len(sizes):,} of at most {max(sizes):,} tokens; steps: {len(sizes) // training.accumulation:,}")
    epoch = f"{packs.tokens:,} in the first epoch; its rows one by one: {rows.size:,}"
    say(f"tokens: {sum(sizes):,} in all, {epoch}")
    say(f"parameters: {trained:,} trained of {total:,} ({trained / total:.2%})")
    say(str(memory))
    lacking = missing_for_quantization() if job.recipe.quantize else None
    if lacking:
        say(f"note: quantize {job.recipe.quantize} needs {lacking}: here the recipe cannot be trained, only looked at")
    if not prepared.renderer.is_chat:
        say("note: the base has no chat template: the plain one is used")
    if dropped := rows.dropped:
        say(f"note: {dropped} rows are too long: a shorter --context or a larger training.max_length keeps them")
    shown = spread(rows, SHOWN)
    for number, row in enumerate(shown, start=1):
        say(f"\n--- row {number} of {len(shown)}: {row.id}; {''.join(MARKS)}: carries loss")
        say(tokenizer.decode(row.prompt_ids) + tokenizer.decode(row.completion_ids).join(MARKS))
