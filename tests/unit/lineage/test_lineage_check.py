# SPDX-License-Identifier: Apache-2.0
"""Rules of the event check: each rule matches its own violation only."""

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lineage_events import CATALOG_URI, body, dataset_event, encode, run_id, source
from lineage_events import RULES as NAMING_RULES
from lineage_valid_events import codes, found, table, valid_event, with_schemas

from lineage.checks.events import RULES, check_events, raw_events, render_json, render_junit, render_text
from lineage.checks.events.findings import MAX_PER_RULE, EventPosition
from lineage.checks.events.run_lifecycle import RunTracker
from tests.openlineage_schemas import specification

ORDERS = table("sales/orders", "supplier", "price")
DOCUMENT = Path(__file__).resolve().parents[3] / "docs" / "reference" / "lineage-checks.md"


def stats(**sources):
    """Return an output whose columns derive from `sources`."""
    fields = {name: {"inputFields": list(inputs)} for name, inputs in sources.items()}
    return table("sales/stats", *sources, columnLineage={"fields": fields})


def run_of(*types, streaming=False, **options):
    return [valid_event(kind, second, streaming=streaming, **options) for second, kind in enumerate(types)]


def test_valid_events_have_no_findings():
    output = stats(total=[source("sales/orders", "price", "AGGREGATION")])
    assert codes(*run_of("START", "RUNNING", "COMPLETE", inputs=[ORDERS], outputs=[output])) == []
    assert codes(*run_of("START", "RUNNING", streaming=True, inputs=[ORDERS], outputs=[output])) == []
    assert codes(with_schemas(body(run=None, inputs=[ORDERS], outputs=[output]))) == []
    described = with_schemas(dataset_event(1, ORDERS))
    assert codes(described) == []


@pytest.mark.parametrize(
    ("path", "value", "expected"),
    [
        ("eventTime", None, "missing-key eventTime: is missing; required by RunEvent"),
        ("eventTime", "yesterday", "wrong-value eventTime: 'yesterday' is "),
        ("eventTime", "2026-01-01T00:00:00", "wrong-value eventTime: '2026-01-01T00:00:00' has no time zone"),
        ("eventType", "NOPE", "wrong-value eventType: must be one of START, RUNNING,"),
        ("eventType", ["START"], "wrong-value eventType: must be one of START, RUNNING,"),
        ("eventType", None, "no-event-type eventType: is missing"),
        ("producer", "me", "no-uri producer: 'me' is not an absolute URI"),
        ("producer", None, "missing-key producer: is missing"),
        ("schemaURL", 3, "wrong-value schemaURL: must be a string, not 3"),
        (
            "schemaURL",
            "https://openlineage.io/spec/1-0-5/OpenLineage.json#/$defs/RunEvent",
            "schema-outdated schemaURL: names version 1-0-5; 2-0-2 is current",
        ),
        ("run.runId", "run-1", "wrong-value run.runId: must be a UUID, not 'run-1'"),
        ("run.runId", None, "missing-key run.runId: is missing; required by RunEvent"),
        ("run.facets", [], "wrong-value run.facets: must be an object, not an array"),
        ("job.name", 7, "wrong-value job.name: must be a string, not 7"),
        ("job.facets.jobType.integration", None, "missing-key job.facets.jobType.integration: is missing"),
        ("job.facets.jobType._producer", None, "missing-key job.facets.jobType._producer: is missing"),
        ("job.facets.jobType._schemaURL", None, "missing-key job.facets.jobType._schemaURL: is missing"),
        (
            "job.facets.jobType._schemaURL",
            "https://openlineage.io/spec/facets/2-0-3/JobTypeJobFacet.json#/$defs/JobTypeJobFacet",
            "schema-outdated job.facets.jobType._schemaURL: names version 2-0-3; 2-0-4 is current",
        ),
        (
            "job.facets.jobType._schemaURL",
            "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/JobFacet",
            "facet-schema job.facets.jobType._schemaURL: is 'https://openlineage.io/spec/2-0-2/",
        ),
        ("inputs", {}, "wrong-value inputs: must be an array, not an object"),
        ("inputs.0.name", None, "missing-key inputs[0].name: is missing; required by RunEvent"),
        ("inputs.0.facets.schema.fields.1.name", True, "must be a string, not True"),
        ("inputs.0.facets.schema.fields.1.ordinal_position", 1.5, "ordinal_position: must be an integer, not 1.5"),
        ("inputs.0.facets.schema.fields.1.type", None, None),
        ("inputs.0.name", "a\nb", "name-unusable inputs[0].name: 'a\\nb' contains control characters"),
        ("inputs.0.name", "a" * 2000, "name-unusable inputs[0].name: has 2000 characters"),
        ("inputs.0.name", " ", "name-empty inputs[0].name: is empty"),
        ("job.namespace", "", "name-empty job.namespace: is empty"),
        ("job.name", "load_2026-01-31", "job-name-per-run job.name: contains a date, '2026-01-31'"),
        ("job.name", f"load.{run_id(1)}", "job-name-per-run job.name: contains a UUID"),
        ("job.name", "load_1767225600", "job-name-per-run job.name: contains a timestamp"),
        ("job.name", "load_20_to_2026", None),
        ("inputs.0.namespace", "s3a://warehouse", "s3-scheme inputs[0].namespace: 's3a://warehouse' should be 's3://"),
        ("inputs.0.namespace", "kafka://a:1,b:2", "namespace-hosts inputs[0].namespace: 'kafka://a:1,b:2' lists 2"),
        ("inputs.0.namespace", "kafka://a", "namespace-port inputs[0].namespace: 'kafka://a' has no port"),
        ("inputs.0.namespace", "pg://h/d?x=1", "namespace-characters inputs[0].namespace: 'pg://h/d?x=1' contains"),
        ("inputs.0.name", "/sales/orders", "leading-slash inputs[0].name: '/sales/orders' begins with a slash"),
    ],
)
def test_one_violation_in_one_event(path, value, expected):
    events = run_of("START", "COMPLETE", inputs=[ORDERS])
    for event in events:
        change(event, path, value)
    lines = [f"{f.rule.code} {f.path}: {f.message}" for f in found(*events)]
    if expected is None:
        assert lines == []
    else:
        assert any(expected in line for line in lines), lines


