# SPDX-License-Identifier: Apache-2.0
"""Sorted set of names with cheap insertion, paging and search."""

from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterator

_MAX_BUCKET_SIZE = 1000
"""Names of a bucket before it is split: an insertion moves at most these."""


class _NameBucket:
    """Adjacent names. `text` joins them in lower case, so that one search covers the bucket."""

    __slots__ = ("_text", "names")

    def __init__(self, names: list[str], text: str | None = None) -> None:
        self.names = names
        self._text = text

    @property
    def text(self) -> str:
        """Return the joined names; computed on first use after a change."""
        if self._text is None:
            self._text = "\n".join(self.names).lower()
        return self._text

    def invalidate(self) -> None:
        """Discard the cached text after a change of the names."""
        self._text = None


class SortedNames:
    """A sorted set of names.

    Iteration stays correct when names are added meanwhile.
    """

    def __init__(self) -> None:
        self._buckets: list[_NameBucket] = []
        self._firsts: list[str] = []
        self._size = 0

    def __len__(self) -> int:
        return self._size

    def add(self, name: str) -> bool:
        """Add a name; return False if it was present."""
        if not self._buckets:
            self._buckets.append(_NameBucket([name]))
            self._firsts.append(name)
            self._size = 1
            return True
        at = max(0, bisect_right(self._firsts, name) - 1)
        bucket = self._buckets[at]
        place = bisect_left(bucket.names, name)
        if place < len(bucket.names) and bucket.names[place] == name:
            return False
        insort(bucket.names, name)
        bucket.invalidate()
        self._size += 1
        self._firsts[at] = bucket.names[0]
        if len(bucket.names) > _MAX_BUCKET_SIZE:
            upper = bucket.names[_MAX_BUCKET_SIZE // 2 :]
            del bucket.names[_MAX_BUCKET_SIZE // 2 :]
            self._buckets.insert(at + 1, _NameBucket(upper))
            self._firsts.insert(at + 1, upper[0])
        return True

    def discard(self, name: str) -> bool:
        """Remove a name; return False if it was absent."""
        at = max(0, bisect_right(self._firsts, name) - 1)
        bucket = self._buckets[at] if self._buckets else _NameBucket([])
        place = bisect_left(bucket.names, name)
        if place == len(bucket.names) or bucket.names[place] != name:
            return False
        del bucket.names[place]
        bucket.invalidate()
        self._size -= 1
        if bucket.names:
            self._firsts[at] = bucket.names[0]
        else:
            del self._buckets[at], self._firsts[at]
        return True

    def page(self, offset: int, limit: int) -> list[str]:
        """Return `limit` names from a position on."""
        found: list[str] = []
        for bucket in self._buckets:
            if len(found) == limit:
                break
            if offset >= len(bucket.names):
                offset -= len(bucket.names)
                continue
            found += bucket.names[offset : offset + limit - len(found)]
            offset = 0
        return found

    def __iter__(self) -> Iterator[str]:
        for part in self._buckets_in_order(searching=False):
            yield from part.names

    def containing(self, wanted: str) -> Iterator[list[str]]:
        """Yield the names that contain `wanted`, a lower-case text, ignoring case: one list per searched bucket."""
        for part in self._buckets_in_order(searching=True):
            yield [name for name in part.names if wanted in name.lower()] if wanted in part.text else []

    def _buckets_in_order(self, searching: bool) -> Iterator[_NameBucket]:
        """Yield all names in buckets; names added meanwhile are included if they sort after the current position."""
        last = ""
        while self._buckets:
            at = max(0, bisect_right(self._firsts, last) - 1)
            ahead = bisect_right(self._buckets[at].names, last)
            if ahead == len(self._buckets[at].names):
                at, ahead = at + 1, 0
            if at == len(self._buckets):
                return
            bucket = self._buckets[at]
            # A copy, because the bucket may be split while it is read; the text is shared, as joining it is expensive.
            part = _NameBucket(bucket.names[ahead:], bucket.text if searching and not ahead else None)
            last = part.names[-1]
            yield part
