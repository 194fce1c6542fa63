"""Flags of the command line from the schema of settings.

Lives here: how a table of settings becomes a group of flags.  Must not know any setting.
"""

from __future__ import annotations

from collections.abc import Container, Mapping
from types import NoneType
from typing import Annotated, Any, TypedDict, get_args, get_origin

from cyclopts import Group, Parameter
from docstring_parser import parse

from colme._settings import NonNegativeOrEach, PositiveOrEach, Table


def flags_of(
    schema: type[Table],
    group: Group,
    without: Container[str] = (),
    called: Mapping[str, str] | None = None,
) -> Any:
    """Return a type for the flags of a command: a flag for each setting that a table declares.

    A command receives a dictionary with the settings whose flags were given; see `read_flags`.  The
    help of a flag is the description of its setting, in the docstring of the table or of the field,
    followed by its default.

    Parameters
    ----------
    schema
        The table.
    group
        The group of the flags in the help of the command.
    without
        Settings that have no flag.
    called
        Names of flags that differ from those of their settings.

    Examples
    --------
    >>> class Oven(Table):
    ...     '''An oven.
    ...
    ...     Attributes
    ...     ----------
    ...     heat
    ...         Degrees.
    ...     '''
    ...     heat: float = 180.0
    >>> from cyclopts import App
    >>> app = App(result_action="return_value")
    >>> @app.default
    ... def bake(*, flags: Annotated[flags_of(Oven, Group("Oven")), Parameter(name="*")] = None):
    ...     return flags
    >>> app(["--heat", "200"])
    {'heat': 200.0}
    """
    names = called or {}
    texts = {one.arg_name: one.description for one in parse(schema.__doc__ or "").params}
    flags = {}
    for key, field in schema.model_fields.items():
        kind = _flag_type(field.annotation)
        if kind is not None and key in schema.__annotations__ and key not in without:
            text = texts.get(key) or field.description or ""
            name = f"--{names[key]}".replace("_", "-") if key in names else None
            flags[key] = Annotated[kind, _flag(key, name, text, field.default, group)]
    return TypedDict(f"{schema.__name__}Flags", flags, total=False)  # type: ignore[operator]


def read_flags(schema: type[Table], flags: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the settings that flags give, as a file would.

    Examples
    --------
    >>> from colme.experiment import ProblemSpec
    >>> read_flags(ProblemSpec, {"sigma": (0.5,), "changes": ((9, 0, 1, 0.5),)})
    {'sigma': 0.5, 'changes': [{'at': 9, 'from': 0, 'to': 1, 'share': 0.5}]}
    """
    settings: dict[str, Any] = schema.override({}, flags or {})
    return settings


def _flag_type(annotation: Any) -> Any:
    """Return the type of a setting's flag; None if it has none."""
    kinds = get_args(annotation)
    kind = kinds[0] if NoneType in kinds else annotation
    if kind in (PositiveOrEach, NonNegativeOrEach):
        return tuple[float, ...]
    if isinstance(kind, type) and issubclass(kind, Table):
        return None
    first = get_args(kind)[0] if get_origin(kind) is tuple else None
    if isinstance(first, type) and issubclass(first, Table):  # a row for each table of a list
        row = tuple(field.annotation for field in first.model_fields.values())
        return tuple.__class_getitem__((tuple.__class_getitem__(row), ...))
    return annotation


def _flag(key: str, name: str | None, text: str, default: Any, group: Group) -> Parameter:
    if default is True:  # only the flag that says no changes anything
        return Parameter(group=group, help=text, negative=f"--no-{key.replace('_', '-')}")
    if isinstance(default, int | float | str) and default not in (False, 0):
        text = f"{text} [default: {default}]"
    elif isinstance(default, tuple) and default:
        text = f"{text} [default: {' '.join(map(str, default))}]"
    return Parameter(name=name, group=group, help=text)
