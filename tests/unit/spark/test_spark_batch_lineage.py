# SPDX-License-Identifier: Apache-2.0
"""Lineage of batch writes that a driver does not announce: commands, datasets, columns, life cycle.

Spark and its listener are real; events go to an endpoint of the test.
"""

import random
import threading

import pytest
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import functions as F

from lineagelab_common.spool import Spool
from lineagelab_spark import batch_lineage, execution_listener
from lineagelab_spark.batch_lineage import observe
from lineagelab_spark.driver_settings import DriverSettings
from tests.openlineage_schemas import conformance_errors
from tests.unit.integrations.lineage_endpoint import TAKEN, answering

TERMINAL = {"COMPLETE", "FAIL", "ABORT"}


class Observed:
    """Observed session with the events that it has sent."""

    def __init__(self, lineage, endpoint, spark, folder):
        self.lineage, self.endpoint, self.spark, self.folder = lineage, endpoint, spark, folder

    def events(self):
        """Return all events so far."""
        execution_listener.drain(self.spark, 60_000)
        self.lineage._spool.close(60)
        return self.endpoint.taken

    def ends(self):
        """Return the last event of each run, in order."""
        return [event for event in self.events() if event["eventType"] in TERMINAL]

    def path(self, name):
        return f"file://{self.folder}/{name}"


@pytest.fixture
def observed(spark, tmp_path, monkeypatch):
    monkeypatch.setattr(batch_lineage, "POLL_INTERVAL", 0.2)
    spark.sql("CREATE NAMESPACE IF NOT EXISTS lake.batch")
    with answering(TAKEN) as endpoint:
        lineage = observe(spark, "shop", endpoint.url)
        yield Observed(lineage, endpoint, spark, tmp_path)
        lineage.close()
    for table in spark.sql("SHOW TABLES IN lake.batch").collect():
        spark.sql(f"DROP TABLE lake.batch.{table.tableName} PURGE")


@pytest.fixture
def source(spark, observed):
    """Parquet folder with columns k, n and v."""
    frame = spark.createDataFrame([(1, "a", 2.0), (2, "b", 3.0)], "k int, n string, v double")
    frame.write.parquet(observed.path("source"))
    assert len(observed.ends()) == 1
    reopen(observed)
    return spark.read.parquet(observed.path("source"))


def reopen(observed):
    """Continue with a new spool: `events` has closed the last one."""
    observed.endpoint.taken.clear()
    settings = DriverSettings.of(observed.spark, "shop", Spool(observed.endpoint.url))
    observed.lineage._spool = settings.spool
    observed.lineage._observer._settings = settings


def columns(event):
    """Return (column, input column) -> subtypes of an event's only output, and (input column) -> those of its rows."""
    (output,) = event["outputs"]
    facet = output["facets"]["columnLineage"]
    assert "unknownFields" not in facet, facet["unknownBecause"]
    edges = {(name, f["field"]): subtypes(f) for name, field in facet["fields"].items() for f in field["inputFields"]}
    return edges, {f["field"]: subtypes(f) for f in facet["dataset"]}


def subtypes(field):
    return {each["subtype"] for each in field["transformations"]}


IDENTITY = {("k", "k"): {"IDENTITY"}, ("n", "n"): {"IDENTITY"}}

WRITES = {
    "append_data": lambda frame, table: frame.writeTo(table).append(),
    "overwrite_by_expression": lambda frame, table: frame.writeTo(table).overwrite(F.lit(True)),
    "overwrite_partitions_dynamic": lambda frame, table: frame.writeTo(table).overwritePartitions(),
    "create_table_as_select": lambda frame, table: frame.writeTo(table).createOrReplace(),
}


@pytest.mark.parametrize("command", WRITES)
def test_table_write_is_one_run_with_columns(observed, source, command):
    observed.spark.sql("CREATE TABLE lake.batch.t (k int, n string) USING iceberg")
    WRITES[command](source.select("k", "n"), "lake.batch.t")
    start, end = observed.events()
    assert [start["eventType"], end["eventType"]] == ["START", "COMPLETE"]
    assert start["run"]["runId"] == end["run"]["runId"]
    assert start["eventTime"] < end["eventTime"]
    assert end["job"] == {**end["job"], "namespace": "shop", "name": f"tests.{command}.lake_batch_t"}
    assert columns(end) == (IDENTITY, {})
    (read,), (written,) = end["inputs"], end["outputs"]
    assert (read["namespace"], read["name"]) == ("file", f"{observed.folder}/source")
    assert written["name"].endswith("/lake/batch/t")
    assert written["outputFacets"]["outputStatistics"]["rowCount"] == 2


