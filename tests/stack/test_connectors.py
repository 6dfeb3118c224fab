# SPDX-License-Identifier: Apache-2.0
"""Connectors and subjects as resources: real engine, worker, registry, database, object store and catalog."""

import json
import re

import boto3
import httpx
import psutil
import psycopg
import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from pyiceberg.catalog import load_catalog

from infra import credentials
from infra.errors import Interrupted, LabError
from infra.provider.kind import OperationContext, ServiceUnreachable
from infra.provider.kinds.connector import ConnectorKind
from infra.provider.kinds.subject import SubjectKind
from infra.services.connect import connectors
from infra.toolchain import Artifacts
from tests.stack.partial_lab import PartialLab
from tests.stack.polling import until

pytestmark = [
    pytest.mark.stack,
    pytest.mark.slow,
    pytest.mark.skipif(not Artifacts.open().has("postgres"), reason="no Postgres is pinned for this platform"),
]

KIND = ConnectorKind()
CONNECTORS = ("orders_source", "orders_lake", "orders_archive")
SINK = {
    "connector.class": "FileStreamSink",
    "tasks.max": "1",
    "topics": "orders",
    "value.converter": "org.apache.kafka.connect.converters.ByteArrayConverter",
}


class Pipeline(PartialLab):
    """Postgres, capture, topics and lake, and the worker with the connectors of the tests."""

    def query_database(self, statement, *values):
        with psycopg.connect(
            host="127.0.0.1",
            port=5432 + self.offset,
            user="postgres",
            password=self.secret(credentials.POSTGRES_PASSWORD),
            dbname="shop",
            autocommit=True,
        ) as connection:
            cursor = connection.execute(statement, values)
            return cursor.fetchall() if cursor.description else []

    def insert_order(self, key, **more):
        columns = {"order_id": key, "item": "chair", "price": "12.50", "supplier": "s"} | more
        names, marks = ", ".join(columns), ", ".join(["%s"] * len(columns))
        self.query_database(
            f"INSERT INTO orders ({names}, bid_time) VALUES ({marks}, '2026-01-02 03:04:05.678')", *columns.values()
        )

    def records(self, topic):
        """Return every committed record of a topic."""
        settings = {"bootstrap.servers": self.address(9092), "group.id": "test", "isolation.level": "read_committed"}
        consumer = Consumer(settings | {"enable.partition.eof": True})
        found, ends = [], 0
        try:
            partitions = [TopicPartition(topic, n, 0) for n in consumer.list_topics(topic, 10).topics[topic].partitions]
            consumer.assign(partitions)
            while ends < len(partitions):
                record = consumer.poll(10)
                assert record is not None, f"topic {topic}: end not reached"
                if record.error():
                    ends += 1
                else:
                    found.append(record)
        finally:
            consumer.close()
        return found

    def dead_letters(self, sink):
        """Return value and headers of each record in the dead letter topic of a sink."""
        records = self.records(connectors.dead_letter_topic(sink))
        return [
            (record.value(), {name: value.decode(errors="replace") for name, value in record.headers()})
            for record in records
        ]

    def produce(self, topic, value):
        producer = Producer({"bootstrap.servers": self.address(9092)})
        producer.produce(topic, value, key=b"poison")
        assert producer.flush(20) == 0

    def lake(self, table):
        """Return the rows of a table; None if the table does not exist."""
        catalog = load_catalog(
            "lake",
            **{
                "type": "rest",
                "uri": f"http://{self.address(8181)}",
                "s3.endpoint": f"http://{self.address(9000)}",
                "s3.access-key-id": self.secret(credentials.S3_ACCESS_KEY),
                "s3.secret-access-key": self.secret(credentials.S3_SECRET_KEY),
                "s3.region": credentials.S3_REGION,
            },
        )
        return catalog.load_table(table).scan().to_arrow() if catalog.table_exists(table) else None

    def archived(self, topic):
        """Return every line of a topic's objects."""
        store = boto3.client(
            "s3",
            endpoint_url=f"http://{self.address(9000)}",
            aws_access_key_id=self.secret(credentials.S3_ACCESS_KEY),
            aws_secret_access_key=self.secret(credentials.S3_SECRET_KEY),
            region_name=credentials.S3_REGION,
        )
        pages = store.get_paginator("list_objects_v2").paginate(Bucket="archive", Prefix=f"topics/{topic}/")
        keys = [item["Key"] for page in pages for item in page.get("Contents", []) if "/_log/" not in item["Key"]]
        texts = [store.get_object(Bucket="archive", Key=key)["Body"].read().decode() for key in keys]
        return [json.loads(line) for text in texts for line in text.splitlines()]

    def rest(self, method, path, **more):
        return httpx.request(
            method, f"http://{self.address(8083)}/connectors{path}", timeout=60, trust_env=False, **more
        )

    def state(self, name):
        status = self.rest("GET", f"/{name}/status").json()
        return [status["connector"]["state"], *(task["state"] for task in status.get("tasks", []))]

    def versions(self, subject):
        registry = f"http://{self.address(8081)}/apis/ccompat/v7"
        answer = httpx.get(f"{registry}/subjects/{subject}/versions", trust_env=False)
        return answer.json() if answer.is_success else []


