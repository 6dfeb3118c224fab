# SPDX-License-Identifier: Apache-2.0
"""Three-way merge of inputs and state, as in the vendor's plugin (`strategicpatch.CreateThreeWayMergePatch`)."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

_PLAIN_KEY = re.compile(r"[A-Za-z_$][\w$]*")


class Change(Enum):
    """Kind of a change, by its name in the protocol (`PropertyDiff.Kind`)."""

    ADD = "ADD"
    UPDATE = "UPDATE"
    DELETE = "DELETE"


@dataclass(frozen=True)
class Changed:
    """Changed property: its path in Pulumi's format (`values.files["a.sql"]`) and the kind of the change."""

    path: str
    change: Change


def changes(old: Mapping[str, Any], new: Mapping[str, Any], state: Mapping[str, Any], path: str = "") -> list[Changed]:
    """Return what an update changes, sorted by path.

    That is every property of the new inputs that differs from the state, and every property of the old inputs that the
    new ones lack. Lists are compared as a whole.
    """
    return sorted([*_set(new, state, path), *_removed(old, new, path)], key=lambda changed: changed.path)


def _set(new: Mapping[str, Any], state: Mapping[str, Any], path: str) -> Iterator[Changed]:
    for key, value in new.items():
        if key not in state:
            yield Changed(_inner(path, key), Change.ADD)
        elif isinstance(value, dict) and isinstance(state[key], dict):
            yield from _set(value, state[key], _inner(path, key))
        elif value != state[key]:
            yield Changed(_inner(path, key), Change.UPDATE)


def _removed(old: Mapping[str, Any], new: Mapping[str, Any], path: str) -> Iterator[Changed]:
    for key, value in old.items():
        if key not in new:
            yield Changed(_inner(path, key), Change.DELETE)
        elif isinstance(value, dict) and isinstance(new[key], dict):
            yield from _removed(value, new[key], _inner(path, key))


def _inner(path: str, key: str) -> str:
    if not _PLAIN_KEY.fullmatch(key):
        return f'{path}["{key}"]'
    return f"{path}.{key}" if path else key
