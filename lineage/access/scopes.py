# SPDX-License-Identifier: Apache-2.0
"""Scope that a request requires."""

import re
from enum import StrEnum


class Scope(StrEnum):
    """Scope of an API key. `admin` includes the others."""

    INGEST = "ingest"
    READ = "read"
    ADMIN = "admin"


_ADMINISTRATION = frozenset({"/api/v1/rebuild", "/api/v1/compact", "/api/v1/dead-letters/replay", "/api/v1/metadata"})
_PROTECTED = frozenset({"/openapi.json", "/metrics"})
_TAG = re.compile(r"/api/v1/namespaces/[^/]+/(datasets/[^/]+(/fields/[^/]+)?|jobs/[^/]+)/tags/[^/]+")
_RUN = re.compile(r"/api/v1/jobs/runs/[^/]+")
_READS = frozenset({"GET", "HEAD", "OPTIONS"})


def is_public(path: str) -> bool:
    """Return True for the probe and for the files of the page, which hold no lineage."""
    return not path.startswith("/api/") and path not in _PROTECTED


def required_scopes(method: str, path: str) -> frozenset[Scope]:
    """Return the scopes of which a caller needs one; empty for a public path. `path` is the one that is routed.

    Deletion, maintenance and metadata require `admin`, other writes `ingest`, reads `read`. Emitters may look up a run,
    and remove a tag.
    """
    if is_public(path):
        return frozenset()
    if (method == "DELETE" and not _TAG.fullmatch(path)) or (method not in _READS and path in _ADMINISTRATION):
        return frozenset({Scope.ADMIN})
    if method not in _READS:
        return frozenset({Scope.INGEST, Scope.ADMIN})
    if _RUN.fullmatch(path):
        return frozenset(Scope)
    return frozenset({Scope.READ, Scope.ADMIN})
