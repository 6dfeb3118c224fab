# SPDX-License-Identifier: Apache-2.0
"""User-defined connectors: placeholders, validation and error messages."""

import json

import pytest

from infra.catalog import LabSettings, build_lab
from infra.model import Connector, Topic
from infra.project import PROJECT
from infra.services.connect.user_connectors import placeholders, user_connectors
from infra.user_files import UserFileError, UserFiles, read_user_files
from tests.unit.infra.test_services import FakeSite

SITE = FakeSite()
SETTINGS = LabSettings(connect_file_connectors=True)
SINK = {"connector.class": "FileStreamSink", "topics": "@{topic.orders}", "file": "/tmp/orders.txt"}


def parse_one(options, name="copy"):
    text = options if isinstance(options, str) else json.dumps(options)
    (connector,) = user_connectors({f"{name}.json": text}, SITE, SETTINGS)
    return connector


def error_of(options, name="copy"):
    with pytest.raises(UserFileError) as raised:
        parse_one(options, name)
    assert str(raised.value).startswith(f"jobs/connect/{name}.json: ")
    return str(raised.value)


def test_substitute_placeholders_and_convert_values():
    connector = parse_one(SINK | {"bootstrap": "@{kafka}", "tasks.max": 2, "flag": True, "ratio": 0.5})
    assert connector.name == "copy"
    assert connector.config["topics"] == "orders"
    assert connector.config["bootstrap"] == "kafka:9092"
    assert (connector.config["tasks.max"], connector.config["flag"], connector.config["ratio"]) == ("2", "true", "0.5")


def test_accept_both_forms_of_connects_rest_api():
    expected = parse_one(SINK)
    assert parse_one({"name": "copy", "config": SINK}) == expected
    assert parse_one({"config": SINK}) == parse_one(SINK | {"name": "copy"}) == expected


@pytest.mark.parametrize("prefix", ["", "org.apache.kafka.connect.file."])
@pytest.mark.parametrize("name", ["FileStreamSink", "FileStreamSource"])
@pytest.mark.parametrize("suffix", ["", "Connector"])
def test_file_connectors_need_a_setting(prefix, name, suffix):
    files = {"copy.json": json.dumps(SINK | {"connector.class": prefix + name + suffix})}
    assert user_connectors(files, SITE, SETTINGS)
    with pytest.raises(UserFileError, match=rf"copy\.json: .*{name}, .*connectFileConnectors true"):
        user_connectors(files, SITE, LabSettings())


def test_other_connectors_of_kafka_need_no_setting():
    files = {"copy.json": json.dumps({"connector.class": "MirrorSourceConnector"})}
    assert user_connectors(files, SITE, LabSettings())


def test_pass_connects_expressions_through():
    options = {"a": "$1", "b": "${topic}-${partition}", "c": "mail@{host}".replace("@{", "@@{"), "d": "x@y"}
    config = parse_one(SINK | options).config
    assert [config[name] for name in "abcd"] == ["$1", "${topic}-${partition}", "mail@{host}", "x@y"]


def test_replace_secret_placeholder_by_reference():
    config = parse_one(SINK | {"database.password": "@{secret.POSTGRES_PASSWORD}"}).config
    assert config["database.password"] == "${env:POSTGRES_PASSWORD}"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"topics": "@{topic.order}"}, r"topics: unknown placeholder @{topic.order}; did you mean @{topic.orders}?"),
        ({"topics": "@{moon}"}, "topics: unknown placeholder @{moon}"),
        ({"topics": "a@{kafka"}, "topics: unterminated placeholder @{kafka"),
        ({"connector.class": ""}, "connector.class is missing"),
        ({"nested": {"a": 1}}, 'nested: expected text, a number or a boolean, not {"a": 1}'),
        ({"nothing": None}, "nothing: expected text, a number or a boolean, not null"),
        ({"db.password": "hunter2"}, "db.password: literal secrets are not allowed"),
        ({"db.password": "${env:HOME}"}, "db.password: unknown reference ${env:HOME}; the worker provides ${env:POSTG"),
        ({"x": "${vault:a:b}"}, "x: unknown reference ${vault:b}"),
        ({"name": "other"}, "name is other, but must equal the file name: copy"),
    ],
)
def test_error_names_file_and_option(changes, message):
    text = error_of(SINK | changes)
    assert message in text
    assert "hunter2" not in text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"a": 1,}', "line 1, column 9: invalid JSON"),
        ("", "line 1, column 1: invalid JSON"),
        ("[1]", "expected a JSON object"),
        ('{"a": "1", "a": "2"}', "duplicate option a"),
        ('{"config": {"connector.class": "x"}, "tasks": []}', "unknown key tasks; known keys: name, config"),
    ],
)
def test_reject_malformed_file(text, message):
    assert message in error_of(text)


def test_reject_invalid_and_duplicate_names():
    assert "the file name is the connector's name" in error_of(SINK, "my copy")
    assert "the lab already has a connector orders_lake" in error_of(SINK, "orders_lake")


def test_lab_includes_valid_files_and_rejects_invalid_ones():
    made = build_lab(SITE, SETTINGS, UserFiles(connectors={"copy.json": json.dumps(SINK)}))
    assert made.resources_of(Connector)[-1].name == "copy"
    with pytest.raises(UserFileError, match=r"jobs/connect/copy\.json"):
        build_lab(SITE, LabSettings(), UserFiles(connectors={"copy.json": "{"}))


@pytest.mark.parametrize("class_name", ["org.apache.iceberg.connect.IcebergSinkConnector", "IcebergSinkConnector"])
def test_control_topics_of_iceberg_sinks_are_made(class_name):
    iceberg = {"connector.class": class_name, "topics": "orders", "iceberg.tables": "raw.copy"}
    files = {
        "a.json": json.dumps(iceberg),
        "b.json": json.dumps(iceberg | {"iceberg.control.topic": "control-iceberg"}),
        "c.json": json.dumps(iceberg | {"iceberg.control.topic": "own"}),
        "d.json": json.dumps(iceberg | {"iceberg.control.topic": "orders"}),
        "e.json": json.dumps(SINK),
    }
    made = build_lab(SITE, SETTINGS, UserFiles(connectors=files))
    names = [topic.name for topic in made.resources_of(Topic)]
    assert [names.count(name) for name in ("control-iceberg", "own", "orders")] == [1, 1, 1]
    needs = {each.name: each.needs for each in made.resources_of(Connector)}
    assert "topic/control-iceberg" in needs["a"]
    assert "topic/control-iceberg" in needs["b"]
    assert "topic/own" in needs["c"]
    assert not any("control" in need for need in needs["e"])


def test_read_files_from_folder(tmp_path):
    assert read_user_files(tmp_path).connectors == {}
    folder = tmp_path / "jobs" / "connect"
    folder.mkdir(parents=True)
    (folder / "README.md").write_text("no connector")
    (folder / "copy.json").write_text("{}")
    assert read_user_files(tmp_path).connectors == {"copy.json": "{}"}
    (folder / "copy.json").write_bytes(b"\xff\xfe")
    with pytest.raises(UserFileError, match=r"jobs/connect/copy\.json cannot be read"):
        read_user_files(tmp_path)


def test_documented_example_is_valid():
    example = parse_one((PROJECT / "docs" / "how-to" / "examples" / "connector.json").read_text(), "example")
    assert not any("@{" in value for value in example.config.values())


def test_documentation_lists_every_placeholder():
    text = (PROJECT / "docs" / "reference" / "connectors.md").read_text()
    assert [name for name in placeholders(SITE) if f"`@{{{name}}}`" not in text] == []
