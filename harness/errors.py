"""The errors that a user can meet. The command line prints each as one line on stderr; any other exception is a bug."""

from collections.abc import Callable, Iterable
from typing import TypeVar

T = TypeVar("T")


class HarnessError(Exception):
    """Something failed and the user can act on it: what, where (file, line, flag), what to do. Exit code 1."""

    exit_code = 1


class UsageError(HarnessError):
    """The command line or a configuration asks for something that does not exist or does not fit. Exit code 2."""

    exit_code = 2


class FaultsError(UsageError):
    """Several faults, all found before anything was started. The command line prints a line for each; exit code 2."""

    def __init__(self, faults: Iterable[str]) -> None:
        self.faults = tuple(faults)
        super().__init__("; ".join(self.faults))


class DataError(HarnessError):
    """A data file cannot be read or breaks its format. The message names the file and, if known, the line."""


class EngineError(HarnessError):
    """A model or an endpoint could not be loaded or did not answer."""


class AdapterError(HarnessError):
    """An adapter folder is incomplete, or does not fit the base model or the prompt format it is used with."""


class Faults:
    """Collects the errors of independent steps, so that a user sees them all at once."""

    def __init__(self) -> None:
        self._errors: list[HarnessError] = []

    def attempt(self, step: Callable[[], T]) -> T | None:
        """Returns the step's result, or None if it raises a HarnessError, which is kept."""
        try:
            return step()
        except HarnessError as error:
            self._errors.append(error)
            return None

    def report(self) -> None:
        """Raises the kept error, or a FaultsError if there are several; does nothing if there is none."""
        if len(self._errors) == 1:
            raise self._errors[0]
        if self._errors:
            faults = (fault for error in self._errors for fault in getattr(error, "faults", (str(error),)))
            raise FaultsError(dict.fromkeys(faults))
