"""Prompt templates by name: folders whose files take the place of the default template's files of the same names."""

from __future__ import annotations

import traceback
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from harness.errors import UsageError
from harness.tasks import TASKS, world_of
from harness.util.hashing import short_hash
from harness.util.registry import choose

DEFAULT = "default"
PLAIN = "plain.jinja"
"""The file that joins messages into one text for a model without a chat template. A template's own is used for every model."""
CHOICES = "defaults.yaml"
"""The file that lists the tasks, or worlds, that a template is for, each with its default context and format."""
SUFFIXES = (".txt", ".jinja", ".yaml")
"""The suffixes of a template's files."""
SHIPPED = Path(__file__).parent / "templates"
"""Holds the files of the default template, and a folder for each other shipped template."""


@dataclass(frozen=True, slots=True)
class Template:
    """The wording of prompts. `folder` is None for the default template."""

    name: str
    folder: Path | None

    @property
    def plain(self) -> Path:
        """The file that joins messages into one text if the model's chat template does not."""
        own = self.folder / PLAIN if self.folder else None
        return own if own and own.is_file() else SHIPPED / PLAIN

    @property
    def is_plain(self) -> bool:
        """Whether the template joins messages into one text itself, so that a model's own chat template is not used."""
        return self.folder is not None and self.plain.parent == self.folder

    @property
    def is_shipped(self) -> bool:
        return self.folder is None or self.folder.parent == SHIPPED

    @property
    def hash(self) -> str | None:
        """16 hex digits over the names and bytes of its own files; None for the default template."""
        own = sorted(path for path in self.folder.iterdir() if path.suffix in SUFFIXES) if self.folder else []
        return short_hash(part for path in own for part in (path.name.encode(), path.read_bytes())) if self.folder else None

    def choices(self, task: str) -> Mapping[str, str]:
        """The default context and format for a task, as far as the template names them. Raises UsageError if it is for others."""
        import yaml

        if self.folder is None:
            return {}
        for file in self.folder.glob("*.txt"):
            prefix, _, rest = file.name.partition(".")
            if prefix in TASKS and prefix != (world := world_of(prefix)):
                raise UsageError(f"--template {self.name}: {file.name}: a template's files are named by world: {world}.{rest}")
        path = self.folder / CHOICES
        if not path.is_file():
            return {}
        try:
            known = yaml.safe_load(path.read_text())
            tasks = {str(name): {str(k): str(v) for k, v in (chosen or {}).items()} for name, chosen in known.items()}
        except (OSError, UnicodeDecodeError, yaml.YAMLError, AttributeError) as error:
            raise UsageError(f"{path}: it must give tasks a context and a format each: {' '.join(str(error).split())}") from None
        # A template is for a world, unless it names one of its tasks.
        name = task if task in tasks else world_of(task)
        if name not in tasks:
            raise UsageError(f"--template {self.name} is for {' and '.join(sorted(tasks))}, not for {task}")
        if extra := tasks[name].keys() - {"context", "format"}:
            raise UsageError(f"{path}: unknown key {min(extra)!r}; known: context, format")
        return tasks[name]

    def render(self, file: str, values: Mapping[str, Any]) -> str:
        """The text of one of its files. Raises UsageError, with file and line, for whatever is wrong in it."""
        from jinja2 import TemplateNotFound

        try:
            return str(_environment(self.folder).rendered(file, values))
        except TemplateNotFound as error:
            raise UsageError(f"--template {self.name}: it has no {error.name}, and prompts/templates/ has none") from error
        except Exception as error:  # A user's file may fail in any way.
            raise UsageError(f"--template {self.name}: {_place(error, file)}: {_reason(error)}") from error


@lru_cache(maxsize=64)
def _environment(folder: Path | None) -> Any:
    from jinja2 import ChoiceLoader, FileSystemLoader, PackageLoader, StrictUndefined

    from prompts.sandbox import BoundedEnvironment

    default = PackageLoader("prompts")
    return BoundedEnvironment(
        loader=ChoiceLoader([FileSystemLoader(folder), default]) if folder else default,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=False,
        auto_reload=False,
    )


def _place(error: Exception, file: str) -> str:
    """The innermost place in a template's file that an error comes from."""
    if getattr(error, "lineno", None):
        return f"{getattr(error, 'filename', None) or file}:{error.lineno}"  # type: ignore[attr-defined]
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if Path(frame.filename).suffix in SUFFIXES]
    return f"{frames[-1].filename}:{frames[-1].lineno}" if frames else file


def _reason(error: Exception) -> str:
    return " ".join(str(error).split()) or type(error).__name__


def get_template(name: str) -> Template:
    """A shipped template by its name, or the one in a folder. Raises UsageError if there is neither."""
    if name == DEFAULT:
        return Template(name, None)
    if "/" not in name and (SHIPPED / name / CHOICES).is_file():
        return Template(name, SHIPPED / name)
    folder = Path(name).expanduser().absolute()
    if folder.is_dir():
        if folder.name == DEFAULT or (SHIPPED / folder.name / CHOICES).is_file():
            raise UsageError(f"--template {name}: there is a shipped template of that name: rename the folder")
        if not any(path.suffix in SUFFIXES for path in folder.iterdir()):
            raise UsageError(
                f"--template {name}: the folder holds no template: none of its files ends with {', '.join(SUFFIXES)}"
            )
        return Template(name, folder)
    if "/" in name:
        raise UsageError(f"--template {name}: no such folder")
    choose("template", name, [DEFAULT, *(path.parent.name for path in SHIPPED.glob(f"*/{CHOICES}"))])
    raise AssertionError("unreachable")