def unchanged(result):
    return result.status == 0 and not any(w in result.text for w in (" created", " updated", " replaced", " deleted"))


@pytest.fixture(scope="module")
def lab(tmp_path_factory, free_offset):
    folder = tmp_path_factory.mktemp("connectors") / "one"
    keys = [*(f"connector/{name}" for name in CONNECTORS), "bucket/warehouse", "lineage"]
    running = Pipeline(folder, free_offset + 6, keys)
    try:
        first = running.up()
        assert first.status == 0, first.text
        yield running
        gone = running.engine.pulumi("destroy", "--yes", "--skip-preview")
        assert gone.status == 0, gone.text
        assert not running.root.exists()
    finally:
        running.supervisor.shut_down()


@pytest.fixture
def connector_inputs(lab):
    """Return a function that makes the inputs of a connector; the connector is deleted after the test."""
    made = []

    def make(name="own", **config):
        template = lab.resources["connector/orders_lake"].inputs
        inputs = template.model_copy(update={"name": name, "config": config or SINK})
        made.append(inputs)
        return inputs

    yield make
    for inputs in made:
        KIND.delete(inputs, OperationContext())


def test_rows_reach_topic_and_lake_and_a_second_update_changes_nothing(lab):
    for number in range(20):
        lab.insert_order(f"o{number}")
    assert until(lambda: (rows := lab.lake("raw.orders")) is not None and rows.num_rows == 20)
    records = lab.records("orders")
    assert sorted(record.key().decode() for record in records) == sorted(f"o{number}" for number in range(20))
    assert all(record.value()[0] == 0 for record in records)
    rows = lab.lake("raw.orders").to_pylist()
    assert {(row["kafka_topic"], row["kafka_partition"], row["kafka_offset"]) for row in rows} == {
        (record.topic(), record.partition(), record.offset()) for record in records
    }
    assert rows[0]["bid_time"].isoformat() == "2026-01-02T03:04:05.678000+00:00"
    assert until(lambda: len(lab.archived("orders")) == 20)
    assert {line["order_id"] for line in lab.archived("orders")} == {row["order_id"] for row in rows}
    assert lab.versions("orders-value") == [1], "capture registers another schema than the declared one"
    assert unchanged(lab.up("--refresh"))


def test_column_added_at_run_time_reaches_every_store_without_drift(lab):
    lab.query_database("ALTER TABLE orders ADD COLUMN currency text")
    lab.insert_order("with-currency", currency="EUR")
    assert until(lambda: lab.lake("raw.orders").num_rows == 21)
    assert [row["currency"] for row in lab.lake("raw.orders").to_pylist() if row["currency"]] == ["EUR"]
    assert until(lambda: [line for line in lab.archived("orders") if line.get("currency") == "EUR"])
    assert lab.versions("orders-value") == [1, 2]
    assert unchanged(lab.up("--refresh"))


def test_state_and_worker_contain_no_secret(lab):
    shown = lab.engine.pulumi("stack", "export", "--show-secrets").text
    shown += lab.rest("GET", "?expand=info&expand=status").text
    assert shown.count("${env:S3_SECRET_KEY}") >= 2, "state and worker show the reference"
    for name in credentials.NAMES:
        assert lab.secret(name) not in shown


