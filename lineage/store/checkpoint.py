# SPDX-License-Identifier: Apache-2.0
"""Checkpoints: changed records are written to the state file in steps, while events are applied in between."""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TypeVar

from lineage.events.ids import DatasetId, JobId, RunId
from lineage.events.own_facets import CatalogKey, CatalogStatement, EntryKind
from lineage.graph.adjacency import Graph
from lineage.graph.name_links import NameLink, links_of_names, links_of_statement
from lineage.graph.records import LineageRecords
from lineage.graph.snapshot import (
    Key,
    Snapshot,
    Subject,
    catalog_snapshot,
    dataset_snapshot,
    job_snapshot,
    namespace_snapshot,
    run_key,
    run_snapshot,
)
from lineage.store.state_file import StateFile

_RECORDS_PER_STEP = 25
"""Records of each kind that are encoded between two yields to the event loop: about 5 ms."""

_RECORDS_OF_LAST_STEP = 400
"""Records of the last step, more than events change between two steps."""

_T = TypeVar("_T")


def save_steps(lineage: LineageRecords, graph: Graph, state: StateFile) -> Iterator[None]:
    """Write the changed records in steps, and the lineage of jobs. After the last one all are written."""
    while len(lineage.unsaved) + len(lineage.touched) > _RECORDS_OF_LAST_STEP:
        graph.refresh_some(_RECORDS_PER_STEP)
        _save_some(lineage, graph, state, _RECORDS_PER_STEP)
        yield
    graph.refresh()
    _save_some(lineage, graph, state, _RECORDS_OF_LAST_STEP)


def mark_unsaved(lineage: LineageRecords, key: Key) -> None:
    """Note that the record of a snapshot is not in the state file."""
    unsaved, identity = lineage.unsaved, key.identity
    match key.subject:
        case Subject.CATALOG:
            unsaved.catalog.add(CatalogKey(EntryKind(identity[0]), identity[1]))
        case Subject.DATASET:
            unsaved.datasets.add(DatasetId(*identity))
        case Subject.JOB:
            unsaved.jobs.add(JobId(*identity))
        case Subject.NAMESPACE:
            unsaved.namespaces.add(identity[0])
        case Subject.RUN:
            unsaved.runs.add(RunId(identity[2], JobId(*identity[:2])))
            unsaved.jobs.add(JobId(*identity[:2]))


def restored_links(lineage: LineageRecords, key: Key) -> Iterable[NameLink]:
    """Return the pairs of names that the record of a snapshot connects (see `lineage.graph.name_links`)."""
    if key.subject is Subject.CATALOG:
        entry = CatalogKey(EntryKind(key.identity[0]), key.identity[1])
        return links_of_statement(CatalogStatement(entry, lineage.catalog[entry].content, deleted=False))
    if key.subject is Subject.DATASET:
        name = DatasetId(*key.identity)
        names = lineage.nodes.by_name[name].names
        return links_of_names(name, names) if names is not None else ()
    return ()


def _save_some(lineage: LineageRecords, graph: Graph, state: StateFile, limit: int) -> None:
    unsaved = lineage.unsaved
    runs = _taken(unsaved.runs, limit)
    in_memory = [run for run in runs if run.run in lineage.jobs[run.job].runs.loaded]
    state.remove(run_key(run) for run in set(runs).difference(in_memory))
    state.write(run_snapshot(lineage, run) for run in in_memory)
    found = [
        *(job_snapshot(lineage, job) for job in _taken(unsaved.jobs, limit)),
        *(_dataset_record(lineage, name) for name in _taken(unsaved.datasets, limit)),
        *(catalog_snapshot(lineage, key) for key in _taken(unsaved.catalog, limit)),
        *(namespace_snapshot(lineage, namespace) for namespace in _taken(unsaved.namespaces, limit)),
    ]
    state.write(found)
    state.index.write()
    state.index.add_uses(_taken(unsaved.uses, limit))
    state.write_lineages((job, graph.packed(job)) for job in _taken(unsaved.lineages, limit))


def _dataset_record(lineage: LineageRecords, name: DatasetId) -> Snapshot:
    """Return the snapshot of a dataset with the jobs that use it, which would otherwise be derived from all facets."""
    key, content = dataset_snapshot(lineage, name)
    return Snapshot(key, {**content, "users": [list(job) for job in lineage.users_of(name)]})


def _taken(names: set[_T], limit: int) -> list[_T]:
    """Remove and return up to `limit` elements."""
    found = list(islice(names, limit))
    names.difference_update(found)
    return found
