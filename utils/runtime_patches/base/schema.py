"""Dataclasses from JSON: every field is checked against its annotation."""

import contextlib
import dataclasses
import functools
import json
import re
import typing
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar, Union

from .errors import UserError

_T = TypeVar("_T")
HINT = "measure again, or leave it out"


def is_number(value: object) -> bool:
    """Whether `value` is a number that can have been measured."""
    return isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < 1e18


# A number above 0.
Positive = Annotated[float, lambda value: value > 1e-12]
# A text that can be the name of a file.
FileName = Annotated[str, re.compile(r"[\w-]+").fullmatch]
# What a cell of a table holds.
Cell = Union[str, float, bool, None]


class Mismatch(Exception):
    """The part of a value that is missing or wrong."""


def from_json(kind: Any, value: Any, where: str = "") -> Any:
    """`value`, which json has read, as a `kind`: a type or an annotation. Raises Mismatch."""
    read = _dataclass if dataclasses.is_dataclass(kind) else _READERS.get(typing.get_origin(kind), _plain)
    return read(kind, value, where)


def _plain(kind: Any, value: object, where: str) -> Any:
    # json reads 1.0 as 1, and a number is no bool.
    is_right = is_number(value) if kind is float else kind is Any or isinstance(value, kind)
    return _require(is_right and (kind is not int or is_number(value)), value, where)


def _require(is_right: object, value: Any, where: str) -> Any:
    if not is_right:
        raise Mismatch(where or "its content")
    return value


def _annotated(kind: Any, value: object, where: str) -> Any:
    inner, *checks = typing.get_args(kind)
    value_ = from_json(inner, value, where)
    return _require(all(check(value_) for check in checks), value_, where)


def _union(kind: Any, value: object, where: str) -> Any:
    for one in typing.get_args(kind):
        with contextlib.suppress(Mismatch):
            return from_json(one, value, where)
    return _require(False, value, where)


def _literal(kind: Any, value: object, where: str) -> Any:
    return _require(isinstance(value, str) and value in typing.get_args(kind), value, where)


def _list(kind: Any, value: Any, where: str) -> Any:
    (inner,) = typing.get_args(kind)
    return [from_json(inner, one, f"{where}[{n}]") for n, one in enumerate(_plain(list, value, where))]


def _tuple(kind: Any, value: Any, where: str) -> Any:
    inner = typing.get_args(kind)
    _require(isinstance(value, list) and len(value) == len(inner), value, where)
    return tuple(from_json(one, part, where) for one, part in zip(inner, value))


def _dict(kind: Any, value: Any, where: str) -> Any:
    inner = typing.get_args(kind)[1]
    parts = _plain(dict, value, where).items()
    return {name: from_json(inner, one, f"{where}.{name}".lstrip(".")) for name, one in parts}


_READERS = {Annotated: _annotated, Union: _union, Literal: _literal, list: _list, tuple: _tuple, dict: _dict}


def _dataclass(kind: Any, value: Any, where: str) -> Any:
    _plain(dict, value, where)
    found = {}
    for field, hint in _fields(kind):
        place = f"{where}.{field.name}".lstrip(".")
        if field.name in value:
            found[field.name] = from_json(hint, value[field.name], place)
        elif field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING:
            raise Mismatch(place)
    return kind(**found)


@functools.cache
def _fields(kind: Any) -> list[tuple[dataclasses.Field[Any], Any]]:
    hints = typing.get_type_hints(kind, include_extras=True)
    return [(field, hints[field.name]) for field in dataclasses.fields(kind)]


def checked(kind: type[_T], data: object, path: Path, hint: str = HINT) -> _T:
    """The `kind` in `data`, which the file `path` held; UserError if it is damaged."""
    try:
        value_: _T = from_json(kind, data, "")
        return value_
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
