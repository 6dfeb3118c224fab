# SPDX-License-Identifier: Apache-2.0
"""Maintenance of Iceberg tables: compaction, manifest rewrite, snapshot expiry, orphan removal.

It removes nothing that a consumer needs to continue (`jobs.spark.consumers`), however old that is.

Safe with concurrent writers: each step is a separate commit with Iceberg's optimistic concurrency. A step that
conflicts is retried in the next run.
"""

import logging
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import Row, SparkSession

from jobs.spark import consumers, iceberg
from jobs.spark.consumers import ConsumerState, Hold
from jobs.spark.runtime import root_cause
from lineagelab_spark.java import JavaObject

log = logging.getLogger(__name__)

MIN_INPUT_FILES = 5
"""Minimum files of a partition to compact: rewriting a day for one more file costs more than it saves."""

TARGET_FILE_BYTES = 128 * 1024 * 1024

MAX_MANIFESTS = 20
"""Limit above which manifests are rewritten: scan planning reads all of them. Iceberg merges them from 100 on."""

MIN_SNAPSHOTS = 20
"""Snapshots kept regardless of age, so that time travel works for tables that are rarely written."""

MIN_ORPHAN_AGE = timedelta(hours=24)
"""Minimum age of orphan files to remove: younger ones may belong to a running commit. Iceberg's minimum."""

SINK_OFFSETS = "kafka.connect.offsets."
"""Prefix of snapshot properties in which Iceberg's Kafka Connect sink stores its offsets, one per sink.

On restart the sink searches from the current snapshot back to the latest one with its offsets. If that snapshot has
expired, it consumes the topic again.
"""

FLINK_SINK = "flink.operator-id"
"""Snapshot property with the operator id of Iceberg's Flink sink, stored with the checkpoint id.

On restart the sink searches for its latest snapshot in the same way. If that snapshot has expired, it commits the files
of its checkpoint again.
"""


SPARK_SINK = "spark.sql.streaming.queryId"
"""Snapshot property with the id of the streaming query that wrote it, stored with the number of its batch.

On restart the query searches for its latest snapshot in the same way. If that snapshot has expired, it commits its last
batch again.
"""

UNKNOWN_QUERY_AGE = timedelta(days=7)
"""Age at which the latest snapshot of a query expires whose checkpoint is not in the folder of checkpoints. The id of a
query ends with its checkpoint, so each deleted one would otherwise prevent expiry indefinitely."""


@dataclass(frozen=True)
class Table:
    """Name of a table, by its parts."""

    catalog: str
    namespace: str
    name: str

    def __str__(self) -> str:
        return f"{self.catalog}.{self.namespace}.{self.name}"

    @property
    def quoted(self) -> str:
        """Name quoted for SQL."""
        return ".".join(_quoted(part) for part in (self.catalog, *self.namespace.split("."), self.name))


@dataclass(frozen=True)
class Size:
    """Numbers of files, manifests and snapshots of a table."""

    files: int
    manifests: int
    snapshots: int


@dataclass(frozen=True)
class Outcome:
    """Result of the maintenance of a table, with its failed steps."""

    table: Table
    before: Size
    after: Size
    orphans: int
    failed: tuple[str, ...]

    @property
    def is_all_failed(self) -> bool:
        """True if every step failed."""
        return self.failed == _STEPS

    def __str__(self) -> str:
        summary = (
            f"{self.table}: {self.before.files} -> {self.after.files} files, "
            f"{self.before.manifests} -> {self.after.manifests} manifests, "
            f"{self.before.snapshots} -> {self.after.snapshots} snapshots, {self.orphans} orphaned files removed"
        )
        return f"{summary}; failed: {', '.join(self.failed)}" if self.failed else summary


_STEPS = ("compaction", "manifests", "expiry", "orphans")


def tables(spark: SparkSession, catalog: str) -> Iterator[Table]:
    """Return all tables of a catalog, sorted by name."""
    namespaces = [row[0] for row in spark.sql(f"SHOW NAMESPACES IN {_quoted(catalog)}").collect()]
    for namespace in sorted(namespaces):
        place = ".".join(_quoted(part) for part in (catalog, *namespace.split(".")))
        for name in sorted(row["tableName"] for row in spark.sql(f"SHOW TABLES IN {place}").collect()):
            yield Table(catalog, namespace, name)


def maintain(
    spark: SparkSession, table: Table, keep: timedelta, states: Collection[ConsumerState] | None = ()
) -> Outcome:
    """Run all steps for a table; a failed step is logged and does not prevent the others.

    Args:
        spark: session of the driver.
        table: table to maintain.
        keep: age below which snapshots are kept.
        states: states of all consumers, which keep what they still need; None if they cannot be read: nothing is
            removed then.

    Raises:
        Py4JJavaError, PySparkException: the table cannot be read.
    """
    now = datetime.now(UTC)
    before = _size(spark, table)
    orphans: list[Row] = []
    steps: tuple[Callable[[], object], ...] = (
        lambda: _compact(spark, table),
        lambda: _rewrite_manifests(spark, table),
        lambda: _expire(spark, table, now, keep, _known(states)),
        lambda: orphans.extend(_remove_orphans(spark, table, now - MIN_ORPHAN_AGE, _known(states))),
    )
    failed = tuple(name for name, step in zip(_STEPS, steps, strict=True) if not _done(table, name, step))
    return Outcome(table, before, _size(spark, table), len(orphans), failed)


class UnknownConsumersError(Exception):
    """The states of consumers cannot be read, so it is not known what they need."""


