# SPDX-License-Identifier: Apache-2.0
"""One spelling for datasets that are named by a path: of an object store or a file system.

The standard names a location by the scheme of its store (`s3`, also where a client spells it `s3a`), without the
slashes around an object's key; partitions belong to their dataset. Names in other namespaces are never changed, and
neither are names of tables, which have no slashes.
"""

import re

_ALTERNATE_SCHEMES = {"s3a": "s3", "s3n": "s3"}

OBJECT_STORES = frozenset({"s3", "s3a", "s3n", "gs", "gcs", "abfs", "abfss", "wasb", "wasbs", "oss", "obs", "cosn"})
"""Schemes of stores whose keys have no leading slash."""

FILE_SYSTEMS = frozenset({"file", "hdfs", "webhdfs", "viewfs", "dbfs"})
"""Schemes of stores whose paths are absolute."""

_PARTITION = re.compile(r"[A-Za-z_][\w.-]*=[^/=]+", re.ASCII)
"""Segment of a path that Hive's layout makes of one column: `day=2026-01-01`."""


def scheme_of(namespace: str) -> str:
    """Return the scheme of a namespace in lower case: `s3` of `s3://bucket`, `file` of `file`."""
    return namespace.partition(":")[0].lower()


def canonical_namespace(namespace: str) -> str:
    """Return a store's namespace under the standard's scheme and without slashes at its end."""
    scheme = scheme_of(namespace)
    if scheme == "file":
        return namespace.rstrip("/:") if namespace.rstrip("/:").lower() != "file" else "file"
    if scheme not in OBJECT_STORES and scheme not in FILE_SYSTEMS:
        return namespace
    _, separator, authority = namespace.partition("://")
    authority = authority.rstrip("/")
    return f"{_ALTERNATE_SCHEMES.get(scheme, scheme)}://{authority}" if separator and authority else namespace


def canonical_path(namespace: str, name: str) -> str:
    """Return the name of a dataset in a store without needless slashes and partitions; other names unchanged."""
    scheme = scheme_of(namespace)
    if scheme in OBJECT_STORES:
        return _without_partitions(name.strip("/")) or ("/" if name else name)
    if scheme not in FILE_SYSTEMS:
        return name
    bare = _without_partitions(name.strip("/"))
    # A relative path of a local file is another file; a name without any slash may be that of a table.
    rooted = name.startswith("/") or (scheme != "file" and "/" in bare)
    return f"/{bare}" if rooted else bare


def _without_partitions(path: str) -> str:
    """Cut the partitions at the end of a path; a path that consists of partitions is not changed."""
    if "=" not in path:
        return path
    segments = path.split("/")
    while segments and (not segments[-1] or _PARTITION.fullmatch(segments[-1])):
        segments.pop()
    return "/".join(segments) or path