def test_refresh_and_up_revert_manual_changes(lab):
    lake = lab.resources["connector/orders_lake"].inputs
    by_hand = {"iceberg.control.commit.interval-ms": "77", "iceberg.catalog.s3.secret-access-key": "hunter2"}
    lab.rest("PUT", "/orders_lake/stop")
    lab.rest("PUT", "/orders_lake/config", json=lake.config | by_hand)
    lab.rest("PUT", "/orders_source/pause")
    assert until(lambda: lab.state("orders_source") == ["PAUSED", "PAUSED"])
    found = KIND.read(lake, OperationContext()).inputs
    assert found.state == "STOPPED"
    assert [found.config[option] for option in by_hand] == ["77", "(hidden)"]
    healed = lab.up("--refresh")
    assert healed.status == 0, healed.text
    assert "hunter2" not in lab.engine.pulumi("stack", "export").text
    assert KIND.read(lake, OperationContext()).inputs == lake
    assert lab.state("orders_source") == ["RUNNING", "RUNNING"]

    lab.rest("DELETE", "/orders_lake")
    healed = lab.up("--refresh")
    assert healed.status == 0, healed.text
    lab.insert_order("after-the-repair")
    assert until(lambda: "after-the-repair" in lab.lake("raw.orders")["order_id"].to_pylist())
    keys = lab.lake("raw.orders")["order_id"].to_pylist()
    assert len(keys) == len(set(keys)) == len(lab.records("orders"))


def test_failed_task_is_drift_and_is_restarted(lab, connector_inputs, tmp_path):
    folder = tmp_path / "out"
    folder.mkdir()
    inputs = connector_inputs(**SINK, file=str(folder / "orders.txt"))
    KIND.create(inputs, OperationContext())
    folder.rename(tmp_path / "moved")
    lab.rest("POST", "/own/tasks/0/restart")
    assert until(lambda: lab.state("own") == ["RUNNING", "FAILED"])
    found = KIND.read(inputs, OperationContext()).inputs
    assert found.state == "FAILED"
    with pytest.raises(LabError, match=r"connector own failed:\n  task 0: .*Couldn't find or create file"):
        KIND.update(found, inputs, OperationContext())
    folder.mkdir()
    KIND.update(found, inputs, OperationContext())
    assert lab.state("own") == ["RUNNING", "RUNNING"]


def test_connector_that_fails_at_start_reports_the_cause_and_is_removed(lab, connector_inputs, tmp_path):
    reports = []
    with pytest.raises(LabError, match="connector own failed:\n  task 0: ") as failed:
        KIND.create(
            connector_inputs(**SINK, file=str(tmp_path / "nowhere" / "x")), OperationContext(report=reports.append)
        )
    assert "caused by NoSuchFileException" in str(failed.value)
    assert "\tat " not in str(failed.value)
    assert any(line.startswith("failed: connector RUNNING, task 0 FAILED") for line in reports)
    assert lab.rest("GET", "/own").status_code == 404


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"s3.bucket.name": "nowhere"}, r"nowhere"),
        ({"aws.secret.access.key": "${env:POSTGRES_PASSWORD}"}, r"aws\.secret\.access\.key|signature|credentials"),
        ({"format.class": "ParquetFormat"}, r"format\.class: "),
    ],
)
def test_sink_without_access_to_its_store_reports_the_cause(lab, connector_inputs, changes, message):
    config = lab.resources["connector/orders_archive"].inputs.config | changes
    with pytest.raises(LabError, match=rf"(?is)^(could not deploy connector own|connector own failed).*({message})"):
        KIND.create(connector_inputs(**config), OperationContext())
    assert lab.rest("GET", "/own").status_code == 404


