# SPDX-License-Identifier: Apache-2.0
"""Events that emitters send to a Kafka topic reach the lineage service, each exactly once."""

import json
import random
import time
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest
from confluent_kafka import Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic, OffsetSpec
from openlineage.client import OpenLineageClient
from openlineage.client.event_v2 import Job, OutputDataset, Run, RunEvent, RunState
from openlineage.client.transport.kafka import KafkaConfig, KafkaTransport

from tests.bench.service_process import running_service
from tests.bench.warehouse import Warehouse, encode
from tests.connect.rest import until

PARTITIONS = 3
KAFKA_TIMEOUT_SECONDS = 180


@pytest.fixture
def topic(bootstrap, name):
    admin = AdminClient({"bootstrap.servers": bootstrap})
    create(admin, name)
    yield name
    admin.delete_topics([name])[name].result(KAFKA_TIMEOUT_SECONDS)


def create(admin, topic, partitions=PARTITIONS):
    admin.create_topics([NewTopic(topic, partitions, 1)])[topic].result(KAFKA_TIMEOUT_SECONDS)


def produce(bootstrap, topic, values, **settings):
    producer = Producer({"bootstrap.servers": bootstrap, **settings})
    for number, value in enumerate(values):
        producer.produce(topic, value, partition=number % PARTITIONS)
    assert producer.flush(KAFKA_TIMEOUT_SECONDS) == 0


def reading(data, bootstrap, topic, *arguments):
    """Run a service that reads a topic."""
    return running_service(data, "--kafka-servers", bootstrap, "--kafka-topic", topic, *arguments)


def get(service, path):
    return httpx.get(f"{service.url}/api/v1{path}", timeout=60, trust_env=False).raise_for_status().json()


def kafka_status(service):
    return get(service, "/stats")["kafka"]


def await_stored(service, count):
    until(lambda: get(service, "/stats")["logged"] >= count, f"{count} events to be stored: {get(service, '/stats')}")


def graph_over_http(folder, bodies):
    """Return the graph of a service that got the same events by HTTP."""
    with running_service(folder / "http") as service:
        content = b"[" + b",".join(bodies) + b"]"
        headers = {"content-type": "application/json"}
        url = f"{service.url}/api/v1/lineage/batch"
        httpx.post(url, content=content, headers=headers, timeout=60, trust_env=False).raise_for_status()
        return get(service, "/graph")


def test_events_of_the_standards_client_are_read(bootstrap, topic, tmp_path):
    with reading(tmp_path / "data", bootstrap, topic) as service:
        transport = KafkaTransport(KafkaConfig({"bootstrap.servers": bootstrap}, topic))
        run = "01990000-0000-7000-8000-000000000001"
        for state, moment in ((RunState.START, "2026-01-01T00:00:00Z"), (RunState.COMPLETE, "2026-01-01T00:01:00Z")):
            event = RunEvent(
                eventType=state,
                eventTime=moment,
                run=Run(runId=run),
                job=Job(namespace="tests", name="by_kafka"),
                producer="https://example.org/test",
                outputs=[OutputDataset(namespace="s3://bucket", name="table")],
            )
            OpenLineageClient(transport=transport).emit(event)
        await_stored(service, 2)
        assert get(service, f"/jobs/runs/{run}")["state"] == "COMPLETED"
        status = kafka_status(service)
        assert (status["received"], status["behind"], status["lastError"]) == (2, 0, None)


def test_killed_services_store_every_event_exactly_once(bootstrap, topic, tmp_path):
    bodies = [encode(Warehouse(5).event(number)) for number in range(3000)]
    chance = random.Random(7)
    with ThreadPoolExecutor(1) as pool:
        producing = pool.submit(produce, bootstrap, topic, bodies)
        for goal in sorted(chance.sample(range(100, 2500), 4)):
            with reading(tmp_path / "data", bootstrap, topic) as service:
                await_stored(service, goal)
                service.kill()
        producing.result()
    with reading(tmp_path / "data", bootstrap, topic) as service:
        await_stored(service, len(bodies))
        until(lambda: kafka_status(service)["behind"] == 0, "all records to be read")
        stats = get(service, "/stats")
        assert stats["logged"] == len(bodies)
        assert stats["duplicates"] == 0, "offsets are stored with the events"
        graph = get(service, "/graph")
    assert graph == graph_over_http(tmp_path, bodies)


