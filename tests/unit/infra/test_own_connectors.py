# SPDX-License-Identifier: Apache-2.0
"""Connectors of the user's own: what their files may say, and what is said of those that cannot be used."""

import json

import pytest

from infra.catalog import LabSettings, lab
from infra.model import Connector
from infra.project import PROJECT
from infra.services.connect.user_connectors import names, own_connectors
from infra.user_files import UserFileError, UserFiles, read_user_files
from tests.unit.infra.test_services import ElsewhereSite

SITE = ElsewhereSite()
SINK = {"connector.class": "FileStreamSink", "topics": "@{topic.orders}", "file": "/tmp/orders.txt"}


def one(options, name="copy"):
    text = options if isinstance(options, str) else json.dumps(options)
    (connector,) = own_connectors({f"{name}.json": text}, SITE)
    return connector


def refusal(options, name="copy"):
    with pytest.raises(UserFileError) as refused:
        one(options, name)
    assert str(refused.value).startswith(f"jobs/connect/{name}.json: ")
    return str(refused.value)


def test_a_file_becomes_a_connector_of_its_name_with_the_labs_names_in_it():
    connector = one(SINK | {"bootstrap": "@{kafka}", "tasks.max": 2, "flag": True, "ratio": 0.5})
    assert connector.name == "copy"
    assert connector.config["topics"] == "orders"
    assert connector.config["bootstrap"] == "kafka:9092"
    assert (connector.config["tasks.max"], connector.config["flag"], connector.config["ratio"]) == ("2", "true", "0.5")


def test_both_forms_of_connects_rest_interface_are_understood():
    assert one({"name": "copy", "config": SINK}) == one(SINK) == one({"config": SINK}) == one(SINK | {"name": "copy"})


def test_connects_own_expressions_stay_as_they_are():
    options = {"a": "$1", "b": "${topic}-${partition}", "c": "mail@{host}".replace("@{", "@@{"), "d": "x@y"}
    config = one(SINK | options).config
    assert [config[name] for name in "abcd"] == ["$1", "${topic}-${partition}", "mail@{host}", "x@y"]


def test_a_secret_becomes_a_reference_that_the_worker_resolves():
    config = one(SINK | {"database.password": "@{secret.POSTGRES_PASSWORD}"}).config
    assert config["database.password"] == "${env:POSTGRES_PASSWORD}"


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"topics": "@{topic.order}"}, r"topics: there is no @{topic.order}; did you mean @{topic.orders}?"),
        ({"topics": "@{moon}"}, "topics: there is no @{moon}"),
        ({"topics": "a@{kafka"}, "topics: a placeholder has no end: @{kafka"),
        ({"connector.class": ""}, "connector.class is missing"),
        ({"nested": {"a": 1}}, 'nested: text, a number, true or false is expected, not {"a": 1}'),
        ({"nothing": None}, "nothing: text, a number, true or false is expected, not null"),
        ({"db.password": "hunter2"}, "db.password: is a secret, and must not stand in a file"),
        ({"db.password": "${env:HOME}"}, "db.password: the worker knows no ${env:HOME}; it has ${env:POSTGRES_PASSW"),
        ({"x": "${vault:a:b}"}, "x: the worker knows no ${vault:b}"),
        ({"name": "other"}, "name: is other, but a connector is called as its file is: copy"),
    ],
)
def test_what_is_wrong_is_said_with_file_and_option(changes, said):
    text = refusal(SINK | changes)
    assert said in text
    assert "hunter2" not in text


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"a": 1,}', "line 1, column 9: no JSON"),
        ("", "line 1, column 1: no JSON"),
        ("[1]", "a JSON object is expected"),
        ('{"a": "1", "a": "2"}', "a: is there more than once"),
        ('{"config": {"connector.class": "x"}, "tasks": []}', "tasks: beside name and config nothing is understood"),
    ],
)
def test_what_is_no_configuration_is_refused_with_its_place(text, said):
    assert said in refusal(text)


def test_names_that_cannot_be_and_names_that_are_taken_are_refused():
    assert "the file's name is the connector's" in refusal(SINK, "my copy")
    assert "the lab has a connector orders_lake already" in refusal(SINK, "orders_lake")


def test_files_come_into_the_lab_and_stop_it_where_they_are_wrong():
    made = lab(SITE, LabSettings(), UserFiles(connectors={"copy.json": json.dumps(SINK)}))
    assert made.resources_of(Connector)[-1].name == "copy"
    with pytest.raises(UserFileError, match=r"jobs/connect/copy\.json"):
        lab(SITE, LabSettings(), UserFiles(connectors={"copy.json": "{"}))


def test_files_are_read_from_their_folder(tmp_path):
    assert read_user_files(tmp_path).connectors == {}
    folder = tmp_path / "jobs" / "connect"
    folder.mkdir(parents=True)
    (folder / "README.md").write_text("no connector")
    (folder / "copy.json").write_text("{}")
    assert read_user_files(tmp_path).connectors == {"copy.json": "{}"}
    (folder / "copy.json").write_bytes(b"\xff\xfe")
    with pytest.raises(UserFileError, match=r"jobs/connect/copy\.json cannot be read"):
        read_user_files(tmp_path)


def test_the_example_of_the_documentation_is_one_that_works():
    example = one((PROJECT / "docs" / "how-to" / "examples" / "connector.json").read_text(), "example")
    assert not any("@{" in value for value in example.config.values())


def test_the_documentation_names_every_placeholder():
    text = (PROJECT / "docs" / "reference" / "connectors.md").read_text()
    assert [name for name in names(SITE) if f"`@{{{name}}}`" not in text] == []