def change(event, path, value):
    """Set a value in an event; remove it if `value` is None."""
    *parents, last = [int(part) if part.isdigit() else part for part in path.split(".")]
    owner = json.loads(json.dumps(event))
    copy = owner
    for part in parents:
        copy = copy[part]
    if value is None:
        copy.pop(last, None)
    else:
        copy[last] = value
    event.clear()
    event.update(owner)


def test_file_path_may_begin_with_a_slash():
    assert codes(*run_of("START", "COMPLETE", inputs=[table("/data/orders", "a", namespace="file")])) == []


@pytest.mark.parametrize(
    ("key", "schema_url", "expected"),
    [
        ("acme_cost", "https://acme.example/1-0-0/AcmeCostRunFacet.json", []),
        ("acme_cost", None, ["missing-key"]),
        ("cost", "https://acme.example/1-0-0/CostRunFacet.json", ["facet-unknown"]),
        ("environment-properties", "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunFacet", []),
        ("icebergScanReport", "https://openlineage.io/spec/facets/1-0-0/X.json", ["facet-unknown"]),
        ("schema", "https://openlineage.io/spec/facets/1-2-0/SchemaDatasetFacet.json", ["facet-unknown"]),
    ],
)
def test_facets_outside_the_standard(key, schema_url, expected):
    events = run_of("START", "COMPLETE")
    facet = {"_producer": "https://acme.example", "amount": 3} | ({"_schemaURL": schema_url} if schema_url else {})
    events[0]["run"]["facets"][key] = facet
    assert codes(*events) == expected


def test_deleted_facet_needs_no_content():
    events = run_of("START", "COMPLETE", inputs=[ORDERS])
    for event in events:
        schema = event["inputs"][0]["facets"]["schema"]
        event["inputs"][0]["facets"]["schema"] = {**schema, "_deleted": True}
        del event["inputs"][0]["facets"]["schema"]["fields"]
    assert codes(*events) == []


