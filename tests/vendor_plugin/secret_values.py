# SPDX-License-Identifier: Apache-2.0
"""Secret values in properties of the provider protocol: objects with a signature and the value."""

from collections.abc import Mapping
from typing import Any

from tests.vendor_plugin.properties import Properties

SIGNATURE_KEY = "4dabf18193072939515e22adb298388d"
SECRET_SIGNATURE = "1b47061264138c4ac30d75fd1eb44270"
"""Constants of the protocol (`pulumi.runtime.rpc`)."""


def is_secret(value: Any) -> bool:
    """Return whether a value is marked as secret."""
    return isinstance(value, dict) and value.get(SIGNATURE_KEY) == SECRET_SIGNATURE


def make_secret(value: Any) -> Properties:
    """Mark a value as secret; the engine encrypts it in the state and hides it in its output."""
    return {SIGNATURE_KEY: SECRET_SIGNATURE, "value": value}


def without_secrets(value: Any) -> Any:
    """Return a value with the contents of its secrets in their places."""
    if is_secret(value):
        return without_secrets(value["value"])
    if isinstance(value, dict):
        return {key: without_secrets(item) for key, item in value.items()}
    return [without_secrets(item) for item in value] if isinstance(value, list) else value


def contains_secret(value: Any) -> bool:
    """Return whether a value or one within it is marked as secret."""
    if is_secret(value):
        return True
    if isinstance(value, dict):
        return any(contains_secret(item) for item in value.values())
    return isinstance(value, list) and any(contains_secret(item) for item in value)


def with_secrets_of(values: Mapping[str, Any], marked: Mapping[str, Any]) -> Properties:
    """Return plain values, marked as secret where `marked` is; a list with a secret is marked as a whole."""
    return {key: _marked_like(value, marked.get(key)) for key, value in values.items()}


def _marked_like(value: Any, marked: Any) -> Any:
    if isinstance(value, dict) and isinstance(marked, dict) and not is_secret(marked):
        return with_secrets_of(value, marked)
    return make_secret(value) if contains_secret(marked) else value
