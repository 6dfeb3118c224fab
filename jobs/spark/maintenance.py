# SPDX-License-Identifier: Apache-2.0
"""Keeps a table small: few files, few snapshots, nothing that no snapshot needs. Safe beside running writers.

Every step is a commit of its own that Iceberg checks against what others have committed meanwhile. A step that loses
is left to the next time.
"""

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import Row, SparkSession

from jobs.spark import iceberg
from jobs.spark.runtime import root_cause
from lineagelab_spark.java import JavaObject

log = logging.getLogger(__name__)

FEWEST_FILES = 5
"""Of a partition that are put together: to write a day anew for one more file costs more than it saves."""

TARGET_FILE_BYTES = 128 * 1024 * 1024

MOST_MANIFESTS = 20
"""Planning a scan reads all of them. Iceberg itself puts them together from a hundred on."""

FEWEST_SNAPSHOTS = 20
"""That are kept, however old: time travel over the last few commits works for a table that nobody writes, too."""

ORPHANS_AFTER = timedelta(hours=24)
"""A file that no snapshot has may belong to a commit that is under way. Iceberg takes no shorter time than this."""

SINK_OFFSETS = "kafka.connect.offsets."
"""Prefix of properties in which Iceberg's Kafka Connect sink notes how far it came, one for each sink.

After a restart the sink goes back from the current snapshot to the first one that has its offsets, over any number of
snapshots of others. Where that one is gone, it takes what is in the topic for new.
"""

FLINK_SINK = "flink.operator-id"
"""Property in which Iceberg's Flink sink says which one it is, beside the checkpoint that a snapshot has.

After a restart it looks back for its newest one in the same way. Where that is gone, it commits the files of its
checkpoint once more.
"""


@dataclass(frozen=True)
class Table:
    """A table by its parts."""

    catalog: str
    namespace: str
    name: str

    def __str__(self) -> str:
        return f"{self.catalog}.{self.namespace}.{self.name}"

    @property
    def quoted(self) -> str:
        """For SQL."""
        return ".".join(_quoted(part) for part in (self.catalog, *self.namespace.split("."), self.name))


@dataclass(frozen=True)
class Size:
    """What a table consists of."""

    files: int
    manifests: int
    snapshots: int


@dataclass(frozen=True)
class Outcome:
    """What was done for a table, and which steps failed."""

    table: Table
    before: Size
    after: Size
    orphans: int
    failed: tuple[str, ...]

    @property
    def is_all_failed(self) -> bool:
        """Nothing could be done."""
        return self.failed == _STEPS

    def __str__(self) -> str:
        said = (
            f"{self.table}: {self.before.files} -> {self.after.files} files, "
            f"{self.before.manifests} -> {self.after.manifests} manifests, "
            f"{self.before.snapshots} -> {self.after.snapshots} snapshots, {self.orphans} orphaned files removed"
        )
        return f"{said}; failed: {', '.join(self.failed)}" if self.failed else said


_STEPS = ("compaction", "manifests", "expiry", "orphans")


def tables(spark: SparkSession, catalog: str) -> Iterator[Table]:
    """Every table of every namespace of a catalog, by name."""
    namespaces = [row[0] for row in spark.sql(f"SHOW NAMESPACES IN {_quoted(catalog)}").collect()]
    for namespace in sorted(namespaces):
        place = ".".join(_quoted(part) for part in (catalog, *namespace.split(".")))
        for name in sorted(row["tableName"] for row in spark.sql(f"SHOW TABLES IN {place}").collect()):
            yield Table(catalog, namespace, name)


def maintain(spark: SparkSession, table: Table, keep: timedelta) -> Outcome:
    """Does all steps for a table; one that fails is logged, and the others are done.

    Args:
        spark: the session.
        table: the table.
        keep: snapshots that are younger are kept.

    Raises:
        Py4JJavaError, PySparkException: the table cannot be read.
    """
    now = datetime.now(UTC)
    before = _size(spark, table)
    orphans: list[Row] = []
    steps: tuple[Callable[[], object], ...] = (
        lambda: _compact(spark, table),
        lambda: _rewrite_manifests(spark, table),
        lambda: _expire(spark, table, now - keep),
        lambda: orphans.extend(_remove_orphans(spark, table, now - ORPHANS_AFTER)),
    )
    failed = tuple(name for name, step in zip(_STEPS, steps, strict=True) if not _done(table, name, step))
    return Outcome(table, before, _size(spark, table), len(orphans), failed)


def expiry(snapshots: Iterable[tuple[int, Mapping[str, str]]], cutoff: int) -> int:
    """The time before which snapshots may go: the cutoff, or what a sink still needs. In ms since the epoch.

    Args:
        snapshots: time and properties of each ancestor of the current snapshot.
        cutoff: older ones are not wanted.
    """
    latest: dict[str, int] = {}
    for time, properties in snapshots:
        for name, value in properties.items():
            if name.startswith(SINK_OFFSETS) or name == FLINK_SINK:
                sink = value if name == FLINK_SINK else name
                latest[sink] = max(time, latest.get(sink, time))
    return min([cutoff, *latest.values()])


def _done(table: Table, name: str, step: Callable[[], object]) -> bool:
    try:
        step()
    except (Py4JJavaError, PySparkException) as error:
        log.warning("%s of %s failed, and is left to the next time: %s", name, table, root_cause(error))
        return False
    return True


def _compact(spark: SparkSession, table: Table) -> None:
    options = {"min-input-files": FEWEST_FILES, "target-file-size-bytes": TARGET_FILE_BYTES}
    pairs = ", ".join(f"'{name}', '{value}'" for name, value in options.items())
    _call(spark, table, "rewrite_data_files", f"options => map({pairs})")


def _rewrite_manifests(spark: SparkSession, table: Table) -> None:
    if _size(spark, table).manifests > MOST_MANIFESTS:
        _call(spark, table, "rewrite_manifests", "use_caching => false")


def _expire(spark: SparkSession, table: Table, cutoff: datetime) -> None:
    ancestors = spark.sql(
        f"SELECT unix_millis(committed_at) AS time, summary FROM {table.quoted}.snapshots "
        f"JOIN {table.quoted}.history USING (snapshot_id) WHERE is_current_ancestor"
    )
    rows = ((row["time"], row["summary"]) for row in ancestors.collect())
    older_than = datetime.fromtimestamp(0, UTC) + timedelta(milliseconds=expiry(rows, int(cutoff.timestamp() * 1000)))
    arguments = f"older_than => {_literal(older_than)}, retain_last => {FEWEST_SNAPSHOTS}"
    _call(spark, table, "expire_snapshots", arguments)


def _remove_orphans(spark: SparkSession, table: Table, cutoff: datetime) -> list[Row]:
    # The store itself lists the files: Hadoop would need a client of its own for it.
    return _call(spark, table, "remove_orphan_files", f"older_than => {_literal(cutoff)}, prefix_listing => true")


def _call(spark: SparkSession, table: Table, procedure: str, arguments: str) -> list[Row]:
    """Rows of a procedure; the table's name is a text for it, in which names are quoted as in SQL."""
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


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"
