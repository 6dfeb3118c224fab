# SPDX-License-Identifier: Apache-2.0
"""Inputs of the vendor's resources, read from the typed arguments of the vendor's SDK.

The SDK is slow to import: this module is imported only to validate inputs.
"""

import inspect
import types
import typing
from collections.abc import Awaitable, Mapping, Sequence
from typing import Any

import pulumi
import pulumi_docker
from pydantic.alias_generators import to_camel

from tests.docker.plugin.properties import ANY_KEY, Property, Shape


def schema_properties(name: str) -> dict[str, Property]:
    """Return the properties of a class of arguments in the SDK (`ContainerArgs`), by their names in the protocol."""
    return _properties(getattr(pulumi_docker, name))


def _properties(arguments: type) -> dict[str, Property]:
    hints = typing.get_type_hints(arguments.__init__, localns=vars(pulumi.output))  # where `Input` is defined
    parameters = list(inspect.signature(arguments.__init__).parameters.values())[1:]  # without `self`
    return {
        to_camel(known.name): Property(_shape(hints[known.name]), known.default is inspect.Parameter.empty)
        for known in parameters
    }


def _shape(hint: Any) -> Shape:
    """Return the shape of `Input[Optional[T]]`, which is a union of T, awaitable T and Output[T]."""
    origin = typing.get_origin(hint)
    if origin in {typing.Union, types.UnionType}:
        return _shape(next(option for option in typing.get_args(hint) if not _is_wrapping(option)))
    if origin is Sequence:
        return [_shape(typing.get_args(hint)[0])]
    if origin is Mapping:
        return {ANY_KEY: _shape(typing.get_args(hint)[1])}
    return hint if hint in {str, bool, int, float} else _properties(hint)


def _is_wrapping(hint: Any) -> bool:
    return hint is type(None) or typing.get_origin(hint) in {Awaitable, pulumi.Output}
