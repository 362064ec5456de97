"""A prompt format: what is shown, and how the answer is written."""

from dataclasses import asdict, dataclass
from functools import cached_property

from harness.errors import UsageError
from harness.tasks.registry import TASKS, world_of
from harness.util.registry import choose
from harness.worlds import World
from prompts.rendered import EFFORTS, OFF, ON
from prompts.template import DEFAULT, Template, get_template
from serialization.contexts import CONTEXTS, FRAMES, Context
from serialization.formats import Format, get_format
from serialization.formats.answer import Constraint
from serialization.pose import CONSTRAINT as POSED

_OF_WORLD = {
    "hexagons": {"context": "full-history", "format": "grouped"},
    "minecraft": {"context": "context-rich", "format": "lines"},
}

DEFAULTS = {
    name: {key: getattr(task, key) or default for key, default in _OF_WORLD[task.world].items()} for name, task in TASKS.items()
}
"""By task, the context and the format if none is named."""


@dataclass(frozen=True)
class PromptSpec:
    """Everything that decides the text of a prompt and its answer, except the item and the examples."""

    task: str
    context_name: str
    format_name: str
    frame: str = "world"
    template_name: str = DEFAULT
    """The name of a shipped template, or a folder."""
    think: str = OFF
    """Whether a model thinks before it answers: "off", "on" or, if its chat template takes an effort, one of `EFFORTS`."""

    @classmethod
    def make(
        cls,
        task: str,
        context: str | None = None,
        format: str | None = None,
        frame: str | None = None,
        template: str | None = None,
        think: str | None = None,
    ) -> "PromptSpec":
        """A spec with the template's or the task's defaults for None. Raises UsageError for an unknown or unsuitable name."""
        chosen = template or DEFAULT
        world = world_of(task)
        defaults = {**DEFAULTS[task], **get_template(chosen).choices(task, world)}
        names = context or defaults["context"], format or defaults["format"], frame or "world", chosen, think or OFF
        spec = cls(task, *names)
        _ = spec.context, spec.format
        choose("frame", spec.frame, FRAMES)
        choose("think", spec.think, (OFF, ON, *EFFORTS))
        if spec.frame != "world" and spec.world == "hexagons":
            raise UsageError(f"--frame {spec.frame} is for minecraft: a hexagon board has no builder")
        if spec.frame == "pose" and not (spec.context.rich and spec.format_name == "lines"):
            raise UsageError("--frame pose is for --context context-rich, which tells the pose, and --format lines")
        return spec

    @property
    def world(self) -> World:
        return world_of(self.task)

    @property
    def context(self) -> Context:
        return CONTEXTS[self.task][self.context_name]

    @property
    def format(self) -> Format:
        return get_format(self.task, self.format_name)

    @property
    def looks(self) -> bool:
        """Whether a conversation in programs tells of the builder only where it looks, by the compass."""
        return self.world == "minecraft" and self.format.is_program and self.context.chat and self.frame == "world"

    @property
    def constraint(self) -> Constraint:
        """The constraint that decoding can hold an answer to, in this format and frame."""
        return POSED if self.frame == "pose" else self.format.constraint()

    @cached_property
    def template(self) -> Template:
        return get_template(self.template_name)

    @property
    def fields(self) -> dict[str, str]:
        """The names that make up the format. The template, by its folder's name, is left out if it is the default, and so is
        thinking."""
        folder = self.template.folder
        names = {key.removesuffix("_name"): value for key, value in asdict(self).items()}
        del names["template"], names["think"]
        thinks = {"think": self.think} if self.thinks else {}
        return names | ({"template": folder.name} if folder else {}) | thinks

    @property
    def thinks(self) -> bool:
        """Whether a model thinks before it answers."""
        return self.think != OFF

    @property
    def rolls_out(self) -> bool:
        """Whether a prompt shows what the model answered to earlier items, or an answer refers to it (as programs do).

        Such items must be asked in order. With an oracle board, answers refer to the gold drawing instead.
        """
        refers = self.format.of_item is not None and self.context.board != "oracle"
        return self.world == "hexagons" and (self.context.rolls_out or refers)

    @property
    def name(self) -> str:
        return "/".join(f"think-{value}" if key == "think" else value for key, value in self.fields.items())
