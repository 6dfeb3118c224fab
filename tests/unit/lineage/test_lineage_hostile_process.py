# SPDX-License-Identifier: Apache-2.0
"""A real service is sent what it should never be sent: it refuses in words, lives on, and goes on being read.

Over a thousand generated cases, the same ones in every run; `LINEAGE_LAB_HOSTILE` multiplies their number.
"""

import gzip
import json
import os
import zlib
from urllib.parse import quote

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from lineage_client import Client
from lineage_events import body, dataset, encode, recorded_lines, schema, source
from lineage_mutants import JSON, mutants, whole

from tests.bench.http_connection import request_bytes
from tests.bench.lineage_ingest import has_batches
from tests.bench.load import BATCH, SINGLE
from tests.bench.service_process import running_service

pytestmark = pytest.mark.slow

SCALE = int(os.environ.get("LINEAGE_LAB_HOSTILE", "1"))
MAX_EVENT_BYTES = 200_000
MAX_GROWTH_MIB = 250
REFUSED = range(400, 500)


def cases(number):
    quiet = [HealthCheck.too_slow, HealthCheck.data_too_large]
    return settings(
        max_examples=number * SCALE, deadline=None, derandomize=True, database=None, suppress_health_check=quiet
    )


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    """One service for all tests; in the end it must be the same process, not much larger, with nothing unapplied."""
    with running_service(tmp_path_factory.mktemp("hostile") / "data", "--max-event-bytes", MAX_EVENT_BYTES) as service:
        client = Client(service)
        assert client.post(whole()).status in REFUSED  # its input has no namespace, and no rule gives one
        assert client.post(body(inputs=[dataset("a")], outputs=[dataset("b")])).status == 201
        before = service.pss_mib()
        yield client
        client.read_everything()
        assert client.json("/stats")["unapplied"] == []
        assert service.process.poll() is None
        assert service.pss_mib() - before < MAX_GROWTH_MIB * SCALE
        client.close()


def assert_refused_in_words(answer):
    error = json.loads(answer.body)["error"]
    assert error["code"]
    assert error["message"].strip()


def assert_survived(client, answer, accepted=(201,)):
    """2xx or 4xx, and the pages that list everything are there."""
    if answer.status not in accepted:
        assert answer.status in REFUSED, answer
        assert_refused_in_words(answer)
    for target in ("/namespaces?limit=3", "/jobs?limit=3", "/search?q=a&limit=3", "/events/lineage?limit=3"):
        client.json(target)


