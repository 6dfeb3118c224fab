# SPDX-License-Identifier: Apache-2.0
"""One dataset under two spellings, over all events."""

from collections.abc import Iterator

from lineage.checks.events.naming import OBJECT_STORES, Named
from lineage.events import DatasetId

_S3 = frozenset({"s3a", "s3n"})
_NO_HOST = frozenset({"file", "inmemory"})


class Spellings:
    """Remembers each dataset's first spelling.

    Two spellings are likely one dataset where they differ in the host alone (`kafka://localhost:9092` and
    `kafka://kafka:9092` with the same topic; a bucket is no host), in the case of the host, in a slash at an end,
    or in Hadoop's scheme for S3.
    """

    def __init__(self) -> None:
        self._first: dict[tuple[str, ...], DatasetId] = {}
        self._known: set[DatasetId] = set()

    def join(self, named: Named) -> Iterator[str]:
        """Take in a dataset; yields what is wrong where a new spelling is like an earlier one."""
        if named.id in self._known or not named.id.namespace.strip() or not named.id.name.strip():
            return
        self._known.add(named.id)
        first = self._first.setdefault(_likeness(named.id), named.id)
        if first != named.id:
            yield f"{_text(named.id)} and {_text(first)} are likely one dataset"


def _likeness(dataset: DatasetId) -> tuple[str, ...]:
    """What two spellings of one dataset have in common."""
    scheme, separator, authority = dataset.namespace.partition("://")
    name = dataset.name.strip("/")
    if not separator:
        return (dataset.namespace.strip("/"), name)
    scheme = "s3" if scheme.lower() in _S3 else scheme.lower()
    if scheme in OBJECT_STORES or scheme in _NO_HOST:
        return (scheme, authority.rstrip("/").lower(), name)
    return (scheme, _path_of(authority), name)


def _path_of(authority: str) -> str:
    """What of an authority is no host: `kafka:9092` has nothing, `host:5432/db` a path."""
    return authority.partition("/")[2].strip("/")


def _text(dataset: DatasetId) -> str:
    return f"{dataset.name!r} of {dataset.namespace!r}"
