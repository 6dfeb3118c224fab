# SPDX-License-Identifier: Apache-2.0
"""Validation of a resource's inputs against the types of a vendor's SDK."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pulumi.runtime.rpc import UNKNOWN

Shape = Any
"""`str`, `bool`, `int`, `float`, `[shape]` for a list, `{"*": shape}` for a map, `{name: Property}` for an object.

`ANYTHING` if the SDK accepts every value.
"""

ANYTHING = object

Properties = dict[str, Any]
"""Properties of a resource, as in the provider protocol."""

ANY_KEY = "*"


@dataclass(frozen=True)
class Property:
    """Type of a property, and whether it is required."""

    shape: Shape
    required: bool


@dataclass(frozen=True)
class InvalidProperty:
    """Path of an invalid property, in Pulumi's format (`ports[0].internal`), and the reason."""

    path: str
    reason: str


def validate(value: Any, shape: Shape, path: str = "") -> Iterator[InvalidProperty]:
    """Yield the properties in which a value differs from a shape; values unknown during a preview are valid."""
    if value == UNKNOWN:
        return
    if isinstance(shape, list):
        if not isinstance(value, list):
            yield InvalidProperty(path, f"must be a list, not {value!r}")
            return
        for place, item in enumerate(value):
            yield from validate(item, shape[0], f"{path}[{place}]")
    elif isinstance(shape, dict):
        yield from _validate_object(value, shape, path)
    elif not _matches_type(value, shape):
        yield InvalidProperty(path, f"must be of type {shape.__name__}, not {value!r}")


def _validate_object(value: Any, shape: dict[str, Any], path: str) -> Iterator[InvalidProperty]:
    if not isinstance(value, dict):
        yield InvalidProperty(path, f"must be an object, not {value!r}")
        return
    prefix = f"{path}." if path else ""
    if ANY_KEY in shape:
        for key, item in value.items():
            yield from validate(item, shape[ANY_KEY], prefix + key)
        return
    for key in sorted(value.keys() - shape.keys()):
        yield InvalidProperty(prefix + key, "the vendor's schema has no such property")
    for key, known in shape.items():
        if key in value:
            yield from validate(value[key], known.shape, prefix + key)
        elif known.required:
            yield InvalidProperty(prefix + key, "the vendor's schema requires it")


def _matches_type(value: Any, scalar: type) -> bool:
    """Return whether a value of the protocol, which has one number type, is valid for a Python type."""
    if scalar is int:
        return isinstance(value, float | int) and not isinstance(value, bool) and float(value).is_integer()
    if scalar is float:
        return isinstance(value, float | int) and not isinstance(value, bool)
    return isinstance(value, scalar)


def property_paths(value: Properties, shape: dict[str, Property], path: str = "") -> Iterator[str]:
    """Yield the paths of a value's properties: `image`, `ports.internal`; a list or map of scalars has one path."""
    for key in value.keys() & shape.keys():
        name = f"{path}.{key}" if path else key
        known, item = shape[key].shape, value[key]
        inner = known[0] if isinstance(known, list) else known
        if not isinstance(inner, dict) or ANY_KEY in inner:
            yield name
            continue
        for part in item if isinstance(item, list) else [item]:
            if isinstance(part, dict):  # else it is unknown during a preview, or invalid
                yield from property_paths(part, inner, name)
