"""Reading JSON into checked values: the first mismatch becomes a DataError that says where and what was expected."""

from __future__ import annotations

from typing import TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from harness.errors import DataError


class CorpusRecord(BaseModel):
    """A JSON object of a published corpus. No conversion between types; keys that are not declared are ignored."""

    model_config = ConfigDict(strict=True, frozen=True)


R = TypeVar("R", bound=CorpusRecord)


def read_json(model: type[R], data: bytes | str, where: str, hint: str = "is this the file as published?") -> R:
    """The record in `data`. Raises DataError with `where`, the path inside the record, what is expected there, and `hint`."""
    try:
        return model.model_validate_json(data)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        path = ".".join(str(part) for part in first["loc"])
        more = f" (and {error.error_count() - 1} more)" if error.error_count() > 1 else ""
        raise DataError(f"{where}: {path + ': ' if path else ''}{first['msg']}{more}; {hint}") from None
