# SPDX-License-Identifier: Apache-2.0
"""Inputs of a vendor's resources, read from the typed arguments of the vendor's SDK.

The SDK is slow to import: this module is imported only to validate inputs.
"""

import inspect
import types
import typing
from collections.abc import Awaitable, Mapping, Sequence
from typing import Any

import pulumi
from pulumi import _types as sdk_types  # the only place that has the names of the protocol

from tests.vendor_plugin.properties import ANY_KEY, ANYTHING, Property, Shape

SCALARS = frozenset({str, bool, int, float})


def argument_properties(arguments: type) -> dict[str, Property]:
    """Return the properties of a class of arguments (`ContainerArgs`), by their names in the protocol."""
    hints = typing.get_type_hints(arguments.__init__, localns=vars(pulumi.output))  # where `Input` is defined
    names = sdk_types.input_type_py_to_pulumi_names(arguments)
    parameters = list(inspect.signature(arguments.__init__).parameters.values())[1:]  # without `self`
    return {
        names[known.name]: Property(_shape(hints[known.name]), known.default is inspect.Parameter.empty)
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
    if origin is typing.Literal:
        return type(typing.get_args(hint)[0])
    if hint in SCALARS:
        return hint
    return argument_properties(hint) if sdk_types.is_input_type(hint) else ANYTHING


def _is_wrapping(hint: Any) -> bool:
    return hint is type(None) or typing.get_origin(hint) in {Awaitable, pulumi.Output}
