# SPDX-License-Identifier: Apache-2.0
"""Connectors and subjects as resources: the real engine, a real worker, registry, database, store and catalog."""

import json
import re
import threading
import time

import boto3
import httpx
import psutil
import psycopg
import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from pyiceberg.catalog import load_catalog

from infra import credentials
from infra.errors import Interrupted, LabError
from infra.provider.kind import Call
from infra.provider.kinds.connector import ConnectorKind
from infra.provider.kinds.subject import SubjectKind
from infra.services.connect import connectors
from infra.toolchain import Artifacts
from tests.stack.part_of_lab import PartOfLab

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


class Pipeline(PartOfLab):
    """Postgres, capture, topics and lake, and the worker with whatever tests put into it."""

    def ask(self, statement, *values):
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

    def order(self, key, **more):
        columns = {"order_id": key, "item": "chair", "price": "12.50", "supplier": "s"} | more
        names, marks = ", ".join(columns), ", ".join(["%s"] * len(columns))
        self.ask(
            f"INSERT INTO orders ({names}, bid_time) VALUES ({marks}, '2026-01-02 03:04:05.678')", *columns.values()
        )

    def records(self, topic):
        """Every committed record of a topic."""
        settings = {"bootstrap.servers": self.address(9092), "group.id": "test", "isolation.level": "read_committed"}
        consumer = Consumer(settings | {"enable.partition.eof": True})
        found, ends = [], 0
        try:
            partitions = [TopicPartition(topic, n, 0) for n in consumer.list_topics(topic, 10).topics[topic].partitions]
            consumer.assign(partitions)
            while ends < len(partitions):
                record = consumer.poll(10)
                assert record is not None, f"topic {topic} does not end"
                if record.error():
                    ends += 1
                else:
                    found.append(record)
        finally:
            consumer.close()
        return found

    def dead_letters(self, sink):
        """Value and headers of each record that a sink could not take."""
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
        """A table's rows; None where there is no table yet."""
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
        """Every line of a topic's objects."""
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


def until(true, seconds=60):
    """Waits until something holds; says whether it ever did."""
    waiter = threading.Event()
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if true():
            return True
        waiter.wait(0.2)
    return False


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
def wanted(lab):
    """Inputs of a connector that the test may make; it is gone afterwards."""
    made = []

    def make(name="own", **config):
        likeness = lab.resources["connector/orders_lake"].inputs
        inputs = likeness.model_copy(update={"name": name, "config": config or SINK})
        made.append(inputs)
        return inputs

    yield make
    for inputs in made:
        KIND.delete(inputs, Call())


def test_rows_flow_into_topic_and_lake_and_a_second_update_changes_nothing(lab):
    for number in range(20):
        lab.order(f"o{number}")
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
    assert lab.versions("orders-value") == [1], "what capture registers is not what was declared"
    assert unchanged(lab.up("--refresh"))


def test_a_column_that_is_added_while_all_runs_arrives_everywhere_and_is_no_drift(lab):
    lab.ask("ALTER TABLE orders ADD COLUMN currency text")
    lab.order("with-currency", currency="EUR")
    assert until(lambda: lab.lake("raw.orders").num_rows == 21)
    assert [row["currency"] for row in lab.lake("raw.orders").to_pylist() if row["currency"]] == ["EUR"]
    assert until(lambda: [line for line in lab.archived("orders") if line.get("currency") == "EUR"])
    assert lab.versions("orders-value") == [1, 2]
    assert unchanged(lab.up("--refresh"))


def test_no_secret_is_in_the_state_or_in_the_worker(lab):
    shown = lab.engine.pulumi("stack", "export", "--show-secrets").text
    shown += lab.rest("GET", "?expand=info&expand=status").text
    assert shown.count("${env:S3_SECRET_KEY}") >= 2, "state and worker show the reference"
    for name in credentials.NAMES:
        assert lab.secret(name) not in shown


