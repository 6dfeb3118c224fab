# SPDX-License-Identifier: Apache-2.0
"""Enumeration of texts. The standard library has one from Python 3.11; this library runs on 3.10."""

from enum import Enum


class TextEnum(str, Enum):
    """Enumeration whose members are texts, and are formatted as them."""

    def __str__(self) -> str:
        return str.__str__(self)

    def __format__(self, format_spec: str) -> str:
        return str.__format__(self, format_spec)
