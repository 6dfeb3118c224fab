# SPDX-License-Identifier: Apache-2.0
"""PyFlink programs on a real cluster: results, column lineage, savepoints, and programs that fail."""

import json
import shlex
import sys
from pathlib import Path

import pytest

from infra.services.flink.cluster import MODULE_OPTIONS
from infra.services.flink.jobs import PLANNER_COMPONENT
from infra.services.flink.settings import COMPONENT, PYTHON_ENVIRONMENT, TRANSPORT_COMPONENTS, python_jar
from infra.targets.local.site import LocalSite
from infra.toolchain import Artifacts
from infra.toolchain.progress import PlainProgress
from tests.flink.flink_cluster import JOBMANAGER, TASKMANAGER, FlinkCluster
from tests.flink.launched import until

KAFKA = "kafka://kafka:9092"

TABLES = """
import argparse

from pyflink.table import DataTypes, EnvironmentSettings, TableEnvironment
from pyflink.table.expressions import call, col
from pyflink.table.udf import udf

options = argparse.ArgumentParser()
options.add_argument("--topic")
options.add_argument("--bootstrap")
given = options.parse_args()


@udf(result_type=DataTypes.STRING())
def joined(one, other):
    return f"{one}-{other}"


@udf(result_type=DataTypes.BIGINT(), func_type="pandas")
def doubled(numbers):
    return numbers * 2


session = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
session.create_temporary_function("joined", joined)
session.create_temporary_function("doubled", doubled)
for name, topic, columns, more in (
    ("words", given.topic, "id BIGINT, word STRING, note STRING, score BIGINT",
     "'scan.startup.mode' = 'earliest-offset', 'properties.group.id' = 'words'"),
    ("results", f"{given.topic}_out", "id BIGINT, text STRING, twice BIGINT",
     f"'sink.delivery-guarantee' = 'exactly-once', 'sink.transactional-id-prefix' = '{given.topic}', "
     "'properties.transaction.timeout.ms' = '60000'"),
):
    session.execute_sql(
        f"CREATE TEMPORARY TABLE {name} ({columns}) WITH ('connector' = 'kafka', 'topic' = '{topic}', "
        f"'properties.bootstrap.servers' = '{given.bootstrap}', 'format' = 'json', {more})"
    )
words = session.from_path("words")
print("defined")
"""

QUERY = (
    'words.filter(col("score") > 0)'
    '.select(col("id"), call("joined", col("word"), col("note")), call("doubled", col("score")))'
)
SQL = "INSERT INTO results SELECT id, joined(word, note), doubled(score) FROM words WHERE score > 0"
INSERTS = {
    "execute_insert": f'{QUERY}.execute_insert("results")',
    "pipeline": f'{QUERY}.insert_into("results").execute()',
    "set": f'session.create_statement_set().add_insert("results", {QUERY}).execute()',
    "sql": f"session.execute_sql('{SQL}')",
}

STREAM = """
from pyflink.common import SimpleStringSchema, WatermarkStrategy
from pyflink.datastream import StreamExecutionEnvironment
from pyflink.datastream.connectors.kafka import (
    KafkaOffsetsInitializer, KafkaRecordSerializationSchema, KafkaSink, KafkaSource
)
import sys

bootstrap, topic = sys.argv[1:]
source = (KafkaSource.builder().set_bootstrap_servers(bootstrap).set_topics(topic).set_group_id("stream")
          .set_starting_offsets(KafkaOffsetsInitializer.earliest())
          .set_value_only_deserializer(SimpleStringSchema()).build())
serializer = (KafkaRecordSerializationSchema.builder().set_topic(f"{topic}_out")
              .set_value_serialization_schema(SimpleStringSchema()).build())
sink = KafkaSink.builder().set_bootstrap_servers(bootstrap).set_record_serializer(serializer).build()
environment = StreamExecutionEnvironment.get_execution_environment()
environment.from_source(source, WatermarkStrategy.no_watermarks(), "source").sink_to(sink)
environment.execute()
"""


@pytest.fixture(scope="module")
def interpreter():
    """Interpreter with PyFlink, which only labs with such programs install."""
    artifacts = Artifacts.open()
    artifacts.setup({PYTHON_ENVIRONMENT}, PlainProgress(sys.stderr))
    return str(artifacts.python(PYTHON_ENVIRONMENT))


@pytest.fixture(scope="module")
def jar(interpreter, tmp_path_factory):
    """Flink's Python jar."""
    return python_jar(
        LocalSite(root=tmp_path_factory.mktemp("site"), port_offset=0, endpoints={}, programs=Artifacts.open())
    )


