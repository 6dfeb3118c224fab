# SPDX-License-Identifier: Apache-2.0
"""Renderer of Java properties, the format of Kafka's and Spark's configuration files."""

from collections.abc import Mapping


def render_properties(settings: Mapping[str, str | int | bool]) -> str:
    """Render one `key=value` line per setting, in the given order, with escaped backslashes and newlines.

    Raises:
        ValueError: a key is empty or contains a separator.
    """
    for key in settings:
        if not key or any(character in key for character in " =:#!\\\n"):
            raise ValueError(f"invalid key of a Java property: {key!r}")
    return "".join(f"{key}={_escape(value)}\n" for key, value in settings.items())


def _escape(value: str | int | bool) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return str(value).replace("\\", "\\\\").replace("\n", "\\n")