def test_what_was_done_by_hand_is_undone_by_a_refresh(lab):
    lake = lab.resources["connector/orders_lake"].inputs
    by_hand = {"iceberg.control.commit.interval-ms": "77", "iceberg.catalog.s3.secret-access-key": "hunter2"}
    lab.rest("PUT", "/orders_lake/stop")
    lab.rest("PUT", "/orders_lake/config", json=lake.config | by_hand)
    lab.rest("PUT", "/orders_source/pause")
    assert until(lambda: lab.state("orders_source") == ["PAUSED", "PAUSED"])
    found = KIND.read(lake, Call()).inputs
    assert found.state == "STOPPED"
    assert [found.config[option] for option in by_hand] == ["77", "(hidden)"]
    healed = lab.up("--refresh")
    assert healed.status == 0, healed.text
    assert "hunter2" not in lab.engine.pulumi("stack", "export").text
    assert KIND.read(lake, Call()).inputs == lake
    assert lab.state("orders_source") == ["RUNNING", "RUNNING"]

    lab.rest("DELETE", "/orders_lake")
    healed = lab.up("--refresh")
    assert healed.status == 0, healed.text
    lab.order("after-the-repair")
    assert until(lambda: "after-the-repair" in lab.lake("raw.orders")["order_id"].to_pylist())
    keys = lab.lake("raw.orders")["order_id"].to_pylist()
    assert len(keys) == len(set(keys)) == len(lab.records("orders"))


def test_a_failed_task_is_drift_and_is_started_again(lab, wanted, tmp_path):
    folder = tmp_path / "out"
    folder.mkdir()
    inputs = wanted(**SINK, file=str(folder / "orders.txt"))
    KIND.create(inputs, Call())
    folder.rename(tmp_path / "moved")
    lab.rest("POST", "/own/tasks/0/restart")
    assert until(lambda: lab.state("own") == ["RUNNING", "FAILED"])
    found = KIND.read(inputs, Call()).inputs
    assert found.state == "FAILED"
    with pytest.raises(LabError, match=r"connector own failed:\n  task 0: .*Couldn't find or create file"):
        KIND.update(found, inputs, Call())
    folder.mkdir()
    KIND.update(found, inputs, Call())
    assert lab.state("own") == ["RUNNING", "RUNNING"]


def test_a_connector_that_fails_at_once_shows_why_and_is_not_left_behind(lab, wanted, tmp_path):
    said = []
    with pytest.raises(LabError, match="connector own failed:\n  task 0: ") as failed:
        KIND.create(wanted(**SINK, file=str(tmp_path / "nowhere" / "x")), Call(report=said.append))
    assert "caused by NoSuchFileException" in str(failed.value)
    assert "\tat " not in str(failed.value)
    assert any(line.startswith("failed: connector RUNNING, task 0 FAILED") for line in said)
    assert lab.rest("GET", "/own").status_code == 404


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"s3.bucket.name": "nowhere"}, r"nowhere"),
        ({"aws.secret.access.key": "${env:POSTGRES_PASSWORD}"}, r"aws\.secret\.access\.key|signature|credentials"),
        ({"format.class": "ParquetFormat"}, r"format\.class: "),
    ],
)
def test_a_store_that_does_not_take_what_is_archived_is_said(lab, wanted, changes, said):
    config = lab.resources["connector/orders_archive"].inputs.config | changes
    with pytest.raises(LabError, match=rf"(?is)^(could not deploy connector own|connector own failed).*({said})"):
        KIND.create(wanted(**config), Call())
    assert lab.rest("GET", "/own").status_code == 404


def source(lab, **changes):
    return (
        lab.resources["connector/orders_source"].inputs.config
        | {"slot.name": "own", "publication.name": "own"}
        | changes
    )


