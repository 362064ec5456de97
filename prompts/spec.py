"""A prompt format: what is shown, and how the answer is written."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from harness.errors import UsageError
from harness.util.registry import choose
from prompts.template import DEFAULT, Template, get_template
from serialization.contexts import FRAMES, Context, get_context
from serialization.formats import Format, get_format

DEFAULTS = {
    "hexagons": {"context": "full-history", "format": "grouped"},
    "minecraft": {"context": "context-rich", "format": "lines"},
}


@dataclass(frozen=True)
class PromptSpec:
    """Everything that decides the text of a prompt and its answer, except the item and the examples."""

    task: str
    context: str
    format: str
    frame: str = "world"
    template: str = DEFAULT
    """The name of a shipped template, or a folder."""

    @classmethod
    def make(
        cls,
        task: str,
        context: str | None = None,
        format: str | None = None,
        frame: str | None = None,
        template: str | None = None,
    ) -> PromptSpec:
        """A spec with the template's or the task's defaults for None. Raises UsageError for an unknown or unsuitable name."""
        chosen = template or DEFAULT
        defaults = {**DEFAULTS[choose("task", task, DEFAULTS)], **get_template(chosen).choices(task)}
        spec = cls(task, context or defaults["context"], format or defaults["format"], frame or "world", chosen)
        _ = spec.shown, spec.written
        choose("frame", spec.frame, FRAMES)
        if spec.frame != "world" and task == "hexagons":
            raise UsageError(f"--frame {spec.frame} is for minecraft: a hexagon board has no builder")
        if spec.frame == "pose" and not (spec.shown.rich and spec.format == "lines"):
            raise UsageError("--frame pose is for --context context-rich, which tells the pose, and --format lines")
        return spec

    @property
    def shown(self) -> Context:
        return get_context(self.task, self.context)

    @property
    def written(self) -> Format:
        return get_format(self.task, self.format)

    @property
    def wording(self) -> Template:
        return get_template(self.template)

    @property
    def fields(self) -> dict[str, str]:
        """The names that it was made of; the template only if it is not the default one, and of its folder only the name."""
        folder = self.wording.folder
        names = {**asdict(self), "template": folder.name if folder else DEFAULT}
        return {key: value for key, value in names.items() if (key, value) != ("template", DEFAULT)}

    @property
    def rolls_out(self) -> bool:
        """Whether a prompt shows what the model answered to earlier items, or an answer refers to it (as programs do).

        Such items must be asked in order. With an oracle's board they are not: then what was drawn is the gold.
        """
        refers = self.written.of_item is not None and self.shown.board != "oracle"
        return self.task == "hexagons" and (self.shown.rolls_out or refers)

    @property
    def name(self) -> str:
        return "/".join(self.fields.values())