def source(lab, **changes):
    return (
        lab.resources["connector/orders_source"].inputs.config
        | {"slot.name": "own", "publication.name": "own"}
        | changes
    )


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"connector.class": "io.debezium.connector.PostgresConnector"},
            "is not installed in this worker; did you mean io.debezium.connector.postgresql.PostgresConnector?",
        ),
        ({"tasks.max": "many"}, "tasks.max: Invalid value many for configuration tasks.max: Not a number"),
        (
            {"database.port": "1"},
            "database.hostname: Error while validating connector config: Connection to 127.0.0.1:1",
        ),
        (
            {"database.password": "${env:S3_SECRET_KEY}"},
            "database.hostname: Error while validating connector config: FATAL: password authentication failed",
        ),
        ({"database.password": "hunter2"}, "database.password: is a secret in plaintext"),
        ({"transforms.row.type": "no.Such"}, "transforms.row.type: Invalid value no.Such"),
        ({"value.converter": "no.Such"}, "value.converter: Invalid value no.Such"),
        ({"databse.hostname": "x"}, "databse.hostname: unknown connector option"),
    ],
)
def test_invalid_options_are_named_before_any_change(lab, connector_inputs, changes, message):
    config = source(lab, **changes)
    if "databse.hostname" in config:
        del config["database.hostname"]
    with pytest.raises(LabError) as refused:
        KIND.create(connector_inputs(**config), OperationContext())
    assert str(refused.value).startswith(f"could not deploy connector own at http://{lab.address(8083)}: ")
    assert message in str(refused.value)
    assert lab.rest("GET", "/own").status_code == 404


def test_preview_shows_errors_of_a_user_connector_file(lab):
    before = lab.engine.wanted
    try:
        lab.engine.wanted = before | {
            "keys": [*before["keys"], "connector/own"],
            "connector_files": {"own.json": json.dumps(SINK | {"file": "/nowhere/x", "topics": "@{topic.orders}"})},
        }
        failed = lab.up()
        assert failed.status != 0
        assert "connector own failed:" in failed.text
        assert "NoSuchFileException" in failed.text
        lab.engine.wanted["connector_files"]["own.json"] = "{"
        failed = lab.up()
        assert "jobs/connect/own.json: line 1, column 2: invalid JSON" in failed.text
    finally:
        lab.engine.wanted = before


def test_user_connector_file_is_deployed_updated_and_removed(lab, tmp_path):
    before = lab.engine.wanted
    try:
        for name in ("first", "second"):
            options = SINK | {"file": str(tmp_path / name), "topics": "@{topic.orders}"}
            lab.engine.wanted = before | {
                "keys": [*before["keys"], "connector/own"],
                "connector_files": {"own.json": json.dumps(options)},
            }
            done = lab.up()
            assert done.status == 0, done.text
            assert (tmp_path / name).exists()
    finally:
        lab.engine.wanted = before
    assert lab.up().status == 0
    assert lab.rest("GET", "/own").status_code == 404


def test_schema_rejected_by_the_registry_fails_the_source_with_the_field_name(lab, connector_inputs):
    lab.query_database("CREATE TABLE refused (id text PRIMARY KEY, n integer)")
    changes = {"table.include.list": "public.refused", "transforms.key.field": "id", "topic.prefix": "own"}
    changes |= {"transforms.topic.regex": r"own\.public\.(.*)"}
    changes |= {"topic.creation.default.partitions": "1", "topic.creation.default.replication.factor": "1"}
    inputs = connector_inputs(**source(lab, **changes))
    KIND.create(inputs, OperationContext())
    try:
        lab.query_database("INSERT INTO refused VALUES ('a', 1)")
        assert until(lambda: lab.versions("refused-value") == [1])
        lab.query_database("ALTER TABLE refused ALTER COLUMN n TYPE text")
        lab.query_database("INSERT INTO refused VALUES ('b', 'x')")
        assert until(lambda: "FAILED" in lab.state("own"))
        found = KIND.read(inputs, OperationContext()).inputs
        assert found.state == "FAILED"
        with pytest.raises(LabError, match=r"Incompatible artifact: refused-value .*\(field n\)"):
            KIND.update(found, inputs, OperationContext())
    finally:
        KIND.delete(inputs, OperationContext())
        slot = "SELECT count(*) FROM pg_replication_slots WHERE slot_name = 'own' AND NOT active"
        assert until(lambda: lab.query_database(slot) == [(1,)])
        lab.query_database("SELECT pg_drop_replication_slot('own')")
        lab.query_database("DROP PUBLICATION own")
        lab.query_database("DROP TABLE refused")


