# SPDX-License-Identifier: Apache-2.0
"""Violations of JSON schemas as problems: the rule, the path of the value, what was found and what is required."""

from collections.abc import Collection, Iterator
from itertools import groupby
from typing import Any

from jsonschema.exceptions import ValidationError

from lineage.checks.events.check_rules import MISSING_KEY, NO_URI, WRONG_VALUE
from lineage.checks.events.problem import Problem
from lineage.checks.events.specification import Schema
from lineage.events.timestamps import parse_time

_TYPES = {
    "string": "a string",
    "integer": "an integer",
    "number": "a number",
    "boolean": "true or false",
    "object": "an object",
    "array": "an array",
    "null": "null",
}
_VALUE_LIMIT = 60
_MESSAGE_LIMIT = 300


def schema_problems(schema: Schema, instance: object, path: str = "") -> Iterator[Problem]:
    """Validate a value at `path` of an event; of several problems of one rule at one path the most specific is kept."""
    found: dict[tuple[str, str], Problem] = {}
    for error in sorted(schema.errors(instance), key=lambda error: error.validator == "type"):
        for problem in _problems_of_error(error, schema.name, path):
            found.setdefault((problem.rule.code, problem.path), problem)
    yield from found.values()


def _problems_of_error(error: ValidationError, schema: str, base: str) -> Iterator[Problem]:
    path = _value_path(base, error)
    expected: Any = error.validator_value
    match error.validator:
        case "required":
            for key in expected:
                if key not in _object_keys(error.instance):
                    yield Problem(MISSING_KEY, f"{path}.{key}" if path else key, f"is missing; required by {schema}")
        case "anyOf" | "oneOf" if error.context:
            for cause in _nearest_alternative(error):
                yield from _problems_of_error(cause, schema, base)
        case "type":
            names = [expected] if isinstance(expected, str) else expected
            yield _wrong_value(path, error.instance, " or ".join(_TYPES[name] for name in names))
        case "enum":
            yield _wrong_value(path, error.instance, f"one of {', '.join(map(str, expected))}")
        case "const":
            yield _wrong_value(path, error.instance, _shortened_value(expected))
        case "format" if expected == "uri":
            yield Problem(NO_URI, path, f"{error.instance!r:.120} is not an absolute URI")
        case "format" if expected == "date-time":
            yield Problem(WRONG_VALUE, path, _time_error(str(error.instance)))
        case "format" if expected == "uuid":
            yield _wrong_value(path, error.instance, "a UUID")
        case _:
            yield Problem(WRONG_VALUE, path or "the event", error.message[:_MESSAGE_LIMIT])


def _nearest_alternative(error: ValidationError) -> list[ValidationError]:
    """Return the errors of the alternative that the value comes closest to.

    An alternative whose `type` property matches is closer than one with fewer errors.
    """
    branches = groupby(error.context, lambda cause: cause.schema_path[0])
    return min(
        (list(causes) for _, causes in branches),
        key=lambda causes: (any(list(cause.path)[-1:] == ["type"] for cause in causes), len(causes)),
    )


def _object_keys(value: object) -> Collection[str]:
    return value if isinstance(value, dict) else ()


def _time_error(value: str) -> str:
    try:
        parse_time(value)
    except ValueError as error:
        return str(error)
    return f"{_shortened_value(value)} is not an RFC 3339 time; write it as 2026-01-31T12:00:00.123Z"


def _wrong_value(path: str, value: object, expected: str) -> Problem:
    return Problem(WRONG_VALUE, path or "the event", f"must be {expected}, not {_shortened_value(value)}")


def _shortened_value(value: object) -> str:
    if isinstance(value, list | dict):
        return "an array" if isinstance(value, list) else "an object"
    text = "null" if value is None else repr(value)
    return text if len(text) <= _VALUE_LIMIT else f"{text[:_VALUE_LIMIT]}..."


def _value_path(base: str, error: ValidationError) -> str:
    """Return a path such as `inputs[0].facets.schema`."""
    parts = (f"[{part}]" if isinstance(part, int) else f".{part}" for part in error.absolute_path)
    return (base + "".join(parts)).lstrip(".")