@pytest.mark.parametrize(
    ("types", "streaming", "expected"),
    [
        (("START", "COMPLETE"), False, []),
        (("OTHER", "START", "RUNNING", "COMPLETE", "OTHER"), False, []),
        (("RUNNING", "COMPLETE"), False, ["run-no-start"]),
        (("COMPLETE",), False, ["run-no-start"]),
        (("RUNNING", "RUNNING"), True, []),
        (("START",), False, ["run-no-end"]),
        (("START", "RUNNING"), True, []),
        (("START", "START", "COMPLETE"), False, ["run-second-start"]),
        (("START", "FAIL", "COMPLETE"), False, ["run-second-end"]),
        (("START", "ABORT", "RUNNING"), True, ["run-after-end"]),
    ],
)
def test_order_of_run_states(types, streaming, expected):
    assert codes(*run_of(*types, streaming=streaming, inputs=[ORDERS])) == expected


@pytest.mark.parametrize(
    ("second", "expected"),
    [("ABORT", ["run-two-voices"]), ("COMPLETE", ["run-second-end"])],
)
def test_two_producers_may_send_the_same_terminal_event_only(second, expected):
    events = run_of("START", "ABORT", second, streaming=True, inputs=[ORDERS])
    events[2]["producer"] = "urn:launcher"
    assert codes(*events) == expected


def test_two_producers_may_send_start():
    events = run_of("START", "START", "COMPLETE", inputs=[ORDERS])
    events[1]["producer"] = "urn:launcher"
    assert codes(*events) == ["run-two-voices"]
    events[2:2] = [{**events[1], "eventTime": events[1]["eventTime"].replace("Z", "1Z")}]
    assert "run-second-start" in codes(*events)


def test_runs_are_checked_independently():
    events = [
        valid_event("START", 1, run=1),
        valid_event("START", 2, run=2, job="b"),
        valid_event("COMPLETE", 3, run=1),
    ]
    findings = found(*events)
    assert [(f.rule.code, f.position.job, f.position.run, f.position.line) for f in findings] == [
        ("run-no-end", "test-jobs/b", run_id(2), 2)
    ]
    assert (findings.events, findings.runs, findings.jobs) == (3, 2, {"test-jobs/job", "test-jobs/b"})


def test_event_time_must_not_decrease():
    assert codes(valid_event("START", 5), valid_event("RUNNING", 4), valid_event("COMPLETE", 6)) == ["run-time-back"]
    assert codes(valid_event("START", 5), valid_event("COMPLETE", 5)) == []


def test_run_belongs_to_one_job():
    findings = found(valid_event("START", 1), valid_event("RUNNING", 2, job="other"), valid_event("COMPLETE", 3))
    assert [(f.rule.code, f.message) for f in findings] == [
        ("run-two-jobs", "is a run of test-jobs/job too, first at events:1")
    ]


def test_duplicate_event_is_a_finding():
    assert codes(valid_event("START", 1), valid_event("COMPLETE", 2), valid_event("COMPLETE", 2)) == ["run-duplicate"]


def test_fail_event_needs_an_error_message():
    events = run_of("START", "FAIL")
    del events[1]["run"]["facets"]["errorMessage"]
    assert codes(*events) == ["no-error-message"]


def test_job_type_is_required_on_all_events():
    never, dropped = run_of("START", "COMPLETE"), run_of("START", "COMPLETE")
    for event in (*never, dropped[1]):
        del event["job"]["facets"]["jobType"]
    assert codes(*never) == ["no-job-type"]
    assert codes(*dropped) == ["job-type-dropped"]


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        (None, ["no-emission-pattern"]),
        ({"eventTrigger": "PERIODIC", "eventContentMode": "COMPLETE_SNAPSHOT"}, ["no-window"]),
        ({"eventTrigger": "EVENT_BASED", "eventContentMode": "ACCUMULATIVE"}, []),
    ],
)
def test_streaming_job_declares_its_emission_pattern(pattern, expected):
    event = valid_event("START", streaming=True)
    event["job"]["facets"]["jobType"].pop("emissionPattern")
    if pattern:
        event["job"]["facets"]["jobType"]["emissionPattern"] = pattern
    assert codes(event) == expected


