# SPDX-License-Identifier: Apache-2.0
"""Retention of versions of datasets: what events before the horizon stated of columns and versions.

The newest of each dataset stay, also because they are in force at times that can still be queried. The graph does not
depend on the others: current columns are facets.
"""

from collections.abc import Iterator

from lineage.graph.records import LineageRecords
from lineage.store.horizons import Horizons
from lineage.store.state_archive import StateArchive

KEPT_VERSIONS = 100
"""Statements before the horizon that stay of each dataset: the newest."""


def forget_compacted(lineage: LineageRecords, horizons: Horizons) -> None:
    """Remove statements from records that are made of compacted events; all are in memory."""
    horizon = horizons.earliest
    if horizon is not None:
        for record in lineage.nodes.by_name.values():
            record.statements.forget(horizon.time, KEPT_VERSIONS)


def forget_archived(archive: StateArchive, lineage: LineageRecords, horizons: Horizons) -> Iterator[int]:
    """Remove archived statements in steps; yield the number of each. A checkpoint must follow."""
    horizon = horizons.earliest
    if horizon is None:
        return
    removed = 0
    for dataset in archive.datasets_with_more(KEPT_VERSIONS):
        number = archive.forget_statements(dataset, horizon.time, KEPT_VERSIONS)
        record = lineage.nodes.by_name.in_memory(dataset)
        if record is not None:
            record.statements.archived -= number
        removed += number
        yield number
    if removed:
        archive.forget_unused_columns()