@pytest.mark.parametrize(
    ("changes", "said"),
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
def test_wrong_options_are_named_before_anything_is_changed(lab, wanted, changes, said):
    config = source(lab, **changes)
    if "databse.hostname" in config:
        del config["database.hostname"]
    with pytest.raises(LabError) as refused:
        KIND.create(wanted(**config), Call())
    assert str(refused.value).startswith(f"could not deploy connector own at http://{lab.address(8083)}: ")
    assert said in str(refused.value)
    assert lab.rest("GET", "/own").status_code == 404


def test_the_engine_shows_what_is_wrong_with_a_file_of_the_users(lab):
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


def test_a_users_file_is_deployed_changed_and_taken_away(lab, tmp_path):
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


def test_a_schema_that_the_registry_refuses_fails_the_source_and_the_field_is_named(lab, wanted):
    lab.ask("CREATE TABLE refused (id text PRIMARY KEY, n integer)")
    changes = {"table.include.list": "public.refused", "transforms.key.field": "id", "topic.prefix": "own"}
    changes |= {"transforms.topic.regex": r"own\.public\.(.*)"}
    changes |= {"topic.creation.default.partitions": "1", "topic.creation.default.replication.factor": "1"}
    inputs = wanted(**source(lab, **changes))
    KIND.create(inputs, Call())
    try:
        lab.ask("INSERT INTO refused VALUES ('a', 1)")
        assert until(lambda: lab.versions("refused-value") == [1])
        lab.ask("ALTER TABLE refused ALTER COLUMN n TYPE text")
        lab.ask("INSERT INTO refused VALUES ('b', 'x')")
        assert until(lambda: "FAILED" in lab.state("own"))
        found = KIND.read(inputs, Call()).inputs
        assert found.state == "FAILED"
        with pytest.raises(LabError, match=r"Incompatible artifact: refused-value .*\(field n\)"):
            KIND.update(found, inputs, Call())
    finally:
        KIND.delete(inputs, Call())
        slot = "SELECT count(*) FROM pg_replication_slots WHERE slot_name = 'own' AND NOT active"
        assert until(lambda: lab.ask(slot) == [(1,)])
        lab.ask("SELECT pg_drop_replication_slot('own')")
        lab.ask("DROP PUBLICATION own")
        lab.ask("DROP TABLE refused")


def test_a_registry_that_is_away_is_waited_for_and_no_good_record_becomes_a_dead_letter(lab):
    waiting = ("orders_lake", "orders_archive")
    before, after = "before-the-outage", "during-the-outage"
    lab.order(before)
    assert until(lambda: before in lab.lake("raw.orders")["order_id"].to_pylist()), "the source knows no schema"
    log = lab.supervisor.log_of("connect")
    said = len(log.read_text(errors="replace"))
    lab.supervisor.stop("schema_registry")
    try:
        for name in waiting:
            # A new task knows no schema.
            assert lab.rest("POST", f"/{name}/restart?includeTasks=true").is_success
        lab.order(after)
        for name in waiting:
            line = rf"\[{name}\|task-\d+\] Requesting .* from the schema registry at http://{re.escape(lab.address(8081))}/"
            assert until(lambda line=line: re.search(line, log.read_text(errors="replace")[said:])), f"{name} asks not"
        assert all(set(lab.state(name)) == {"RUNNING"} for name in CONNECTORS)
    finally:
        lab.supervisor.run("schema_registry")
    assert until(lambda: lab.lake("raw.orders")["order_id"].to_pylist().count(after) == 1)
    assert until(lambda: [line["order_id"] for line in lab.archived("orders")].count(after) == 1)
    for sink in waiting:
        # A worker that has lost its group for a moment stops its tasks; Connect reports the record that one waited
        # with, and reads it again.
        reasons = [headers["__connect.errors.exception.class.name"] for _, headers in lab.dead_letters(sink)]
        assert set(reasons) <= {"org.apache.kafka.connect.errors.RetriableException"}, lab.dead_letters(sink)
    assert all(set(lab.state(name)) == {"RUNNING"} for name in CONNECTORS)


def test_a_record_that_is_none_goes_to_the_dead_letters_with_the_reason(lab):
    poison = b"\x00\x00\x00\xff\xff no such schema"
    lab.produce("orders", poison)

    def found():
        return [headers for value, headers in lab.dead_letters("orders_lake") if value == poison]

    assert until(found)
    (headers,) = found()
    assert headers["__connect.errors.topic"] == "orders"
    assert headers["__connect.errors.stage"] == "VALUE_CONVERTER"
    assert lab.state("orders_lake") == ["RUNNING", "RUNNING"]


def test_a_worker_that_was_killed_is_waited_for(lab, wanted, tmp_path):
    inputs = wanted(**SINK, file=str(tmp_path / "first"))
    KIND.create(inputs, Call())
    psutil.Process(lab.supervisor.state("connect").pid).kill()
    changed = wanted(**SINK, file=str(tmp_path / "second"))
    KIND.update(inputs, changed, Call())
    assert KIND.read(changed, Call()).inputs == changed
    assert (tmp_path / "second").exists()


def test_an_interrupt_takes_a_half_made_connector_away(lab, wanted, tmp_path):
    call = Call()

    def interrupt(line):
        if line.startswith("waiting"):
            call.stopped.set()

    inputs = wanted(**SINK, file=str(tmp_path / "x"))
    with pytest.raises(Interrupted):
        KIND.create(inputs, Call(call.stopped, interrupt))
    assert lab.rest("GET", "/own").status_code == 404


def test_a_worker_of_another_cluster_is_left_alone_and_one_that_is_gone_is_no_error(lab, wanted, free_port):
    inputs = lab.resources["connector/orders_lake"].inputs
    foreign = inputs.model_copy(update={"cluster": "another"})
    away = inputs.model_copy(update={"worker": f"http://127.0.0.1:{free_port}"})
    for other in (foreign, away):
        assert KIND.read(other, Call()) is None
        KIND.delete(other, Call())
    with pytest.raises(LabError, match="the worker belongs to another lab"):
        KIND.create(foreign, Call())
    assert KIND.read(inputs, Call()).inputs == inputs


@pytest.fixture
def subject(lab):
    """Inputs of a subject of the test's own."""
    made = []

    def make(*fields, compatibility="BACKWARD", name="own-value"):
        schema = {"type": "record", "name": "V", "fields": [{"name": f, "type": t} | d for f, t, d in fields]}
        likeness = lab.resources["subject/orders-value"].inputs.properties()
        inputs = SubjectKind.inputs(
            **likeness | {"name": name, "avro": json.dumps(schema, indent=1), "compatibility": compatibility}
        )
        made.append(inputs)
        return inputs

    yield make
    for inputs in made:
        SubjectKind().delete(inputs, Call())


ID = ("id", "string", {})


def test_a_subject_is_made_adopted_grown_and_deleted_for_good(lab, subject):
    first = subject(ID)
    kind = SubjectKind()
    assert kind.read(first, Call()) is None
    outputs = kind.create(first, Call())
    assert outputs["version"] == 1
    assert kind.create(first, Call()) == outputs
    found = kind.read(first, Call())
    assert (found.inputs, found.outputs) == (first, outputs)
    second = subject(ID, ("n", ["null", "int"], {"default": None}))
    assert kind.update(first, second, Call())["version"] == 2
    assert kind.read(first, Call()).inputs == first, "a version beside ours is no drift"
    kind.delete(second, Call())
    kind.delete(second, Call())
    assert lab.versions("own-value") == []
    assert kind.read(second, Call()) is None


def test_an_incompatible_schema_is_refused_with_the_field_and_changes_nothing(lab, subject):
    first = subject(ID, ("price", "string", {}))
    kind = SubjectKind()
    kind.create(first, Call())
    retyped = subject(ID, ("price", "int", {}), compatibility="FULL")
    with pytest.raises(LabError, match=r"incompatible \(FULL\) with the registered versions.* \(field price\)"):
        kind.update(first, retyped, Call())
    with pytest.raises(LabError, match=r"\(field must\)\]\. Give a new field a default"):
        kind.update(first, subject(ID, ("price", "string", {}), ("must", "string", {})), Call())
    assert kind.read(first, Call()).inputs == first
    assert lab.versions("own-value") == [1]


def test_a_level_or_a_version_that_somebody_took_away_is_drift(lab, subject):
    first, other = subject(ID), subject(("x", "string", {"default": ""}))
    kind = SubjectKind()
    kind.create(first, Call())
    httpx.put(f"{first.registry}/config/own-value", json={"compatibility": "NONE"}, trust_env=False)
    assert kind.read(first, Call()).inputs.compatibility == "NONE"
    httpx.delete(f"{first.registry}/subjects/own-value", trust_env=False)
    assert kind.read(first, Call()) is None
    kind.create(other, Call())
    assert kind.read(first, Call()).inputs.avro == other.avro
    kind.update(kind.read(first, Call()).inputs, first.model_copy(update={"compatibility": "NONE"}), Call())
    assert kind.read(first, Call()).inputs.avro == first.avro


def test_what_is_no_schema_and_a_registry_that_is_gone_are_told_apart(lab, subject, free_port):
    likeness = subject(ID).properties()
    unknown = '{"type": "record", "name": "V", "fields": [{"name": "x", "type": "strin"}]}'
    for text, said in (("{", "invalid Avro schema"), ("7", "invalid Avro schema"), (unknown, "strin")):
        with pytest.raises(ValueError, match=said):
            SubjectKind.inputs(**likeness | {"avro": text})
    away = subject(ID).model_copy(update={"registry": f"http://127.0.0.1:{free_port}"})
    assert SubjectKind().read(away, Call()) is None
    SubjectKind().delete(away, Call())
    with pytest.raises(LabError, match=r"could not register subject own-value .* the registry does not respond"):
        SubjectKind().create(away, Call())
