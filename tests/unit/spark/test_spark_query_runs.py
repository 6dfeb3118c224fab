# SPDX-License-Identifier: Apache-2.0
"""Events of real streaming queries, as received by a lineage service."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming.readwriter import DataStreamWriter

from lineage.checks.events import check_events, raw_events, render_text
from lineage.checks.recorder import Recorder, recording
from lineage.rules import Rules
from lineagelab_spark import BatchOutputs, NoQueryLineage, QueryLineage
from lineagelab_spark.run_events import WINDOW_FACET
from tests.openlineage_schemas import specification
from tests.unit.integrations.lineage_endpoint import GARBAGE, HANGS, answering, free_port

SOURCE, TABLE, SECOND = "lake.runs.source", "lake.runs.orders", "lake.runs.rejected"
PARENT = "lineage-lab/application/0193a1f0-0000-7000-8000-000000000000"

Event = dict[str, Any]


class Stream:
    """Source table whose rows form batches, and writers of queries on it."""

    def __init__(self, spark: SparkSession, folder: Path) -> None:
        self.spark = spark
        self._folder = folder

    def add(self, *prices: int) -> None:
        rows = ", ".join(f"('{price}', {price})" for price in prices)
        self.spark.sql(f"INSERT INTO {SOURCE} VALUES {rows}")

    def frame(self) -> DataFrame:
        return self.spark.readStream.table(SOURCE)

    def writer(self, name: str, frame: DataFrame | None = None, **trigger: Any) -> DataStreamWriter:
        """Return a writer of a query that resumes from the checkpoint of its name."""
        stream = self.frame() if frame is None else frame
        writer = stream.writeStream.queryName(name).option("checkpointLocation", str(self._folder / name))
        return writer.trigger(**trigger or {"processingTime": "0 seconds"})

    def rows(self, table: str) -> int:
        # A query writes in a session of its own, so the table cache of this session may be stale.
        self.spark.sql(f"REFRESH TABLE {table}")
        return self.spark.table(table).count()


@pytest.fixture
def stream(spark: SparkSession, tmp_path: Path) -> Iterator[Stream]:
    spark.sql("CREATE NAMESPACE IF NOT EXISTS lake.runs")
    for table in (SOURCE, TABLE, SECOND):
        spark.sql(f"DROP TABLE IF EXISTS {table} PURGE")
        spark.sql(f"CREATE TABLE {table} (id string, price bigint) USING iceberg")
    stream = Stream(spark, tmp_path)
    stream.add(1, 2, 3)
    yield stream
    for query in spark.streams.active:
        query.stop()


class Service(Recorder):
    """Recorder with queries by job."""

    tolerated: frozenset[str] = frozenset()
    """Codes of check rules that the runs of a test may break."""

    @property
    def events(self) -> list[Event]:
        return [json.loads(body) for body in self.bodies]

    def of(self, job: str) -> list[Event]:
        return [event for event in self.events if event["job"]["name"] == job]

    def kinds(self, job: str) -> list[str]:
        """Return the event types, with consecutive RUNNING events merged."""
        kinds: list[str] = []
        for event in self.of(job):
            if event["eventType"] != "RUNNING" or kinds[-1:] != ["RUNNING"]:
                kinds.append(event["eventType"])
        return kinds

    def wait(self, enough: Callable[[list[Event]], bool], what: str) -> None:
        assert self.wait_for(lambda: enough(self.events), 300), f"{what} did not come: {self.events}"

    def wait_for_kind(self, job: str, kind: str, number: int = 1) -> None:
        self.wait(lambda _: [e["eventType"] for e in self.of(job)].count(kind) >= number, f"{kind} of {job}")


@pytest.fixture
def service(spark: SparkSession) -> Iterator[Service]:
    with recording() as recorder:
        recorder.__class__ = Service
        yield recorder  # type: ignore[misc]
        if recorder.bodies:
            assert_conforming_runs(recorder.bodies, recorder.tolerated)  # type: ignore[attr-defined]


def assert_conforming_runs(bodies: list[bytes], tolerated: frozenset[str]) -> None:
    """Assert that every run conforms to the standard and to the state sequence."""
    findings = check_events(raw_events(bodies, "event"), Rules(), specification(), source="the recorder")
    failures = [failure for failure in findings.failures(strict=True) if failure.rule.code not in tolerated]
    assert not failures, render_text(findings)


Make = Callable[..., QueryLineage]

SLOWEST_FIRST_BATCH = 60
"""Seconds within which the first batch of a query is planned on a busy machine."""


@pytest.fixture
def lineage(spark: SparkSession, service: Service) -> Iterator[Make]:
    made: list[QueryLineage] = []

    def make(interval: float = 600, url: str = service.url) -> QueryLineage:
        if interval < SLOWEST_FIRST_BATCH:
            service.tolerated = frozenset({"run-datasets-late"})  # START waits for the datasets, but only one interval
        made.append(QueryLineage(spark, "lineage-lab", url, interval_seconds=interval))
        return made[-1]

    yield make
    for each in made:
        each.close()


def names(datasets: list[Event]) -> list[str]:
    return [dataset["name"].rpartition("/")[2] for dataset in datasets]


def rows_written(events: list[Event], table: str) -> int:
    """Return the sum over the windows of a run."""
    counts = [
        output["outputFacets"]["outputStatistics"]["rowCount"]
        for event in events
        for output in event["outputs"]
        if output["name"].endswith(table.rpartition(".")[2]) and "outputStatistics" in output.get("outputFacets", {})
    ]
    return sum(counts)


def windows(events: list[Event], count: str) -> int:
    return sum(event["run"]["facets"][WINDOW_FACET][count] for event in events if event["eventType"] != "START")


def sources(event: Event, output: int, column: str) -> set[str]:
    fields = event["outputs"][output]["facets"]["columnLineage"]["fields"]
    return {f"{i['field']} {i['transformations'][0]['subtype']}" for i in fields[column]["inputFields"]}


def cheap_and_dear(batch: DataFrame, _: int, outputs: BatchOutputs) -> None:
    """Append rows that are in neither table to one of the two."""
    session = batch.sparkSession
    for table in (TABLE, SECOND):
        batch = batch.join(session.table(table).select("id"), "id", "left_anti")
    outputs.append(batch.where("price < 100").select(F.upper("id").alias("id"), "price"), TABLE)
    outputs.append(batch.where("price >= 100"), SECOND)


def test_query_with_available_now_trigger_completes(stream: Stream, service: Service, lineage: Make) -> None:
    made = lineage()
    frame = stream.frame().where("price > 1").withColumn("price", F.col("price") * 2)
    query = made.to_table(stream.writer("bounded", frame, availableNow=True), TABLE)
    query.awaitTermination()
    made.close()

    events = service.of("bounded")
    assert service.kinds("bounded") in (["START", "COMPLETE"], ["START", "RUNNING", "COMPLETE"])
    assert {event["run"]["runId"] for event in events} == {str(query.runId)}
    for event in events:
        assert (names(event["inputs"]), names(event["outputs"])) == (["source"], ["orders"])
        assert sources(event, 0, "price") == {"price TRANSFORMATION"}
    assert rows_written(events, TABLE) == 2
    assert (windows(events, "inputRows"), windows(events, "batches")) == (3, 1)


def test_stopped_query_is_aborted(stream: Stream, service: Service, lineage: Make) -> None:
    made = lineage(interval=1)
    query = made.to_table(stream.writer("stopped"), TABLE)
    service.wait_for_kind("stopped", "RUNNING", 2)  # also while idle
    query.processAllAvailable()
    query.stop()
    query.stop()
    made.close()

    assert service.kinds("stopped") == ["START", "RUNNING", "ABORT"]
    assert rows_written(service.of("stopped"), TABLE) == stream.rows(TABLE) == 3


def test_exception_in_the_query_fails_the_run(stream: Stream, service: Service, lineage: Make) -> None:
    made = lineage()
    broken = stream.frame().selectExpr("if(price = 2, raise_error('planned'), id) AS id", "price")
    with pytest.raises(StreamingQueryException, match="planned"):
        made.to_table(stream.writer("broken", broken), TABLE).awaitTermination()
    made.close()

    assert service.kinds("broken") == ["START", "FAIL"]
    reason = service.of("broken")[-1]["run"]["facets"]["errorMessage"]
    assert "[USER_RAISED_EXCEPTION] planned" in reason["message"]
    assert "Logical Plan" not in reason["message"]
    assert reason["programmingLanguage"] == "JAVA"
    assert "StreamExecution.scala" in reason["stackTrace"]


def test_batch_exception_is_reported_with_its_traceback(stream: Stream, service: Service, lineage: Make) -> None:
    def write(batch: DataFrame, batch_id: int, outputs: BatchOutputs) -> None:
        cheap_and_dear(batch, batch_id, outputs)
        raise LookupError("no such supplier")

    made = lineage()
    with pytest.raises(StreamingQueryException, match="no such supplier"):
        made.foreach_batch(stream.writer("careless"), write).awaitTermination()
    made.close()

    assert service.kinds("careless") == ["START", "FAIL"]
    failed = service.of("careless")[-1]
    reason = failed["run"]["facets"]["errorMessage"]
    assert (reason["message"], reason["programmingLanguage"]) == ("LookupError: no such supplier", "PYTHON")
    assert "in write" in reason["stackTrace"]
    assert names(failed["outputs"]) == ["orders", "rejected"]


def test_message_of_a_java_exception_has_no_stack_trace(stream: Stream, service: Service, lineage: Make) -> None:
    def write(batch: DataFrame, batch_id: int, outputs: BatchOutputs) -> None:
        batch.sparkSession._jvm.java.lang.Class.forName("no.such.Class")  # type: ignore[union-attr]

    made = lineage()
    with pytest.raises(StreamingQueryException):
        made.foreach_batch(stream.writer("java"), write).awaitTermination()
    made.close()

    reason = service.of("java")[-1]["run"]["facets"]["errorMessage"]
    assert reason["message"].endswith("java.lang.ClassNotFoundException: no.such.Class")
    assert "\tat java.base/java.lang.Class.forName" in reason["stackTrace"]


def test_query_that_fails_before_its_first_write_has_inputs(stream: Stream, service: Service, lineage: Make) -> None:
    def write(batch: DataFrame, batch_id: int, outputs: BatchOutputs) -> None:
        raise LookupError("nothing works")

    made = lineage()
    with pytest.raises(StreamingQueryException):
        made.foreach_batch(stream.writer("early"), write).awaitTermination()
    made.close()

    assert service.kinds("early") == ["START", "FAIL"]
    for event in service.of("early"):
        assert (names(event["inputs"]), event["outputs"]) == (["source"], [])


def nulls_written(events: list[Event]) -> dict[str, int]:
    """Return the sums over the windows of a run, by column."""
    facets = [output.get("outputFacets", {}) for event in events for output in event["outputs"]]
    columns = [facet["lineageLab_writtenNulls"]["columns"] for facet in facets if "lineageLab_writtenNulls" in facet]
    return {name: sum(each[name] for each in columns) for name in columns[0]}


def test_nulls_of_all_batches_of_a_run_are_counted(stream: Stream, service: Service, lineage: Make) -> None:
    stream.add(100, 200)
    made = lineage(interval=1)
    frame = stream.frame().select("id", F.when(F.col("price") > 2, F.col("price")).alias("price"))

    def append(batch: DataFrame, _: int, outputs: BatchOutputs) -> None:
        outputs.append(batch, TABLE)

    query = made.foreach_batch(stream.writer("nulls", frame), append)
    query.processAllAvailable()
    service.wait_for_kind("nulls", "RUNNING", 2)
    stream.add(1, 300)
    query.processAllAvailable()
    query.stop()
    made.close()

    assert stream.rows(TABLE) == 7
    assert nulls_written(service.of("nulls")) == {"id": 0, "price": 3}


def test_batch_function_has_columns_row_counts_and_no_written_table_as_input(
    stream: Stream, service: Service, lineage: Make
) -> None:
    stream.add(100, 200)
    made = lineage()
    frame = stream.frame().select(F.struct("id", "price").alias("order"), (F.col("price") + 1).alias("next"))
    query = made.foreach_batch(
        stream.writer("batches", frame.selectExpr("order.id", "next AS price"), availableNow=True), cheap_and_dear
    )
    query.awaitTermination()
    made.close()

    events = service.of("batches")
    assert service.kinds("batches") in (["START", "COMPLETE"], ["START", "RUNNING", "COMPLETE"])
    for event in events:
        assert (names(event["inputs"]), names(event["outputs"])) == (["source"], ["orders", "rejected"])
        assert sources(event, 0, "id") == {"id TRANSFORMATION"}
        assert sources(event, 1, "price") == {"price TRANSFORMATION"}
        rows = event["outputs"][0]["facets"]["columnLineage"]["dataset"]
        assert {(i["field"], i["transformations"][0]["subtype"]) for i in rows} == {("id", "JOIN"), ("price", "FILTER")}
        assert "lineage" not in event["job"]["facets"]
    assert rows_written(events, TABLE) == stream.rows(TABLE) == 3
    assert rows_written(events, SECOND) == stream.rows(SECOND) == 2
    snapshots = stream.spark.sql(f"SELECT DISTINCT summary['lineage-run-id'] AS run FROM {TABLE}.snapshots").collect()
    assert [row["run"] for row in snapshots] == [str(query.runId)]


def test_outputs_have_their_own_inputs(stream: Stream, service: Service, lineage: Make) -> None:
    stream.spark.sql("CREATE TABLE IF NOT EXISTS lake.runs.names (id string, name string) USING iceberg")

    def write(batch: DataFrame, _: int, outputs: BatchOutputs) -> None:
        outputs.append(batch, TABLE)
        outputs.append(batch.join(batch.sparkSession.table("lake.runs.names").select("id"), "id", "left_semi"), SECOND)

    made = lineage()
    made.foreach_batch(stream.writer("pairs", availableNow=True), write).awaitTermination()
    made.close()

    for event in service.of("pairs"):
        assert names(event["inputs"]) == ["names", "source"]
        entries = event["job"]["facets"]["lineage"]["entries"]
        assert {names([entry])[0]: names([i for i in entry["inputs"] if "field" not in i]) for entry in entries} == {
            "orders": ["source"],
            "rejected": ["names", "source"],
        }


def test_write_by_sql_can_be_described(stream: Stream, service: Service, lineage: Make) -> None:
    def merge(batch: DataFrame, _: int, outputs: BatchOutputs) -> None:
        batch.createOrReplaceTempView("batch")
        outputs.describe(batch.sparkSession.table("batch"), TABLE)
        batch.sparkSession.sql(
            f"MERGE INTO {TABLE} t USING batch b ON t.id = b.id "
            "WHEN NOT MATCHED THEN INSERT (id, price) VALUES (b.id, b.price)"
        )

    made = lineage()
    made.foreach_batch(stream.writer("merged", availableNow=True), merge).awaitTermination()
    made.close()

    assert stream.rows(TABLE) == 3
    assert sources(service.of("merged")[-1], 0, "id") == {"id IDENTITY"}


def test_restarted_query_is_a_new_run(stream: Stream, service: Service, lineage: Make) -> None:
    made = lineage()
    for prices in ((4,), (5,)):
        query = made.foreach_batch(stream.writer("again", availableNow=True), cheap_and_dear)
        query.awaitTermination()
        service.wait_for_kind("again", "COMPLETE", prices[0] - 3)
        stream.add(*prices)
    made.close()

    runs = [event["run"]["runId"] for event in service.of("again") if event["eventType"] == "START"]
    assert len(runs) == len(set(runs)) == 2
    assert stream.rows(TABLE) == 4


def test_query_without_writes_has_a_run(stream: Stream, service: Service, lineage: Make) -> None:
    def write(batch: DataFrame, _: int, outputs: BatchOutputs) -> None:
        outputs.append(batch, TABLE)

    before = lineage()
    before.foreach_batch(stream.writer("waiting", availableNow=True), write).awaitTermination()
    before.close()
    # Excluded from `assert_conforming_runs`: the START event of a run without writes has no outputs.
    with answering(201) as endpoint:
        made = lineage(interval=1, url=endpoint.url)
        query = made.foreach_batch(stream.writer("waiting"), write)
        started, waiting, *_ = endpoint.wait_for_events(2)
        stream.add(9)
        query.processAllAvailable()
        query.stop()
        made.close()
    end = endpoint.taken[-1]

    assert [event["eventType"] for event in (started, waiting, end)] == ["START", "RUNNING", "ABORT"]
    assert (started["inputs"], started["outputs"]) == ([], [])
    assert (names(end["inputs"]), names(end["outputs"])) == (["source"], ["orders"])
    assert stream.rows(TABLE) == 4


def test_schema_change_is_reported_immediately(stream: Stream, service: Service, lineage: Make) -> None:
    def write(batch: DataFrame, batch_id: int, outputs: BatchOutputs) -> None:
        frame = batch if batch_id == 0 else batch.withColumn("dear", F.col("price") > 10)
        if batch_id == 1:
            batch.sparkSession.sql(f"ALTER TABLE {TABLE} ADD COLUMN dear boolean")
        outputs.append(frame, TABLE)

    made = lineage()
    query = made.foreach_batch(stream.writer("evolving"), write)
    query.processAllAvailable()
    service.wait_for_kind("evolving", "START")
    stream.add(20)
    query.processAllAvailable()
    service.wait_for_kind("evolving", "RUNNING")
    stream.add(30)
    query.processAllAvailable()
    query.stop()
    made.close()

    assert [event["eventType"] for event in service.of("evolving")] == ["START", "RUNNING", "ABORT"]
    started, changed, _ = service.of("evolving")
    fields = [[field["name"] for field in e["outputs"][0]["facets"]["schema"]["fields"]] for e in (started, changed)]
    assert fields == [["id", "price"], ["id", "price", "dear"]]
    assert sources(changed, 0, "dear") == {"price TRANSFORMATION"}
    assert rows_written(service.of("evolving"), TABLE) == stream.rows(TABLE) == 5


def test_two_queries_of_one_driver_are_two_jobs(stream: Stream, service: Service, lineage: Make) -> None:
    made = lineage()
    lasting = made.foreach_batch(stream.writer("lasting"), cheap_and_dear)
    broken = stream.frame().selectExpr("raise_error('planned') AS id", "price")
    with pytest.raises(StreamingQueryException):
        made.to_table(stream.writer("failing", broken), TABLE).awaitTermination()
    service.wait_for_kind("failing", "FAIL")
    lasting.processAllAvailable()
    made.close()

    assert service.kinds("failing") == ["START", "FAIL"]
    assert service.kinds("lasting") == ["START", "ABORT"]
    assert lasting.isActive


def test_failure_is_reported_without_await_termination(stream: Stream, service: Service, lineage: Make) -> None:
    made = lineage(interval=1)
    broken = stream.frame().selectExpr("raise_error('planned') AS id", "price")
    made.to_table(stream.writer("forgotten", broken), TABLE)

    service.wait_for_kind("forgotten", "FAIL")


def test_open_runs_and_parents_come_from_the_environment(
    stream: Stream, service: Service, lineage: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "open.json"
    monkeypatch.setenv("LINEAGE_OPEN_RUNS", str(file))
    monkeypatch.setenv("OPENLINEAGE_PARENT_ID", PARENT)
    made = lineage()
    query = made.to_table(stream.writer("child"), TABLE)
    service.wait_for_kind("child", "START")

    kept = json.loads(file.read_text(encoding="utf-8"))
    assert list(kept) == [str(query.runId)]
    assert names(kept[str(query.runId)]["outputs"]) == ["orders"]
    query.stop()
    made.close()

    assert json.loads(file.read_text(encoding="utf-8")) == {}
    parents = [event["run"]["facets"]["parent"] for event in service.of("child")]
    assert {f"{p['job']['namespace']}/{p['job']['name']}/{p['run']['runId']}" for p in parents} == {PARENT}


def test_invalid_parent_is_omitted(
    stream: Stream, service: Service, lineage: Make, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("OPENLINEAGE_PARENT_ID", "somebody")
    made = lineage()
    made.to_table(stream.writer("orphan", availableNow=True), TABLE).awaitTermination()
    made.close()

    assert "OPENLINEAGE_PARENT_ID is ignored: invalid parent run 'somebody'" in caplog.text
    assert all("parent" not in event["run"]["facets"] for event in service.of("orphan"))


@pytest.mark.slow
@pytest.mark.parametrize("answer", [500, 422, GARBAGE, HANGS], ids=str)
def test_broken_service_does_not_affect_the_query(
    stream: Stream, lineage: Make, answer: int | str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lineagelab_spark.query.CLOSE_TIMEOUT", 1.0)
    with answering(answer) as broken:
        made = lineage(interval=1, url=broken.url)
        query = made.foreach_batch(stream.writer("unheard"), cheap_and_dear)
        broken.wait_for_requests(1)
        # The request is pending, or has failed, while these batches are written.
        for price in (7, 8, 9):
            stream.add(price)
            query.processAllAvailable()
        query.stop()
        made.close()

    assert stream.rows(TABLE) == 6


def test_unavailable_service_receives_all_events_later(stream: Stream, lineage: Make) -> None:
    port = free_port()
    made = lineage(url=f"http://127.0.0.1:{port}")
    made.foreach_batch(stream.writer("patient", availableNow=True), cheap_and_dear).awaitTermination()
    with answering(201, port=port) as late:
        events = late.wait_for_events(2)
        made.close()

    assert [events[0]["eventType"], late.taken[-1]["eventType"]] == ["START", "COMPLETE"]


def test_undelivered_terminal_event_stays_on_disk(
    stream: Stream, lineage: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LINEAGE_OPEN_RUNS", str(tmp_path / "open.json"))
    monkeypatch.setattr("lineagelab_spark.query.CLOSE_TIMEOUT", 2.0)
    made = lineage(url=f"http://127.0.0.1:{free_port()}")
    query = made.to_table(stream.writer("unreported", availableNow=True), TABLE)
    query.awaitTermination()
    made.close()

    kept = json.loads((tmp_path / "open.json").read_text(encoding="utf-8"))
    assert kept[str(query.runId)]["eventType"] == "COMPLETE"


def test_lineage_errors_do_not_affect_the_query(
    stream: Stream, service: Service, lineage: Make, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("lineage is broken")

    monkeypatch.setattr("lineagelab_spark.query_observer.QueryObserver.step", broken)
    made = lineage(interval=1)
    query = made.foreach_batch(stream.writer("broken_lineage"), cheap_and_dear)
    for price in (7, 8):
        stream.add(price)
        query.processAllAvailable()
    query.stop()
    made.close()

    assert stream.rows(TABLE) == 5
    assert caplog.text.count("it is incomplete") == 1
    assert service.events == []


def test_dropped_table_loses_only_its_own_lineage(stream: Stream, service: Service, lineage: Make) -> None:
    def write(batch: DataFrame, _: int, outputs: BatchOutputs) -> None:
        outputs.describe(batch, "lake.runs.nowhere")
        outputs.append(batch, TABLE)

    made = lineage()
    made.foreach_batch(stream.writer("half", availableNow=True), write).awaitTermination()
    made.close()

    assert stream.rows(TABLE) == 3
    assert names(service.of("half")[-1]["outputs"]) == ["orders"]


@pytest.mark.parametrize("without", ["url", "twin"])
def test_without_a_service_queries_write_and_send_nothing(stream: Stream, without: str) -> None:
    made = NoQueryLineage() if without == "twin" else QueryLineage(stream.spark, "lineage-lab", "")
    made.to_table(stream.writer("silent", availableNow=True), TABLE).awaitTermination()
    made.foreach_batch(stream.writer("silent_batches", availableNow=True), cheap_and_dear).awaitTermination()
    query = made.to_table(stream.writer("silent_stop"), SECOND)
    query.stop()
    made.close()

    assert stream.rows(TABLE) == 3
