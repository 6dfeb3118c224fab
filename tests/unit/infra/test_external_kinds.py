# SPDX-License-Identifier: Apache-2.0
"""Checks of existing services that do not respond, or respond wrongly; resources in them while they are down."""

import socket
from http.server import BaseHTTPRequestHandler
from typing import ClassVar

import pytest

from infra import credentials
from infra.errors import LabError
from infra.model import (
    Bucket,
    Database,
    ExternalKafka,
    ExternalObjectStore,
    ExternalPostgres,
    ExternalSchemaRegistry,
    Subject,
    Table,
    Topic,
)
from infra.provider import object_store
from infra.provider.external_service import REFUSED
from infra.provider.inputs import CredentialsInputs
from infra.provider.kind import OperationContext
from infra.provider.kinds import MODULES, Kinds, bucket, external_kafka
from infra.provider.kinds.credentials import CredentialsKind
from tests.unit.infra.http_server import next_response, serving

KINDS = Kinds(MODULES)


class ServiceHandler(BaseHTTPRequestHandler):
    """Sends its responses in turn, (status, body), and repeats the last one."""

    def do_GET(self):
        self.server.received.append(self.path)
        status, body = next_response(self.server)
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


@pytest.fixture
def service():
    with serving(ServiceHandler) as running:
        yield running


@pytest.fixture
def keys(tmp_path):
    path = tmp_path / "credentials.env"
    credentials.ensure(path, {})
    return str(path)


@pytest.fixture
def closed_port(monkeypatch):
    """Port that refuses connections and that no other program can take."""
    monkeypatch.setattr(bucket, "RETRY_SECONDS", 0)
    monkeypatch.setattr(object_store, "RETRIES", 0)
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        yield bound.getsockname()[1]


def check(inputs):
    return KINDS[inputs.kind].create(inputs, OperationContext())


def services_at(port, keys):
    url = f"http://127.0.0.1:{port}"
    server = {"host": "127.0.0.1", "port": port, "user": "lab", "credentials": keys, "maintenance": "postgres"}
    return [
        ExternalKafka(name="kafka", bootstrap=f"127.0.0.1:{port},127.0.0.1:{port}"),
        ExternalSchemaRegistry(name="schema_registry", url=url),
        ExternalObjectStore(name="object_store", endpoint=url, credentials=keys),
        ExternalPostgres(name="postgres", **server, captured="shop", slot="orders_source"),
    ]


def resources_at(port, keys):
    url = f"http://127.0.0.1:{port}"
    server = {"host": "127.0.0.1", "port": port, "user": "lab", "credentials": keys, "external": True}
    return [
        Topic(name="orders", bootstrap=f"127.0.0.1:{port}", cluster="", external=True),
        Subject(name="orders-value", registry=url, avro='"string"', external=True),
        Bucket(name="archive", endpoint=url, credentials=keys, external=True),
        Database(name="shop", **server, maintenance="postgres"),
        Table(name="orders", **server, database="shop", columns=({"name": "id", "type": "text"},)),
    ]


def test_a_service_that_does_not_respond_is_named_with_its_setting(closed_port, keys):
    settings = ("externalKafka", "externalSchemaRegistry", "externalS3", "externalPostgres")
    for setting, inputs in zip(settings, services_at(closed_port, keys), strict=True):
        expected = rf":{closed_port}.*, an existing service \(lineage-lab:{setting}\): .*correct lineage-lab:{setting}"
        with pytest.raises(LabError, match=expected):
            check(inputs)


def test_resources_of_the_state_are_unchanged_while_their_service_is_down(closed_port, keys):
    for inputs in resources_at(closed_port, keys):
        for adopted in (True, False):
            found = KINDS[inputs.kind].read(inputs, OperationContext(outputs={"adopted": adopted}))
            assert (found.inputs, found.outputs) == (inputs, {"adopted": adopted})


def test_resources_are_neither_created_nor_deleted_while_their_service_is_down(closed_port, keys):
    for inputs in resources_at(closed_port, keys):
        with pytest.raises(LabError):
            KINDS[inputs.kind].create(inputs, OperationContext())
        with pytest.raises(LabError, match=r"an existing service \(lineage-lab:external\w+\)"):
            KINDS[inputs.kind].delete(inputs, OperationContext(outputs={"adopted": False}))


def test_an_adopted_resource_is_left_without_a_request(closed_port, keys):
    for inputs in resources_at(closed_port, keys):
        for outputs in ({"adopted": True}, {}):
            notes = []
            KINDS[inputs.kind].delete(inputs, OperationContext(note=notes.append, outputs=outputs))
            assert [note.endswith("existed before the lab and is left, with its data") for note in notes] == [True]


def test_a_port_that_is_no_broker_is_refused(listening_socket, closed_connections, monkeypatch):
    monkeypatch.setattr(external_kafka, "METADATA_TIMEOUT_SECONDS", 2)
    address = f"127.0.0.1:{listening_socket.getsockname()[1]}"
    with pytest.raises(LabError, match=r"lineage-lab:externalKafka\): .*set it to a PLAINTEXT listener"):
        check(ExternalKafka(name="kafka", bootstrap=address))


