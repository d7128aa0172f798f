"""Dataclasses from JSON: every field is checked against its annotation."""

from __future__ import annotations

import dataclasses
import functools
import json
import typing
from typing import Annotated, Any, Literal, TypeVar, Union

from .errors import UserError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path

_T = TypeVar("_T")
HINT = "measure again, or leave it out"


def is_number(value: object) -> bool:
    """Whether `value` is a number that can have been measured."""
    return isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < 1e18


# A number above 0.
Positive = Annotated[float, lambda value: value > 1e-12]
# What a cell of a table holds.
Cell = Union[str, float, bool, None]


class Mismatch(Exception):
    """The part of a value that is missing or wrong."""


def from_json(kind: Any, value: Any, where: str = "") -> Any:
    """`value`, which json has read, as a `kind`: a type or an annotation. Raises Mismatch."""
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if dataclasses.is_dataclass(kind):
        return _dataclass(kind, value, where)
    if kind is Any or origin is Literal and value in arguments and isinstance(value, str):
        return value
    if origin is Annotated:
        made = from_json(arguments[0], value, where)
        if all(check(made) for check in arguments[1:]):
            return made
    elif origin is Union:
        for one in arguments:
            try:
                return from_json(one, value, where)
            except Mismatch:
                continue
    elif origin is list and isinstance(value, list):
        return [from_json(arguments[0], one, f"{where}[{number}]") for number, one in enumerate(value)]
    elif origin is tuple and isinstance(value, list) and len(value) == len(arguments):
        return tuple(from_json(inner, one, where) for inner, one in zip(arguments, value))
    elif origin is dict and isinstance(value, dict):
        return {name: from_json(arguments[1], one, f"{where}.{name}".lstrip(".")) for name, one in value.items()}
    elif kind is float and is_number(value):
        return value
    elif isinstance(kind, type) and kind is not float and isinstance(value, kind):
        if kind is not int or is_number(value):
            return value
    raise Mismatch(where or "its content")


def _dataclass(kind: Any, value: object, where: str) -> Any:
    if not isinstance(value, dict):
        raise Mismatch(where or "its content")
    made = {}
    for field, hint in _fields(kind):
        place = f"{where}.{field.name}".lstrip(".")
        if field.name in value:
            made[field.name] = from_json(hint, value[field.name], place)
        elif field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING:
            raise Mismatch(place)
    return kind(**made)


@functools.cache
def _fields(kind: Any) -> list[tuple[dataclasses.Field[Any], Any]]:
    hints = typing.get_type_hints(kind, include_extras=True)
    return [(field, hints[field.name]) for field in dataclasses.fields(kind)]


def checked(kind: type[_T], data: object, path: Path, hint: str = HINT) -> _T:
    """The `kind` in `data`, which the file `path` held; UserError if it is damaged."""
    try:
        made: _T = from_json(kind, data, "")
        return made
    except Mismatch as fault:
        raise UserError(f"{path} is damaged: {fault} is missing or wrong", hint) from None


def dump(value: Any) -> str:
    """The JSON of a dataclass, of which a difference can be read: what is long has a line for each of its parts."""
    return _lines(dataclasses.asdict(value), "") + "\n"


def _lines(value: Any, indent: str) -> str:
    text = json.dumps(value, ensure_ascii=False)
    inner = f"{indent} "
    if len(text) <= 120 or not isinstance(value, (dict, list)):
        return text
    if isinstance(value, dict):
        items = [f"{json.dumps(name, ensure_ascii=False)}: {_lines(one, inner)}" for name, one in value.items()]
    elif any(isinstance(one, (dict, list, tuple)) for one in value):
        items = [_lines(one, inner) for one in value]
    else:
        return text  # a row of numbers
    opening, closing = "{}" if isinstance(value, dict) else "[]"
    return f"{opening}\n{inner}" + f",\n{inner}".join(items) + f"\n{indent}{closing}"
