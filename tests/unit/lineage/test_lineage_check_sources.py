# SPDX-License-Identifier: Apache-2.0
"""Sources of the check: files of all formats, folders, services and standard input; and its findings on real events."""

import copy
import io
import json
import sys
import threading
import tracemalloc
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from lineage_events import RECORDED, encode, recorded_lines
from lineage_valid_events import table, valid_event
from openlineage.client.facet_v2 import BaseFacet
from test_lineage_process import post, service

from lineage.checks import schema_files
from lineage.checks.events import SourceError, Specification, SpecificationError, check_events, events_of, sources
from lineage.checks.events.conformance import conformance_problems
from lineage.checks.schema_files import find_schemas
from lineage.checks.schema_pins import PINS, PUBLISHED
from tests.openlineage_schemas import specification

EVENTS = [valid_event("START", 1), valid_event("RUNNING", 2), valid_event("COMPLETE", 3)]
LINES = b"".join(encode(event) + b"\n" for event in EVENTS)


def read(content, name="events"):
    return list(sources.read_stream(io.BytesIO(content), name))


def checked_codes(content):
    findings = check_events(read(content))
    return findings.events, [finding.rule.code for finding in findings]


@pytest.mark.parametrize(
    "content",
    [
        LINES,
        LINES.rstrip(),
        b"\n\r\n" + LINES.replace(b"\n", b"\r\n\r\n"),
        encode(EVENTS),
        json.dumps(EVENTS, indent=2).encode(),
        b"[\n" + b",\n".join(encode(event) for event in EVENTS) + b"\n]",
        encode({"events": EVENTS, "totalCount": 3}),
        json.dumps({"totalCount": 3, "events": EVENTS}, indent=1).encode(),
    ],
)
def test_every_file_format_yields_the_same_events(content):
    assert checked_codes(content) == (3, [])


def test_events_of_a_service_are_checked_in_event_time_order():
    backwards = encode({"events": EVENTS[::-1], "totalCount": 3})
    assert checked_codes(backwards) == (3, [])
    assert [item.line for item in read(backwards)] == [3, 2, 1]
    assert checked_codes(encode({"events": [3, *EVENTS]})) == (4, ["not-an-event"])


def test_pretty_printed_event_is_read():
    assert checked_codes(json.dumps(EVENTS[0], indent=4).encode()) == (1, ["run-no-end"])


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"", (0, ["no-events"])),
        (b"\n \n", (0, ["no-events"])),
        (b"[]", (0, ["no-events"])),
        (b'{"events": []}', (0, ["no-events"])),
        (b"rubbish\n" + LINES, (3, ["not-json"])),
        (b"{rubbish}\n" + LINES, (3, ["not-json"])),
        (b"{rubbish\n" + LINES, (3, ["not-json"])),
        (LINES[:-10], (2, ["not-json", "run-no-end"])),
        (LINES.replace(b"\n", b"\nrubbish\n", 1), (3, ["not-json"])),
        (b"[" + LINES, (0, ["not-json"])),
        (encode(EVENTS)[:-1], (0, ["not-json"])),
        (b"\x1f\x8b\x08\x00" + bytes(2000), (0, ["not-json"])),
        (b"\xff\xfe{}", (0, ["not-json"])),
        (b"[" * 100_000, (0, ["not-json"])),
        (b'{"a":' * 100_000 + b"\n", (0, ["not-json"])),
        (b"3\n4\n", (2, ["not-an-event"] * 2)),
        (b'"START"', (1, ["not-an-event"])),
    ],
)
def test_malformed_lines_are_reported_and_others_checked(content, expected):
    assert checked_codes(content) == expected


def test_line_numbers_are_those_of_an_editor():
    items = read(b"\n" + LINES.replace(b"\n", b"\n\n"), "file")
    assert [(item.source, item.line) for item in items] == [("file", 2), ("file", 4), ("file", 6)]


def test_overlong_line_is_skipped(monkeypatch):
    monkeypatch.setattr(sources, "MAX_LINE", 4000)
    long = encode(valid_event("RUNNING", 2, inputs=[table("t", *map(str, range(2000)))])) + b"\n"
    assert checked_codes(LINES[: LINES.index(b"\n") + 1] + long + encode(EVENTS[2])) == (2, ["too-large"])
    assert checked_codes(long + LINES) == (3, ["too-large"])


