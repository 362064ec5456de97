"""An annotation file being made: one writer at a time, every judgment on disk before the next one is asked for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from eval.annotation import Judgment, read_annotation
from harness.corpora.item import MinecraftItem
from harness.errors import HarnessError
from harness.util.files import hold, json_line, read_lines, write_atomically


class AnnotationFile:
    """The judgments of a file, and how to add to them. `open_annotation` makes one."""

    def __init__(self, path: Path, items: Sequence[MinecraftItem]) -> None:
        self.path = path
        self._order = [item.id for item in items]
        self.judgments: dict[str, Judgment] = {}
        if path.exists():
            self.judgments.update(read_annotation(path, items, partial=True).judgments)
            if read_lines(path).torn:
                self._rewrite()

    def record(self, judgment: Judgment) -> None:
        """Append the judgment; where it changes an earlier one, rewrite the file. Raises HarnessError if it cannot be written."""
        judged = judgment.id in self.judgments
        self.judgments[judgment.id] = judgment
        if judged:
            self._rewrite()
            return
        try:
            with self.path.open("a", encoding="ascii") as file:
                file.write(json_line(judgment.as_json()))
        except OSError as error:
            raise HarnessError(f"{self.path}: cannot be written: {error.strerror}") from error

    def sort(self) -> None:
        """Put the file in the order of the items, which skipping and going back may have changed."""
        if list(self.judgments) != [item for item in self._order if item in self.judgments]:
            self._rewrite()

    def _rewrite(self) -> None:
        self.judgments = {item: self.judgments[item] for item in self._order if item in self.judgments}
        write_atomically(self.path, "".join(json_line(judgment.as_json()) for judgment in self.judgments.values()))


@contextmanager
def open_annotation(path: Path, items: Sequence[MinecraftItem]) -> Iterator[AnnotationFile]:
    """The file at `path`, created with the first judgment, locked against other writers.

    An incomplete last line, which a killed process leaves, is dropped. Raises HarnessError if another process holds the file, and
    DataError as `eval.annotation.read_annotation` does for what is wrong in it.
    """
    busy = f"{path} is being written by another harness annotate; end that one, or choose another --out"
    lock = hold(path.with_name(f".{path.name}.lock"), busy)
    try:
        yield AnnotationFile(path, items)
    finally:
        lock.release()