@pytest.fixture(scope="module")
def flink(tmp_path_factory, ports, service, jar):
    """Cluster of a lab with PyFlink."""
    cluster = FlinkCluster.at(tmp_path_factory.mktemp("pyflink"), ports, service.url, jar)
    with cluster.running(JOBMANAGER, TASKMANAGER):
        yield cluster


@pytest.fixture
def jvm(jar):
    """Command of the JVM that runs a program."""
    components = map(Artifacts.open().component, (COMPONENT, PLANNER_COMPONENT, *TRANSPORT_COMPONENTS))
    path = ":".join((*(f"{folder}/lib/*" for folder in components), jar))
    return shlex.join(("java", "-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp", path, *MODULE_OPTIONS))


@pytest.fixture
def launch(tmp_path, launcher, interpreter, jvm, name):
    """Factory of launchers of programs."""

    def make(text, *arguments, options=(), another=None, **more):
        file = tmp_path / f"{another or name}.py"
        file.write_text(text)
        environment = {"FLINK_PYTHON": interpreter, "FLINK_PYTHON_GATEWAY": jvm, **more}
        return launcher("lineagelab_flink.launch_python", *options, str(file), *arguments, **environment)

    return make


@pytest.fixture
def words(broker, name):
    """Topic with words, with an empty topic for results."""
    broker.topic(name, f"{name}_out")
    produce(broker, name, range(10))
    return name


def produce(broker, topic, numbers):
    rows = ({"id": number, "word": f"w{number}", "note": f"n{number}", "score": number % 2} for number in numbers)
    broker.produce(topic, [json.dumps(row).encode() for row in rows])


def results(broker, topic):
    """Return all results, committed or not, in order of their ids."""
    found = [json.loads(value) for value in broker.values(f"{topic}_out") if value and value.startswith(b"{")]
    return sorted(found, key=lambda row: row["id"])


def expected(numbers):
    return [{"id": number, "text": f"w{number}-n{number}", "twice": 2} for number in numbers if number % 2]


def arguments(topic):
    return ("--topic", topic, "--bootstrap", "${KAFKA_BOOTSTRAP}")


def columns(reported):
    """Return output column -> its input columns with their kinds, of the job's last event; `None`: all columns."""
    facets = [event["outputs"][0]["facets"] for event in reported.events() if event["outputs"]]
    facet = next(found["columnLineage"] for found in reversed(facets) if "columnLineage" in found)
    sources = {None: facet["dataset"], **{column: field["inputFields"] for column, field in facet["fields"].items()}}
    return {
        column: {
            (source["field"], transformation["subtype"])
            for source in found
            for transformation in source["transformations"]
        }
        for column, found in sources.items()
    }


COLUMNS = {
    "id": {("id", "IDENTITY")},
    "text": {("word", "TRANSFORMATION"), ("note", "TRANSFORMATION")},
    "twice": {("score", "TRANSFORMATION")},
    None: {("score", "FILTER")},
}


@pytest.fixture(params=["session", "application"])
def mode(request, application_mode, jar):
    """Environment of a launcher for the cluster of its job."""
    return {} if request.param == "session" else {**application_mode(jar), "FLINK_OPT_DIR": str(Path(jar).parent)}


def test_a_program_with_python_functions_survives_a_savepoint(launch, words, broker, reported, mode):
    launched = launch(TABLES + INSERTS["execute_insert"], *arguments(words), **mode).start()
    until(lambda: results(broker, words) == expected(range(10)), "the results")
    until(lambda: reported.states() == ["RUNNING"] and reported.edges()["outputs"], "the run to be reported")
    assert columns(reported) == COLUMNS
    assert reported.edges() == {"inputs": [f"{KAFKA} {words}"], "outputs": [f"{KAFKA} {words}_out"]}
    assert launched.stop() == 0
    assert "savepoint" in launched.saved_state()["restore"]
    produce(broker, words, range(10, 20))

    launched.start()
    until(lambda: len(results(broker, words)) >= len(expected(range(20))), "the results after the savepoint")
    assert launched.stop() == 0
    assert results(broker, words) == expected(range(20)), "each once"
    runs = reported.await_states("ABORTED", "ABORTED")
    assert [reported.reports(run["id"]) for run in runs] == [(1, 1), (1, 1)]


@pytest.mark.parametrize("how", ["pipeline", "set", "sql"])
def test_each_way_to_submit_a_table_job_has_columns(launch, words, broker, reported, how):
    launched = launch(TABLES + INSERTS[how], *arguments(words)).start()
    until(lambda: results(broker, words) == expected(range(10)), "the results")
    until(lambda: reported.states() == ["RUNNING"] and reported.edges()["outputs"], "the run to be reported")
    assert columns(reported) == COLUMNS
    assert launched.stop() == 0


