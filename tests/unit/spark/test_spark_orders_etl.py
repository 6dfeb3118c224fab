# SPDX-License-Identifier: Apache-2.0
"""Batches of `orders_etl` with real Iceberg tables: repeated, interrupted, split differently or with changed schemas.

In every case each order is in exactly one of the tables, once.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from jobs.spark import iceberg, known_orders, orders_etl, runtime, tables
from jobs.spark.fencing import Claim, FencedError
from jobs.spark.known_orders import BatchOrder, KnownOrders
from jobs.spark.orders_etl import OrdersEtl, Settings
from jobs.spark.registry import Registry, Wait
from jobs.spark.transformations.decode import NOT_FRAMED, UNKNOWN_SCHEMA
from lineagelab_spark import BatchOutputs
from tests.unit.spark.fake_registry import FakeRegistry
from tests.unit.spark.records import LATE_AFTER, Record, frame, header, of
from tests.unit.spark.schemas import FIRST, SCHEMAS, SECOND, UNKNOWN

RUN = Claim(orders_etl.MARK).mark[0]
BOTH = (tables.orders, tables.orders_rejected)


class Crash(Exception):
    """Raised to interrupt a batch."""


class Appends(BatchOutputs):
    """Appends to the tables as the lineage outputs do, and crashes at a configured append.

    Args:
        crash_at: index of the append that crashes, from 0.
        is_late: crash after the commit instead of before it.
    """

    def __init__(self, crash_at: int | None = None, *, is_late: bool = False) -> None:
        self.made: list[str] = []
        self.described: list[str] = []
        self._crash_at = crash_at
        self._is_late = is_late

    def append(self, frame: DataFrame, table: str, options: Mapping[str, str] | None = None) -> None:
        crashes = len(self.made) == self._crash_at
        if crashes and not self._is_late:
            raise Crash
        frame.writeTo(table).options(**options or {}).append()
        self.made.append(table)
        if crashes:
            raise Crash

    def describe(self, frame: DataFrame, table: str) -> None:
        self.described.append(table)


@pytest.fixture
def lake(spark: SparkSession) -> Iterator[SparkSession]:
    for table in BOTH:
        table().create(spark)
    yield spark
    for table in BOTH:
        spark.sql(f"DROP TABLE {table().name} PURGE")


@pytest.fixture
def registry() -> Iterator[Registry]:
    with FakeRegistry(SCHEMAS) as server:
        yield Registry(server.url)


def no_wait(_: float) -> None:
    raise AssertionError("the registry is available")


def etl(lake: SparkSession, registry: Registry, wait: Wait = no_wait) -> OrdersEtl:
    """Return a newly started ETL."""
    started = OrdersEtl(registry, LATE_AFTER, wait)
    started.claim(lake)
    return started


def contents(spark: SparkSession) -> list[list[str | None]]:
    """Return the order ids of both tables, accepted orders first."""
    return [
        sorted((row[0] for row in spark.table(table().name).select("order_id").collect()), key=repr) for table in BOTH
    ]


def snapshots(spark: SparkSession, table: tables.Table) -> list[Mapping[str, str]]:
    rows = spark.sql(f"SELECT summary FROM {table.name}.snapshots ORDER BY committed_at").collect()
    return [row["summary"] for row in rows]


MIXED = (of("a"), of("b", offset=1, price="free"), of("a", offset=2), of("c", offset=3))


def test_batch_is_split_into_both_tables(lake: SparkSession, registry: Registry) -> None:
    outputs = Appends()

    etl(lake, registry).write(frame(lake, *MIXED), 7, outputs)

    assert contents(lake) == [["a", "c"], ["b"]]
    assert outputs.made == [tables.orders_rejected().name, tables.orders().name]
    for table in BOTH:
        claim, summary = snapshots(lake, table())
        assert claim["orders-etl.run"] == summary["orders-etl.run"]
        assert summary["orders-etl.batch"] == "7"


def test_table_without_new_rows_has_no_commit(lake: SparkSession, registry: Registry) -> None:
    job, outputs = etl(lake, registry), Appends()
    job.write(frame(lake, of("a")), 0, outputs)
    job.write(frame(lake, of("b", price="free")), 1, outputs)
    job.write(frame(lake, of("a", offset=9)), 2, outputs)
    job.write(frame(lake, Record(is_tombstone=True)), 3, outputs)
    job.write(frame(lake), 4, outputs)

    assert outputs.made == [tables.orders().name, tables.orders_rejected().name]


@pytest.mark.slow
@pytest.mark.parametrize("is_late", [False, True], ids=["before the commit", "after the commit"])
@pytest.mark.parametrize("crash_at", [0, 1])
def test_interrupted_batch_is_completed(lake: SparkSession, registry: Registry, crash_at: int, is_late: bool) -> None:
    with pytest.raises(Crash):
        etl(lake, registry).write(frame(lake, *MIXED), 0, Appends(crash_at, is_late=is_late))

    etl(lake, registry).write(frame(lake, *MIXED), 0, Appends())

    assert contents(lake) == [["a", "c"], ["b"]]


@pytest.mark.slow
def test_lost_checkpoint_rereads_everything_in_other_batches(lake: SparkSession, registry: Registry) -> None:
    nameless = [Record(key=None, value=header(FIRST), offset=offset) for offset in (10, 11)]
    records = [*MIXED, *nameless, of("d", offset=12)]
    before = etl(lake, registry)
    for number, record in enumerate(records):
        before.write(frame(lake, record), number, Appends())
    once = contents(lake)

    after, outputs = etl(lake, registry), Appends()
    after.write(frame(lake, *records[:3]), 0, outputs)
    after.write(frame(lake, *records[2:], of("e", offset=13)), 1, outputs)

    assert once == [["a", "c", "d"], ["b", None, None]]
    assert contents(lake) == [["a", "c", "d", "e"], ["b", None, None]]
    assert outputs.made == [tables.orders().name]


@pytest.mark.slow
def test_unidentified_records_at_equal_positions_of_two_topics_are_distinct(
    lake: SparkSession, registry: Registry
) -> None:
    nameless = Record(key=None, value=header(FIRST), offset=5)
    later = replace(nameless, timestamp=nameless.timestamp.replace(hour=13))

    for record in (nameless, later, nameless):
        etl(lake, registry).write(frame(lake, record), 0, Appends())

    assert contents(lake) == [[], [None, None]]


def test_written_order_keeps_its_table(lake: SparkSession) -> None:
    """Between crash and repetition a schema is registered with which the value has another order id."""
    records = [of("a"), replace(of("b", offset=1, schema_id=SECOND), key=b"key of b"), of("c", offset=2)]
    with FakeRegistry({FIRST: SCHEMAS[FIRST]}) as server, pytest.raises(Crash):
        etl(lake, Registry(server.url)).write(frame(lake, *records), 0, Appends(1))
    assert contents(lake) == [[], ["key of b"]]

    with FakeRegistry(SCHEMAS) as server:
        etl(lake, Registry(server.url)).write(frame(lake, *records), 0, Appends())

    assert contents(lake) == [["a", "c"], ["key of b"]]


def test_unwritten_order_is_evaluated_again(lake: SparkSession) -> None:
    record = of("a", schema_id=SECOND)
    with FakeRegistry({}) as server, pytest.raises(Crash):
        etl(lake, Registry(server.url)).write(frame(lake, record), 0, Appends(0))
    with FakeRegistry(SCHEMAS) as server:
        etl(lake, Registry(server.url)).write(frame(lake, record), 0, Appends())

    assert contents(lake) == [["a"], []]


def test_first_record_of_an_order_wins_across_batches(lake: SparkSession, registry: Registry) -> None:
    job = etl(lake, registry)
    job.write(frame(lake, of("a", price="free"), of("b", offset=1)), 0, Appends())
    job.write(frame(lake, of("a", offset=2), of("b", offset=3, price="free")), 1, Appends())

    assert contents(lake) == [["b"], ["a"]]


def test_binary_keys_are_distinct(lake: SparkSession, registry: Registry) -> None:
    job = etl(lake, registry)
    for number, key in enumerate((b"\xfe", b"\xff", b"\xff")):
        job.write(frame(lake, Record(key=key, value=header(FIRST), offset=number)), number, Appends())

    assert lake.table(tables.orders_rejected().name).count() == 2


@pytest.mark.slow
def test_changes_by_other_writers_are_read(lake: SparkSession, registry: Registry) -> None:
    job = etl(lake, registry)
    job.write(frame(lake, of("a"), of("b", offset=1)), 0, Appends())
    insert(lake, "c")
    job.write(frame(lake, of("c", offset=2), of("a", offset=3)), 1, Appends())
    assert contents(lake) == [["a", "b", "c"], []]

    lake.sql(f"DELETE FROM {tables.orders().name}")
    job.write(frame(lake, of("a", offset=3)), 2, Appends())

    assert contents(lake) == [["a"], []]


class Interrupted(Appends):
    """Appends that are followed by a commit of another writer, before they are published."""

    def __init__(self, *others: Callable[[], object]) -> None:
        super().__init__()
        self._others = list(others)

    def append(self, frame: DataFrame, table: str, options: Mapping[str, str] | None = None) -> None:
        super().append(frame, table, options)
        staged = frame.sparkSession.conf.get("spark.wap.id")
        frame.sparkSession.conf.unset("spark.wap.id")
        if self._others:
            self._others.pop(0)()
        frame.sparkSession.conf.set("spark.wap.id", staged)


def insert(lake: SparkSession, order_id: str) -> None:
    row = lake.range(1).selectExpr(
        f"'{order_id}' AS order_id", "'x' AS item", "1.00BD AS price", "'y' AS supplier", "now() AS bid_time"
    )
    row.writeTo(tables.orders().name).append()


@pytest.mark.slow
def test_order_that_another_writer_inserts_during_the_append_is_not_repeated(
    lake: SparkSession, registry: Registry
) -> None:
    outputs = Interrupted(lambda: insert(lake, "a"), lambda: insert(lake, "x"))

    etl(lake, registry).write(frame(lake, of("a"), of("b", offset=1)), 0, outputs)

    assert contents(lake) == [["a", "b", "x"], []]
    assert len(outputs.made) == 3


def test_append_is_repeated_after_a_compaction(lake: SparkSession, registry: Registry) -> None:
    job = etl(lake, registry)
    job.write(frame(lake, of("a")), 0, Appends())
    rewrite = "CALL lake.system.rewrite_data_files(table => 'sales.orders', options => map('rewrite-all', 'true'))"

    job.write(frame(lake, of("b", offset=1)), 1, Interrupted(lambda: lake.sql(rewrite)))

    assert contents(lake) == [["a", "b"], []]


def test_driver_fails_if_every_append_is_interrupted(
    lake: SparkSession, registry: Registry, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(orders_etl, "MAX_ATTEMPTS", 2)
    outputs = Interrupted(lambda: insert(lake, "x"), lambda: insert(lake, "y"))

    with pytest.raises(runtime.JobError, match=r"could not append batch 7: in each of 2 attempts another writer"):
        etl(lake, registry).write(frame(lake, of("a")), 7, outputs)

    assert contents(lake) == [["x", "y"], []]


@pytest.mark.parametrize("records", [[of("b")], [Record(is_tombstone=True)]], ids=["orders", "no orders"])
def test_driver_is_fenced_by_a_later_one(lake: SparkSession, registry: Registry, records: list[Record]) -> None:
    """Also without orders: the batch must not be committed to a shared checkpoint."""
    first = etl(lake, registry)
    first.write(frame(lake, of("a")), 0, Appends())
    etl(lake, registry)

    with pytest.raises(FencedError, match=r"cannot append to lake\.sales\.orders: another driver took it over"):
        first.write(frame(lake, *records), 1, Appends())

    assert contents(lake) == [["a"], []]


def test_driver_is_fenced_between_staging_and_publishing(lake: SparkSession, registry: Registry) -> None:
    first = etl(lake, registry)

    with pytest.raises(FencedError):
        first.write(frame(lake, of("a")), 0, Interrupted(lambda: etl(lake, registry)))

    assert contents(lake) == [[], []]


def test_swap_fails_if_the_table_changes_after_its_check(
    lake: SparkSession, registry: Registry, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other driver claims the table after `publish` has verified it, before the commit."""
    verify = Claim.verify
    others = [None, lambda: etl(lake, registry)]

    def verified(claim: Claim, table: Any) -> None:
        verify(claim, table)
        if table.name().endswith(".orders") and (other := others.pop(0) if others else None):
            other()

    job = etl(lake, registry)
    monkeypatch.setattr(Claim, "verify", verified)
    with pytest.raises(FencedError):
        job.write(frame(lake, of("a")), 0, Appends())

    assert contents(lake) == [[], []]


