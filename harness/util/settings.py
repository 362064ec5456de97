"""Settings in YAML files, checked by pydantic: unknown keys are refused, and `key=value` overrides what a file says."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from functools import partial
from itertools import accumulate
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar, get_args, get_origin

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic_core import ErrorDetails

from harness.errors import Faults, FaultsError, UsageError
from harness.util.registry import Table

M = TypeVar("M", bound=BaseModel)

Positive = Annotated[int, Field(ge=1)]
Count = Annotated[int, Field(ge=0)]
Fraction = Annotated[float, Field(ge=0, le=1)]
Rate = Annotated[float, Field(gt=0, le=1)]


class Strict(BaseModel):
    """A part of a settings file: keys without a default are required, and unknown keys are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True, defer_build=True)


def checked(schema: type[M], path: Path, values: Mapping[str, Any], overrides: Sequence[str] = (), where: str = "") -> M:
    """The values, changed by all overrides ("dotted.key=value", the value in YAML), as a model.

    Raises FaultsError with a line for every fault: the file, the override that caused it or otherwise `where`, the key, and what
    fits. The overrides are checked together: two values may fit although the first of them alone does not.
    """
    stages = list(accumulate(nested(overrides), merged, initial=dict(values)))
    faults = [_faults(schema, stage) for stage in stages]
    if not faults[-1]:
        return schema.model_validate(stages[-1])
    lines = []
    for key, problem in faults[-1].items():
        # The stage after the last one in which the key fitted.
        stage = max((n + 1 for n, one in enumerate(faults) if key not in one), default=0)
        lines.append(f"{path}{f' (--set {overrides[stage - 1]})' if stage else where}: {problem}")
    raise FaultsError(lines)


def _faults(schema: type[BaseModel], values: Mapping[str, Any]) -> dict[tuple[int | str, ...], str]:
    """What is wrong with the values, by key."""
    try:
        schema.model_validate(values)
    except ValidationError as error:
        return {e["loc"]: _problem(e, schema) for e in reversed(_ordered(error))}
    return {}


def settings_file(name: str, shipped: Table[Path]) -> Path:
    """The file of a recipe or an experiment, given by its path or by the name of a shipped file. Raises UsageError if there is
    none."""
    folder, _, _ = name.rpartition("/")
    if name.endswith((".yaml", ".yml")) or (folder and not any(one.startswith(f"{folder}/") for one in shipped)):
        if not Path(name).is_file():
            raise UsageError(f"no {shipped.kind} file at {name}")
        return Path(name)
    return shipped[name]


def read_values(path: Path, kind: str = "recipe") -> dict[str, Any]:
    """The content of a file. Raises UsageError if it is not a mapping in YAML."""
    import yaml

    try:
        values = yaml.safe_load(path.read_text())
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise UsageError(f"{path}: not a valid {kind} in YAML: {error}") from None
    if not isinstance(values, dict):
        raise UsageError(f"{path}: not a valid {kind}: it must hold a mapping")
    return values


def described_schema(schema: type[BaseModel]) -> dict[str, Any]:
    """The JSON Schema of a file, with the keys' docstrings as descriptions."""
    content = schema.model_json_schema()
    content["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    for part in (content, *content["$defs"].values()):
        for about in part["properties"].values():
            about.pop("title", None)
            if "description" in about:
                about["description"] = " ".join(about["description"].split())
        if "description" in part:
            part["description"] = " ".join(part["description"].split())
    return content


def nested(overrides: Iterable[str]) -> list[dict[str, Any]]:
    """Overrides such as `a.b=1` as {"a": {"b": 1}}. Raises UsageError for text of another form, for all overrides at once."""
    faults = Faults()
    values = [faults.attempt(partial(_nested, override)) for override in overrides]
    faults.report()
    return [value for value in values if value is not None]


def _nested(override: str) -> dict[str, Any]:
    import yaml

    key, equals, text = override.partition("=")
    if not equals or not all(key.split(".")):
        raise UsageError(f"--set {override}: write key=value, as in training.learning_rate=1e-4")
    try:
        value = yaml.safe_load(text)
    except yaml.YAMLError:
        raise UsageError(f"--set {override}: {text!r} is not a value in YAML") from None
    for part in reversed(key.split(".")):
        value = {part: value}
    result: dict[str, Any] = value
    return result


def merged(values: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """`values` overridden by `over`, mappings key by key."""
    result = dict(values)
    for key, value in over.items():
        old = result.get(key)
        result[key] = merged(old, value) if isinstance(old, dict) and isinstance(value, Mapping) else value
    return result


def flat(values: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Nested mappings as one with dotted keys."""
    result: dict[str, Any] = {}
    for key, value in values.items():
        result |= flat(value, f"{prefix}{key}.") if isinstance(value, Mapping) and value else {f"{prefix}{key}": value}
    return result


def takes_list(schema: type[BaseModel], key: str) -> bool:
    """Whether the value of a dotted key may be a list."""
    *above, last = key.split(".")
    part = _part(schema, above)
    return part is not None and last in part.model_fields and _holds_list(part.model_fields[last].annotation)


def _holds_list(kind: Any) -> bool:
    own = get_origin(kind) or kind
    return own in (list, tuple, Sequence) or (own is not Literal and any(map(_holds_list, get_args(kind))))


def first_problem(error: ValidationError) -> str:
    """The key that does not fit, and why."""
    return _problem(_ordered(error)[0])


def _ordered(error: ValidationError) -> list[ErrorDetails]:
    # An unknown key says more than the missing one it may have been meant for.
    return sorted(error.errors(), key=lambda e: e["type"] != "extra_forbidden")


def _problem(error: ErrorDetails, schema: type[BaseModel] | None = None) -> str:
    """The key, what is wrong with it, and what fits."""
    key, value = ".".join(map(str, error["loc"])) or "content", error["input"]
    message = error["msg"].removeprefix("Value error, ")
    match error["type"]:
        case "extra_forbidden":
            part = _part(schema, error["loc"][:-1])
            near = get_close_matches(str(error["loc"][-1]), part.model_fields if part else (), n=1)
            message = f"no such key{f'; did you mean {near[0]}?' if near else ''}"
        case "missing":
            message = "this key is missing; add it"
        case "value_error":
            pass
        case _ if isinstance(value, str | int | float | None):
            message = f"{message[:1].lower()}{message[1:]}, not {json.dumps(value)}"
    return f"{key}: {message}"


def _part(schema: type[BaseModel] | None, location: Sequence[int | str]) -> type[BaseModel] | None:
    """The part of a model that lies at a location; None if it is no model."""
    for key in location:
        # A number is an index of a list, and a name that is not a field is a key of a mapping: the model stays the same.
        if schema is None or isinstance(key, int) or key not in schema.model_fields:
            continue
        schema = next(_models(schema.model_fields[key].annotation), None)
    return schema


def _models(kind: Any) -> Iterator[type[BaseModel]]:
    """The models in an annotation."""
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        yield kind
    for part in get_args(kind):
        yield from _models(part)
