# SPDX-License-Identifier: Apache-2.0
"""Invalid requests to a real service: it rejects them with an error, keeps running and stays readable.

Over a thousand generated cases with a fixed seed; `LINEAGE_LAB_HOSTILE` multiplies their number.
"""

import gzip
import json
import os
import zlib
from random import Random
from urllib.parse import quote

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from lineage_client import connected_client
from lineage_events import body, dataset, encode, recorded_lines, schema, source
from lineage_invalid_events import JSON, complete_event, invalid_events

from tests.bench.http_connection import request_bytes
from tests.bench.load_generator import BATCH_PATH, EVENT_PATH

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
    """Provide one service for all tests; afterwards it must be the same process, of bounded size, with no backlog."""
    folder = tmp_path_factory.mktemp("hostile") / "data"
    with connected_client(folder, "--max-event-bytes", MAX_EVENT_BYTES) as client:
        service = client.service
        assert client.post(complete_event()).status in REFUSED  # its input has no namespace, and no rule gives one
        assert client.post(body(inputs=[dataset("a")], outputs=[dataset("b")])).status == 201
        before = service.pss_mib()
        yield client
        client.read_everything()
        assert client.json("/stats")["unapplied"] == []
        assert service.process.poll() is None
        assert service.pss_mib() - before < MAX_GROWTH_MIB * SCALE


def assert_rejected_with_an_error(answer):
    error = json.loads(answer.body)["error"]
    assert error["code"]
    assert error["message"].strip()


def assert_survived(client, answer, accepted=(201,)):
    """Assert a 2xx or 4xx response and that the list pages are readable."""
    if answer.status not in accepted:
        assert answer.status in REFUSED, answer
        assert_rejected_with_an_error(answer)
    for target in ("/namespaces?limit=3", "/jobs?limit=3", "/search?q=a&limit=3", "/events/lineage?limit=3"):
        client.json(target)


