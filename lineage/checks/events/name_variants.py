# SPDX-License-Identifier: Apache-2.0
"""Datasets that are likely the same one under two names."""

from collections.abc import Iterator

from lineage.checks.events.naming import OBJECT_STORES
from lineage.events import DatasetId

_S3 = frozenset({"s3a", "s3n"})
_SCHEMES_WITHOUT_HOST = frozenset({"file", "inmemory"})


class NameVariants:
    """First name of each dataset, over all events.

    Two names are likely one dataset if they differ only in the host (`kafka://localhost:9092` and `kafka://kafka:9092`
    with the same topic; a bucket is not a host), in the case of the host, in a leading or trailing slash, or in
    Hadoop's scheme for S3.
    """

    def __init__(self) -> None:
        self._first: dict[tuple[str, ...], DatasetId] = {}
        self._known: set[DatasetId] = set()

    def add(self, dataset: DatasetId) -> Iterator[str]:
        """Add a dataset, and return a message if an earlier one is likely the same under another name."""
        if dataset in self._known or not dataset.namespace.strip() or not dataset.name.strip():
            return
        self._known.add(dataset)
        first = self._first.setdefault(_variant_key(dataset), dataset)
        if first != dataset:
            yield f"{_quoted_name(dataset)} and {_quoted_name(first)} are likely one dataset"


def _variant_key(dataset: DatasetId) -> tuple[str, ...]:
    """Return the part of a dataset's identity that all variants of its name share."""
    scheme, separator, authority = dataset.namespace.partition("://")
    name = dataset.name.strip("/")
    if not separator:
        return (dataset.namespace.strip("/"), name)
    scheme = "s3" if scheme.lower() in _S3 else scheme.lower()
    if scheme in OBJECT_STORES or scheme in _SCHEMES_WITHOUT_HOST:
        return (scheme, authority.rstrip("/").lower(), name)
    return (scheme, _path_of_authority(authority), name)


def _path_of_authority(authority: str) -> str:
    """Return an authority without its host: nothing of `kafka:9092`, `db` of `host:5432/db`."""
    return authority.partition("/")[2].strip("/")


def _quoted_name(dataset: DatasetId) -> str:
    return f"{dataset.name!r} of {dataset.namespace!r}"
