# SPDX-License-Identifier: Apache-2.0
"""The lineage service publishes the events of its log to a Kafka topic, each exactly once."""

import hashlib
import json
import random
import time
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest
from confluent_kafka import Consumer, KafkaError, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from lineage.events import canonical_json
from tests.bench.service_process import running_service
from tests.bench.warehouse import Warehouse, encode
from tests.connect.rest import until

KAFKA_TIMEOUT_SECONDS = 180


@pytest.fixture
def admin(bootstrap):
    return AdminClient({"bootstrap.servers": bootstrap})


@pytest.fixture
def topic(admin, name):
    create(admin, name)
    yield name
    admin.delete_topics([name])[name].result(KAFKA_TIMEOUT_SECONDS)


def create(admin, topic, **config):
    admin.create_topics([NewTopic(topic, 1, 1, config=config)])[topic].result(KAFKA_TIMEOUT_SECONDS)


def publishing(data, bootstrap, topic, *arguments):
    """Run a service that publishes to a topic."""
    return running_service(data, "--kafka-servers", bootstrap, "--publish-topic", topic, *arguments)


def status(service):
    stats = httpx.get(f"{service.url}/api/v1/stats", timeout=60, trust_env=False).raise_for_status().json()
    return stats["publish"]


def send(service, bodies):
    url, headers = f"{service.url}/api/v1/lineage/batch", {"content-type": "application/json"}
    content = b"[" + b",".join(bodies) + b"]"
    httpx.post(url, content=content, headers=headers, timeout=60, trust_env=False).raise_for_status()


def await_published(service):
    until(lambda: status(service)["behind"] == 0, f"all events to be published: {status(service)}")


def records(bootstrap, topic):
    """Return the committed records as a consumer reads them: key, and payload of the value."""
    settings = {"group.id": "test", "enable.partition.eof": True, "isolation.level": "read_committed"}
    consumer = Consumer({"bootstrap.servers": bootstrap, "enable.auto.commit": False, **settings})
    consumer.assign([TopicPartition(topic, 0, 0)])
    found = []
    try:
        while True:
            message = consumer.poll(KAFKA_TIMEOUT_SECONDS)
            if message.error() is not None:
                assert message.error().code() == KafkaError._PARTITION_EOF, message.error()
                return found
            found.append((message.key().decode(), json.loads(message.value())["payload"]))
    finally:
        consumer.close()


def event_hash(body):
    return hashlib.sha256(canonical_json(json.loads(body))).hexdigest()


def events(count, first=0):
    return [encode(Warehouse(5).event(number)) for number in range(first, first + count)]


def test_a_record_has_the_event_and_its_names(bootstrap, topic, tmp_path):
    body = (
        b' {"producer": "https://example.org/t", "eventType": "COMPLETE", "eventTime": "2026-01-01T00:00:00.123456Z",'
    )
    body += b'"schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent",'
    body += b'"run": {"runId": "01990000-0000-7000-8000-00000000000A"}, "job": {"namespace": "n", "name": "\xc3\xa4"}}'
    dataset = {
        "producer": "https://example.org/t",
        "eventTime": "2026-01-01T00:00:01Z",
        "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/DatasetEvent",
        "dataset": {"namespace": "s3://b", "name": "t"},
    }
    with publishing(tmp_path / "data", bootstrap, topic) as service:
        send(service, [body, json.dumps(dataset).encode()])
        await_published(service)
    (key, run), (_, described) = records(bootstrap, topic)
    assert (json.loads(run["event"]), key) == (json.loads(body), event_hash(body))
    assert run["run_id"] == "01990000-0000-7000-8000-00000000000a"
    assert (run["kind"], run["event_type"], run["job_namespace"], run["job_name"]) == ("run", "COMPLETE", "n", "ä")
    assert (run["event_time"], run["effective_ns"]) == (1767225600123, 1767225600123456000)
    assert abs(run["accepted_at"] / 1000 - time.time()) < 600
    assert (run["position"], run["dataset_name"]) == (1, None)
    assert (described["kind"], described["run_id"], described["job_name"]) == ("dataset", None, None)
    assert (described["dataset_namespace"], described["dataset_name"]) == ("s3://b", "t")


def test_killed_services_publish_every_event_exactly_once(bootstrap, topic, tmp_path):
    bodies = events(4000)
    chance = random.Random(11)
    data = tmp_path / "data"
    sent = 0
    for goal in (*sorted(chance.sample(range(200, 3800), 5)), len(bodies)):
        with publishing(data, bootstrap, topic) as service, ThreadPoolExecutor(1) as pool:
            sending = pool.submit(send, service, bodies[sent:goal])
            if goal == len(bodies):
                sending.result()
                await_published(service)
            else:
                sending.result()
                until(lambda: status(service)["published"] > 0, "some events to be published")
                service.kill()
        sent = goal
    found = [key for key, _ in records(bootstrap, topic)]
    assert found == [event_hash(body) for body in bodies]