def broken_gzip(data):
    packed = gzip.compress(data)
    return st.sampled_from([packed[: len(packed) // 2], packed[:-1], packed + b"x", b"\x1f\x8b" + data, packed * 2])


def with_encoding(data):
    """Return a body with a content encoding that may or may not match it."""
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
    invalid_events().map(encode),
    st.binary(max_size=60),
    JSON.map(encode),
    invalid_events().map(lambda event: json.dumps(event).encode("utf-16")),
    invalid_events().map(encode).flatmap(lambda data: st.integers(0, len(data)).map(lambda end: data[:end])),
    st.tuples(invalid_events().map(encode), st.binary(max_size=3)).map(lambda pair: pair[0] + pair[1]),
)


@cases(700)
@given(invalid_events())
def test_invalid_events_are_rejected(client, event):
    assert_survived(client, client.post(event))


@cases(300)
@given(BODIES.flatmap(with_encoding), CONTENT_TYPES)
def test_mismatched_bodies_types_and_encodings_are_rejected(client, sent, content_type):
    data, encoding = sent
    assert_survived(client, client.post(data, Content_Encoding=encoding, Content_Type=content_type))


@cases(150)
@given(
    st.one_of(st.lists(invalid_events(), max_size=4), st.lists(JSON, max_size=4), JSON)
    .map(encode)
    .flatmap(with_encoding)
)
def test_batches_of_invalid_events_are_rejected(client, sent):
    data, encoding = sent
    answer = client.post(data, BATCH_PATH, Content_Encoding=encoding)
    assert answer.status < 500, answer
    assert_survived(client, answer, accepted=range(200, 300))


@pytest.mark.parametrize("path", [EVENT_PATH, BATCH_PATH])
def test_decompression_stops_at_the_size_limit(client, path):
    for bomb in (b"[" * 50_000_000, b" " * 50_000_000, b'{"a":' * 10_000_000, b'"' + b"\\u0000" * 8_000_000):
        assert_survived(client, client.post(gzip.compress(bomb, 1), path, Content_Encoding="gzip"))
    for deep in (b"[" * 90_000, b'{"a":' * 30_000, b"[" * 90_000 + b"]" * 90_000, b"1" * 190_000):
        assert_survived(client, client.post(deep, path))
    assert_survived(client, client.post(b"x" * (MAX_EVENT_BYTES + 1)))


@pytest.fixture(scope="module")
def routes(client):
    """Return (path, operation) of every GET route in the service's OpenAPI document."""
    document = json.loads(client.send(request_bytes("GET", "/openapi.json")).body)
    return sorted((path, ways["get"]) for path, ways in document["paths"].items() if "get" in ways)


ODD_VALUES = (
    *("", "0", "-1", "1", "10000", "10001", str(2**63), "NaN", "true", "a/b", "..", "%", ":", "\ud800", "\x00"),
    *("test-jobs", "job", "s3://warehouse", "a", "asc", "x" * 3000),
    *("dataset:s3://warehouse:b", "job:test-jobs:job", "datasetField:s3://warehouse:b:c"),
    *("2026-01-01T00:00:00Z", "2026-01-01", "9999-12-31T23:59:59Z", "-10m"),
)


def odd_value(generator):
    """Return a quoted value: one of `ODD_VALUES`, random text, random bytes or a number of any size."""
    kind = generator.randrange(4)
    if kind == 0:
        return quote(generator.randbytes(generator.randrange(7)), safe="")
    if kind == 1:
        text = "".join(chr(generator.randrange(0x110000 >> generator.randrange(14))) for _ in range(8))
    elif kind == 2:
        text = str(generator.randrange(-(2**70), 2**70) >> generator.randrange(71))
    else:
        text = generator.choice(ODD_VALUES)
    return quote(text.encode("utf-8", "surrogatepass"), safe="")


def odd_request(generator, path, way):
    """Return path and query of a request with odd values for parameters, of which some are given twice or unknown."""
    pairs = []
    for parameter in way.get("parameters", []):
        if parameter["in"] == "path":
            path = path.replace("{" + parameter["name"] + "}", odd_value(generator))
        elif generator.random() < 0.5 or parameter["required"]:
            pairs += [f"{parameter['name']}={odd_value(generator)}" for _ in range(generator.randint(1, 2))]
    pairs += [odd_value(generator)] * generator.randrange(2)
    return f"{path}?{'&'.join(pairs)}"


def test_every_route_survives_odd_paths_and_queries(client, routes):
    # Not by Hypothesis: what the other tests have stored makes a response depend on more than the draws.
    for number in range(600 * SCALE):
        target = odd_request(Random(number), *routes[number % len(routes)])
        answer = client.send(request_bytes("GET", target))
        if answer.status != 200:
            assert answer.status in REFUSED, (number, target, answer)
            assert_rejected_with_an_error(answer)
        client.json("/jobs?limit=3")


@cases(100)
@given(st.sampled_from(["PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "BREW", "HEAD"]), st.data())
def test_every_route_survives_other_methods(client, routes, method, data):
    path, _ = data.draw(st.sampled_from(routes))
    answer = client.send(request_bytes(method, quote(path.replace("{", "").replace("}", ""))))
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


HARMFUL_EVENTS = {
    # Marquez's /namespaces, /jobs and /search respond 500 permanently after these three.
    "dataset namespace empty": (body(outputs=[dataset("lake.proc.orders", "")]), False),
    "dataset name empty": (body(outputs=[dataset("")]), False),
    "symlink namespace empty": (body(outputs=[with_symlink("", "a")]), False),
    "symlink name empty": (body(outputs=[with_symlink("a", "")]), False),
    # Marquez responds 500 to these.
    "column without inputFields": (body(outputs=[dataset("b", columnLineage={"fields": {"c": {}}})]), False),
    "no eventType": (body(None), True),
    "no object": ([body()], False),
    "a string": ("event", False),
    # Marquez accepts or rejects these inconsistently.
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


@pytest.mark.parametrize("name", HARMFUL_EVENTS)
def test_events_that_break_marquez_are_rejected_or_readable(client, name):
    content, taken = HARMFUL_EVENTS[name]
    answer = client.post(content)
    assert answer.status == 201 if taken else answer.status in REFUSED, answer
    assert_survived(client, answer)
    client.read_everything()


def test_recorded_engine_events_leave_every_page_readable(client):
    for line in recorded_lines():
        assert_survived(client, client.post(line))
    client.read_everything()