def test_tables_have_their_name_in_the_catalog_as_symlink(observed, source):
    source.select("k").writeTo("lake.batch.t").create()
    observed.spark.table("lake.batch.t").writeTo("lake.batch.u").create()
    created, copied = observed.ends()
    named = [(created["outputs"], "t"), (copied["inputs"], "t"), (copied["outputs"], "u")]
    for (found,), table in named:
        (symlink,) = found["facets"]["symlinks"]["identifiers"]
        assert symlink == {"namespace": found["namespace"], "name": f"lake.batch.{table}", "type": "TABLE"}
    assert "symlinks" not in created["inputs"][0]["facets"]


def test_positional_insert_is_matched_by_position(observed, source):
    observed.spark.sql("CREATE TABLE lake.batch.t (k int, n string) USING iceberg")
    source.selectExpr("k + 1 AS n", "upper(n) AS k").write.insertInto("lake.batch.t")
    (end,) = observed.ends()
    assert columns(end)[0] == {("k", "k"): {"TRANSFORMATION"}, ("n", "n"): {"TRANSFORMATION"}}


FILES = {
    "parquet": lambda writer, path: writer.parquet(path),
    "csv": lambda writer, path: writer.csv(path),
    "json": lambda writer, path: writer.json(path),
    "orc": lambda writer, path: writer.orc(path),
}


@pytest.mark.parametrize("form", FILES)
def test_files_are_named_by_folder(observed, source, form):
    FILES[form](source.select("k", "n").write, observed.path("target"))
    (end,) = observed.ends()
    (written,) = end["outputs"]
    assert (written["namespace"], written["name"]) == ("file", f"{observed.folder}/target")
    assert columns(end) == (IDENTITY, {})
    assert written["outputFacets"]["outputStatistics"]["rowCount"] == 2
    assert [field["name"] for field in written["facets"]["schema"]["fields"]] == ["k", "n"]


def test_file_in_a_folder_is_read_from_the_folder(observed, source):
    (file,) = (observed.folder / "source").glob("*.parquet")
    observed.spark.read.parquet(str(file)).write.parquet(observed.path("target"))
    (end,) = observed.ends()
    assert [read["name"] for read in end["inputs"]] == [f"{observed.folder}/source"]


@pytest.mark.parametrize("statement", ["CREATE TABLE batch_v1 USING parquet AS", "save", "INSERT OVERWRITE DIRECTORY"])
def test_command_with_inner_command_is_one_run(observed, source, statement):
    source.select("k", "n").createOrReplaceTempView("rows_of_batch")
    try:
        if statement == "save":
            source.select("k", "n").write.saveAsTable("batch_v1")
        elif statement.startswith("INSERT"):
            observed.spark.sql(f"{statement} '{observed.folder}/target' USING parquet SELECT * FROM rows_of_batch")
        else:
            observed.spark.sql(f"{statement} SELECT * FROM rows_of_batch")
        (end,) = observed.ends()
        assert columns(end) == (IDENTITY, {})
        assert end["job"]["name"].startswith("tests.execute_insert_into_hadoop_fs_relation_command.")
    finally:
        observed.spark.sql("DROP TABLE IF EXISTS batch_v1")


ROW_LEVEL = ["copy-on-write", "merge-on-read"]


def table_of(observed, mode):
    properties = ", ".join(f"'write.{command}.mode'='{mode}'" for command in ("merge", "update", "delete"))
    observed.spark.sql(
        f"CREATE TABLE lake.batch.t (k int, n string, v double) USING iceberg TBLPROPERTIES ({properties})"
    )
    observed.spark.sql("INSERT INTO lake.batch.t VALUES (1, 'x', 0.5), (9, 'y', 1.5)")
    observed.events()
    reopen(observed)


