# SPDX-License-Identifier: Apache-2.0
"""Query parameters that FastAPI would read otherwise than Marquez."""

from lineage.api.errors import ApiError
from lineage.events.timestamps import parse_time


def time_parameter(name: str, text: str) -> int:
    """Return the nanoseconds since the epoch of an RFC 3339 time.

    Raises:
        ApiError: 400 if it is invalid.
    """
    try:
        # In a URL an unescaped + of an offset arrives as a space.
        return parse_time(text.replace(" ", "+") if "T" in text else text)
    except ValueError as error:
        raise ApiError(400, "invalid_parameter", f"{name}: {error}", {"field": name}) from error


def hash_parameter(name: str, text: str) -> bytes:
    """Return the content hash of an event from 64 hexadecimal digits.

    Raises:
        ApiError: 400 if it is invalid.
    """
    try:
        value = bytes.fromhex(text)
    except ValueError:
        value = b""
    if len(value) != 32:
        message = f"{name}: {text[:70]!r} is not a content hash; expected 64 hexadecimal digits"
        raise ApiError(400, "invalid_parameter", message, {"field": name})
    return value


def whole_number(value: object) -> int:
    """Return a number from the text of a parameter.

    Raises:
        ApiError: 404 if it is no whole number, as in Marquez.
    """
    try:
        return int(str(value))
    except ValueError as error:
        message = f"{str(value)[:40]!r} is not a whole number"
        raise ApiError(404, "not_found", message, {"value": str(value)[:40]}) from error


def upper_case(value: object) -> object:
    """Return a text in upper case; other values unchanged."""
    return value.upper() if isinstance(value, str) else value


def lower_case(value: object) -> object:
    """Return a text in lower case; other values unchanged."""
    return value.lower() if isinstance(value, str) else value