def test_programs_that_start_together_stay_apart(launch, broker, flink, tmp_path):
    topics = ("together", "apart")
    launchers = []
    for topic in topics:
        broker.topic(topic, f"{topic}_out")
        produce(broker, topic, range(10 if topic == "apart" else 20))
        files = {"FLINK_STATE": str(tmp_path / f"{topic}.json"), "LINEAGE_OPEN_RUNS": str(tmp_path / f"{topic}.runs")}
        launchers.append(launch(TABLES + INSERTS["sql"], *arguments(topic), another=topic, **files))
    for launched in launchers:
        launched.start()
    until(lambda: results(broker, "together") == expected(range(20)), "the results of one")
    until(lambda: results(broker, "apart") == expected(range(10)), "the results of the other")
    assert [len(flink.jobs(topic)) for topic in topics] == [1, 1]
    for launched in launchers:
        assert launched.stop() == 0


def test_python_functions_import_modules(launch, words, broker, tmp_path):
    helpers = tmp_path / "helpers.py"
    helpers.write_text('def together(one, other):\n    return f"{one}-{other}"\n')
    program = TABLES.replace("import argparse\n", "import argparse\n\nimport helpers\n").replace(
        'return f"{one}-{other}"', "return helpers.together(one, other)"
    )
    launched = launch(program + INSERTS["sql"], *arguments(words), options=("--module", str(helpers))).start()
    until(lambda: results(broker, words) == expected(range(10)), "the results")
    assert launched.stop() == 0


def test_a_program_brings_jars_of_its_own(launch, words, broker):
    jar = next((Artifacts.open().component(TRANSPORT_COMPONENTS[0]) / "lib").glob("*.jar")).as_uri()
    program = TABLES + f'session.get_config().set("pipeline.jars", "{jar}")\n' + INSERTS["execute_insert"]
    launched = launch(program, *arguments(words)).start()
    until(lambda: results(broker, words) == expected(range(10)), "the results")
    assert launched.stop() == 0


def test_a_program_that_waits_for_its_job_is_supervised(launch, words, broker, reported):
    launched = launch(TABLES + f"{INSERTS['execute_insert']}.wait()", *arguments(words)).start()
    until(lambda: results(broker, words) == expected(range(10)), "the results")
    until(lambda: reported.states() == ["RUNNING"], "the run to be reported")
    assert launched.stop() == 0


def test_a_program_without_a_job_is_no_run(launch, words, reported, flink, name):
    launched = launch(TABLES, *arguments(words)).start()
    until(lambda: f"{name}: the program submitted no job" in launched.log(), "the failed submission")
    until(lambda: f"{name}.py submitted no job" in launched.log(), "the missing lineage")
    assert launched.stop() == 0
    assert (flink.jobs(name), reported.runs()) == ([], [])


def test_a_bounded_program_completes(launch, words, broker, reported):
    bounded = TABLES.replace("in_streaming_mode", "in_batch_mode").replace(
        "'scan.startup.mode'", "'scan.bounded.mode' = 'latest-offset', 'scan.startup.mode'"
    )
    launched = launch(bounded + INSERTS["execute_insert"], *arguments(words)).start()
    assert launched.wait() == 0
    (run,) = reported.await_states("COMPLETED")
    assert results(broker, words) == expected(range(10))
    assert columns(reported) == COLUMNS
    assert reported.reports(run["id"]) == (1, 1)


def test_the_listener_reports_datasets_of_a_data_stream(launch, words, broker, reported):
    launched = launch(STREAM, broker.bootstrap, words, options=("--listener",)).start()
    until(lambda: len(results(broker, words)) == 10, "the records")
    until(lambda: reported.states() == ["RUNNING"], "the run to be reported")
    (run,) = reported.runs()
    until(lambda: reported.launcher_event_types(run["id"])["RUNNING"], "the launcher to report the run")
    reported.await_edges({"inputs": [f"{KAFKA} {words}"], "outputs": [f"{KAFKA} {words}_out"]})
    assert launched.stop() == 0


def test_a_data_stream_has_no_columns_and_says_why(launch, words, broker, reported):
    launched = launch(STREAM, broker.bootstrap, words).start()
    until(lambda: "the lineage of the job is not known: it is a job of the DataStream API" in launched.log(), "why")
    until(lambda: reported.states() == ["RUNNING"], "the run to be reported")
    assert launched.stop() == 0


def test_a_program_that_fails_is_no_run_and_says_where(launch, words, reported, flink, name):
    launched = launch(TABLES + 'raise ValueError("no such word")', *arguments(words)).start()
    until(lambda: "ValueError: no such word" in launched.log(), "the program's error")
    until(lambda: f"{name}: the program failed: ValueError: no such word" in launched.log(), "the failed submission")
    assert f"{name}.py" in launched.log()
    assert launched.stop() == 0
    assert (flink.jobs(name), reported.runs()) == ([], [])
