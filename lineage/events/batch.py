# SPDX-License-Identifier: Apache-2.0
"""Batches: JSON arrays of events, cut into their elements.

Only those who take batches import this: its decoder takes as long to make as the rest of an import of events.
"""

from collections.abc import Iterable
from itertools import takewhile

import msgspec

from lineage.events.errors import InvalidEvent, MalformedJson
from lineage.events.strict_json import canonical_json, parse_json

MAX_BATCH_EVENTS = 10_000
"""Maximum number of events of a batch, which is one commit that all other senders wait for."""

_list_decoder = msgspec.json.Decoder(list[msgspec.Raw])

# A class with that many optional fields, written as an array: the decoder stops at the first element too many. A list
# would be built whole before its length can be checked: half a gigabyte for 32 MiB of tiny elements.
_bounded_array = msgspec.defstruct(
    "_BoundedArray",
    [(f"e{place}", msgspec.Raw | msgspec.UnsetType, msgspec.UNSET) for place in range(MAX_BATCH_EVENTS)],
    array_like=True,
    forbid_unknown_fields=True,
)
_bounded_decoder = msgspec.json.Decoder(_bounded_array)
_TOO_LONG = "at most length"

_MAX_DIAGNOSED = 2**20
"""Bytes of a malformed batch that are parsed again for a better message."""


class BatchTooLong(Exception):
    """A batch has more than `limit` events."""

    def __init__(self, limit: int) -> None:
        super().__init__(f"a batch may have {limit} events; send it in parts")
        self.limit = limit


def split_array(data: bytes) -> list[bytes]:
    """Cut a batch, a JSON array of events, into its elements as they came. Elements are not validated.

    Raises:
        BatchTooLong: it has more than `MAX_BATCH_EVENTS`.
        MalformedJson: the bytes are not JSON that every consumer reads alike.
        InvalidEvent: they are JSON, but not an array.
    """
    try:
        return [bytes(element) for element in _elements(data)]
    except (msgspec.DecodeError, RecursionError) as error:
        if _TOO_LONG in str(error):
            raise BatchTooLong(MAX_BATCH_EVENTS) from error
        if len(data) > _MAX_DIAGNOSED:
            raise MalformedJson(str(error)) from error
        # Reports cause and position.
        content = parse_json(data)
    if not isinstance(content, list):
        raise InvalidEvent("", "a batch is a JSON array of events; send a single event to /api/v1/lineage")
    return [canonical_json(element) for element in content]


def _elements(data: bytes) -> Iterable[msgspec.Raw]:
    """Return the elements of an array, uncopied."""
    # The number of commas bounds that of elements, and small batches do without the large class.
    if data.count(b",") < MAX_BATCH_EVENTS:
        return _list_decoder.decode(data)
    return takewhile(
        lambda element: element is not msgspec.UNSET, msgspec.structs.astuple(_bounded_decoder.decode(data))
    )
