"""Records the golden prompts and the texts that baselines read. Tests compare them byte for byte and never write them."""

from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from harness.baselines.deberta.batches import InstructionReader, TileCollator
from harness.baselines.encoders import EncoderSettings, load_encoder
from harness.baselines.t5.baseline import T5
from harness.corpora.item import drawing_steps
from harness.tasks.registry import world_of
from prompts.probe import PROBES
from prompts.render import Renderer
from prompts.spec import PromptSpec
from serialization.contexts import CONTEXTS, FRAMES
from serialization.formats import formats_in
from tests.helpers.chat_templates import family_tokenizer

FOLDER = Path(__file__).parents[1] / "golden"
TEMPLATES = {"few-shot-code": "minecraft", "hexagons-t5": "hexagons", "nebula": "minecraft"}
"""The shipped templates other than the default one, and the task of each."""

THINKING = {"qwen 3": "on", "smollm 3": "on", "gpt-oss": "low"}
"""Families of models that think, and how."""


def specs() -> list[PromptSpec]:
    """Every context with the task's first format, every format with its default context, all frames, every template with its own
    context and format, and the tasks that share another task's world."""
    formats: list[PromptSpec] = []
    for task, contexts in CONTEXTS.items():
        if task != world_of(task):
            continue
        frames = ("world", "builder") if world_of(task) == "minecraft" else ("world",)
        formats += [PromptSpec.make(task, context, None, frame) for context in contexts for frame in frames]
        formats += [PromptSpec.make(task, None, name, frame) for name in formats_in(world_of(task)) for frame in frames]
    formats.append(PromptSpec.make("minecraft", frame="pose"))
    # Programs decide what a conversation says of earlier answers, of the builder and of the blocks.
    formats += [PromptSpec.make(task, "conversation", "bare-program") for task in ("hexagons", "minecraft", "iglu")]
    formats.append(PromptSpec.make("hexagons", "conversation+programs", "bare-program"))
    # What a task adds to its world's prompts is the same in every format, and in every context that lists the blocks.
    formats += [PromptSpec.make("iglu", frame=frame) for frame in FRAMES]
    # Prompts that say what stands before the first turn.
    formats += [PromptSpec.make("everyday-hexagons", context) for context in ("full-history", "conversation")]
    formats.append(PromptSpec.make("everyday-minecraft", "conversation"))
    formats += [PromptSpec.make(task, template=name) for name, task in TEMPLATES.items()]
    return list(dict.fromkeys(formats))


def golden(spec: PromptSpec) -> str:
    """A prompt with one example as a model without a chat template reads it, and the answer it is trained on."""
    shot, item = PROBES[spec.task]
    return "".join(Renderer(spec, None, 100_000, 1).training_text(item, [shot])) + "\n"


def golden_path(spec: PromptSpec) -> Path:
    return FOLDER / f"{spec.name.replace('/', '.')}.txt"


def baseline_texts() -> dict[Path, str]:
    """What `deberta` (for the first painted tile) and `t5` read in the paper's form, in each of its contexts."""
    encoder, tokenizer = load_encoder(EncoderSettings(name="small", tuned=True, hidden=64, layers=1))
    (item,) = drawing_steps([PROBES["hexagons"][1]])
    tile = int(item.before.cells.ravel().nonzero()[0][0])
    texts = {}
    for name in (name for name, context in CONTEXTS["hexagons"].items() if not context.chat):
        batch = TileCollator(InstructionReader(tokenizer, encoder, CONTEXTS["hexagons"][name]))([item])
        texts["deberta", name] = tokenizer.decode(batch.tokens[0, tile][batch.mask[0, tile]])
        texts["t5", name] = T5().recipe(["variant=paper", f"context={name}"]).input_of(item)
    return {FOLDER / "baselines" / f"{model}.{name}.txt": f"{text}\n" for (model, name), text in texts.items()}


def thought_texts() -> dict[Path, str]:
    """A prompt with one example as models read it that think, a thought, and the answer."""
    shot, item = PROBES["hexagons"]
    thought, texts = "Red first.\n\nThen blue.\n", {}
    with TemporaryDirectory() as folder:
        for name, think in THINKING.items():
            tokenizer = family_tokenizer(Path(folder) / "tiny", name)
            renderer = Renderer(PromptSpec.make("hexagons", "conversation", think=think), tokenizer, 100_000, 1)
            prompt, answer = renderer.training_text(replace(item, meta={"thought": thought}), [shot])
            texts[FOLDER / "thinking" / f"{name.replace(' ', '-')}.txt"] = f"{prompt}{renderer.thought_text(thought)}{answer}\n"
    return texts


def main() -> None:
    texts = {golden_path(spec): golden(spec) for spec in specs()} | baseline_texts() | thought_texts()
    for old in FOLDER.rglob("*.txt"):
        old.unlink()
    for path, text in texts.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    print(f"{len(texts)} golden prompts and texts of baselines and of thoughts in {FOLDER}")


if __name__ == "__main__":
    main()