ITEMS = table("sales/items", "a")


@pytest.mark.parametrize(
    ("inputs", "streaming", "last", "expected"),
    [
        ([[ORDERS], [], [ORDERS]], True, "COMPLETE", ["run-bare"]),
        ([[ORDERS], [ORDERS], []], True, "ABORT", ["run-bare"]),
        ([[ORDERS, ITEMS], [ORDERS], [ORDERS, ITEMS]], True, "COMPLETE", ["run-datasets-lost"]),
        ([[ORDERS], [ORDERS, ITEMS], [ORDERS, ITEMS]], True, "COMPLETE", ["run-datasets-late"]),
        ([[], [ORDERS], [ORDERS]], True, "COMPLETE", ["run-datasets-late"]),
        ([[ORDERS], [], []], False, "COMPLETE", []),
        ([[ORDERS], [], []], False, "FAIL", []),
        ([[ORDERS], [], []], False, "ABORT", ["run-bare"]),
        ([[], [ORDERS], [ITEMS]], False, "COMPLETE", []),
        ([[], [], []], True, "COMPLETE", []),
    ],
)
def test_datasets_missing_in_later_events(inputs, streaming, last, expected):
    events = [
        valid_event(kind, second, streaming=streaming, inputs=datasets)
        for second, (kind, datasets) in enumerate(zip(("START", "RUNNING", last), inputs, strict=True))
    ]
    assert codes(*events) == expected


def test_column_sources_must_be_inputs_of_the_run():
    output = stats(total=[source("sales/orders", "price")])
    known = [
        valid_event("START", 1, inputs=[ORDERS]),
        valid_event("RUNNING", 2, outputs=[output]),
        valid_event("COMPLETE", 3),
    ]
    assert codes(*known) == []
    unknown = [valid_event("START", 1, inputs=[ITEMS]), valid_event("COMPLETE", 2, outputs=[output])]
    (finding,) = found(*unknown)
    assert (finding.rule.code, finding.path) == (
        "source-no-input",
        "outputs[0].facets.columnLineage.fields.total.inputFields[0]",
    )
    assert finding.message == "s3://warehouse/sales/orders is not an input of the run"
    job_event = with_schemas(body(run=None, inputs=[ITEMS], outputs=[output]))
    assert codes(job_event) == ["source-no-input"]


def test_lineage_facet_sources_count_as_inputs():
    entry = {
        "namespace": "s3://warehouse",
        "name": "sales/stats",
        "type": "DATASET",
        "fields": {"total": {"inputs": [{**source("sales/orders", "price"), "type": "DATASET"}]}},
    }
    options = {"outputs": [table("sales/stats", "total")], "job_facets": {"lineage": {"entries": [entry]}}}
    assert codes(*run_of("START", "COMPLETE", inputs=[ORDERS], **options)) == []
    assert codes(*run_of("START", "COMPLETE", inputs=[ITEMS], **options)) == ["source-no-input"]


def test_columns_must_be_in_the_schemas():
    output = stats(total=[source("sales/orders", "prise")])
    assert codes(*run_of("START", "COMPLETE", inputs=[ORDERS], outputs=[output])) == ["source-not-in-schema"]
    output = stats(total=[source("sales/orders", "price.amount")])
    output["facets"]["schema"]["fields"][0]["name"] = "totals"
    assert codes(*run_of("START", "COMPLETE", inputs=[ORDERS], outputs=[output])) == ["column-not-in-schema"]


