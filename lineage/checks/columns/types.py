# SPDX-License-Identifier: Apache-2.0
"""Types of columns under one spelling: engines name those of one topic differently (`int64`, `long`, `bigint`)."""

import re

_SPELLINGS = {
    **dict.fromkeys(("int", "int32", "integer"), "int32"),
    **dict.fromkeys(("long", "int64", "bigint"), "int64"),
    **dict.fromkeys(("float", "float32", "real"), "float32"),
    **dict.fromkeys(("double", "float64", "double precision"), "float64"),
    **dict.fromkeys(("string", "varchar", "text", "character varying"), "string"),
    **dict.fromkeys(("boolean", "bool"), "boolean"),
    **dict.fromkeys(("bytes", "binary", "varbinary", "bytea"), "bytes"),
}
"""Spelling in lower case -> type."""

_TIMESTAMP = re.compile(
    r"(?:local-)?timestamp(?:tz|_ltz|_ntz|-millis|-micros|-nanos)?(?:\(\d\))?(?: with(?:out)?(?: local)? time zone)?"
)
_TEXT = re.compile(r"(?:var)?char(?:acter varying)?\(\d+\)")
_DECIMAL = re.compile(r"(?:decimal|numeric)\((\d+)(?:,(\d+))?\)")


def canonical_type(text: str) -> str:
    """Return the one spelling of a type: `int64` for `bigint`, `timestamp` for every timestamp, `decimal(10,2)`.

    Any other type is returned in lower case, without spaces around it. Precision and time zone of timestamps, and the
    length of texts, are not kept: few engines state them.
    """
    kind = " ".join(text.lower().split())
    if kind in _SPELLINGS:
        return _SPELLINGS[kind]
    if _TIMESTAMP.fullmatch(kind):
        return "timestamp"
    if _TEXT.fullmatch(kind):
        return "string"
    if match := _DECIMAL.fullmatch(kind.replace(" ", "")):
        return f"decimal({match[1]},{match[2] or 0})"
    return kind