@pytest.mark.parametrize(
    ("response", "message"),
    [
        ((401, b"{}"), "responded with status 401. To continue: set it to a registry without authentication"),
        ((404, b"<html>"), r"no list of subjects \(status 404\). To continue: set it to the root of Confluent's API"),
        ((200, b"<html>"), r"no list of subjects \(status 200\)"),
        ((200, b"{}"), r"no list of subjects \(status 200\)"),
    ],
)
def test_a_url_that_is_no_registry_is_refused_with_the_expected_form(service, response, message):
    service.responses = [response]
    url = f"http://127.0.0.1:{service.server_port}"
    with pytest.raises(LabError, match=message):
        check(ExternalSchemaRegistry(name="schema_registry", url=url))
    assert service.received == ["/subjects"]


def test_a_registry_with_subjects_is_accepted(service):
    service.responses = [(200, b'["a"]')]
    assert check(ExternalSchemaRegistry(name="r", url=f"http://127.0.0.1:{service.server_port}")) == {}


def error_body(code):
    return f"<Error><Code>{code}</Code><Message>why</Message></Error>".encode()


@pytest.mark.parametrize("code", ["InvalidAccessKeyId", "SignatureDoesNotMatch"])
def test_rejected_keys_are_an_error_and_drift_on_refresh(service, keys, code):
    service.responses = [(403, error_body(code))]
    url = f"http://127.0.0.1:{service.server_port}"
    inputs = ExternalObjectStore(name="object_store", endpoint=url, credentials=keys, fingerprint="known")
    with pytest.raises(LabError, match=rf"{code}.*set LINEAGE_LAB_S3_ACCESS_KEY and LINEAGE_LAB_S3_SECRET_KEY"):
        check(inputs)
    found = KINDS[inputs.kind].read(inputs, OperationContext())
    assert found.inputs == inputs.model_copy(update={"fingerprint": REFUSED})


def test_keys_that_may_not_list_buckets_are_accepted(service, keys):
    service.responses = [(403, error_body("AccessDenied"))]
    url = f"http://127.0.0.1:{service.server_port}"
    assert check(ExternalObjectStore(name="object_store", endpoint=url, credentials=keys)) == {}


class TestGivenCredentials:
    """Credentials of existing services, in the environment or in the file."""

    GIVEN: ClassVar[dict] = {"POSTGRES_PASSWORD": "externalPostgres"}
    VARIABLE = "LINEAGE_LAB_POSTGRES_PASSWORD"
    KIND = CredentialsKind()

    @pytest.fixture
    def inputs(self, tmp_path, monkeypatch):
        monkeypatch.delenv(self.VARIABLE, raising=False)
        return CredentialsInputs(path=str(tmp_path / "credentials.env"), given=self.GIVEN)

    def test_missing_ones_are_named_with_setting_variable_and_file(self, inputs):
        with pytest.raises(LabError) as refused:
            self.KIND.create(inputs, OperationContext())
        assert "lineage-lab:externalPostgres" in str(refused.value)
        assert f"set {self.VARIABLE} in the environment of `up`" in str(refused.value)
        assert f"write POSTGRES_PASSWORD=... to {inputs.path}" in str(refused.value)

    def test_those_of_the_environment_are_kept_for_later_updates(self, inputs, tmp_path, monkeypatch):
        monkeypatch.setenv(self.VARIABLE, "first")
        made = self.KIND.create(inputs, OperationContext())
        values = credentials.read(tmp_path / "credentials.env")
        assert values["POSTGRES_PASSWORD"] == "first"
        assert len(values["S3_SECRET_KEY"]) == 32
        monkeypatch.delenv(self.VARIABLE)
        assert self.KIND.read(inputs, OperationContext()).outputs == made
        monkeypatch.setenv(self.VARIABLE, "second")
        assert self.KIND.read(inputs, OperationContext()) is None
        assert self.KIND.create(inputs, OperationContext()) != made

    def test_fingerprint_of_given_credentials_only_is_random(self, tmp_path, monkeypatch):
        every = dict.fromkeys(credentials.NAMES, "externalS3")
        for name in every:
            monkeypatch.setenv(credentials.variable(name), "short")
        paths = [str(tmp_path / folder / "credentials.env") for folder in ("one", "two")]
        prints = {
            self.KIND.create(CredentialsInputs(path=path, given=every), OperationContext())["fingerprint"]
            for path in paths
        }
        assert len(prints) == 2

    def test_a_service_of_the_lab_never_gets_the_users_password(self, inputs, tmp_path, monkeypatch):
        monkeypatch.setenv(self.VARIABLE, "mine")
        self.KIND.create(inputs, OperationContext())
        self.KIND.update(inputs, inputs.model_copy(update={"given": None}), OperationContext())
        assert len(credentials.read(tmp_path / "credentials.env")["POSTGRES_PASSWORD"]) == 32