def test_what_is_no_event_is_counted_and_does_not_stop_the_others(bootstrap, topic, tmp_path):
    event = encode(Warehouse(1).event(0))
    produce(bootstrap, topic, [b"rubbish", None, b"{}", b"[" * 100_000, event, b"\xff", b"", event + b" "])
    with reading(tmp_path / "data", bootstrap, topic) as service:
        until(lambda: kafka_status(service)["received"] == 8, "all records to be read")
        status = kafka_status(service)
        assert (status["refused"], status["empty"], status["lost"]) == (4, 2, 0)
        assert get(service, "/stats")["logged"] == 1
    log = (tmp_path / "data.log").read_text()
    assert f"the record at {topic}[0] offset 0 is no event" in log


def test_records_together_larger_than_a_transaction_are_read(bootstrap, topic, tmp_path):
    bodies = [json.dumps({**Warehouse(1).event(number), "padding": "x" * 900_000}) for number in range(40)]
    produce(bootstrap, topic, bodies)
    with reading(tmp_path / "data", bootstrap, topic) as service:
        await_stored(service, len(bodies))


def test_aborted_transactions_are_not_read(bootstrap, topic, tmp_path):
    producer = Producer({"bootstrap.servers": bootstrap, "transactional.id": topic})
    producer.init_transactions(KAFKA_TIMEOUT_SECONDS)
    for number, end in enumerate((producer.abort_transaction, producer.commit_transaction)):
        producer.begin_transaction()
        producer.produce(topic, encode(Warehouse(1).event(number)), partition=0)
        producer.flush(KAFKA_TIMEOUT_SECONDS)
        end(KAFKA_TIMEOUT_SECONDS)
    with reading(tmp_path / "data", bootstrap, topic) as service:
        await_stored(service, 1)
        assert [event["eventType"] for event in get(service, "/events/lineage")["events"]] == ["RUNNING"]


def test_a_topic_that_is_created_later_and_new_partitions_are_read(bootstrap, name, tmp_path, monkeypatch):
    admin = AdminClient({"bootstrap.servers": bootstrap})
    with reading(tmp_path / "data", bootstrap, name) as service:
        until(lambda: kafka_status(service)["lastError"], "the missing topic to be reported")
        assert get(service, "/graph")["jobs"] == [], "the service answers meanwhile"
        create(admin, name)
        produce(bootstrap, name, [encode(Warehouse(1).event(0))])
        await_stored(service, 1)
        assert kafka_status(service)["lastError"] is None
    admin.delete_topics([name])[name].result(KAFKA_TIMEOUT_SECONDS)


def test_records_that_retention_removed_are_counted_as_lost(bootstrap, topic, tmp_path):
    bodies = [encode(Warehouse(1).event(number)) for number in range(30)]
    produce(bootstrap, topic, bodies[:15])
    with reading(tmp_path / "data", bootstrap, topic) as service:
        await_stored(service, 15)
    produce(bootstrap, topic, bodies[15:])
    admin = AdminClient({"bootstrap.servers": bootstrap})
    latest = admin.list_offsets({TopicPartition(topic, 0): OffsetSpec.latest()})
    end = next(iter(latest.values())).result(KAFKA_TIMEOUT_SECONDS).offset
    removed = admin.delete_records([TopicPartition(topic, 0, end)])
    next(iter(removed.values())).result(KAFKA_TIMEOUT_SECONDS)
    with reading(tmp_path / "data", bootstrap, topic) as service:
        await_stored(service, 25)
        until(lambda: kafka_status(service)["lost"] == 5, "the gap to be found")
        produce(bootstrap, topic, [encode(Warehouse(1).event(30))])
        await_stored(service, 26)


def test_broker_that_is_unavailable_is_reported(tmp_path):
    began = time.monotonic()
    with reading(tmp_path / "data", "127.0.0.1:1", "events") as service:
        assert time.monotonic() - began < KAFKA_TIMEOUT_SECONDS
        until(lambda: kafka_status(service)["lastError"], "the broker to be reported as unavailable")
        headers = {"content-type": "application/json"}
        event = json.dumps(Warehouse(1).event(0))
        posted = httpx.post(f"{service.url}/api/v1/lineage", content=event, headers=headers, trust_env=False)
        assert posted.status_code == 201
    errors = [line for line in (tmp_path / "data.log").read_text().splitlines() if " ERROR " in line]
    assert len(errors) == 1, "one line, not one for each attempt"
