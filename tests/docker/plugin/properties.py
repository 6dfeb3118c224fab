# SPDX-License-Identifier: Apache-2.0
"""What a resource may be given, and what is wrong with what it was given. Pure functions."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pulumi.runtime.rpc import UNKNOWN

Shape = Any
"""`str`, `bool`, `int`, `float`, `[shape]` for a list, `{"*": shape}` for a map, `{name: Property}` for an object."""

Properties = dict[str, Any]
"""Properties of a resource, as the protocol has them."""

ANY_KEY = "*"


@dataclass(frozen=True)
class Property:
    """What one property holds, and whether it has to be there."""

    shape: Shape
    required: bool


@dataclass(frozen=True)
class Wrong:
    """A property that cannot be accepted: where it is, in Pulumi's spelling (`ports[0].internal`), and why."""

    path: str
    reason: str


def wrong(value: Any, shape: Shape, path: str = "") -> Iterator[Wrong]:
    """Everything in which a value is not of a shape. What is not known yet, in a preview, is right."""
    if value == UNKNOWN:
        return
    if isinstance(shape, list):
        if not isinstance(value, list):
            yield Wrong(path, f"is to be a list, not {value!r}")
            return
        for place, item in enumerate(value):
            yield from wrong(item, shape[0], f"{path}[{place}]")
    elif isinstance(shape, dict):
        yield from _wrong_object(value, shape, path)
    elif not _is_a(value, shape):
        yield Wrong(path, f"is to be of type {shape.__name__}, not {value!r}")


def _wrong_object(value: Any, shape: dict[str, Any], path: str) -> Iterator[Wrong]:
    if not isinstance(value, dict):
        yield Wrong(path, f"is to be an object, not {value!r}")
        return
    prefix = f"{path}." if path else ""
    if ANY_KEY in shape:
        for key, item in value.items():
            yield from wrong(item, shape[ANY_KEY], prefix + key)
        return
    for key in sorted(value.keys() - shape.keys()):
        yield Wrong(prefix + key, "the vendor's schema has no such property")
    for key, known in shape.items():
        if key in value:
            yield from wrong(value[key], known.shape, prefix + key)
        elif known.required:
            yield Wrong(prefix + key, "the vendor's schema requires it")


def _is_a(value: Any, scalar: type) -> bool:
    """Whether a value of the protocol, which knows one kind of number, fits a Python type."""
    if scalar is int:
        return isinstance(value, float | int) and not isinstance(value, bool) and float(value).is_integer()
    if scalar is float:
        return isinstance(value, float | int) and not isinstance(value, bool)
    return isinstance(value, scalar)


def given(value: Properties, shape: dict[str, Property], path: str = "") -> Iterator[str]:
    """The properties that a value has of a shape: `image`, `ports.internal`. A list or map of plain values is one."""
    for key in value.keys() & shape.keys():
        name = f"{path}.{key}" if path else key
        known, item = shape[key].shape, value[key]
        inner = known[0] if isinstance(known, list) else known
        if not isinstance(inner, dict) or ANY_KEY in inner:
            yield name
            continue
        for part in item if isinstance(item, list) else [item]:
            if isinstance(part, dict):  # else it is not known yet, or has been found wrong
                yield from given(part, inner, name)