def test_registry_outage_delays_records_without_dead_letters(lab):
    waiting = ("orders_lake", "orders_archive")
    before, after = "before-the-outage", "during-the-outage"
    lab.insert_order(before)
    assert until(lambda: before in lab.lake("raw.orders")["order_id"].to_pylist()), "first order not in the lake"
    log = lab.supervisor.log_path("connect")
    log_length = len(log.read_text(errors="replace"))
    lab.supervisor.stop("schema_registry")
    try:
        for name in waiting:
            # A restarted task has no schema in its cache.
            assert lab.rest("POST", f"/{name}/restart?includeTasks=true").is_success
        lab.insert_order(after)
        for name in waiting:
            line = rf"\[{name}\|task-\d+\] Requesting .* from the schema registry at http://{re.escape(lab.address(8081))}/"
            assert until(lambda line=line: re.search(line, log.read_text(errors="replace")[log_length:])), (
                f"{name}: no registry request"
            )
        assert all(set(lab.state(name)) == {"RUNNING"} for name in CONNECTORS)
    finally:
        lab.supervisor.run("schema_registry")
    assert until(lambda: lab.lake("raw.orders")["order_id"].to_pylist().count(after) == 1)
    assert until(lambda: [line["order_id"] for line in lab.archived("orders")].count(after) == 1)
    for sink in waiting:
        # A worker that has briefly lost its group membership stops its tasks; Connect then reports the record that a
        # task waited with, and reads it again.
        reasons = [headers["__connect.errors.exception.class.name"] for _, headers in lab.dead_letters(sink)]
        assert set(reasons) <= {"org.apache.kafka.connect.errors.RetriableException"}, lab.dead_letters(sink)
    assert all(set(lab.state(name)) == {"RUNNING"} for name in CONNECTORS)


def test_undecodable_record_goes_to_the_dead_letter_topic_with_the_reason(lab):
    poison = b"\x00\x00\x00\xff\xff no such schema"
    lab.produce("orders", poison)

    def found():
        return [headers for value, headers in lab.dead_letters("orders_lake") if value == poison]

    assert until(found)
    (headers,) = found()
    assert headers["__connect.errors.topic"] == "orders"
    assert headers["__connect.errors.stage"] == "VALUE_CONVERTER"
    assert lab.state("orders_lake") == ["RUNNING", "RUNNING"]


def test_create_waits_for_a_killed_worker(lab, connector_inputs, tmp_path):
    inputs = connector_inputs(**SINK, file=str(tmp_path / "first"))
    KIND.create(inputs, OperationContext())
    psutil.Process(lab.supervisor.state("connect").pid).kill()
    changed = connector_inputs(**SINK, file=str(tmp_path / "second"))
    KIND.update(inputs, changed, OperationContext())
    assert KIND.read(changed, OperationContext()).inputs == changed
    assert (tmp_path / "second").exists()


def test_interrupt_removes_a_partly_created_connector(lab, connector_inputs, tmp_path):
    call = OperationContext()

    def interrupt(line):
        if line.startswith("waiting"):
            call.stopped.set()

    inputs = connector_inputs(**SINK, file=str(tmp_path / "x"))
    with pytest.raises(Interrupted):
        KIND.create(inputs, OperationContext(call.stopped, interrupt))
    assert lab.rest("GET", "/own").status_code == 404


def test_worker_of_another_cluster_is_not_touched_and_a_missing_worker_is_reported(lab, connector_inputs, free_port):
    inputs = lab.resources["connector/orders_lake"].inputs
    foreign = inputs.model_copy(update={"cluster": "another"})
    away = inputs.model_copy(update={"worker": f"http://127.0.0.1:{free_port}"})
    assert KIND.read(foreign, OperationContext()) is None
    KIND.delete(foreign, OperationContext())
    for operation in (KIND.read, KIND.delete):
        with pytest.raises(ServiceUnreachable, match=r"connector orders_lake .*: nothing responds"):
            operation(away, OperationContext())
    with pytest.raises(LabError, match="the worker belongs to another lab"):
        KIND.create(foreign, OperationContext())
    assert KIND.read(inputs, OperationContext()).inputs == inputs