def broken_gzip(data):
    packed = gzip.compress(data)
    return st.sampled_from([packed[: len(packed) // 2], packed[:-1], packed + b"x", b"\x1f\x8b" + data, packed * 2])


def coded(data):
    """A body with a content encoding that fits it, or does not."""
    return st.one_of(
        st.just((data, "identity")),
        st.just((gzip.compress(data), "gzip")),
        st.just((gzip.compress(gzip.compress(data)), "gzip")),
        st.just((data, "gzip")),
        st.just((zlib.compress(data), "deflate")),
        st.sampled_from([(data, "br"), (data, "gzip, gzip"), (data, ""), (data, "GZIP"), (data, "x" * 500)]),
        broken_gzip(data).map(lambda packed: (packed, "gzip")),
    )


CONTENT_TYPES = st.sampled_from(
    ["application/json", "text/plain", "", "application/json; charset=utf-16", "multipart/form-data", "é" * 100]
)
BODIES = st.one_of(
    mutants().map(encode),
    st.binary(max_size=60),
    JSON.map(encode),
    mutants().map(lambda event: json.dumps(event).encode("utf-16")),
    mutants().map(encode).flatmap(lambda data: st.integers(0, len(data)).map(lambda end: data[:end])),
    st.tuples(mutants().map(encode), st.binary(max_size=3)).map(lambda pair: pair[0] + pair[1]),
)


@cases(700)
@given(mutants())
def test_damaged_events(client, event):
    assert_survived(client, client.post(event))


@cases(300)
@given(BODIES.flatmap(coded), CONTENT_TYPES)
def test_bytes_types_and_encodings_that_do_not_fit(client, sent, content_type):
    data, encoding = sent
    assert_survived(client, client.post(data, Content_Encoding=encoding, Content_Type=content_type))


@pytest.fixture(scope="module")
def batches(client):
    if not has_batches(client.service):
        pytest.skip(f"this service has no {BATCH}")


@cases(150)
@given(st.one_of(st.lists(mutants(), max_size=4), st.lists(JSON, max_size=4), JSON).map(encode).flatmap(coded))
def test_batches_of_damaged_events(client, batches, sent):
    data, encoding = sent
    answer = client.post(data, BATCH, Content_Encoding=encoding)
    assert answer.status < 500, answer
    assert_survived(client, answer, accepted=range(200, 300))


@pytest.mark.parametrize("path", [SINGLE, BATCH])
def test_bombs_unfold_no_further_than_the_limit(client, path):
    for bomb in (b"[" * 50_000_000, b" " * 50_000_000, b'{"a":' * 10_000_000, b'"' + b"\\u0000" * 8_000_000):
        assert_survived(client, client.post(gzip.compress(bomb, 1), path, Content_Encoding="gzip"))
    for deep in (b"[" * 90_000, b'{"a":' * 30_000, b"[" * 90_000 + b"]" * 90_000, b"1" * 190_000):
        assert_survived(client, client.post(deep, path))
    assert_survived(client, client.post(b"x" * (MAX_EVENT_BYTES + 1)))


@pytest.fixture(scope="module")
def routes(client):
    """(path, operation) of every GET route, from the service's own OpenAPI."""
    document = json.loads(client.ask(request_bytes("GET", "/openapi.json")).body)
    return sorted((path, ways["get"]) for path, ways in document["paths"].items() if "get" in ways)


ODD = st.one_of(
    st.text(max_size=8),
    st.binary(max_size=6),
    st.integers().map(str),
    st.sampled_from(
        (
            *("", "0", "-1", "1", "10000", "10001", str(2**63), "NaN", "true", "a/b", "..", "%", ":", "\ud800", "\x00"),
            *("test-jobs", "job", "s3://warehouse", "a", "asc", "x" * 3000),
            *("dataset:s3://warehouse:b", "job:test-jobs:job", "datasetField:s3://warehouse:b:c"),
            *("2026-01-01T00:00:00Z", "2026-01-01", "9999-12-31T23:59:59Z", "-10m"),
        )
    ),
).map(lambda value: quote(value if isinstance(value, bytes) else value.encode("utf-8", "surrogatepass"), safe=""))


@cases(600)
@given(st.data())
def test_paths_and_queries_of_every_route(client, routes, data):
    path, way = data.draw(st.sampled_from(routes))
    pairs = []
    for parameter in way.get("parameters", []):
        if parameter["in"] == "path":
            path = path.replace("{" + parameter["name"] + "}", data.draw(ODD))
        elif data.draw(st.booleans()) or parameter["required"]:
            pairs += [f"{parameter['name']}={data.draw(ODD)}" for _ in range(data.draw(st.integers(1, 2)))]
    pairs += data.draw(st.lists(ODD, max_size=1))
    answer = client.ask(request_bytes("GET", f"{path}?{'&'.join(pairs)}"))
    if answer.status != 200:
        assert answer.status in REFUSED, (path, pairs, answer)
        assert_refused_in_words(answer)
    client.json("/jobs?limit=3")


@cases(100)
@given(st.sampled_from(["PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "BREW", "HEAD"]), st.data())
def test_other_methods(client, routes, method, data):
    path, _ = data.draw(st.sampled_from(routes))
    answer = client.ask(request_bytes(method, quote(path.replace("{", "").replace("}", ""))))
    assert answer.status < 500, (method, path, answer)


def with_symlink(namespace, name):
    return dataset("b", symlinks={"identifiers": [{"namespace": namespace, "name": name, "type": "TABLE"}]})


def without(content, *path):
    *above, last = path
    owner = content
    for key in above:
        owner = owner[key]
    del owner[last]
    return content


def changed(content, value, *path):
    *above, last = path
    owner = content
    for key in above:
        owner = owner[key]
    owner[last] = value
    return content


POISON = {
    # These three make Marquez's /namespaces, /jobs and /search answer 500 for good.
    "dataset namespace empty": (body(outputs=[dataset("lake.proc.orders", "")]), False),
    "dataset name empty": (body(outputs=[dataset("")]), False),
    "symlink namespace empty": (body(outputs=[with_symlink("", "a")]), False),
    "symlink name empty": (body(outputs=[with_symlink("a", "")]), False),
    # These it answers with 500.
    "column without inputFields": (body(outputs=[dataset("b", columnLineage={"fields": {"c": {}}})]), False),
    "no eventType": (body(None), True),
    "no object": ([body()], False),
    "a string": ("event", False),
    # These it takes, or refuses, for reasons of its own.
    "run id is no UUID": (changed(body(), "run-1", "run", "runId"), False),
    "namespace with a blank": (body(outputs=[dataset("b", "a b")]), True),
    "dataset name null": (changed(body(outputs=[dataset("b")]), None, "outputs", 0, "name"), False),
    "from the future": (changed(body(), "2199-01-01T00:00:00Z", "eventTime"), True),
    "beyond 64 bits": (changed(body(), "9999-01-01T00:00:00Z", "eventTime"), False),
    "several brokers": (body(inputs=[dataset("t", "kafka://a:9092,b:9092")]), True),
    "namespace with a query": (body(inputs=[dataset("t", "kafka://a?b=c")]), True),
    "unknown eventType": (changed(body(), "NOPE", "eventType"), False),
    "job name a number": (changed(body(), 1, "job", "name"), False),
    "field name null": (body(outputs=[dataset("b", schema={"fields": [{"name": None}]})]), False),
    "time without zone": (changed(body(), "2026-01-01T00:00:00", "eventTime"), False),
    "no job": (without(body(), "job"), False),
    "no run": (without(body(), "run"), True),
    "its own parent": (body(parent=(1, "job")), True),
    "a job that feeds itself": (body(inputs=[dataset("x")], outputs=[dataset("x")]), True),
    "a column of itself": (
        body(outputs=[dataset("x", columnLineage={"fields": {"c": {"inputFields": [source("x", "c")]}}})]),
        True,
    ),
    "a thousand columns": (body(outputs=[dataset("b", schema=schema(*(f"c{n}" for n in range(1000))))]), True),
    "a column twice": (body(outputs=[dataset("b", schema=schema("c", "c"))]), True),
    "a name of 1025 characters": (body(job="x" * 1025), False),
    "a name with a line break": (body(job="a\nb"), False),
    "a name that looks like a path": (body(job="../../etc/passwd"), True),
}


@pytest.mark.parametrize("name", POISON)
def test_what_poisons_others_is_refused_or_shown(client, name):
    content, taken = POISON[name]
    answer = client.post(content)
    assert answer.status == 201 if taken else answer.status in REFUSED, answer
    assert_survived(client, answer)
    client.read_everything()


def test_recorded_events_of_real_engines_leave_everything_readable(client):
    for line in recorded_lines():
        assert_survived(client, client.post(line))
    client.read_everything()