def test_driver_without_its_claim_in_the_history_fails(lake: SparkSession, registry: Registry) -> None:
    job = etl(lake, registry)
    lake.sql(f"DROP TABLE {tables.orders().name} PURGE")
    tables.orders().create(lake)

    with pytest.raises(FencedError, match=r"is not in the table's history, as the table was replaced or rolled back"):
        job.write(frame(lake, of("a")), 0, Appends())


def known(spark: SparkSession) -> KnownOrders:
    index = KnownOrders(tables.orders(), tables.orders_rejected(), (RUN, "this run"))
    index.refresh(spark)
    return index


def test_rows_are_read_once(lake: SparkSession, registry: Registry, monkeypatch: pytest.MonkeyPatch) -> None:
    etl(lake, registry).write(frame(lake, *MIXED), 0, Appends())
    index = known(lake)
    index.add([BatchOrder(b"not in any table", 0, 9, 0, True)])
    assert len(index) == 5  # a, c, b and the position of b

    lake.sql("CALL lake.system.rewrite_data_files(table => 'sales.orders', options => map('rewrite-all', 'true'))")
    mine = {iceberg.SNAPSHOT_PROPERTY + RUN: "this run"}
    Appends().append(lake.table(tables.orders().name).limit(0), tables.orders().name, mine)
    index.refresh(lake)
    assert len(index) == 5

    insert(lake, "x")
    scanned: list[bytes] = []
    monkeypatch.setattr(index, "_add", lambda entries: scanned.extend(entries))
    index.refresh(lake)
    assert scanned == [b"=x"]
    monkeypatch.undo()

    lake.sql(f"DELETE FROM {tables.orders().name} WHERE order_id = 'x'")
    index.refresh(lake)
    assert len(index) == 4


