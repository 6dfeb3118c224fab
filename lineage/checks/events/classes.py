# SPDX-License-Identifier: Apache-2.0
"""Judges JSON by the typed classes of `openlineage-python`: required keys, types, and what their validators ask.

The client itself looks at little of this: attrs checks no types, so `eventType: "NOPE"` passes there.
"""

import types
from collections.abc import Iterator
from enum import Enum
from functools import cache
from typing import Any, Literal, NamedTuple, TypeAlias, Union, get_args, get_origin, get_type_hints

import attr

from lineage.checks.events.check_rules import MISSING_KEY, WRONG_VALUE, Rule

_OF_BASE = frozenset({"producer", "schemaURL", "_producer", "_schemaURL"})
"""Keys whose classes fill them in; they are judged by rules of their own."""

_FACETS = frozenset({"facets", "inputFacets", "outputFacets"})
"""Keys under which facets hang, each of a class of its own: only that they are objects is judged here."""

_Hint: TypeAlias = Any
"""What a type hint may be: a class, or one of typing's forms."""

_NAMES = {str: "a string", int: "an integer", float: "a number", bool: "true or false", dict: "an object"}
_TEXT_LIMIT = 60


class Problem(NamedTuple):
    """What is wrong at a path."""

    rule: Rule
    path: str
    message: str


class _Key(NamedTuple):
    name: str
    type: Any
    required: bool
    argument: str | None
    """What the class's constructor calls it; None where it makes the value itself."""


@cache
def _keys(cls: type) -> tuple[_Key, ...]:
    hints = get_type_hints(cls)
    return tuple(
        _Key(a.name, hints[a.name], a.init and a.default is attr.NOTHING, a.alias if a.init else None)
        for a in attr.fields(cls)
        if a.name not in _OF_BASE
    )


def problems(value: object, cls: type, path: str) -> Iterator[Problem]:
    """What keeps a JSON value from being an instance of an attrs class."""
    return _object(value, cls, path)


def _object(value: object, cls: type, path: str) -> Iterator[Problem]:
    if not isinstance(value, dict):
        yield _wrong(path, value, "an object")
        return
    sound = True
    for key in _keys(cls):
        where = f"{path}.{key.name}" if path else key.name
        if key.name in value:
            for problem in _value(value[key.name], dict if key.name in _FACETS else key.type, where):
                sound = False
                yield problem
        elif key.required:
            sound = False
            yield Problem(MISSING_KEY, where, f"is missing; {cls.__name__} requires it")
    if sound:
        yield from _validated(value, cls, path)


def _validated(value: dict[str, Any], cls: type, path: str) -> Iterator[Problem]:
    """What the class's own validators refuse: times, UUIDs, keys that need each other."""
    arguments = {key.argument: value[key.name] for key in _keys(cls) if key.argument and key.name in value}
    try:
        cls(**arguments)
    except ValueError as error:
        yield Problem(WRONG_VALUE, path or cls.__name__, str(error))


def _value(value: object, hint: _Hint, path: str) -> Iterator[Problem]:
    origin: _Hint = get_origin(hint)
    arguments = get_args(hint)
    if hint is Any:
        return
    if origin in (Union, types.UnionType):
        yield from _union(value, [argument for argument in arguments if argument is not type(None)], path)
    elif origin is Literal:
        if value not in arguments:
            yield _wrong(path, value, " or ".join(map(repr, arguments)))
    elif origin is list:
        yield from _list(value, arguments[0], path)
    elif origin is dict:
        yield from _dict(value, arguments[1], path)
    elif issubclass(hint, Enum):
        members = [member.value for member in hint]
        if value not in members:
            yield _wrong(path, value, f"one of {', '.join(members)}")
    elif attr.has(hint):
        yield from _object(value, hint, path)
    elif not _is(value, hint):
        yield _wrong(path, value, _NAMES.get(hint, hint.__name__))


def _union(value: object, alternatives: list[_Hint], path: str) -> Iterator[Problem]:
    """The problems of that alternative which the value comes nearest to."""
    verdicts = [list(_value(value, alternative, path)) for alternative in alternatives]
    yield from min(verdicts, key=lambda verdict: (any(p.path.endswith(".type") for p in verdict), len(verdict)))


def _list(value: object, member: _Hint, path: str) -> Iterator[Problem]:
    if not isinstance(value, list):
        yield _wrong(path, value, "an array")
        return
    for i, item in enumerate(value):
        yield from _value(item, member, f"{path}[{i}]")


def _dict(value: object, member: _Hint, path: str) -> Iterator[Problem]:
    if not isinstance(value, dict):
        yield _wrong(path, value, "an object")
        return
    for name, item in value.items():
        yield from _value(item, member, f"{path}.{name}")


def _is(value: object, hint: type) -> bool:
    """Whether a JSON value is of a plain type; true is no number, and 300.0 is an integer, as in JSON Schema."""
    if isinstance(value, bool):
        return hint is bool
    if hint is int:
        return isinstance(value, int) or (isinstance(value, float) and value.is_integer())
    if hint is float:
        return isinstance(value, int | float)
    return isinstance(value, hint)


def _wrong(path: str, value: object, wanted: str) -> Problem:
    found = "null" if value is None else repr(value) if isinstance(value, str | int | float) else None
    found = found or ("an array" if isinstance(value, list) else "an object")
    if len(found) > _TEXT_LIMIT:
        found = f"{found[:_TEXT_LIMIT]}..."
    return Problem(WRONG_VALUE, path or "the event", f"must be {wanted}, not {found}")