@pytest.mark.parametrize(
    ("first", "second", "alike"),
    [
        (("kafka://localhost:9092", "orders"), ("kafka://kafka:9092", "orders"), True),
        (("kafka://localhost:9092", "orders"), ("kafka://localhost:9092", "bids"), False),
        (("s3://warehouse", "orders"), ("s3://lake", "orders"), False),
        (("s3://warehouse", "orders"), ("s3://warehouse", "orders/"), True),
        (("s3://Warehouse", "orders"), ("s3://warehouse/", "orders"), True),
        (("postgres://a:5432", "db.public.t"), ("postgres://b:5432", "db.public.t"), True),
        (("file", "/orders"), ("file", "/orders"), False),
    ],
)
def test_two_spellings_of_one_dataset_are_a_finding(first, second, alike):
    datasets = [table(name, "a", namespace=namespace) for namespace, name in (first, second)]
    events = [valid_event(kind, n, inputs=datasets) for n, kind in enumerate(("START", "COMPLETE"))]
    assert codes(*events) == (["two-spellings"] if alike else [])


def test_naming_rules_apply_before_the_check():
    inputs = [table("orders", "a", namespace="kafka://localhost:9092"), table("sales.bids", "a", namespace=CATALOG_URI)]
    events = [
        valid_event("START", 1, inputs=inputs),
        valid_event("COMPLETE", 2, inputs=[table("orders", "a", namespace="kafka://kafka:9092"), inputs[1]]),
    ]
    assert codes(*events) == ["two-spellings"]
    assert codes(*events, rules=NAMING_RULES) == []
    nameless = run_of("START", "COMPLETE", inputs=[table("lake.sales.orders", "a", namespace="")])
    assert codes(*nameless) == ["name-empty"]
    assert codes(*nameless, rules=NAMING_RULES) == []


def test_events_rejected_by_the_service_are_findings():
    events = run_of("START", "COMPLETE")
    events[0]["run"]["facets"]["parent"] = {
        "_producer": "https://example.org",
        "_schemaURL": "https://openlineage.io/spec/facets/1-2-0/ParentRunFacet.json#/$defs/ParentRunFacet",
        "run": {"runId": run_id(2)},
        "job": {"namespace": "a", "name": "b" * 2000},
    }
    (finding,) = found(*events)
    assert (finding.rule.code, finding.path) == ("refused", "run.facets.parent.job.name")


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b"", "not-json"),
        (b"{", "not-json"),
        (b"\xff\xfe", "not-json"),
        (b'{"a": NaN}', "not-json"),
        (b"[" * 500 + b"]" * 500, "not-json"),
        (b'{"a":' * 100_000 + b"1" + b"}" * 100_000, "not-json"),
        ({"eventTime": "\ud800", "run": {"runId": "x"}, "job": {"namespace": "a", "name": "b"}}, "not-json"),
        (b"3", "not-an-event"),
        (b"[]", "not-an-event"),
        (b"{}", "not-an-event"),
        (b'{"run": {}, "dataset": {}}', "not-an-event"),
        (b'{"run": 3, "job": 4}', "wrong-value"),
    ],
)
def test_malformed_content_is_a_finding(content, code):
    assert code in codes(content)


def test_empty_input_is_a_finding():
    assert codes() == ["no-events"]


KEYS = (
    *("run", "job", "dataset", "inputs", "outputs", "facets", "schema", "fields", "name", "namespace", "runId"),
    *("columnLineage", "inputFields", "symlinks", "identifiers", "jobType", "emissionPattern", "lineage", "entries"),
    *("eventType", "eventTime"),
)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(KEYS),
                inner,
                max_size=5,
            )
        ),
        max_leaves=25,
    )
)
def test_any_json_is_checked_without_an_exception(value):
    findings = check_events(raw_events([value, value]), NAMING_RULES, specification())
    assert not findings.ok()
    assert render_text(findings)


def test_repeated_findings_are_counted_and_limited():
    bad = [valid_event("RUNNING", number, run=1, inputs=[table("t", "a", namespace="s3a://w")]) for number in range(50)]
    (finding,) = [f for f in found(*bad) if f.rule.code == "s3-scheme"]
    assert (finding.count, finding.position.line) == (50, 1)
    assert finding.line().endswith("should be 's3://w' (and 49 more like it)")

    findings = found(*(valid_event("START", 0, run=number, job=f"job{number}") for number in range(MAX_PER_RULE + 7)))
    assert (len(findings), findings.unlisted) == (MAX_PER_RULE, {"run-no-end": 7})
    assert "run-no-end: 7 more, not listed" in render_text(findings)


