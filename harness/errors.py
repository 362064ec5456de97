"""The errors a user can meet. The command line prints them as one line on stderr; everything else is a bug."""

from __future__ import annotations


class HarnessError(Exception):
    """Something failed and the user can act on it: what, where (file, line, flag), what to do. Exit code 1."""

    exit_code = 1


class UsageError(HarnessError):
    """The command line or a configuration asks for something that does not exist or does not fit. Exit code 2."""

    exit_code = 2


class DataError(HarnessError):
    """A data file does not hold what its format promises. The message names the file and the line."""


class EngineError(HarnessError):
    """A model or an endpoint could not be loaded or did not answer."""


class AdapterError(HarnessError):
    """An adapter folder is incomplete, or does not fit the base model or the prompt format it is used with."""
