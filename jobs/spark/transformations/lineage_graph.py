# SPDX-License-Identifier: Apache-2.0
"""Lineage graph of events, folded in partitions by the fold of the lineage service."""

import gc
import pickle
import zlib
from collections.abc import Iterable, Iterator
from typing import Any, TypeVar

from pyspark.sql import DataFrame, Row
from pyspark.sql import functions as F

from lineage.egress.event_record import event_of_record
from lineage.events.ids import DatasetId, RunId
from lineage.events.own_facets import CatalogKey, EntryKind
from lineage.events.strict_json import canonical_json
from lineage.graph.catalog_record import CatalogEntry
from lineage.graph.dataset_lineage import DATASET_EVENTS
from lineage.graph.dataset_record import DatasetRecord
from lineage.graph.job_record import JobRecord
from lineage.graph.partitioned_fold import (
    ExportRow,
    PartitionFold,
    SharedState,
    dataset_row,
    deleted_namespaces,
    job_rows,
    linked_by_entry,
    linked_names,
    merged_dataset,
    merged_entry,
)

T = TypeVar("T")

_EVENT = ("event_hash", "kind", "effective_ns", "event", "locations")
_PARTS = "kind string, namespace string, name string, record binary"
_ROWS = "array<struct<kind: string, content: string>>"


class _Fold:
    """Table function: folds the events of a partition into parts of the graph.

    Parts of kind `job` are complete; those of `dataset` and `entry` are merged with those of other partitions. `link`
    has names that lead to others, `failed` runs that announced changes of datasets and failed.
    """

    def __init__(self) -> None:
        # Folding makes no cycles, and collections are a third of its time.
        gc.disable()
        self._fold = PartitionFold()

    def eval(self, row: Row) -> None:
        """Apply one event."""
        self._fold.apply(event_of_record(*row))

    def terminate(self) -> Iterator[tuple[str, str, str, bytes]]:
        """Yield the parts."""
        for job in self._fold.jobs():
            yield "job", *job.id, _packed(job)
        for record in self._fold.datasets():
            yield "dataset", *record.id, _packed(record)
            yield from _links(linked_names(record))
        for key, entry in self._fold.entries():
            yield "entry", key.kind.value, key.name, _packed(entry)
            yield from _links(linked_by_entry(key, entry))
        for run in self._fold.failed_runs():
            yield "failed", "", run.run, _packed(run)
        gc.enable()


def graph_rows(events: DataFrame, partitions: int) -> DataFrame:
    """Return the lineage graph of events as the rows of the lineage service's export, without states of jobs.

    Args:
        events: has `event_hash`, `kind`, `effective_ns`, `event`, `locations`, and the names of job and dataset, as in
            `lake.lineage.events`.
        partitions: number of partitions of the events' jobs.

    Returns:
        `kind` (`jobs`, `datasets`, `edges`, `flows`, `columns`, `datasetColumns`, `vanished`, `jobDependencies`) and
        `content` (JSON of the row).
    """
    spark = events.sparkSession
    parts = _parts(events, partitions).persist()
    links = parts.where("kind = 'link'").select("namespace", "name").distinct().persist()
    datasets = parts.where("kind = 'dataset'")
    shared = _shared_state(parts, datasets, links)
    apart = datasets.join(F.broadcast(links), ["namespace", "name"], "left_anti")
    if deleted := deleted_namespaces(shared.entries.items()):
        apart = apart.where(~F.col("namespace").isin(*sorted(deleted)))
    state = spark.sparkContext.broadcast(shared)

    def rows_of_job(record: bytes) -> list[tuple[str, str]]:
        return _texts(job_rows(_unpacked(record, JobRecord), state.value))

    def rows_of_dataset(records: list[bytes]) -> list[tuple[str, str]]:
        return _texts([dataset_row(merged_dataset(_unpacked(record, DatasetRecord) for record in records))])

    of_jobs = parts.where("kind = 'job'").select(F.udf(rows_of_job, _ROWS, useArrow=False)("record").alias("rows"))
    of_datasets = (
        apart.groupBy("namespace", "name")
        .agg(F.collect_list("record").alias("records"))
        .select(F.udf(rows_of_dataset, _ROWS, useArrow=False)("records").alias("rows"))
    )
    of_links = spark.createDataFrame(_texts(shared.rows), "kind string, content string")
    # Several jobs may state the same dependency between jobs.
    return of_jobs.unionByName(of_datasets).select(F.inline("rows")).unionByName(of_links).distinct()


def _parts(events: DataFrame, partitions: int) -> DataFrame:
    dataset = F.concat_ws("/", "dataset_namespace", "dataset_name")
    owner = F.coalesce("job_namespace", F.lit(DATASET_EVENTS)), F.coalesce("job_name", dataset)
    by_owner = events.repartition(partitions, *owner).select(*_EVENT)
    fold: Any = F.udtf(_Fold, returnType=_PARTS, useArrow=False)
    # Without `partitionBy`, which would sort the events, there is one instance for each partition of the frame.
    parts: DataFrame = fold(by_owner.asTable())
    return parts


def _shared_state(parts: DataFrame, datasets: DataFrame, links: DataFrame) -> SharedState:
    by_key: dict[CatalogKey, list[CatalogEntry]] = {}
    for row in parts.where("kind = 'entry'").collect():
        key = CatalogKey(EntryKind(row["namespace"]), row["name"])
        by_key.setdefault(key, []).append(_unpacked(row["record"], CatalogEntry))
    entries = [(key, merged_entry(found)) for key, found in by_key.items()]
    deleted = deleted_namespaces(entries)
    linked = datasets.join(F.broadcast(links), ["namespace", "name"], "left_semi")
    if deleted:
        linked = linked.unionByName(datasets.where(F.col("namespace").isin(*sorted(deleted)))).distinct()
    by_name: dict[DatasetId, list[DatasetRecord]] = {}
    for row in linked.collect():
        by_name.setdefault(DatasetId(row["namespace"], row["name"]), []).append(_unpacked(row["record"], DatasetRecord))
    failed = [_unpacked(row["record"], RunId) for row in parts.where("kind = 'failed'").collect()]
    return SharedState(map(merged_dataset, by_name.values()), entries, failed)


def _links(names: Iterable[DatasetId]) -> Iterator[tuple[str, str, str, bytes]]:
    return (("link", name.namespace, name.name, b"") for name in sorted(names))


def _texts(rows: Iterable[ExportRow]) -> list[tuple[str, str]]:
    return [(row.kind, canonical_json(row.content).decode()) for row in rows]


def _packed(record: object) -> bytes:
    return zlib.compress(pickle.dumps(record, pickle.HIGHEST_PROTOCOL), 1)


def _unpacked(record: bytes, kind: type[T]) -> T:
    found = pickle.loads(zlib.decompress(record))
    assert isinstance(found, kind)
    return found
