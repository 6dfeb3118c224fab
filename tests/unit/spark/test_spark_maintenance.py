# SPDX-License-Identifier: Apache-2.0
"""Maintenance of real Iceberg tables: removed and kept files, and concurrent writers."""

import logging
import os
import shutil
import time
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from pyspark.sql import SparkSession

from infra.namespaces import CATALOG_NAME
from jobs.spark import iceberg, lake_maintenance, maintenance, runtime
from jobs.spark.maintenance import FLINK_SINK, SINK_OFFSETS, Table, expiry, maintain

ORDERS, BESIDE = Table(CATALOG_NAME, "shelf", "orders"), Table(CATALOG_NAME, "shelf", "orders_rejected")
NOW, DAY = timedelta(0), timedelta(days=1)


@pytest.fixture
def lake(spark: SparkSession) -> Iterator[SparkSession]:
    spark.sql(f"CREATE NAMESPACE IF NOT EXISTS {CATALOG_NAME}.shelf")
    for table in (ORDERS, BESIDE):
        spark.sql(f"CREATE TABLE {table} (id bigint) USING iceberg")
    yield spark
    for table in (ORDERS, BESIDE):
        spark.sql(f"DROP TABLE IF EXISTS {table} PURGE")
    spark.sql(f"DROP NAMESPACE {CATALOG_NAME}.shelf")


def commit(spark: SparkSession, table: Table, number: int, **properties: str) -> None:
    writer = spark.range(number, number + 1).coalesce(1).writeTo(str(table))
    for name, value in properties.items():
        writer = writer.option(iceberg.SNAPSHOT_PROPERTY + name, value)
    writer.append()


def ids(spark: SparkSession, table: Table) -> list[int]:
    return sorted(row["id"] for row in spark.table(str(table)).collect())


def summaries(spark: SparkSession, table: Table) -> list[dict[str, str]]:
    rows = spark.sql(f"SELECT summary FROM {table}.snapshots ORDER BY committed_at").collect()
    return [row["summary"] for row in rows]


def folder(spark: SparkSession, table: Table) -> Path:
    return Path(urlsplit(iceberg.load(spark, str(table)).location()).path)


def test_small_files_are_compacted(lake: SparkSession) -> None:
    for number in range(6):
        commit(lake, ORDERS, number)

    outcome = maintain(lake, ORDERS, DAY)

    assert (outcome.before.files, outcome.after.files, outcome.failed) == (6, 1, ())
    assert ids(lake, ORDERS) == list(range(6))
    assert str(outcome).startswith("lake.shelf.orders: 6 -> 1 files, 6 -> ")
    assert str(outcome).endswith(" manifests, 6 -> 7 snapshots, 0 orphaned files removed")


@pytest.mark.slow
def test_second_run_changes_nothing(lake: SparkSession) -> None:
    for number in range(6):
        commit(lake, ORDERS, number)
    first = maintain(lake, ORDERS, DAY)

    second = maintain(lake, ORDERS, DAY)

    assert second.before == second.after == first.after