@pytest.fixture
def subject(lab):
    """Return a function that makes the inputs of a test subject."""
    made = []

    def make(*fields, compatibility="BACKWARD", name="own-value"):
        schema = {"type": "record", "name": "V", "fields": [{"name": f, "type": t} | d for f, t, d in fields]}
        template = lab.resources["subject/orders-value"].inputs.properties()
        inputs = SubjectKind.inputs(
            **template | {"name": name, "avro": json.dumps(schema, indent=1), "compatibility": compatibility}
        )
        made.append(inputs)
        return inputs

    yield make
    for inputs in made:
        SubjectKind().delete(inputs, OperationContext())


ID = ("id", "string", {})


def test_subject_is_created_adopted_extended_and_permanently_deleted(lab, subject):
    first = subject(ID)
    kind = SubjectKind()
    assert kind.read(first, OperationContext()) is None
    outputs = kind.create(first, OperationContext())
    assert outputs["version"] == 1
    assert kind.create(first, OperationContext()) == outputs
    found = kind.read(first, OperationContext())
    assert (found.inputs, found.outputs) == (first, outputs)
    second = subject(ID, ("n", ["null", "int"], {"default": None}))
    assert kind.update(first, second, OperationContext())["version"] == 2
    assert kind.read(first, OperationContext()).inputs == first, "an additional version is not drift"
    kind.delete(second, OperationContext())
    kind.delete(second, OperationContext())
    assert lab.versions("own-value") == []
    assert kind.read(second, OperationContext()) is None


def test_incompatible_schema_is_rejected_with_the_field_name_and_changes_nothing(lab, subject):
    first = subject(ID, ("price", "string", {}))
    kind = SubjectKind()
    kind.create(first, OperationContext())
    retyped = subject(ID, ("price", "int", {}), compatibility="FULL")
    with pytest.raises(LabError, match=r"incompatible \(FULL\) with the registered versions.* \(field price\)"):
        kind.update(first, retyped, OperationContext())
    with pytest.raises(LabError, match=r"\(field must\)\]\. Give a new field a default"):
        kind.update(first, subject(ID, ("price", "string", {}), ("must", "string", {})), OperationContext())
    assert kind.read(first, OperationContext()).inputs == first
    assert lab.versions("own-value") == [1]


def test_missing_compatibility_level_or_version_is_drift(lab, subject):
    first, other = subject(ID), subject(("x", "string", {"default": ""}))
    kind = SubjectKind()
    kind.create(first, OperationContext())
    httpx.put(f"{first.registry}/config/own-value", json={"compatibility": "NONE"}, trust_env=False)
    assert kind.read(first, OperationContext()).inputs.compatibility == "NONE"
    httpx.delete(f"{first.registry}/subjects/own-value", trust_env=False)
    assert kind.read(first, OperationContext()) is None
    kind.create(other, OperationContext())
    assert kind.read(first, OperationContext()).inputs.avro == other.avro
    kind.update(
        kind.read(first, OperationContext()).inputs,
        first.model_copy(update={"compatibility": "NONE"}),
        OperationContext(),
    )
    assert kind.read(first, OperationContext()).inputs.avro == first.avro


def test_invalid_schema_and_unavailable_registry_are_distinct_errors(lab, subject, free_port):
    template = subject(ID).properties()
    unknown = '{"type": "record", "name": "V", "fields": [{"name": "x", "type": "strin"}]}'
    for text, message in (("{", "invalid Avro schema"), ("7", "invalid Avro schema"), (unknown, "strin")):
        with pytest.raises(ValueError, match=message):
            SubjectKind.inputs(**template | {"avro": text})
    away = subject(ID).model_copy(update={"registry": f"http://127.0.0.1:{free_port}"})
    for operation in (SubjectKind().read, SubjectKind().delete):
        with pytest.raises(ServiceUnreachable):
            operation(away, OperationContext())
    with pytest.raises(LabError, match=r"could not register subject own-value .* the registry does not respond"):
        SubjectKind().create(away, OperationContext())
