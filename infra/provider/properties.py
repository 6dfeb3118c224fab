# SPDX-License-Identifier: Apache-2.0
"""Properties of resources as the engine compares them: differences, unknown values, resources that were not read."""

from typing import TYPE_CHECKING, Any

from pulumi.runtime.rpc import UNKNOWN

if TYPE_CHECKING:
    from infra.provider.kind import Kind

UNREACHABLE = "unreachable"
"""Property in the state of a resource whose service did not respond to the last refresh; a difference to any inputs."""


def changed(old: dict[str, Any], new: dict[str, Any]) -> list[str]:
    """Return the sorted names of the properties that differ between two sets of inputs."""
    return sorted(key for key in old.keys() | new.keys() if old.get(key) != new.get(key))


def is_unknown(value: Any) -> bool:  # noqa: ANN401 - any JSON value
    """Return whether a value is, or contains, an output that a preview does not know yet."""
    if isinstance(value, dict):
        return any(map(is_unknown, value.values()))
    return any(map(is_unknown, value)) if isinstance(value, list) else value == UNKNOWN


def replaced(kind: "Kind[Any]", old: dict[str, Any], new: dict[str, Any]) -> list[str]:
    """Return the changed properties that require a replacement: not those with the address of a service of the lab."""
    is_external = "external" in old or "external" in new
    fixed = kind.replace_on if is_external else kind.replace_on - kind.addresses
    return [key for key in changed(old, new) if key in fixed]


def must_be_located(kind: "Kind[Any]", old: dict[str, Any], new: dict[str, Any]) -> bool:
    """Return whether an update has to `create`, which adopts: the resource was not read, or its service has moved."""
    return UNREACHABLE in old or not kind.addresses.isdisjoint(changed(old, new))
