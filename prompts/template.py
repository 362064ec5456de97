"""Prompt templates by name: folders whose files take the place of the default template's files of the same names."""

import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from harness.errors import UsageError
from harness.tasks.registry import TASKS, world_of
from harness.util.hashing import short_hash
from harness.util.registry import Table
from harness.worlds import World

DEFAULT = "default"
PLAIN = "plain.jinja"
"""The file that joins messages into one text for a model without a chat template. A template's own is used for every model."""
CHOICES = "defaults.yaml"
"""The file that lists the tasks, or worlds, that a template is for, each with its default context and format."""
SUFFIXES = (".txt", ".jinja", ".yaml")
"""The suffixes of a template's files."""
SHIPPED = Path(__file__).parent / "templates"
"""Holds the files of the default template, and a folder for each other shipped template."""
MOST_FILES, MOST_BYTES, MOST_CHOICES = 200, 1_000_000, 10_000
"""The most files and folders below a user's template, bytes of its files together, and characters of its `CHOICES`."""


@dataclass(frozen=True, slots=True)
class Template:
    """The wording of prompts. `folder` is None for the default template."""

    name: str
    folder: Path | None
    files: Mapping[str, str] = field(default_factory=dict, repr=False, compare=False)
    """Its own files by their names, as they were when they were read."""

    @property
    def plain(self) -> str:
        """The file that joins messages into one text if the model's chat template does not."""
        return (self.files if self.is_plain else _own(SHIPPED))[PLAIN]

    @property
    def is_plain(self) -> bool:
        """Whether the template joins messages into one text itself, so that a model's own chat template is not used."""
        return PLAIN in self.files

    @property
    def is_shipped(self) -> bool:
        return self.folder is None or self.folder.parent == SHIPPED

    @property
    def hash(self) -> str | None:
        """16 hex digits over the names and bytes of its own files; None for the default template."""
        return short_hash(part.encode() for own in sorted(self.files.items()) for part in own) if self.folder else None

    @property
    def served(self) -> Path:
        """The shipped file that a server joins messages with. Raises UsageError for a file of the template's own, which a server
        would render without limits."""
        for path in (SHIPPED / PLAIN, *SHIPPED.glob(f"*/{PLAIN}")):
            if path.read_text() == self.plain:
                return path
        raise UsageError(
            f"--template {self.name}: its {PLAIN} is not one of ours, and vLLM would render it without limits: use harness prompt"
        )

    def choices(self, task: str, world: World) -> Mapping[str, str]:
        """The default context and format for a task of a world, as far as the template names them. Raises UsageError if it is for
        others."""
        import yaml

        for file in self.files:
            prefix, _, rest = file.partition(".")
            if file.endswith(".txt") and prefix in TASKS and prefix != (own := world_of(prefix)):
                raise UsageError(f"--template {self.name}: {file}: a template's files are named by world: {own}.{rest}")
        text, path = self.files.get(CHOICES), f"{self.folder}/{CHOICES}"
        if text is None:
            return {}
        try:
            if len(text) > MOST_CHOICES or any(isinstance(event, yaml.AliasEvent) for event in yaml.parse(text)):
                raise ValueError(f"without aliases, and in at most {MOST_CHOICES:,} characters")
            known = yaml.safe_load(text)
            tasks = {str(name): {str(k): str(v) for k, v in (chosen or {}).items()} for name, chosen in known.items()}
        except (yaml.YAMLError, ValueError, AttributeError, RecursionError) as error:
            raise UsageError(f"{path}: it must give tasks a context and a format each: {' '.join(str(error).split())}") from None
        # A template is for a world, unless it names one of its tasks.
        name = task if task in tasks else world
        if name not in tasks:
            raise UsageError(f"--template {self.name} is for {' and '.join(sorted(tasks))}, not for {task}")
        if extra := tasks[name].keys() - {"context", "format"}:
            raise UsageError(f"{path}: unknown key {min(extra)!r}; known: context, format")
        return tasks[name]

    def render(self, file: str, values: Mapping[str, Any]) -> str:
        """The text of one of its files. Raises UsageError, with file and line, for whatever is wrong in it."""
        from prompts.sandbox import render, render_apart

        if self.is_shipped:
            answer = render(_environment(self.folder or SHIPPED), file, values)
        else:
            answer = render_apart(self.hash or "", {**_own(SHIPPED), **self.files}, file, values)
        if fault := answer.get("fault"):
            where = f"{self.folder}/" if fault.partition(":")[0] in self.files else ""
            raise UsageError(f"--template {self.name}: {where}{fault}")
        return answer["text"]


@cache
def _environment(folder: Path) -> Any:
    from prompts.sandbox import environment

    return environment({**_own(SHIPPED), **_own(folder)})


@cache
def _own(folder: Path) -> Mapping[str, str]:
    """The files of a shipped template."""
    return {path.name: path.read_text() for path in folder.iterdir() if path.suffix in SUFFIXES}


def _read(folder: Path, name: str) -> dict[str, str]:
    """The files of a template from elsewhere, each read once. Raises UsageError for symbolic links, which may lead to any file of
    the user, and for more than a template needs; OSError and UnicodeDecodeError for what cannot be read."""
    files, entries, size = dict[str, str](), 0, 0
    for root, folders, names, descriptor in os.fwalk(folder.resolve()):
        folders[:] = [one for one in folders if not one.startswith(".")]
        for entry in (*folders, *names):
            where = Path(root, entry).relative_to(folder.resolve()).as_posix()
            mode = os.stat(entry, dir_fd=descriptor, follow_symlinks=False).st_mode
            if stat.S_ISLNK(mode):
                raise UsageError(f"--template {name}: {where} is a symbolic link: put the file itself into the folder")
            entries += 1
            if stat.S_ISREG(mode) and where.endswith(SUFFIXES):
                with os.fdopen(os.open(entry, os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=descriptor), "rb") as file:
                    data = file.read(MOST_BYTES + 1)
                files[where], size = data.decode(), size + len(data)
            if entries > MOST_FILES or size > MOST_BYTES:
                raise UsageError(f"--template {name}: the folder holds more than {MOST_FILES} files or {MOST_BYTES:,} bytes")
    return files


def get_template(name: str) -> Template:
    """A shipped template by its name, or the one in a folder. Raises UsageError if there is neither."""
    shipped = Table("template", {path.parent.name: path.parent for path in SHIPPED.glob(f"*/{CHOICES}")} | {DEFAULT: None})
    folder = Path(name).expanduser().absolute()
    if name not in shipped and folder.is_dir():
        if folder.name in shipped:
            raise UsageError(f"--template {name}: there is a shipped template of that name: rename the folder")
        try:
            files = _read(folder, name)
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(f"--template {name}: a file cannot be read: {error}") from None
        if not files:
            raise UsageError(
                f"--template {name}: the folder holds no template: none of its files ends with {', '.join(SUFFIXES)}"
            )
        return Template(name, folder, files)
    if "/" in name:
        raise UsageError(f"--template {name}: no such folder")
    own = shipped[name]
    return Template(name, own, _own(own) if own else {})
