# SPDX-License-Identifier: Apache-2.0
"""Schemas by id: responses of the registry, its 404, and responses of other servers."""

import socket

import pytest

from jobs.spark import registry as registries
from jobs.spark.registry import Registry
from jobs.spark.runtime import JobError
from tests.unit.spark.fake_registry import NOT_FOUND, FakeRegistry
from tests.unit.spark.schemas import FIRST, SCHEMAS


def test_schema_is_read_by_id() -> None:
    with FakeRegistry(SCHEMAS) as registry:
        assert Registry(registry.url).avro_schema(FIRST) == SCHEMAS[FIRST]
        assert Registry(registry.url + "/").avro_schema(FIRST) == SCHEMAS[FIRST]


@pytest.mark.parametrize(
    "answer",
    [
        NOT_FOUND,
        (200, {"schemaType": "JSON", "schema": '{"type": "record"}'}),
        (200, {"schemaType": "PROTOBUF", "schema": 'syntax = "proto3";'}),
        (200, {"schema": '"string"'}),
        (200, {"schema": '["null", "string"]'}),
        (200, {"schema": "{"}),
    ],
    ids=["unknown", "json", "protobuf", "text", "union", "broken"],
)
def test_schema_that_is_not_an_avro_record_is_none(answer: tuple[int, object]) -> None:
    with FakeRegistry({}, {5: answer}) as registry:
        assert Registry(registry.url).avro_schema(5) is None


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ((404, b"<html>no such page</html>"), "404"),
        ((404, ["no"]), "404"),
        ((500, {"error_code": 50001, "message": "store"}), "500"),
        ((200, b"<html>"), "Expecting value"),
        ((200, {"id": 5}), "the response is not that of a schema registry"),
        ((200, [1]), "the response is not that of a schema registry"),
    ],
    ids=["another server", "another service", "broken", "no json", "no schema", "a list"],
)
def test_response_of_another_server_is_an_error_with_its_url(answer: tuple[int, object], message: str) -> None:
    with FakeRegistry({}, {5: answer}) as registry:
        address = f"{registry.url}/schemas/ids/5"
        with pytest.raises(JobError, match=f"cannot get schema 5 from the registry at {address}: .*{message}"):
            Registry(registry.url).avro_schema(5)


def test_unreachable_registry_is_named() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}"
        with pytest.raises(JobError, match=f"from the registry at {url}/schemas/ids/5: .*refused.*runs there"):
            Registry(url).avro_schema(5)


def test_unavailable_registry_times_out(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    monkeypatch.setattr(registries, "RETRY_TIMEOUT_SECONDS", 1.0)
    pauses: list[float] = []

    with pytest.raises(JobError, match="cannot get schema 5 from the registry"):
        Registry("http://127.0.0.1:9").await_schema(5, pauses.append)

    assert pauses == [0.5]
    assert caplog.text.count("Retrying for up to 1 s") == 1