def expiry(
    snapshots: Iterable[tuple[int, Mapping[str, str]]], cutoff: int, abandoned: Collection[str] = frozenset()
) -> Hold:
    """Return the time before which snapshots may expire.

    It is the cutoff, or the earliest snapshot from which a sink resumes.

    Args:
        snapshots: time in epoch milliseconds, and properties of each ancestor of the current snapshot.
        cutoff: desired expiry time.
        abandoned: ids of streaming queries that do not resume.
    """
    latest: dict[str, int] = {}
    for time, properties in snapshots:
        for name, value in properties.items():
            if name.startswith(SINK_OFFSETS) or (name in _SINK_IDS and value not in abandoned):
                sink = f"{name} {value}" if name in _SINK_IDS else name
                latest[sink] = max(time, latest.get(sink, time))
    return min([Hold(cutoff, ""), *(Hold(time, sink) for sink, time in latest.items())], key=lambda hold: hold.before)


_SINK_IDS = (FLINK_SINK, SPARK_SINK)


def abandoned_queries(
    snapshots: Iterable[tuple[int, Mapping[str, str]]], oldest: int, states: Iterable[ConsumerState]
) -> frozenset[str]:
    """Return the ids of queries that have no checkpoint and no snapshot since a time, in epoch milliseconds."""
    known = list(states)
    latest: dict[str, int] = {}
    for time, properties in snapshots:
        if query := properties.get(SPARK_SINK):
            latest[query] = max(time, latest.get(query, time))
    return frozenset(
        query for query, time in latest.items() if time < oldest and not any(state.has_query(query) for state in known)
    )


def _known(states: Collection[ConsumerState] | None) -> Collection[ConsumerState]:
    if states is None:
        raise UnknownConsumersError("the states of consumers cannot be read")
    return states


def _done(table: Table, name: str, step: Callable[[], object]) -> bool:
    try:
        step()
    except (Py4JJavaError, PySparkException, UnknownConsumersError) as error:
        log.warning("%s of %s failed, retried in the next run: %s", name, table, root_cause(error))
        return False
    return True


def _compact(spark: SparkSession, table: Table) -> None:
    options = {"min-input-files": MIN_INPUT_FILES, "target-file-size-bytes": TARGET_FILE_BYTES}
    pairs = ", ".join(f"'{name}', '{value}'" for name, value in options.items())
    _call(spark, table, "rewrite_data_files", f"options => map({pairs})")


def _rewrite_manifests(spark: SparkSession, table: Table) -> None:
    if _size(spark, table).manifests > MAX_MANIFESTS:
        _call(spark, table, "rewrite_manifests", "use_caching => false")


def _expire(
    spark: SparkSession, table: Table, now: datetime, keep: timedelta, states: Collection[ConsumerState]
) -> None:
    loaded = iceberg.load(spark, table.quoted)
    ancestors = [(int(each.timestampMillis()), dict(each.summary())) for each in iceberg.history(loaded)]
    abandoned = abandoned_queries(ancestors, _milliseconds(now - UNKNOWN_QUERY_AGE), states)
    hold = expiry(ancestors, _milliseconds(now - keep), abandoned)
    needed = consumers.oldest_needed(iceberg.snapshot_times(loaded), iceberg.references(loaded), states)
    if needed and needed.before < hold.before:
        hold = needed
    if hold.consumer:
        log.info("%s: snapshots since %s are kept for %s", table, consumers.time_of(hold.before), hold.consumer)
    arguments = f"older_than => {_literal(consumers.time_of(hold.before))}, retain_last => {MIN_SNAPSHOTS}"
    _call(spark, table, "expire_snapshots", arguments)


def _remove_orphans(
    spark: SparkSession, table: Table, cutoff: datetime, states: Collection[ConsumerState]
) -> list[Row]:
    pending = consumers.oldest_pending(spark, str(iceberg.load(spark, table.quoted).location()), states)
    if pending:
        # The files that the manifest lists are older than the manifest, by the time of the commit at most.
        cutoff = min(cutoff, consumers.time_of(pending.before) - MIN_ORPHAN_AGE)
        log.info("%s: files since %s are kept for %s", table, cutoff, pending.consumer)
    # Listing through Iceberg's FileIO: a listing through Hadoop would need a second client.
    return _call(spark, table, "remove_orphan_files", f"older_than => {_literal(cutoff)}, prefix_listing => true")


def _call(spark: SparkSession, table: Table, procedure: str, arguments: str) -> list[Row]:
    """Call a procedure and return its rows; the table name is a string literal with SQL-quoted parts."""
    name = table.quoted.replace("\\", "\\\\").replace("'", "\\'")
    return spark.sql(f"CALL {_quoted(table.catalog)}.system.{procedure}(table => '{name}', {arguments})").collect()


def _size(spark: SparkSession, table: Table) -> Size:
    loaded = iceberg.load(spark, table.quoted)
    snapshot = loaded.currentSnapshot()
    if snapshot is None:
        return Size(0, 0, 0)
    files = int(snapshot.summary().get("total-data-files") or 0)
    jvm: JavaObject = spark._jvm
    snapshots = jvm.com.google.common.collect.Iterables.size(loaded.snapshots())
    return Size(files, snapshot.allManifests(loaded.io()).size(), snapshots)


def _literal(time: datetime) -> str:
    return f"TIMESTAMP '{time.astimezone(UTC):%Y-%m-%d %H:%M:%S.%f}+00:00'"


def _milliseconds(time: datetime) -> int:
    return int(time.timestamp() * 1000)


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"
