# SPDX-License-Identifier: Apache-2.0
"""Resources of the lab while their service does not respond: the provider's responses to the engine."""

import socket
from types import SimpleNamespace

import pytest
from google.protobuf.json_format import MessageToDict, ParseDict
from google.protobuf.struct_pb2 import Struct
from pulumi.runtime.proto import provider_pb2 as pb

from infra import credentials
from infra.model import Bucket, Connector, Database, KafkaAcls, Subject, Table, Topic
from infra.provider import DROP_UNREACHABLE
from infra.provider.kind import OperationContext, ServiceUnreachable
from infra.provider.kinds import MODULES, Kinds, bucket
from infra.provider.postgres import PostgresServer
from infra.provider.server import LabkitProvider

KINDS = Kinds(MODULES)
UNREACHABLE = {"unreachable": True}
NAMES = ("Topic", "KafkaAcls", "Subject", "Bucket", "Database", "Table", "Connector")


class Refused(Exception):
    """An error response of the provider."""


def refuse(code, text):
    raise Refused(text)


CONTEXT = SimpleNamespace(abort=refuse)


@pytest.fixture
def provider():
    return LabkitProvider(KINDS, "127.0.0.1:1")


@pytest.fixture
def port(monkeypatch):
    """Port that refuses connections and that no other program can take."""
    monkeypatch.setattr(bucket, "RETRY_SECONDS", 0)
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        yield bound.getsockname()[1]


@pytest.fixture
def properties(port, tmp_path):
    """Inputs of a resource of each kind, as the engine stores them."""
    keys = tmp_path / "credentials.env"
    credentials.ensure(keys, {})
    server = {"host": "127.0.0.1", "port": port, "user": "lab", "credentials": str(keys)}
    url = f"http://127.0.0.1:{port}"
    every = (
        Topic(name="orders", bootstrap=f"127.0.0.1:{port}", cluster="mine"),
        KafkaAcls(
            name="client",
            bootstrap=f"127.0.0.1:{port}",
            cluster="mine",
            credentials=str(keys),
            authority=str(tmp_path / "ca.pem"),
            rules=({"resource": "topic", "name": "*", "operations": ("read",)},),
        ),
        Subject(name="orders-value", registry=url, avro='"string"'),
        Bucket(name="archive", endpoint=url, credentials=str(keys)),
        Database(name="shop", **server, maintenance="postgres"),
        Table(name="orders", **server, database="shop", columns=({"name": "id", "type": "text"},)),
        Connector(name="archive", worker=url, cluster="mine", config={"connector.class": "Sink"}),
    )
    return {one.kind: one.properties() for one in every}


def struct(values):
    return ParseDict(values, Struct())


def urn(kind):
    return f"urn:pulumi:dev::lab::labkit:index:{kind}::it"


@pytest.mark.parametrize("kind", NAMES)
def test_a_refresh_keeps_the_resource_and_the_next_update_checks_it(provider, properties, kind):
    state = struct(properties[kind])
    read = provider.Read(pb.ReadRequest(id="it", urn=urn(kind), inputs=state, properties=state), CONTEXT)
    assert read.id == "it"
    assert MessageToDict(read.inputs) == properties[kind] | UNREACHABLE
    diff = provider.Diff(pb.DiffRequest(urn=urn(kind), old_inputs=read.inputs, news=state), CONTEXT)
    assert (list(diff.diffs), list(diff.replaces)) == (["unreachable"], [])


@pytest.mark.parametrize("kind", NAMES)
def test_an_update_after_such_a_refresh_creates_what_is_missing(provider, properties, kind, monkeypatch):
    created = []
    monkeypatch.setattr(KINDS[kind], "create", lambda inputs, call: created.append(inputs.properties()) or {})
    old, news = struct(properties[kind] | UNREACHABLE), struct(properties[kind])
    update = provider.Update(pb.UpdateRequest(id="it", urn=urn(kind), olds=old, old_inputs=old, news=news), CONTEXT)
    assert created == [properties[kind]]
    assert MessageToDict(update.properties) == properties[kind]


@pytest.mark.parametrize("kind", NAMES)
def test_a_delete_fails_with_the_reason(provider, properties, kind):
    state = struct(properties[kind])
    request = pb.DeleteRequest(id="it", urn=urn(kind), old_inputs=state, properties=state)
    with pytest.raises(Refused, match=r"could not (delete|drop) .*\. Start its service .*bin/lab down"):
        provider.Delete(request, CONTEXT)


@pytest.mark.parametrize("kind", NAMES)
def test_the_removal_of_the_whole_lab_drops_it(provider, properties, kind, monkeypatch):
    monkeypatch.setenv(DROP_UNREACHABLE, "true")
    state = struct(properties[kind])
    provider.Delete(pb.DeleteRequest(id="it", urn=urn(kind), old_inputs=state, properties=state), CONTEXT)


@pytest.mark.parametrize("kind", NAMES)
def test_a_service_that_moves_to_another_port_keeps_its_resources(provider, properties, kind, port):
    """A replacement would have to delete the resource at an address where nothing responds."""
    old, new = (
        {
            key: value if not isinstance(value, str) else value.replace(str(port), str(moved))
            for key, value in properties[kind].items()
        }
        | ({"port": moved} if "port" in properties[kind] else {})
        for moved in (port, port + 1)
    )
    diff = provider.Diff(pb.DiffRequest(urn=urn(kind), old_inputs=struct(old), news=struct(new)), CONTEXT)
    assert diff.changes == pb.DiffResponse.DIFF_SOME
    assert list(diff.replaces) == []


def test_a_resource_of_another_existing_service_is_replaced(provider, properties):
    old = properties["Topic"] | {"external": True}
    new = old | {"bootstrap": "127.0.0.1:1"}
    diff = provider.Diff(pb.DiffRequest(urn=urn("Topic"), old_inputs=struct(old), news=struct(new)), CONTEXT)
    assert list(diff.replaces) == ["bootstrap"]


def test_postgres_that_ends_between_check_and_connection_is_unreachable(port, tmp_path):
    keys = tmp_path / "credentials.env"
    credentials.ensure(keys, {})
    server = PostgresServer("127.0.0.1", port, "lab", str(keys))
    with pytest.raises(ServiceUnreachable, match=r"could not drop table orders at 127\.0\.0\.1:\d+: .*refused"):
        server.connect("shop", "drop table orders", OperationContext())
