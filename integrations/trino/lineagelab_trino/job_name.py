# SPDX-License-Identifier: Apache-2.0
"""Names of jobs: runs of one statement have one job, whatever their query ids. Pure."""

from collections.abc import Collection
from hashlib import sha256

UNNAMED = "trino"
"""First part of the names of jobs whose client has no name."""

QUERY = "query"
"""Operation of statements that write nothing."""

CLIENT_SOURCES = frozenset(
    {"trino-cli", "trino-jdbc", "trino-python-client", "trino-go-client", "trino-js-client", "trino-ui"}
)
"""Sources of clients to which nobody gave a name."""

MAX_LENGTH = 200

_HASH_LENGTH = 8
_ADDING = frozenset({"insert", "update", "delete", "merge"})
"""Operations of which several may have one target, with different inputs: what each has written stays in it."""


def is_named(source: str) -> bool:
    """Return whether somebody gave a name to what a client runs."""
    return bool(source) and source not in CLIENT_SOURCES


def job_name(source: str, operation: str, target: str, inputs: Collection[str], catalog: str) -> str:
    """Return the name of a job.

    Args:
        source: of the query; those of `CLIENT_SOURCES`, and an empty one, are `UNNAMED`.
        operation: of the statement in lower case, or `QUERY`.
        target: table that is written; empty for a query.
        inputs: tables that are read.
        catalog: the lab's, which names omit.
    """
    name = ".".join(filter(None, (source if is_named(source) else UNNAMED, operation, _short(target, catalog))))
    if inputs and (operation in _ADDING or not target):
        name += ".from." + "+".join(_short(table, catalog) for table in sorted(inputs))
    if len(name) <= MAX_LENGTH:
        return name
    kept = MAX_LENGTH - _HASH_LENGTH - 1
    return f"{name[:kept]}~{sha256(name.encode()).hexdigest()[:_HASH_LENGTH]}"


def _short(table: str, catalog: str) -> str:
    return table.removeprefix(f"{catalog}.") if catalog else table