@pytest.mark.parametrize("mode", ROW_LEVEL)
def test_merge_has_the_columns_of_its_source(observed, source, mode):
    table_of(observed, mode)
    source.createOrReplaceTempView("rows_of_batch")
    observed.spark.sql(
        "MERGE INTO lake.batch.t t USING (SELECT k, upper(n) AS n, v FROM rows_of_batch) s ON t.k = s.k "
        "WHEN MATCHED AND s.v > 1 THEN UPDATE SET n = s.n WHEN NOT MATCHED THEN INSERT *"
    )
    (end,) = observed.ends()
    assert [read["name"] for read in end["inputs"]] == [f"{observed.folder}/source"]
    edges, rows = columns(end)
    assert edges == {("k", "k"): {"IDENTITY"}, ("n", "n"): {"TRANSFORMATION"}, ("v", "v"): {"IDENTITY"}}
    assert rows == {"k": {"JOIN"}, "v": {"FILTER"}}


@pytest.mark.parametrize("mode", ROW_LEVEL)
def test_update_and_delete_have_the_tables_of_their_subqueries(observed, source, mode):
    table_of(observed, mode)
    source.createOrReplaceTempView("rows_of_batch")
    observed.spark.sql("UPDATE lake.batch.t SET n = (SELECT max(n) FROM rows_of_batch) WHERE k > 1")
    observed.spark.sql("DELETE FROM lake.batch.t WHERE k IN (SELECT k FROM rows_of_batch)")
    update, delete = observed.ends()
    for end in (update, delete):
        assert [read["name"] for read in end["inputs"]] == [f"{observed.folder}/source"]
    assert ("n", "n") in columns(update)[0]
    assert "k" in columns(delete)[1]


def test_writes_to_one_table_keep_each_others_edges(observed, source):
    observed.spark.sql("CREATE TABLE lake.batch.t (a string, b string) USING iceberg")
    source.selectExpr("n AS a", "'' AS b").writeTo("lake.batch.t").append()
    source.selectExpr("'' AS a", "CAST(k AS string) AS b").writeTo("lake.batch.t").append()
    first, second = observed.ends()
    assert first["job"] == second["job"]
    assert columns(first)[0].keys() == {("a", "n")}
    assert columns(second)[0].keys() == {("a", "n"), ("b", "k")}


def test_replaced_table_keeps_no_edges_of_its_former_content(observed, source):
    source.selectExpr("n AS a").writeTo("lake.batch.t").createOrReplace()
    source.selectExpr("v AS a").writeTo("lake.batch.t").createOrReplace()
    assert columns(observed.ends()[1])[0].keys() == {("a", "v")}


def test_cache_and_grouping_sets_and_functions_keep_columns(observed, source):
    cached = source.withColumn("z", F.col("k") * 2).cache()
    joined = F.udf(lambda k, n: f"{k}{n}", "string")
    cached.select("z", joined("k", "n").alias("o")).write.parquet(observed.path("cached"))
    source.rollup("k", "n").agg(F.sum("v").alias("s")).write.parquet(observed.path("rollup"))
    cached.unpersist()
    first, second = observed.ends()
    assert columns(first)[0].keys() == {("z", "k"), ("o", "k"), ("o", "n")}
    edges, rows = columns(second)
    assert edges == {**IDENTITY, ("s", "v"): {"AGGREGATION"}}
    assert rows == {"k": {"GROUP_BY"}, "n": {"GROUP_BY"}}


@pytest.mark.parametrize("is_reliable", [False, True])
def test_checkpoints_keep_columns(observed, source, is_reliable):
    observed.spark.sparkContext.setCheckpointDir(str(observed.folder / "checkpoints"))

    def stored(frame):
        return frame.checkpoint() if is_reliable else frame.localCheckpoint()

    once = stored(source.withColumn("z", F.col("k") * 2))
    twice = stored(once.where("v > 1"))
    twice.select("n", "z").write.parquet(observed.path("twice"))
    joined = once.alias("a").join(once.alias("b"), F.expr("a.k = b.z"), "left")
    joined.selectExpr("a.n AS n", "b.v AS v").write.parquet(observed.path("joined"))
    first, second = observed.ends()
    assert columns(first) == ({("n", "n"): {"IDENTITY"}, ("z", "k"): {"TRANSFORMATION"}}, {"v": {"FILTER"}})
    assert columns(second) == ({("n", "n"): {"IDENTITY"}, ("v", "v"): {"IDENTITY"}}, {"k": {"JOIN"}})


