# SPDX-License-Identifier: Apache-2.0
"""Maintenance keeps what stopped consumers of a table need to continue."""

import os
import time
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from infra.namespaces import CATALOG_NAME
from jobs.spark import consumers, iceberg, lake_maintenance, maintenance
from jobs.spark.consumers import ConsumerState, Hold, StateFile, needed_files, oldest_needed
from jobs.spark.maintenance import SPARK_SINK, Table, abandoned_queries, expiry
from tests.unit.spark.test_spark_maintenance import commit, folder, ids

ORDERS, COPY = Table(CATALOG_NAME, "shelf", "orders"), Table(CATALOG_NAME, "shelf", "copy")
NOW, DAY = timedelta(0), timedelta(days=1)
TIMEOUT_SECONDS = 300


@pytest.fixture
def lake(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> Iterator[SparkSession]:
    monkeypatch.setattr(maintenance, "MIN_SNAPSHOTS", 1)
    spark.sql(f"CREATE NAMESPACE IF NOT EXISTS {CATALOG_NAME}.shelf")
    for table in (ORDERS, COPY):
        spark.sql(f"CREATE TABLE {table} (id bigint) USING iceberg")
    yield spark
    for table in (ORDERS, COPY):
        spark.sql(f"DROP TABLE IF EXISTS {table} PURGE")
    spark.sql(f"DROP NAMESPACE {CATALOG_NAME}.shelf")


def maintained(spark: SparkSession, checkpoints: Path) -> None:
    """Run the maintenance without a minimum age."""
    states = consumers.read(spark, f"file://{checkpoints}")
    for table in (ORDERS, COPY):
        assert maintenance.maintain(spark, table, NOW, states).failed == ()


def copied(rows: DataFrame, checkpoint: Path, table: Table) -> None:
    """Write the available rows of a stream to a table and stop."""
    writer = rows.writeStream.option("checkpointLocation", f"file://{checkpoint}").trigger(availableNow=True)
    query: StreamingQuery = writer.toTable(str(table))
    assert query.awaitTermination(TIMEOUT_SECONDS)


@pytest.mark.slow
def test_stopped_reader_continues_after_maintenance(lake: SparkSession, tmp_path: Path) -> None:
    commit(lake, ORDERS, 0)
    copied(lake.readStream.table(str(ORDERS)), tmp_path / "reader", COPY)
    for number in range(1, 6):
        commit(lake, ORDERS, number)

    maintained(lake, tmp_path)
    copied(lake.readStream.table(str(ORDERS)), tmp_path / "reader", COPY)

    assert ids(lake, COPY) == list(range(6))


@pytest.mark.slow
def test_stopped_query_recognises_its_last_batch_after_maintenance(lake: SparkSession, tmp_path: Path) -> None:
    """The driver was killed after its commit to the table and before that to its checkpoint."""
    commit(lake, ORDERS, 0)
    copied(lake.readStream.table(str(ORDERS)), tmp_path / "writer", COPY)
    for path in (tmp_path / "writer" / "commits").iterdir():
        path.unlink()
    for number in range(1, 6):
        commit(lake, COPY, number)

    maintained(lake, tmp_path)
    copied(lake.readStream.table(str(ORDERS)), tmp_path / "writer", COPY)

    assert ids(lake, COPY) == list(range(6))


def flink_state(checkpoints: Path, content: bytes) -> None:
    """Write a savepoint of Flink with a state; real ones have more around it."""
    place = checkpoints / "flink" / "savepoints" / "savepoint-1234"
    place.mkdir(parents=True)
    (place / "_metadata").write_bytes(b"\x49\x60\x67\x2d" + content + b"\x00")


@pytest.mark.slow
def test_snapshot_in_a_flink_savepoint_is_kept(lake: SparkSession, tmp_path: Path) -> None:
    for number in range(4):
        commit(lake, ORDERS, number)
    times = sorted(iceberg.snapshot_times(iceberg.load(lake, str(ORDERS))), key=lambda each: each[1])
    flink_state(tmp_path, times[1][0].to_bytes(8, "big", signed=True))

    maintained(lake, tmp_path)

    kept = {number for number, _ in iceberg.snapshot_times(iceberg.load(lake, str(ORDERS)))}
    assert kept >= {number for number, _ in times[1:]}
    assert times[0][0] not in kept


@pytest.mark.slow
def test_files_that_a_savepoint_commits_later_are_kept(lake: SparkSession, tmp_path: Path) -> None:
    commit(lake, ORDERS, 0)
    manifest = folder(lake, ORDERS) / "metadata" / "00000000000000000000000000000001-00000.avro"
    file, orphan = (folder(lake, ORDERS) / "data" / f"{name}.parquet" for name in ("uncommitted", "orphan"))
    for path, days in ((manifest, 3), (file, 3.5), (orphan, 5)):
        path.write_bytes(b"")
        os.utime(path, (time.time() - days * DAY.total_seconds(),) * 2)
    flink_state(tmp_path, b"\x00k" + f"s3://{manifest}".encode())

    maintained(lake, tmp_path)
    assert [path.exists() for path in (manifest, file, orphan)] == [True, True, False]

    manifest.unlink()  # as the sink does after its commit
    maintained(lake, tmp_path)
    assert not file.exists()


@pytest.mark.slow
def test_tagged_snapshot_and_its_successors_are_kept(lake: SparkSession, tmp_path: Path) -> None:
    for number in range(4):
        commit(lake, ORDERS, number)
    times = sorted(iceberg.snapshot_times(iceberg.load(lake, str(ORDERS))), key=lambda each: each[1])
    iceberg.load(lake, str(ORDERS)).manageSnapshots().createTag("reader", times[1][0]).commit()

    maintained(lake, tmp_path)

    kept = {number for number, _ in iceberg.snapshot_times(iceberg.load(lake, str(ORDERS)))}
    assert kept >= {number for number, _ in times[1:]}


def test_nothing_is_removed_if_the_states_cannot_be_read(
    lake: SparkSession, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    for number in range(3):
        commit(lake, ORDERS, number)
    (tmp_path / "flink").mkdir()

    lake_maintenance.maintain_all(lake, CATALOG_NAME, NOW, "unknown://checkpoints")

    assert "cannot read the states of consumers in unknown://checkpoints" in caplog.text
    assert len(iceberg.snapshot_times(iceberg.load(lake, str(ORDERS)))) == 3


def test_oldest_consumer_decides() -> None:
    spark = ConsumerState("spark", frozenset({2}))
    flink = ConsumerState("flink", content=b"x" + (3).to_bytes(8, "big") + b"y")
    snapshots = [(1, 10), (2, 20), (3, 30), (4, 40)]

    assert oldest_needed(snapshots, [], [flink, spark]) == Hold(20, "spark")
    assert oldest_needed(snapshots, [], [flink]) == Hold(30, "flink")
    assert oldest_needed(snapshots, [("tag", 1)], [flink, spark]) == Hold(10, "reference tag")
    assert oldest_needed(snapshots, [("tag", 9)], [ConsumerState("other", frozenset({9}), b"none")]) is None


def test_last_two_batches_of_spark_and_small_files_of_flink_are_read() -> None:
    paths = [f"s3a://c/mine/offsets/{number}" for number in (8, 9, 10)]
    paths += ["s3a://c/mine/metadata", "s3a://c/mine/commits/9", "s3a://c/mine/offsets/.10.tmp"]
    paths += [f"s3a://c/mine/sources/{number}/offsets/0" for number in (0, 1)]
    paths += ["s3a://c/new/sources/0/offsets/0", "s3a://c/new/offsets/0"]
    paths += ["s3a://c/flink/ab/chk-3/_metadata", "s3a://c/flink/ab/chk-3/state", "s3a://c/flink/ab/shared/rows"]
    files = [StateFile(path, 10) for path in paths] + [StateFile("s3a://c/flink/ab/chk-3/rows", 10**9)]

    found = {name: {file.path.removeprefix(name) for file in read} for name, read in needed_files(files).items()}

    assert found == {
        "s3a://c/mine": {"/offsets/9", "/offsets/10", "/metadata"},
        "s3a://c/new": {"/sources/0/offsets/0", "/offsets/0"},
        "s3a://c/flink/ab/chk-3": {"/_metadata", "/state"},
    }


def test_manifests_of_a_table_are_found_in_any_spelling() -> None:
    content = b"\x00ks3://lake/sales/orders/metadata/a-1.avro\x00ls3a://lake/sales/orders_b/metadata/b.avro\x01"
    state = ConsumerState("flink", content=content)

    assert state.manifests("s3://lake/sales/orders") == {"a-1.avro"}
    assert state.manifests("s3a://lake/sales/orders_b/") == {"b.avro"}
    assert state.manifests("s3://lake/sales") == frozenset()


def test_query_without_checkpoint_is_abandoned_after_a_week() -> None:
    rows = [(10, {SPARK_SINK: "old"}), (20, {SPARK_SINK: "known"}), (30, {SPARK_SINK: "young"}), (40, {})]
    states = [ConsumerState("checkpoint", content=b'{"id":"known"}')]

    assert abandoned_queries(rows, 25, states) == {"old"}
    assert expiry(rows, 100, {"old"}) == Hold(20, f"{SPARK_SINK} known")
    assert expiry(rows, 100).before == 10
