# SPDX-License-Identifier: Apache-2.0
"""Strict JSON: only what every consumer parses alike.

NaN, Infinity, lone surrogates and integers beyond 64 bits, once stored, would break the next reader: SQLite, a
browser, a Java service. They are rejected on ingest.

orjson takes a third of the time of Python's `json`. What it rejects is parsed again by Python's parser, which
reports cause and position.
"""

import json
import math
import re
from typing import Any, NoReturn

import orjson

from lineage.events.errors import MalformedJson

MAX_DEPTH = 100
"""Levels of nesting that an event may have; recorded Spark and Flink events stay below 15."""

_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
"""Escape that may be half of a surrogate pair; UTF-8 itself cannot encode one."""

_DIGITS_ALIKE = bytes.maketrans(b"123456789", b"000000000")
_LONG_INTEGER = b"0" * 19
"""Pattern of a possible integer beyond 64 bits once all digits are replaced by 0; orjson accepts some of these."""

_INT_DIGITS = 19
_INT_RANGE = range(-(2**63), 2**63)


def _refuse_constant(text: str) -> NoReturn:
    raise MalformedJson(f"{text} is not JSON; send null or leave the key out")


def _read_int(text: str) -> int:
    if len(text) <= _INT_DIGITS - 1:
        return int(text)
    if len(text) > _INT_DIGITS + 1 or (value := int(text)) not in _INT_RANGE:
        raise MalformedJson(f"integer {text[:24]} does not fit in 64 bits; send it as a string")
    return value


def _read_float(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise MalformedJson(f"number {text[:24]} is out of range; send it as a string")
    return value


_CONTAINERS = frozenset((dict, list))

_NEITHER_BRACKET_NOR_QUOTE = bytes(set(range(256)).difference(b'{}[]"'))


def _is_deep(data: bytes, value: object) -> bool:
    """Return whether JSON text, which was parsed to `value`, is nested deeper than `MAX_DEPTH`.

    The text takes a third of the time of walking over the value. Without its strings, the innermost brackets of the
    text are neighbours.
    """
    if data.count(b"{") + data.count(b"[") <= MAX_DEPTH:
        return False
    # With escapes, the quotes of strings do not come in pairs; with brackets in a string, a quote stays.
    if b"\\" not in data:
        left = data.translate(None, _NEITHER_BRACKET_NOR_QUOTE).replace(b'""', b"")
        for _ in range(MAX_DEPTH // 2):
            # One level or two.
            inner = left.replace(b"{}", b"").replace(b"[]", b"")
            if not inner:
                return False
            if len(inner) == len(left):
                break
            left = inner
    return _nesting_depth(value) > MAX_DEPTH


def _nesting_depth(value: object) -> int:
    """Return the nesting depth; counting stops one level past `MAX_DEPTH`, without recursion."""
    level: list[Any] = [value] if type(value) in _CONTAINERS else []
    depth = 0
    while level and depth <= MAX_DEPTH:
        # One comprehension per level: every batch of events is walked here.
        level = [
            child
            for item in level
            for child in (item.values() if type(item) is dict else item)
            if type(child) in _CONTAINERS
        ]
        depth += 1
    return depth


_decoder = json.JSONDecoder(parse_int=_read_int, parse_float=_read_float, parse_constant=_refuse_constant)


def parse_json(data: bytes) -> object:
    """Decode UTF-8 JSON.

    Raises:
        MalformedJson: not UTF-8, not JSON, or JSON that not every consumer can hold.
    """
    if _LONG_INTEGER not in data.translate(_DIGITS_ALIKE):
        try:
            value: object = orjson.loads(data)
        except orjson.JSONDecodeError:
            return _parse_with_diagnosis(data)
        if _is_deep(data, value):
            raise MalformedJson(f"nested deeper than {MAX_DEPTH} levels")
        return value
    return _parse_with_diagnosis(data)


def _parse_with_diagnosis(data: bytes) -> object:
    """Parse with Python's parser: for data that orjson rejects or may read with integers out of range.

    Raises:
        MalformedJson: with cause and position.
    """
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise MalformedJson(f"byte {error.start} is not UTF-8: {error.reason}", error.start) from error
    try:
        value: object = _decoder.decode(text)
    except json.JSONDecodeError as error:
        where = f"line {error.lineno} column {error.colno} (character {error.pos})"
        raise MalformedJson(f"{error.msg} at {where}", error.pos) from error
    except RecursionError as error:
        raise MalformedJson(f"nested deeper than {MAX_DEPTH} levels") from error
    if _nesting_depth(value) > MAX_DEPTH:
        raise MalformedJson(f"nested deeper than {MAX_DEPTH} levels")
    if _SURROGATE.search(text):
        canonical_json(value)
    return value


def canonical_json(value: object) -> bytes:
    """Encode a JSON value canonically: sorted keys, no white space, UTF-8.

    Raises:
        MalformedJson: a string contains half of a surrogate pair, which UTF-8 cannot express.
    """
    try:
        return orjson.dumps(value, _encode_named_tuple, orjson.OPT_SORT_KEYS)
    except TypeError as error:
        if "surrogates" in str(error):
            raise MalformedJson("a string contains half of a surrogate pair (\\ud800 to \\udfff)") from error
        raise


def _encode_named_tuple(value: object) -> object:
    """Encode named tuples as arrays."""
    if isinstance(value, tuple):
        return list(value)
    raise TypeError(f"{value!r:.60} is not JSON")