def test_the_transaction_of_a_killed_service_is_not_read(bootstrap, topic, tmp_path):
    """The producer of a previous service cannot commit after the next service has started."""
    with publishing(tmp_path / "data", bootstrap, topic) as service:
        send(service, events(3))
        await_published(service)
    zombie = Producer({"bootstrap.servers": bootstrap, "transactional.id": f"lineage-service-{topic}"})
    zombie.init_transactions(KAFKA_TIMEOUT_SECONDS)
    zombie.begin_transaction()
    zombie.produce(topic, b'{"payload": {"event": "of a zombie"}}', b"zombie", partition=0)
    zombie.flush(KAFKA_TIMEOUT_SECONDS)
    with publishing(tmp_path / "data", bootstrap, topic) as service:
        send(service, events(2, first=3))
        await_published(service)
    with pytest.raises(Exception, match=r"fenced|epoch"):
        zombie.commit_transaction(KAFKA_TIMEOUT_SECONDS)
    assert [key for key, _ in records(bootstrap, topic)] == [event_hash(body) for body in events(5)]


def test_events_are_published_when_the_topic_is_created_later(bootstrap, admin, name, tmp_path):
    with publishing(tmp_path / "data", bootstrap, name) as service:
        send(service, events(2))
        until(lambda: status(service)["lastError"], "the missing topic to be reported")
        assert status(service)["behind"] == 2
        create(admin, name)
        await_published(service)
        assert status(service)["lastError"] is None
    assert len(records(bootstrap, name)) == 2
    admin.delete_topics([name])[name].result(KAFKA_TIMEOUT_SECONDS)


def test_a_topic_that_was_created_again_gets_all_events(bootstrap, admin, topic, tmp_path):
    with publishing(tmp_path / "data", bootstrap, topic) as service:
        send(service, events(2))
        await_published(service)
    admin.delete_topics([topic])[topic].result(KAFKA_TIMEOUT_SECONDS)
    until(lambda: topic not in admin.list_topics().topics, "the topic to be deleted")
    create(admin, topic)
    with publishing(tmp_path / "data", bootstrap, topic) as service:
        send(service, events(1, first=2))
        await_published(service)
    assert [payload["position"] for _, payload in records(bootstrap, topic)] == [1, 2, 3]


def test_an_event_that_the_topic_refuses_waits_until_it_is_accepted(bootstrap, admin, name, tmp_path):
    create(admin, name, **{"max.message.bytes": "20000"})
    noise = random.Random(3).randbytes(40_000).hex()
    large = json.dumps({**Warehouse(1).event(0), "padding": noise}).encode()
    with publishing(tmp_path / "data", bootstrap, name) as service:
        send(service, [large, *events(1)])
        until(lambda: "max.message.bytes" in (status(service)["lastError"] or ""), "the refusal to be explained")
        assert status(service)["behind"] == 2
        # It is tried again with a new producer, and reported once.
        assert (tmp_path / "data.log").read_text().count("publishing to topic") == 1
        alter(admin, name, "max.message.bytes", "1000000")
        await_published(service)
    assert [payload["position"] for _, payload in records(bootstrap, name)] == [1, 2]
    admin.delete_topics([name])[name].result(KAFKA_TIMEOUT_SECONDS)


def alter(admin, topic, setting, value):
    from confluent_kafka.admin import AlterConfigOpType, ConfigEntry, ConfigResource, ResourceType

    entry = ConfigEntry(setting, value, incremental_operation=AlterConfigOpType.SET)
    resource = ConfigResource(ResourceType.TOPIC, topic, incremental_configs=[entry])
    admin.incremental_alter_configs([resource])[resource].result(KAFKA_TIMEOUT_SECONDS)


def test_events_that_are_not_published_are_not_compacted(bootstrap, admin, name, tmp_path):
    """The topic is missing for longer than the retention of the log."""
    with publishing(tmp_path / "data", bootstrap, name, "--retain", "1s") as service:
        send(service, events(20))
        until(lambda: status(service)["lastError"], "the missing topic to be reported")
        time.sleep(3)  # several rounds of compaction
        create(admin, name)
        await_published(service)
    assert len(records(bootstrap, name)) == 20
    admin.delete_topics([name])[name].result(KAFKA_TIMEOUT_SECONDS)
