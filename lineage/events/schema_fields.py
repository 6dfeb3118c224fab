# SPDX-License-Identifier: Apache-2.0
"""Columns of a `schema` facet, whose nested columns are lists within lists."""

from collections.abc import Iterable, Mapping
from typing import Any


def column_types(fields: Iterable[Mapping[str, Any]], above: str = "") -> dict[str, str]:
    """Return the type of each column, nested ones by path (`address.city`); empty if it is not known."""
    found: dict[str, str] = {}
    for field in fields:
        path = f"{above}{field['name']}"
        found[path] = str(field.get("type") or "")
        found |= column_types(field.get("fields") or (), f"{path}.")
    return found
