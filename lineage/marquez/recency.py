# SPDX-License-Identifier: Apache-2.0
"""Jobs by time of their last event, latest first, with cheap updates and paging."""

from bisect import bisect_left, bisect_right
from typing import NamedTuple

from lineage.events import JobId

_MAX_BUCKET_SIZE = 1000
"""Keys of a bucket before it is split: an insertion moves at most these."""


class RecencyKey(NamedTuple):
    """Sort key of a job: `age` is the negated time (ns) of its last event."""

    age: int
    job: JobId


class RecencyList:
    """Sorted set of keys, latest first."""

    def __init__(self) -> None:
        self._buckets: list[list[RecencyKey]] = []
        self._size = 0

    def __len__(self) -> int:
        return self._size

    def add(self, key: RecencyKey) -> None:
        """Add a key that is not in the list."""
        self._size += 1
        if not self._buckets:
            self._buckets.append([key])
            return
        at = self._bucket_of(key)
        bucket = self._buckets[at]
        bucket.insert(bisect_left(bucket, key), key)
        if len(bucket) > _MAX_BUCKET_SIZE:
            self._buckets.insert(at + 1, bucket[_MAX_BUCKET_SIZE // 2 :])
            del bucket[_MAX_BUCKET_SIZE // 2 :]

    def remove(self, key: RecencyKey) -> None:
        """Remove a key that is in the list."""
        at = self._bucket_of(key)
        bucket = self._buckets[at]
        del bucket[bisect_left(bucket, key)]
        self._size -= 1
        if not bucket:
            del self._buckets[at]

    def page(self, offset: int, limit: int) -> list[RecencyKey]:
        """Return `limit` keys from a position on."""
        found: list[RecencyKey] = []
        for bucket in self._buckets:
            if len(found) == limit:
                break
            if offset >= len(bucket):
                offset -= len(bucket)
                continue
            found += bucket[offset : offset + limit - len(found)]
            offset = 0
        return found

    def after(self, key: RecencyKey, limit: int) -> list[RecencyKey]:
        """Return `limit` keys that follow one, which need not be in the list."""
        if not self._buckets:
            return []
        at = self._bucket_of(key)
        found = self._buckets[at][bisect_right(self._buckets[at], key) :][:limit]
        for bucket in self._buckets[at + 1 :]:
            if len(found) == limit:
                break
            found += bucket[: limit - len(found)]
        return found

    def _bucket_of(self, key: RecencyKey) -> int:
        return max(0, bisect_right(self._buckets, key, key=lambda bucket: bucket[0]) - 1)


class RecentJobs:
    """Jobs of each namespace and of all, by time of their last event, latest first."""

    def __init__(self) -> None:
        self._keys: dict[JobId, RecencyKey] = {}
        self._all = RecencyList()
        self._by_namespace: dict[str, RecencyList] = {}

    def update(self, job: JobId, last: int) -> None:
        """Add or move a job; `last` is the time (ns) of its last event."""
        key = RecencyKey(-last, job)
        known = self._keys.get(job)
        if known == key:
            return
        if known is not None:
            self.discard(job)
        self._keys[job] = key
        self._all.add(key)
        self._by_namespace.setdefault(job.namespace, RecencyList()).add(key)

    def discard(self, job: JobId) -> None:
        """Remove a job if present."""
        key = self._keys.pop(job, None)
        if key is not None:
            self._all.remove(key)
            self._by_namespace[job.namespace].remove(key)

    def count(self, namespace: str | None = None) -> int:
        """Return the number of jobs, in one namespace or in all."""
        return len(self._list(namespace))

    def page(self, namespace: str | None, offset: int, limit: int) -> list[JobId]:
        """Return one page of the jobs in one namespace or in all."""
        return [key.job for key in self._list(namespace).page(offset, limit)]

    def slices(self, namespace: str | None, size: int) -> "JobSlices":
        """Return an iterator over lists of `size` jobs; jobs may move meanwhile."""
        return JobSlices(self._list(namespace), size)

    def _list(self, namespace: str | None) -> RecencyList:
        return self._all if namespace is None else self._by_namespace.get(namespace, RecencyList())


class JobSlices:
    """Iterator over lists of jobs."""

    def __init__(self, jobs: RecencyList, size: int) -> None:
        self._jobs = jobs
        self._size = size
        self._part: list[RecencyKey] = []

    def __iter__(self) -> "JobSlices":
        return self

    def __next__(self) -> list[JobId]:
        last = self._part[-1] if self._part else None
        self._part = self._jobs.after(last, self._size) if last else self._jobs.page(0, self._size)
        if not self._part:
            raise StopIteration
        return [key.job for key in self._part]