def test_overlong_document_is_not_read(monkeypatch):
    monkeypatch.setattr(sources, "MAX_DOCUMENT", 1000)
    assert checked_codes(json.dumps(EVENTS, indent=1).encode()) == (0, ["too-large"])


class EndlessStream(io.RawIOBase):
    """Stream of lines that never ends; only the first `count` are read."""

    def __init__(self, count):
        self.lines = (encode(valid_event("RUNNING", 1, streaming=True)) + b"\n" for _ in range(count))
        self.rest = b""

    def readable(self):
        return True

    def readinto(self, buffer):
        if not self.rest:
            self.rest = next(self.lines, b"")
        count = min(len(buffer), len(self.rest))
        buffer[:count] = self.rest[:count]
        self.rest = self.rest[count:]
        return count


def peak_memory(count):
    stream = io.BufferedReader(EndlessStream(count))
    tracemalloc.start()
    try:
        assert check_events(sources.read_stream(stream, "stream")).events == count
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_memory_is_independent_of_the_number_of_lines():
    peak_memory(10)  # fills class-level caches
    assert peak_memory(600) < peak_memory(60) + 100_000


def test_folder_is_read_in_name_order(tmp_path):
    (tmp_path / "below").mkdir()
    (tmp_path / "a.ndjson").write_bytes(encode(EVENTS[0]))
    (tmp_path / "below" / "b.jsonl").write_bytes(encode(EVENTS[1]))
    (tmp_path / "c.json").write_bytes(encode([EVENTS[2]]))
    (tmp_path / "README.md").write_text("no events")
    items = list(events_of(str(tmp_path)))
    assert [Path(item.source).name for item in items] == ["a.ndjson", "b.jsonl", "c.json"]
    assert [item.line for item in items] == [1, 1, 1]


def test_standard_input_is_read(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(LINES)))
    assert [(item.source, item.line) for item in events_of("-")] == [("stdin", 1), ("stdin", 2), ("stdin", 3)]


def test_unreadable_sources_are_reported(tmp_path):
    (tmp_path / "empty").mkdir()
    cases = [
        (str(tmp_path / "none.ndjson"), "no such file; give a file, folder, URL or -"),
        (str(tmp_path / "empty"), "it has no file with suffix .ndjson, .jsonl, .json"),
        ("http://127.0.0.1:9", "Connection refused"),
        ("http://", "not an http URL"),
        ("http://[::1", "is the service up"),
    ]
    for source, message in cases:
        with pytest.raises(SourceError, match=message):
            list(events_of(source))