def test_large_tables_are_read_in_parts(lake: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = lake.range(20).selectExpr(
        "cast(id AS string) AS order_id", "'x' AS item", "1.00BD AS price", "'y' AS supplier", "now() AS bid_time"
    )
    rows.coalesce(1).writeTo(tables.orders().name).append()
    monkeypatch.setattr(known_orders, "ROWS_PER_PART", 5)
    index = KnownOrders(tables.orders(), tables.orders_rejected(), (RUN, "this run"))
    read: list[bytes] = []
    monkeypatch.setattr(index, "_add", lambda entries: read.extend(entries))

    index.refresh(lake)

    assert read == sorted(b"=%d" % number for number in range(20))


@pytest.mark.slow
def test_schemas_are_requested_by_the_ids_of_the_batch(lake: SparkSession, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO")
    records = frame(
        lake,
        of("a"),
        of("b", offset=1, schema_id=SECOND),
        of("c", offset=2),
        Record(key=b"d", offset=3, value=header(UNKNOWN)),
        Record(key=b"e", offset=4, value=b"{}"),
        Record(key=b"a", offset=5, is_tombstone=True),
    )
    with FakeRegistry(SCHEMAS) as server:
        job = etl(lake, Registry(server.url))
        job.write(records, 0, Appends())
        assert server.requested == sorted([FIRST, SECOND, UNKNOWN])
        job.write(records, 1, Appends())
        assert server.requested == [*sorted([FIRST, SECOND, UNKNOWN]), UNKNOWN]

    assert contents(lake) == [["a", "b", "c"], ["d", "e"]]
    rejected = lake.table(tables.orders_rejected().name).collect()
    assert {row["order_id"]: row["reason"] for row in rejected} == {"d": UNKNOWN_SCHEMA, "e": NOT_FRAMED}
    assert f"schema {UNKNOWN} is not in the registry at {server.url}, or no Avro record: 1 records" in caplog.text


def test_new_schema_is_used_without_restart(lake: SparkSession) -> None:
    schemas: dict[int, str] = {FIRST: SCHEMAS[FIRST]}
    with FakeRegistry(schemas) as server:
        job = etl(lake, Registry(server.url))
        job.write(frame(lake, of("a")), 0, Appends())
        schemas[SECOND] = SCHEMAS[SECOND]
        job.write(frame(lake, of("b", offset=1, schema_id=SECOND), of("c", offset=2)), 1, Appends())

    assert contents(lake) == [["a", "b", "c"], []]


@pytest.mark.slow
def test_unreadable_record_with_a_known_key_is_read_once_its_schema_is_registered(
    lake: SparkSession, registry: Registry
) -> None:
    """While unreadable, its identity is its key, which equals that of the previous order."""
    job = etl(lake, registry)
    job.write(frame(lake, of("known")), 0, Appends())
    hidden = replace(of("b", offset=2, schema_id=SECOND), key=b"a")

    job.write(frame(lake, of("a", offset=1), hidden), 1, Appends())

    assert contents(lake) == [["a", "b", "known"], []]


def test_unavailable_registry_is_retried(lake: SparkSession, caplog: pytest.LogCaptureFixture) -> None:
    away: dict[int, Any] = {FIRST: (503, b"starting")}
    pauses: list[float] = []

    def wait(seconds: float) -> None:
        pauses.append(seconds)
        if len(pauses) == 3:
            away[FIRST] = (200, {"schema": SCHEMAS[FIRST]})

    with FakeRegistry({}, away) as server:
        etl(lake, Registry(server.url), wait).write(frame(lake, of("a")), 0, Appends())

    assert contents(lake) == [["a"], []]
    assert pauses == [0.5, 1, 2]
    assert caplog.text.count("cannot get schema 1") == 1


def test_stopped_query_does_not_wait_for_the_registry(lake: SparkSession) -> None:
    def wait(_: float) -> None:
        raise Crash

    outputs = Appends()
    with pytest.raises(Crash):
        etl(lake, Registry("http://127.0.0.1:9"), wait).write(frame(lake, of("a")), 0, outputs)

    assert outputs.made == []


def test_topic_without_avro_records_fails_the_job(lake: SparkSession, registry: Registry) -> None:
    garbage = [Record(offset=n, value=header(1000 + n)) for n in range(orders_etl.MAX_SCHEMAS + 1)]

    with pytest.raises(runtime.JobError, match=r"topic 'orders' begin with more than 100 schema ids, as 1, 1000, 1001"):
        etl(lake, registry).write(frame(lake, *garbage, of("a", offset=999)), 0, Appends())


def test_settings_are_parsed(monkeypatch: pytest.MonkeyPatch) -> None:
    given = {"KAFKA_BOOTSTRAP": "k:1", "SCHEMA_REGISTRY_URL": "http://r", "CHECKPOINTS": "s3a://checkpoints/"}
    for name in ("TRIGGER", "MAX_RECORDS", "LATE_AFTER"):
        monkeypatch.delenv(f"ORDERS_ETL_{name}", raising=False)
    for name, value in given.items():
        monkeypatch.setenv(name, value)

    usual = Settings(
        bootstrap="k:1",
        registry="http://r",
        checkpoint="s3a://checkpoints/orders_etl",
        trigger=5,
        max_records=50_000,
        late_after=3600,
    )
    assert Settings.read() == usual

    monkeypatch.setenv("ORDERS_ETL_TRIGGER", "now")
    monkeypatch.setenv("ORDERS_ETL_LATE_AFTER", "30 min")
    assert Settings.read() == replace(usual, trigger=None, late_after=1800)


def test_batch_without_orders_reports_no_tables(lake: SparkSession, registry: Registry) -> None:
    """No schema is known before the first order, and the plan would contain the value as a whole."""
    outputs = Appends()
    job = etl(lake, registry)
    job.write(frame(lake), 0, outputs)
    job.write(frame(lake, Record(is_tombstone=True)), 1, outputs)
    assert outputs.described == []

    job.write(frame(lake, of("a")), 2, outputs)
    assert outputs.described == [tables.orders_rejected().name]


@pytest.mark.slow
def test_cached_frames_are_released(lake: SparkSession, registry: Registry) -> None:
    def kept() -> set[int]:
        return set(lake.sparkContext._jsc.getPersistentRDDs().keySet())

    before = kept()
    job = etl(lake, registry)
    for number in range(2):
        job.write(frame(lake, *MIXED, of("d", offset=4, schema_id=SECOND)), number, Appends())

    assert kept() <= before