def test_checkpoint_in_a_subquery_keeps_its_columns(observed, source):
    source.selectExpr("k AS z").localCheckpoint().createOrReplaceTempView("stored")
    source.where("v > (SELECT max(z) FROM stored)").select("n").write.parquet(observed.path("target"))
    (end,) = observed.ends()
    assert columns(end) == ({("n", "n"): {"IDENTITY"}}, {"k": {"FILTER"}, "v": {"FILTER"}})


def test_lineage_of_iterations_does_not_grow_with_their_number(observed, source):
    """The whole plan of step n is as large as those of the two steps before together: some million nodes at the end."""
    before, now = source.select("k", "n"), source.selectExpr("k", "upper(n) AS n")
    for _ in range(30):
        both = before.alias("a").join(now.alias("b"), F.expr("a.k = b.k"))
        before, now = now, both.selectExpr("a.k AS k", "b.n AS n").localCheckpoint()
    now.write.parquet(observed.path("target"))
    (end,) = observed.ends()
    edges, rows = columns(end)
    assert edges == {("k", "k"): {"IDENTITY"}, ("n", "n"): {"TRANSFORMATION"}}
    assert rows == {"k": {"JOIN"}}
    assert len(observed.lineage._observer._checkpoints._stored[-1].made.sources) < 10


def test_failed_write_is_a_failed_run(observed, source):
    with pytest.raises((PySparkException, Py4JJavaError)):
        source.select(F.raise_error("n").cast("string").alias("n")).write.parquet(observed.path("target"))
    (end,) = observed.ends()
    assert end["eventType"] == "FAIL"
    assert "USER_RAISED_EXCEPTION" in end["run"]["facets"]["errorMessage"]["message"]


def test_failed_creation_of_a_table_has_no_output(observed, source):
    with pytest.raises((PySparkException, Py4JJavaError)):
        source.select(F.raise_error("n").cast("string").alias("n")).writeTo("lake.batch.t").create()
    (end,) = observed.ends()
    assert (end["eventType"], end["outputs"]) == ("FAIL", [])
    assert end["job"]["name"] == "tests.create_table_as_select.lake_batch_t"


def test_actions_and_noop_sinks_are_no_runs(observed, source):
    source.count()
    source.collect()
    source.write.format("noop").mode("overwrite").save()
    observed.spark.sql("CREATE TABLE lake.batch.t (k int) USING iceberg")
    assert observed.events() == []


def test_running_write_has_started_and_is_aborted_by_a_stop(observed, source, tmp_path):
    release = tmp_path / "release"

    def await_release(value):  # inside the test, as executors cannot import this module
        import threading as inner

        waiter = inner.Event()
        while not release.exists():
            waiter.wait(0.05)
        return value

    waits = F.udf(await_release, "int")
    writer = threading.Thread(
        target=lambda: source.select(waits("k").alias("k")).write.parquet(observed.path("slow")), daemon=True
    )
    writer.start()
    (start,) = observed.endpoint.wait_for_events(1)
    assert start["eventType"] == "START"
    assert columns(start)[0].keys() == {("k", "k")}
    observed.lineage.close()
    assert [event["eventType"] for event in observed.endpoint.taken] == ["START", "ABORT"]
    release.touch()
    writer.join(60)
    assert len(observed.endpoint.taken) == 2


def test_sink_without_a_name_is_said_to_be_unseen(observed, source, caplog):
    topics = source.selectExpr("n AS topic", "CAST(k AS string) AS value").write.format("kafka")
    with pytest.raises((PySparkException, Py4JJavaError)):
        topics.option("kafka.bootstrap.servers", "127.0.0.1:1").option("kafka.max.block.ms", "500").save()
    assert observed.events() == []
    assert "a write is not seen: Kafka topics that the rows name" in caplog.text


