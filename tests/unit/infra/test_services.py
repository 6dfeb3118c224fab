# SPDX-License-Identifier: Apache-2.0
"""Services as data: what they would be told, on any target."""

import json

import pytest

from infra.lab import ENDPOINTS, lab
from infra.model import Address
from infra.namespaces import KAFKA, TOPICS, WAREHOUSE
from infra.services.properties import properties
from infra.settings import Settings


class ElsewhereSite:
    """A target where inside and outside differ, as under Docker."""

    identity = "elsewhere"

    def listen(self, service, endpoint):
        port = next(known.port for known in ENDPOINTS[service] if known.name == endpoint)
        return Address("0.0.0.0", port)

    def address(self, service, endpoint, seen_from="inside"):
        port = self.listen(service, endpoint).port
        return Address(service, port) if seen_from == "inside" else Address("outside.test", port + 1)

    def file(self, service, name):
        return f"/etc/{service}/{name}"

    def volume(self, service, name):
        return f"/var/{service}/{name}"

    def scratch(self, service):
        return f"/tmp/{service}"

    def class_path(self, component):
        return f"/opt/{component}/*"


@pytest.fixture(scope="module")
def elsewhere():
    return lab(ElsewhereSite(), Settings())


def test_kafka_binds_where_it_is_told_and_advertises_what_clients_outside_use(elsewhere):
    text = elsewhere.service("kafka").files["broker.properties"]
    assert "listeners=PLAINTEXT://0.0.0.0:9092,CONTROLLER://0.0.0.0:9093\n" in text
    assert "advertised.listeners=PLAINTEXT://outside.test:9093\n" in text
    assert "auto.create.topics.enable=false\n" in text


def test_the_rules_of_the_lineage_service_know_both_addresses_of_the_broker(elsewhere):
    rules = json.loads(elsewhere.service("lineage").files["rules.json"])
    kafka = next(rule for rule in rules["namespaces"] if rule["canonical"] == KAFKA)
    assert {"kafka:9092", "outside.test:9093"} <= set(kafka["hosts"])
    assert rules["catalogs"] == [{"name": "lake", "uri": "http://iceberg_catalog:8181", "warehouse": WAREHOUSE}]


def test_no_secret_is_in_a_file_an_argument_or_a_variable(elsewhere):
    for part in (*elsewhere.services, *elsewhere.tasks):
        shown = f"{part.files} {part.env} {part.run}".lower()
        assert "secret" not in shown.replace("secrets={}", "")
        assert "password" not in shown


def test_topics_forget_nothing_and_jobs_wait_for_what_they_read(elsewhere):
    assert {topic.name for topic in elsewhere.topics} == set(TOPICS)
    assert all(topic.config["retention.ms"] == "-1" for topic in elsewhere.topics)
    etl = next(task for task in elsewhere.tasks if task.name == "orders_etl")
    assert {"topic/orders", "iceberg_catalog", "lineage"} <= set(etl.needs)


def test_properties_escape_what_java_would_misread():
    assert properties({"a.b": "C:\\x", "c": True, "d": 3}) == "a.b=C:\\\\x\nc=true\nd=3\n"
    with pytest.raises(ValueError, match="cannot be the key"):
        properties({"a b": "1"})