@pytest.mark.slow
def test_old_snapshots_expire_with_their_files(lake: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(maintenance, "MIN_SNAPSHOTS", 1)
    for number in range(6):
        commit(lake, ORDERS, number)

    outcome = maintain(lake, ORDERS, NOW)

    assert (outcome.before.snapshots, outcome.after.snapshots) == (6, 1)
    assert ids(lake, ORDERS) == list(range(6))
    assert len(list((folder(lake, ORDERS) / "data").glob("*.parquet"))) == 1


@pytest.mark.slow
def test_minimum_number_of_snapshots_is_kept(lake: SparkSession) -> None:
    for number in range(3):
        commit(lake, ORDERS, number)

    assert maintain(lake, ORDERS, NOW).after.snapshots == 3


@pytest.mark.slow
def test_snapshot_with_a_sinks_offsets_is_kept(lake: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    """The sink has been idle for long while other writers committed."""
    monkeypatch.setattr(maintenance, "MIN_SNAPSHOTS", 1)
    offsets = f"{SINK_OFFSETS}control-iceberg.connect-orders_lake"
    commit(lake, ORDERS, 0, **{offsets: '{"0":7}'})
    commit(lake, ORDERS, 1, **{offsets: '{"0":8}'})
    for number in range(2, 6):
        commit(lake, ORDERS, number)

    for _ in range(2):
        maintain(lake, ORDERS, NOW)

    assert summaries(lake, ORDERS)[0].get(offsets) == '{"0":8}'


def test_latest_offsets_of_each_connect_sink_are_kept() -> None:
    one, other = f"{SINK_OFFSETS}one", f"{SINK_OFFSETS}other"
    snapshots = [(10, {one: "1", "x": "1"}), (20, {other: "1"}), (30, {one: "2"}), (40, {"x": "2"})]

    assert expiry(snapshots, 100).before == 20
    assert expiry(snapshots, 15).before == 15
    assert expiry([(40, {"x": "2"})], 100).before == 100
    assert expiry([], 100).before == 100


def test_latest_checkpoint_of_each_flink_sink_is_kept() -> None:
    snapshots = [(10, {FLINK_SINK: "a"}), (20, {FLINK_SINK: "b"}), (30, {FLINK_SINK: "a"}), (40, {})]

    assert expiry(snapshots, 100).before == 20


def test_orphan_files_are_removed_and_other_tables_files_kept(lake: SparkSession) -> None:
    """One table's folder name is a prefix of the other's."""
    for table in (ORDERS, BESIDE):
        commit(lake, table, 1)
    orphan, young = (folder(lake, ORDERS) / "data" / f"{name}.parquet" for name in ("orphan", "young"))
    for path in (orphan, young):
        path.write_bytes(b"left by a crash")
    for path in (orphan, *folder(lake, BESIDE).rglob("*")):
        os.utime(path, (time.time() - 2 * DAY.total_seconds(),) * 2)

    outcome = maintain(lake, ORDERS, DAY)

    assert (outcome.orphans, outcome.failed) == (1, ())
    assert (orphan.exists(), young.exists()) == (False, True)
    assert (ids(lake, ORDERS), ids(lake, BESIDE)) == ([1], [1])


@pytest.mark.slow
def test_conflicting_commit_of_a_writer_wins(
    lake: SparkSession, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    for number in range(6):
        commit(lake, ORDERS, number)

    def conflict(spark: SparkSession, table: Table) -> None:
        spark.sql("SELECT raise_error('a file was removed meanwhile')").collect()

    monkeypatch.setattr(maintenance, "_compact", conflict)
    outcome = maintain(lake, ORDERS, DAY)

    assert outcome.failed == ("compaction",)
    assert str(outcome).endswith("; failed: compaction")
    assert "compaction of lake.shelf.orders failed, retried in the next run" in caplog.text
    assert "a file was removed meanwhile" in caplog.text
    assert ids(lake, ORDERS) == list(range(6))


@pytest.mark.slow
def test_every_table_is_maintained_except_broken_ones(
    lake: SparkSession, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    commit(lake, ORDERS, 1)
    broken = Table(CATALOG_NAME, "shelf", "broken")
    metadata = folder(lake, ORDERS).parent / "broken" / "metadata"
    metadata.mkdir(parents=True)
    (metadata / "v1.metadata.json").write_text("{")
    found = len(list(maintenance.tables(lake, CATALOG_NAME)))  # includes tables of other tests
    try:
        lake_maintenance.maintain_all(lake, CATALOG_NAME, DAY, f"file://{tmp_path}")
    finally:
        shutil.rmtree(metadata.parent)

    assert f"{ORDERS}: 1 -> 1 files" in caplog.text
    assert f"{broken} cannot be read, retried in the next run" in caplog.text
    assert f"{found - 1} of {found} tables of catalog lake maintained" in caplog.text


def test_empty_table_and_quoted_names(lake: SparkSession) -> None:
    odd = Table(CATALOG_NAME, "shelf", "it's-odd")
    lake.sql(f"CREATE TABLE {odd.quoted} (id bigint) USING iceberg")
    try:
        assert odd in list(maintenance.tables(lake, CATALOG_NAME))
        assert maintain(lake, odd, NOW).failed == ()
    finally:
        lake.sql(f"DROP TABLE {odd.quoted} PURGE")


def test_job_fails_if_no_table_can_be_maintained(
    lake: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lake_maintenance, "_maintained", lambda *_: False)

    with pytest.raises(runtime.JobError, match=r"could not maintain any of the \d tables of catalog 'lake'"):
        lake_maintenance.maintain_all(lake, CATALOG_NAME, DAY, f"file://{tmp_path}")