def test_kafka_and_jdbc_sinks_have_standard_names(observed, source):
    with pytest.raises((PySparkException, Py4JJavaError)):
        source.selectExpr("n AS value").write.format("kafka").option("kafka.bootstrap.servers", "127.0.0.1:1").option(
            "topic", "names"
        ).option("kafka.max.block.ms", "500").save()
    with pytest.raises((PySparkException, Py4JJavaError)):
        source.write.jdbc("jdbc:postgresql://127.0.0.1:1/shop", "orders", mode="append")
    kafka, jdbc = observed.ends()
    assert [(d["namespace"], d["name"]) for d in kafka["outputs"]] == [("kafka://127.0.0.1:1", "names")]
    assert [(d["namespace"], d["name"]) for d in jdbc["outputs"]] == [("postgres://127.0.0.1:1", "shop.public.orders")]
    assert {kafka["eventType"], jdbc["eventType"]} == {"FAIL"}


@pytest.mark.parametrize(
    "url",
    [
        "jdbc:other://me:hidden@127.0.0.1:1/shop",
        "jdbc:oracle:thin:me/hidden@127.0.0.1:1:shop",
        "jdbc:other://127.0.0.1:1;user=me;password=hidden",
    ],
)
def test_credentials_of_a_database_without_a_name_are_not_logged(observed, source, caplog, url):
    with pytest.raises((PySparkException, Py4JJavaError)):
        source.write.jdbc(url, "orders", mode="append")
    observed.events()
    assert "a write is not seen: a query, or an unknown database, behind jdbc:o" in caplog.text
    assert "hidden" not in caplog.text


def test_session_of_spark_connect_is_refused():
    class ConnectSession:
        """Has no JVM, as a session of Spark Connect."""

    with pytest.raises(TypeError, match="OpenLineage's agent on the server"):
        observe(ConnectSession(), "shop", "http://127.0.0.1:1")


def nulls_of(event):
    (written,) = event["outputs"]
    return written["outputFacets"].get("lineageLab_writtenNulls", {}).get("columns")


@pytest.mark.parametrize("seed", range(3))
def test_a_write_counts_the_nulls_that_it_has_added(observed, seed):
    """Also those of a second write, which are not added to those of the first one."""
    dice = random.Random(seed)
    table = "CREATE TABLE lake.batch.t (k int, n string, s struct<a: int>, l array<int>) USING iceberg"
    observed.spark.sql(table)
    frames = []
    for _ in range(2):
        rows = [(dice.choice([None, 1]), dice.choice([None, "x"]), (1,), [1]) for _ in range(dice.randint(1, 40))]
        schema = "k int, n string, s struct<a: int>, l array<int>"
        frames.append((rows, observed.spark.createDataFrame(rows, schema).repartition(3)))
        frames[-1][1].writeTo("lake.batch.t").append()
    for event, (rows, _) in zip(observed.ends(), frames, strict=True):
        (written,) = event["outputs"]
        assert conformance_errors(event) == []
        assert written["outputFacets"]["outputStatistics"]["rowCount"] == len(rows)
        expected = {name: sum(row[place] is None for row in rows) for place, name in enumerate("kn")}
        assert nulls_of(event) == expected, "nested columns have no metrics of their own"


def test_columns_without_metrics_have_no_count(observed, source):
    observed.spark.sql(
        "CREATE TABLE lake.batch.t (k int, n string) USING iceberg"
        " TBLPROPERTIES ('write.metadata.metrics.column.n' = 'none')"
    )
    source.select("k", "n").writeTo("lake.batch.t").append()
    (end,) = observed.ends()
    assert nulls_of(end) == {"k": 0}


def test_a_file_has_no_counts(observed, source):
    source.select("k").write.parquet(observed.path("target"))
    (end,) = observed.ends()
    assert nulls_of(end) is None


def test_rows_are_reported_where_nulls_cannot_be_read(observed, source, monkeypatch, caplog):
    def unreadable(*_):
        raise OSError("no such manifest")

    monkeypatch.setattr("lineagelab_spark.written_rows.null_counts", unreadable)
    observed.spark.sql("CREATE TABLE lake.batch.t (k int) USING iceberg")
    source.select("k").writeTo("lake.batch.t").append()
    (end,) = observed.ends()
    assert end["outputs"][0]["outputFacets"]["outputStatistics"]["rowCount"] == 2
    assert nulls_of(end) is None
    assert "cannot count the nulls written to lake.batch.t" in caplog.text