@contextmanager
def serving(respond):
    """Provide a server that answers GET with `respond(path, query)`: a status and bytes."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            parts = urlsplit(self.path)
            status, content = respond(parts.path, parse_qs(parts.query))
            self.send_response(status)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_):
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_service_is_read_page_by_page():
    asked = []

    def respond(path, query):
        assert path == "/api/v1/events/lineage"
        offset = int(query["offset"][0])
        asked.append((offset, query["sortDirection"]))
        return 200, encode({"events": EVENTS[offset : offset + 2], "totalCount": 3})

    with serving(respond) as url:
        for spelling in (url, f"{url}/", f"{url}/api/v1", f"{url}/api/v1/events/lineage"):
            asked.clear()
            assert [item.content["eventType"] for item in events_of(spelling)] == ["START", "RUNNING", "COMPLETE"]
            assert asked == [(0, ["asc"]), (2, ["asc"]), (3, ["asc"])]


def test_events_with_equal_times_are_ordered_by_state():
    same = [valid_event("COMPLETE", 1), valid_event("RUNNING", 1), valid_event("START", 1)]

    def respond(_, query):
        return 200, encode({"events": same if query["offset"] == ["0"] else []})

    with serving(respond) as url:
        findings = check_events(events_of(url))
    assert (findings.events, list(findings)) == (3, [])


@pytest.mark.parametrize(
    ("status", "content", "message"),
    [
        (500, b"oops", "500 Internal Server Error"),
        (404, b"{}", "404 Not Found"),
        (200, b"<html>", "is not JSON"),
        (200, b'{"jobs": []}', "has no list of events"),
        (200, b"[]", "has no list of events"),
    ],
)
def test_invalid_responses_of_a_service_are_errors(status, content, message):
    with serving(lambda *_: (status, content)) as url, pytest.raises(SourceError, match=message):
        list(events_of(url))


def test_lineage_service_is_a_source(tmp_path):
    with service(tmp_path) as (_, url):
        for event in reversed(EVENTS):
            assert post(url, event) == 201
        findings = check_events(events_of(url))
    assert (findings.events, list(findings)) == (3, [])


VALID_EVENT = valid_event("START", 1, inputs=[table("t", "a")])


def messages(event, standard=None):
    problems = conformance_problems(event, standard or specification())
    return sorted(f"{problem.rule.code} {problem.path}: {problem.message}" for problem in problems)


def test_schema_violation_names_path_and_requirement():
    broken = copy.deepcopy(VALID_EVENT)
    broken["eventTime"] = "now"
    broken["inputs"][0]["facets"]["schema"]["fields"][0]["name"] = 3
    broken["job"]["facets"]["jobType"].pop("integration")
    assert messages(broken) == [
        "missing-key job.facets.jobType.integration: is missing; required by JobTypeJobFacet",
        "wrong-value eventTime: 'now' is not an RFC 3339 time; write it as 2026-01-31T12:00:00.123Z",
        "wrong-value inputs[0].facets.schema.fields[0].name: must be a string, not 3",
    ]


def test_violation_of_alternatives_reports_the_closest_one():
    broken = copy.deepcopy(VALID_EVENT)
    url = "https://openlineage.io/spec/facets/1-0-0/LineageFacet.json#/$defs/LineageJobFacet"
    entry = {"namespace": "a", "name": "b", "type": "DATASET", "inputs": [{"namespace": "a", "type": "DATASET"}]}
    broken["job"]["facets"]["lineage"] = {"_producer": "urn:test", "_schemaURL": url, "entries": [entry]}
    assert messages(broken) == [
        "missing-key job.facets.lineage.entries[0].inputs[0].name: is missing; required by LineageJobFacet"
    ]


def test_check_works_without_the_schemas():
    broken = copy.deepcopy(VALID_EVENT) | {"eventTime": "now"}
    broken["job"]["facets"]["jobType"].pop("integration")
    (problem,) = conformance_problems(broken, None)
    assert (problem.rule.code, problem.path) == ("wrong-value", "eventTime")


def test_schemas_are_read_from_a_url(tmp_path):
    published = {path.name: path for path in find_schemas().rglob("*.json")}

    def respond(path, _):
        name = path.rpartition("/")[2]
        in_place = path.startswith("/spec/" if name == "OpenLineage.json" else "/spec/facets/")
        known = in_place and name in published and name != "SQLJobFacet.json"
        return (200, published[name].read_bytes()) if known else (404, b"")

    broken = valid_event("START", 1)
    broken["job"]["facets"]["jobType"].pop("integration")
    with serving(respond) as url:
        fetched = Specification.open(f"{url}/spec/")
        assert specification().facets.keys() - fetched.facets.keys() == {("job", "sql")}
        assert messages(broken, fetched) == messages(broken)
        with pytest.raises(SpecificationError, match=r"OpenLineage.json is not at .*/elsewhere"):
            Specification.open(f"{url}/elsewhere")
    with pytest.raises(SpecificationError, match="cannot fetch schema"):
        Specification.open("http://127.0.0.1:9")
    with pytest.raises(SpecificationError, match=r"OpenLineage\.json is not in folder"):
        Specification.open(tmp_path)
    (tmp_path / "OpenLineage.json").write_text("{")
    with pytest.raises(SpecificationError, match="cannot read schema"):
        Specification.open(tmp_path)
    (tmp_path / "OpenLineage.json").write_text("{}")
    with pytest.raises(SpecificationError, match=r"OpenLineage.json has no \$id"):
        Specification.open(tmp_path)


def test_every_facet_schema_has_an_entity_and_a_key():
    documents = [json.loads(path.read_text()) for path in find_schemas().rglob("[!.]*Facet.json")]
    keys = {key for document in documents for key in document.get("properties", {})}
    assert len(documents) == len(PINS) - 1
    assert {key for _, key in specification().facets} == keys
    classes = {cls._get_schema() for cls in BaseFacet.__subclasses__() if cls.__module__.startswith("openlineage")}
    owned = {schema.url for schema in specification().facets.values()}
    assert {url for url in classes if url.rpartition("/")[2].endswith("Facet")} - owned == {
        "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/" + name
        for name in ("RunFacet", "JobFacet", "DatasetFacet", "InputDatasetFacet", "OutputDatasetFacet")
    }


FLINK = {"no-emission-pattern", "job-type-dropped", "run-bare", "namespace-port", "no-error-message"}


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("flink-ds_*", FLINK),
        ("flink-nondetached_ds*", FLINK - {"no-error-message"}),
        ("flink-normalised.ndjson", {"no-emission-pattern", "facet-schema"}),
        ("flink-normalised-raw*", {"name-empty", *FLINK} - {"namespace-port", "no-error-message"}),
        ("flink-orders_to_iceberg.ndjson", {"name-empty", "two-spellings", *FLINK} - {"no-error-message"}),
        ("flink-sql_bounded*", {"job-type-dropped", "namespace-port"}),
        ("spark-supplier_stats_hourly*", set()),
        ("spark-connect*", set()),
        ("spark-kafka_audit*", {"namespace-port"}),
        ("spark-orders_stream*", {"no-emission-pattern"}),
        ("spark-options*", {"run-second-end", "no-error-message", "source-no-input"}),
    ],
)
def test_recorded_events_have_the_known_findings(pattern, expected):
    recorded_lines()  # skips without recordings
    found = set()
    for file in sorted(RECORDED.glob(pattern)):
        findings = check_events(events_of(str(file)), specification=specification())
        found |= {finding.rule.code for finding in findings}
    assert found == expected


@pytest.fixture
def schemas(tmp_path, monkeypatch):
    """Return a folder with a copy of the schemas, laid out as `spec` of an OpenLineage checkout, and an empty cache."""
    folder = tmp_path / "spec"
    (folder / "facets").mkdir(parents=True)
    for path in find_schemas().rglob("[!.]*.json"):
        (folder / ("" if path.name == "OpenLineage.json" else "facets") / path.name).write_bytes(path.read_bytes())
    monkeypatch.setenv(schema_files.CACHE_VARIABLE, str(tmp_path / "cache"))
    monkeypatch.delenv(schema_files.FOLDER_VARIABLE, raising=False)
    return folder


def test_schemas_are_read_from_the_configured_folder(schemas, monkeypatch, tmp_path):
    monkeypatch.setenv(schema_files.FOLDER_VARIABLE, str(schemas))
    assert find_schemas() == schemas
    assert schema_files.write_schemas(tmp_path) == f"45 schemas from {schemas}"
    assert {path.name for path in tmp_path.glob("*.json")} == PINS.keys()
    (schemas / "facets" / "SQLJobFacet.json").write_text("{}")
    with pytest.raises(SpecificationError, match=r"SQLJobFacet.json is another version .*; set LINEAGE_LAB_SPEC to a"):
        Specification.open()
    (schemas / "facets" / "SQLJobFacet.json").unlink()
    with pytest.raises(SpecificationError, match=r"SQLJobFacet.json is not in folder .*; set LINEAGE_LAB_SPEC to a"):
        Specification.open()


def test_schemas_are_downloaded_once(schemas, monkeypatch):
    requested = []

    def respond(path, _):
        requested.append(path)
        return 200, next(schemas.rglob(path.rpartition("/")[2])).read_bytes()

    with serving(respond) as url:
        local = {name: (published.replace(PUBLISHED, url), sha256) for name, (published, sha256) in PINS.items()}
        monkeypatch.setattr(schema_files, "PUBLISHED", url)
        monkeypatch.setattr(schema_files, "PINS", local)
        folder = find_schemas()
        assert {path.name for path in folder.iterdir()} == PINS.keys()
        assert find_schemas() == folder
        assert len(requested) == len(PINS)
        (folder / "SQLJobFacet.json").write_text("damaged")
        assert find_schemas() == folder
        assert len(requested) == 2 * len(PINS)
        assert len(Specification.open().facets) > 40


def test_failed_download_leaves_no_schemas(schemas, monkeypatch, tmp_path):
    del schemas
    with serving(lambda *_: (200, b"{}")) as url:
        monkeypatch.setattr(schema_files, "PUBLISHED", url)
        monkeypatch.setattr(schema_files, "PINS", {name: (f"{url}/{name}", pin) for name, (_, pin) in PINS.items()})
        with pytest.raises(SpecificationError, match="another version than the pinned one"):
            Specification.open()
    with pytest.raises(SpecificationError, match=r"cannot download .*; set LINEAGE_LAB_SPEC to a folder"):
        Specification.open()
    assert [path for path in (tmp_path / "cache").rglob("*") if path.is_file()] == []
