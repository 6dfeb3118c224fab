# SPDX-License-Identifier: Apache-2.0
"""Connectors, tables and subjects of the lab."""

import json
import re

import pytest

from infra.catalog import LabSettings, build_lab
from infra.model import Column, Connector, Subject, Table, Topic
from infra.model.secret_options import is_reference, is_secret
from infra.namespaces import RAW_TABLES, SHOP_TOPICS
from infra.provider.connect_worker import ConnectorStatus
from infra.provider.kinds.connector import misspelled_options, plaintext_secrets
from infra.services.connect import connectors
from infra.services.shop import tables as shop_tables
from tests.unit.infra.test_services import FakeSite


@pytest.fixture(scope="module")
def elsewhere():
    return build_lab(FakeSite(), LabSettings())


@pytest.fixture(scope="module")
def by_name(elsewhere):
    return {connector.name: connector for connector in elsewhere.resources_of(Connector)}


def test_connectors_contain_no_literal_secret(elsewhere):
    secrets = {
        name: value
        for connector in elsewhere.resources_of(Connector)
        for name, value in connector.config.items()
        if is_secret(name)
    }
    assert {"database.password", "iceberg.catalog.s3.secret-access-key"} <= secrets.keys()
    assert all(is_reference(value) for value in secrets.values())


def test_every_option_is_text(elsewhere):
    values = {value for connector in elsewhere.resources_of(Connector) for value in connector.config.values()}
    assert all(isinstance(value, str) for value in values)
    assert not {"True", "False"} & values


def test_source_captures_each_table_into_topic_of_same_name(elsewhere, by_name):
    config = by_name["orders_source"].config
    assert config["table.include.list"].split(",") == [
        f"public.{table.name}" for table in elsewhere.resources_of(Table)
    ]
    routed = [
        re.sub(config["transforms.topic.regex"], r"\1", f"{config['topic.prefix']}.public.{table.name}")
        for table in elsewhere.resources_of(Table)
    ]
    assert set(routed) == set(SHOP_TOPICS)
    assert not re.fullmatch(config["transforms.topic.regex"], "shopXpublic.orders")


def test_iceberg_sink_routes_each_topic_to_one_table(by_name):
    config = by_name["orders_lake"].config
    assert config["topics"].split(",") == list(SHOP_TOPICS)
    for topic in SHOP_TOPICS:
        tables = [
            table
            for table in config["iceberg.tables"].split(",")
            if re.fullmatch(config[f"iceberg.table.{table}.route-regex"], topic)
        ]
        assert tables == [RAW_TABLES[topic]]


def test_sinks_read_committed_records_and_use_dead_letter_topic(elsewhere, by_name):
    topics = {topic.name for topic in elsewhere.resources_of(Topic)}
    sinks = by_name.keys() - {"orders_source"}
    assert sinks >= {"orders_lake", "orders_archive"}
    for name in sinks:
        config = by_name[name].config
        assert config["consumer.override.isolation.level"] == "read_committed"
        assert config["errors.deadletterqueue.topic.name"] == connectors.dead_letter_topic(name)
        assert connectors.dead_letter_topic(name) in topics
        assert f"topic/{connectors.dead_letter_topic(name)}" in by_name[name].needs


def test_table_needs_its_subject(elsewhere):
    subjects = {subject.key for subject in elsewhere.resources_of(Subject)}
    assert len(subjects) == len(elsewhere.resources_of(Table)) > 0
    for table in elsewhere.resources_of(Table):
        assert f"subject/{table.name}-value" in subjects & set(table.needs)


def test_captured_schema_equals_schema_of_converter():
    columns = (Column(name="id", type="bigint", required=True), Column(name="at", type="timestamp(3)"))
    assert json.loads(shop_tables.captured_schema("t", columns)) == {
        "type": "record",
        "name": "Value",
        "namespace": "shop.public.t",
        "fields": [
            {"name": "id", "type": "long"},
            {
                "name": "at",
                "type": [
                    "null",
                    {
                        "type": "long",
                        "connect.version": 1,
                        "connect.name": "org.apache.kafka.connect.data.Timestamp",
                        "logicalType": "timestamp-millis",
                    },
                ],
                "default": None,
            },
        ],
        "connect.name": "shop.public.t.Value",
    }


def test_reject_column_type_without_mapping():
    with pytest.raises(ValueError, match="column c of table t: unsupported type jsonb; supported: text, boolean"):
        shop_tables.captured_schema("t", (Column(name="c", type="jsonb"),))


def status(state, *tasks, trace=""):
    described = [{"id": n, "state": word, "worker_id": "w", "trace": f"p.E: {n}"} for n, word in enumerate(tasks)]
    return ConnectorStatus.of({"connector": {"state": state, "worker_id": "w", "trace": trace}, "tasks": described})


@pytest.mark.parametrize(
    ("state", "tasks", "word"),
    [
        ("RUNNING", ("RUNNING", "RUNNING"), "RUNNING"),
        ("RUNNING", (), "STARTING"),
        ("RUNNING", ("RUNNING", "UNASSIGNED"), "STARTING"),
        ("RUNNING", ("RESTARTING",), "STARTING"),
        ("RUNNING", ("RUNNING", "FAILED"), "FAILED"),
        ("FAILED", ("RUNNING",), "FAILED"),
        ("PAUSED", ("PAUSED",), "PAUSED"),
        ("PAUSED", ("RUNNING",), "PAUSED"),
        ("STOPPED", (), "STOPPED"),
    ],
)
def test_combine_states_of_connector_and_tasks(state, tasks, word):
    assert status(state, *tasks).overall_state == word


def test_failure_names_tasks_and_deduplicates_causes():
    assert status("RUNNING", "FAILED", "RUNNING").failure() == "  task 0: E: 0"
    assert status("FAILED", trace="p.Outer: o\n\tat x\nCaused by: p.Root: r\n").failure() == (
        "  the connector: Outer: o\n    caused by Root: r"
    )
    same = ConnectorStatus.of(
        {"connector": {"state": "RUNNING"}, "tasks": [{"id": n, "state": "FAILED"} for n in (0, 1)]}
    )
    assert same.failure() == "  task 0, task 1: without a reason"


def test_ignore_trace_of_recovered_task():
    assert status("RUNNING", "RESTARTING").traces == {}


KNOWN = [
    {"definition": {"name": "topics", "type": "LIST"}},
    {"definition": {"name": "iceberg.tables", "type": "LIST"}},
    {"definition": {"name": "apikey", "type": "PASSWORD"}},
]


def test_detect_misspelled_option_and_accept_foreign_options():
    assert misspelled_options({"topics": "a", "iceberg.tabels": "t"}, KNOWN) == [
        "iceberg.tabels: unknown connector option; did you mean iceberg.tables?"
    ]
    assert misspelled_options({"topics": "a", "iceberg.catalog.uri": "u", "consumer.override.x": "1"}, KNOWN) == []


def test_detect_literal_password_by_type_and_name():
    config = {"apikey": "x", "db.password": "y", "other.secret": "${env:S3_SECRET_KEY}", "topics": "z"}
    assert plaintext_secrets(config, KNOWN) == ["apikey", "db.password"]
