"""Records the golden prompts. Tests compare them byte for byte and never write them."""

from __future__ import annotations

from pathlib import Path

from prompts.probe import PROBES
from prompts.render import Renderer
from prompts.spec import PromptSpec
from serialization.contexts import CONTEXTS
from serialization.formats import FORMATS

FOLDER = Path(__file__).parent.parent / "tests" / "golden"


TEMPLATES = {"few-shot-code": "minecraft", "hexagons-t5": "hexagons", "nebula": "minecraft"}
"""The shipped templates beside the default one, and what they are for."""


def specs() -> list[PromptSpec]:
    """Every context with the task's first format, every format with its default context, a conversation in `moves` (where
    the format decides what is said of the builder), all frames, and every template with its own context and format."""
    formats: list[PromptSpec] = []
    for task, contexts in CONTEXTS.items():
        frames = ("world", "builder") if task == "minecraft" else ("world",)
        formats += [PromptSpec.make(task, context, None, frame) for context in contexts for frame in frames]
        formats += [PromptSpec.make(task, None, name, frame) for name in FORMATS[task] for frame in frames]
    formats += [PromptSpec.make("minecraft", "conversation", "moves", frame) for frame in ("world", "builder")]
    formats.append(PromptSpec.make("minecraft", frame="pose"))
    formats += [PromptSpec.make(task, template=name) for name, task in TEMPLATES.items()]
    return list(dict.fromkeys(formats))


def golden(spec: PromptSpec) -> str:
    """A prompt with one example as a model without a chat template reads it, and the answer it is trained on."""
    shot, item = PROBES[spec.task]
    return "".join(Renderer(spec, None, 100_000, 1).training_text(item, [shot])) + "\n"


def golden_path(spec: PromptSpec) -> Path:
    return FOLDER / f"{spec.name.replace('/', '.')}.txt"


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    for old in FOLDER.glob("*.txt"):
        old.unlink()
    for spec in specs():
        golden_path(spec).write_text(golden(spec))
    print(f"{len(specs())} golden prompts in {FOLDER}")


if __name__ == "__main__":
    main()
