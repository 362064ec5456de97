"""Options and arguments of a command, declared once as fields of a pydantic model, from which click's are made."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, Literal, TypeVar, get_args, get_origin

import click
from pydantic import BaseModel, Field
from pydantic.fields import FieldInfo

F = TypeVar("F", bound="Flag")
M = TypeVar("M", bound=BaseModel)

OWN, FIRST = "Options", "Most used"
"""The first two sections of the help: options without a group, and the ones that most people need."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Flag:
    """The facts about an option that its type, default and help do not say."""

    group: str = OWN
    """The section of the help."""
    names: tuple[str, ...] = ()
    """The names on the command line; empty: the field's name with dashes."""
    choices: Sequence[str] = ()
    """The allowed values, if they are few and the field's type does not list them."""
    type: click.ParamType[Any] | None = None
    """click's type of a value, if the field's type and limits do not determine it."""
    metavar: str | None = None
    common: bool = False
    """Whether the help lists the option in the first section instead of its group's."""
    argument: bool = False
    """Whether the value is given by position instead of by name."""

    def __call__(self, schema: dict[str, Any]) -> None:
        """Changes nothing. pydantic keeps the flag in the field, and calls it with the field's JSON Schema."""


def option(
    default: Any = None,
    help: str | None = None,
    *,
    kind: type[Flag] = Flag,
    ge: float | None = None,
    gt: float | None = None,
    le: float | None = None,
    **facts: Any,
) -> Any:
    """A field that is an option, required if its default is `...`; `facts` are fields of a Flag. Without `help`, the docstring
    below the field is its help."""
    return Field(default, description=help, json_schema_extra=kind(**facts), ge=ge, gt=gt, le=le)


def argument(default: Any = ..., **facts: Any) -> Any:
    """A field that is an argument of the command."""
    return option(default, argument=True, **facts)


def flags_of(model: type[BaseModel], kind: type[F]) -> dict[str, F]:
    """The flags of a model's options, by the fields' names."""
    facts = {name: field.json_schema_extra for name, field in model.model_fields.items()}
    return {name: flag for name, flag in facts.items() if isinstance(flag, kind)}


def option_name(name: str, flag: Flag) -> str:
    """The option's name without the dashes before it, which is its key in a YAML file."""
    return (flag.names[0].partition("/")[0] if flag.names else name.replace("_", "-")).removeprefix("--")


class GroupedOption(click.Option):
    group = OWN


class ModelCommand(click.Command, Generic[M]):
    """A command whose options are the fields of `model`. Its function receives an instance of the model, and then the values of
    further `params`. Its help has a section for each group of options, with the most used ones first."""

    def __init__(
        self, name: str | None, *, model: type[M], callback: Callable[..., Any], params: Sequence[click.Parameter], **about: Any
    ) -> None:
        def called(**values: Any) -> Any:
            own = {name: values.pop(name) for name in model.model_fields if name in values}
            return callback(model(**own), **values)

        # The same names as in the group `harness`: click keeps the first help option made, even if a command runs by itself.
        settings = {"help_option_names": ["-h", "--help"], **about.pop("context_settings", {})}
        super().__init__(name, callback=called, params=[*click_options(model), *params], context_settings=settings, **about)
        self.model = model

    def parsed(self, words: Sequence[str]) -> M:
        """The options that are parsed from words of the command line, without running the command."""
        return self.model(**self.make_context(self.name, list(words), click.get_current_context(silent=True)).params)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        groups: dict[str, list[tuple[str, str]]] = {OWN: [], FIRST: []}
        for param in self.get_params(ctx):
            if isinstance(param, click.Option) and (record := param.get_help_record(ctx)):
                groups.setdefault(getattr(param, "group", OWN), []).append(record)
        if len(groups[OWN]) == 1:  # --help alone gets no section.
            groups[list(groups)[-1]] += groups.pop(OWN)
        width = min(30, max(len(name) for records in groups.values() for name, _ in records))
        for title in filter(groups.get, groups):
            with formatter.section(title):
                formatter.write_dl([(name.ljust(width), text) for name, text in groups[title]])


def click_options(model: type[BaseModel], names: Collection[str] | None = None) -> list[click.Parameter]:
    """The options of a model, or only those of the fields `names`, in order. Their values are passed under the fields' names."""
    flags = {name: flag for name, flag in flags_of(model, Flag).items() if names is None or name in names}
    return [_click_parameter(name, model.model_fields[name], flag) for name, flag in flags.items()]


def _click_parameter(name: str, field: FieldInfo, flag: Flag) -> click.Parameter:
    default, required, several = field.get_default(), field.is_required(), get_origin(field.annotation) is tuple
    kind, choices = _kind(field.annotation), flag.choices
    if get_origin(kind) is Literal:
        kind, choices = str, get_args(kind)
    type_ = flag.type or (click.Choice(choices) if choices else _type(kind, field))
    presence = {"required": True} if required else {} if several else {"default": default}
    if flag.argument:
        return click.Argument([name], type=type_, nargs=-1 if several else 1, metavar=flag.metavar, **presence)
    parameter = GroupedOption(
        [name, *(flag.names or (f"--{option_name(name, flag)}",))],
        is_flag=True if kind is bool else None,
        type=type_,
        multiple=several,
        **presence,
        show_default=not required and default not in (None, (), "") and default is not False,
        metavar=flag.metavar,
        help=" ".join((field.description or "").split()),
    )
    parameter.group = FIRST if flag.common else flag.group
    return parameter


def _kind(annotation: Any) -> Any:
    """The type of one value: of an annotation's alternatives or parts, the first that is not None."""
    if get_origin(annotation) is Literal:
        return annotation
    return next(part for part in (get_args(annotation) or (annotation,)) if part is not type(None))


def _type(kind: Any, field: FieldInfo) -> Any:
    """click's type of a value, with the field's limits."""
    bounds = {key: getattr(one, key) for one in field.metadata for key in ("ge", "gt", "le") if hasattr(one, key)}
    if not bounds:
        return click.Path(path_type=Path) if kind is Path else kind
    limits = bounds.get("ge", bounds.get("gt")), bounds.get("le"), "gt" in bounds
    return click.IntRange(*limits) if kind is int else click.FloatRange(*limits)
