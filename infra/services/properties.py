# SPDX-License-Identifier: Apache-2.0
"""Java properties as text: the format of Kafka's and Spark's configuration files."""

from collections.abc import Mapping


def properties(settings: Mapping[str, str | int | bool]) -> str:
    """One `key=value` line each, in the given order; backslashes, newlines and truth values as Java has them.

    Raises:
        ValueError: a key holds a character that would end it.
    """
    for key in settings:
        if not key or any(letter in key for letter in " =:#!\\\n"):
            raise ValueError(f"{key!r} cannot be the key of a Java property")
    return "".join(f"{key}={_text(value)}\n" for key, value in settings.items())


def _text(value: str | int | bool) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return str(value).replace("\\", "\\\\").replace("\n", "\\n")