def test_all_report_formats_contain_the_same_findings():
    events = run_of("START", inputs=[table("t", "a", namespace="kafka://broker")])
    findings = found(*events, b"rubbish")
    assert render_text(findings).splitlines() == [
        "events without a job",
        "  error    not-json  events:2: Expecting value at line 1 column 1 (character 0)",
        "           -> write one JSON object per line, in UTF-8",
        "test-jobs/job",
        f"  error    run-no-end  events:1 run {run_id(1)} eventType: no terminal event (COMPLETE, FAIL or ABORT)",
        "           -> send COMPLETE, FAIL or ABORT, also when the process is stopped",
        f"  warning  namespace-port  events:1 run {run_id(1)} inputs[0].namespace: 'kafka://broker' has no port",
        "           -> write kafka://host:port, as the standard names clusters",
        "1 event, 1 run, 1 job: 2 errors, 1 warning",
    ]
    report = json.loads(render_json(findings))
    assert (report["ok"], report["errors"], report["warnings"], report["jobs"]) == (False, 2, 1, ["test-jobs/job"])
    assert report["findings"][1] == {
        "code": "not-json",
        "severity": "error",
        "source": "events",
        "line": 2,
        "job": "",
        "run": "",
        "path": "",
        "message": "Expecting value at line 1 column 1 (character 0)",
        "remedy": "write one JSON object per line, in UTF-8",
        "count": 1,
    }
    suite = ElementTree.fromstring(render_junit(findings)).find("testsuite")
    cases = {case.get("name"): case for case in suite.iter("testcase")}
    assert (suite.get("tests"), suite.get("failures")) == ("2", "2")
    assert "run-no-end" in cases["test-jobs/job"].findtext("failure")
    assert "namespace-port" in cases["test-jobs/job"].findtext("system-out")


def test_strict_mode_counts_warnings():
    findings = found(*run_of("START", "COMPLETE", inputs=[table("t", "a", namespace="kafka://broker")]))
    assert findings.ok()
    assert not findings.ok(strict=True)
    assert json.loads(render_json(findings, strict=True))["ok"] is False
    assert ElementTree.fromstring(render_junit(findings)).find("testsuite").get("failures") == "0"
    strict = ElementTree.fromstring(render_junit(findings, strict=True)).find("testsuite")
    assert strict.get("failures") == "1"


def test_control_characters_in_names_are_escaped():
    event = valid_event("START", job="a\x1b[2Jb")
    text = render_text(found(event))
    assert "\x1b" not in text
    assert "a\ufffd[2Jb" in text
    ElementTree.fromstring(render_junit(found(event)))


def test_state_is_bounded_by_open_runs():
    """An ended run keeps no datasets; an open run keeps each dataset once."""

    tracker = RunTracker()
    output = stats(total=[source("sales/orders", "price")])
    for second, kind in enumerate(["START", *["RUNNING"] * 100, "COMPLETE"]):
        event = valid_event(kind, second, inputs=[ORDERS], outputs=[output])
        position = EventPosition("events", second, "test-jobs/job", run_id(1))
        assert list(tracker.add(event, position)) == []
        (run,) = tracker._runs.values()
        assert len(run.edges) <= 2
    assert not run.edges
    assert not run.columns._inputs
    assert not run.columns._sources


def test_reference_page_documents_every_rule():
    text = DOCUMENT.read_text(encoding="utf-8")
    rows = [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("| `")]
    documented = [row for row in rows if row[1] in ("error", "warning")]
    assert documented == [[f"`{rule.code}`", rule.severity, rule.meaning, rule.remedy] for rule in RULES.values()]


def test_bytes_and_parsed_events_have_equal_findings():
    event = valid_event("START")
    assert codes(encode(event)) == codes(event) == ["run-no-end"]
