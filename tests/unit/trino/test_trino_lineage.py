# SPDX-License-Identifier: Apache-2.0
"""Lineage of Trino's queries, from events that a real Trino 476 sent (`listener_events.ndjson`), and from others."""

import copy
import json
from pathlib import Path

import pytest

from lineagelab_trino.job_name import MAX_LENGTH, job_name
from lineagelab_trino.listener_event import ListenerEventError, Query
from lineagelab_trino.query_lineage import QueryNames, ReportedQuery, run_event
from tests.openlineage_schemas import conformance_errors

NAMES = QueryNames("jobs", "trino://trino:8090", "memory")
RECORDED = [json.loads(line) for line in (Path(__file__).parent / "listener_events.ndjson").read_text().splitlines()]
SCHEMAS = {
    "tpch.tiny.nation": {"nationkey": "bigint", "name": "varchar", "regionkey": "bigint", "comment": "varchar"},
    "tpch.tiny.region": {"regionkey": "bigint", "name": "varchar", "comment": "varchar"},
    "memory.default.a": {"nationkey": "bigint", "name": "varchar", "regionkey": "bigint"},
    "memory.default.b": {"k": "bigint", "n": "varchar"},
    "memory.default.v": {"k": "bigint", "n": "varchar"},
    "memory.default.c": {"n": "varchar", "c": "bigint", "m": "varchar"},
}


def reported_events(schemas=SCHEMAS):
    reported = [ReportedQuery.of(Query.parse(event)) for event in RECORDED]
    return [
        run_event(each, each.describe({t: c for t, c in schemas.items() if t in each.tables}, NAMES), NAMES)
        for each in reported
        if each.is_reported
    ]


def ended(text, schemas=SCHEMAS, **changes):
    """Return the last event of a finished statement, of which the engine has said nothing but what `changes` have."""
    (found,) = [each for each in RECORDED if each["metadata"]["query"].startswith("insert") and "endTime" in each]
    event = copy.deepcopy(found)
    event["metadata"] |= {"query": text, "tables": [], **changes.pop("metadata", {})}
    event["context"] |= changes.pop("context", {})
    event["ioMetadata"] = {"inputs": [], **changes.pop("ioMetadata", {})}
    event |= changes
    reported = ReportedQuery.of(Query.parse(event))
    if not reported.is_reported:
        return None
    return run_event(
        reported, reported.describe({t: c for t, c in schemas.items() if t in reported.tables}, NAMES), NAMES
    )


def edges(event):
    """Return column -> its inputs, and under `""` what decides about rows."""
    (output,) = event["outputs"]
    facet = output["facets"]["columnLineage"]
    found = {name: inputs(each["inputFields"]) for name, each in facet["fields"].items()}
    return {**found, "": inputs(facet["dataset"])}


def inputs(fields):
    return {(f"{each['name']}#{each['field']}", kind["subtype"]) for each in fields for kind in each["transformations"]}


def test_recorded_events_become_valid_runs_folded_by_statement():
    events = reported_events()
    assert [error for event in events for error in conformance_errors(event)] == []
    assert {event["job"]["name"] for event in events} == {
        "etl.create.default.a",
        "etl.insert.default.b.from.default.a",
        "etl.create.default.v",
        "etl.create.default.c",
        "report.query.from.default.c",
        "report.query.from.default.v",
        "broken.create.default.d",
        "trino.create.default.e",
        "etl.truncate.default.c",
        "etl.drop.default.c",
        "bad.query",
    }
    by_run = {}
    for event in events:
        by_run.setdefault(event["run"]["runId"], []).append(event["eventType"])
    assert all(found in (["START", "COMPLETE"], ["START", "FAIL"], ["FAIL"]) for found in by_run.values())


def test_values_and_what_decides_about_rows_are_apart():
    last = {event["job"]["name"]: event for event in reported_events() if event["eventType"] != "START"}
    assert edges(last["etl.insert.default.b.from.default.a"]) == {
        "k": {("memory.default.a#nationkey", "TRANSFORMATION")},
        "n": {("memory.default.a#name", "TRANSFORMATION")},
        "": {("memory.default.a#regionkey", "FILTER")},
    }
    assert edges(last["etl.create.default.c"]) == {
        "n": {("memory.default.v#n", "IDENTITY")},
        "c": set(),
        "m": {("tpch.tiny.region#name", "AGGREGATION")},
        "": {
            ("memory.default.v#n", "GROUP_BY"),
            ("memory.default.v#k", "JOIN"),
            ("tpch.tiny.region#regionkey", "JOIN"),
        },
    }
    assert edges(last["etl.create.default.v"])[""] == {("memory.default.b#n", "FILTER")}
    (view,) = last["etl.create.default.v"]["outputs"]
    assert "outputFacets" not in view
    (table,) = last["etl.create.default.c"]["outputs"]
    assert table["outputFacets"]["outputStatistics"]["rowCount"] == 3


def test_failed_queries_say_why_and_drops_end_a_dataset():
    last = {event["job"]["name"]: event for event in reported_events() if event["eventType"] != "START"}
    assert last["broken.create.default.d"]["eventType"] == "FAIL"
    assert last["broken.create.default.d"]["run"]["facets"]["errorMessage"]["message"] == "Division by zero"
    assert "cannot be resolved" in last["bad.query"]["run"]["facets"]["errorMessage"]["message"]
    for operation in ("truncate", "drop"):
        (output,) = last[f"etl.{operation}.default.c"]["outputs"]
        assert output["facets"]["lifecycleStateChange"]["lifecycleStateChange"] == operation.upper()


def test_the_run_is_found_in_trino():
    event = reported_events()[0]
    assert event["run"]["facets"]["externalQuery"]["externalQueryId"] == RECORDED[0]["metadata"]["queryId"]
    assert event["run"]["facets"]["processing_engine"]["version"] == "476"


def test_a_canceled_query_is_aborted():
    failure = {"errorCode": {"name": "USER_CANCELED"}, "failureType": "x", "failureMessage": "Query was canceled"}
    event = ended("insert into b select nationkey, name from a", metadata={"queryState": "FAILED"}, failureInfo=failure)
    assert event["eventType"] == "ABORT"
    assert "errorMessage" not in event["run"]["facets"]


def test_a_parent_run_is_taken_from_the_client_info():
    run = "01990000-0000-7000-8000-000000000001"
    event = ended("insert into b select nationkey, name from a", context={"clientInfo": f"lab/nightly/{run}"})
    assert event["run"]["facets"]["parent"]["run"]["runId"] == run
    event = ended("insert into b select nationkey, name from a", context={"clientInfo": "my laptop"})
    assert "parent" not in event["run"]["facets"]


@pytest.mark.parametrize(
    ("text", "job"),
    [
        ("delete from c where n in (select n from b)", "etl.delete.default.c.from.default.b"),
        ("update c set m = 'x'", "etl.update.default.c"),
        ("create or replace table c as select n from b", "etl.create.default.c"),
        ("with b as (select * from a) select * from b", "etl.query.from.default.a"),
        ('select * from "b$snapshots"', "etl.query.from.default.b"),
        (
            "select * from a join tpch.tiny.region r on a.regionkey = r.regionkey",
            "etl.query.from.default.a+tpch.tiny.region",
        ),
    ],
)
def test_job_names(text, job):
    assert ended(text, context={"queryType": "SELECT"})["job"]["name"] == job


@pytest.mark.parametrize(
    ("text", "kind", "source"),
    [
        ("show tables", "DESCRIBE", "etl"),
        ("explain select * from a", "EXPLAIN", "etl"),
        ("select 1", "SELECT", "etl"),
        ("select * from information_schema.tables", "SELECT", "etl"),
        ("select * from system.runtime.queries", "SELECT", "etl"),
        ("select * from a", "SELECT", None),
        ("select * from a", "SELECT", "trino-cli"),
        ("create table x (y bigint)", "DATA_DEFINITION", "etl"),
        ("alter table b add column z bigint", "ALTER_TABLE_EXECUTE", "etl"),
        ("set session query_max_run_time = '1m'", "DATA_DEFINITION", "etl"),
    ],
)
def test_what_neither_writes_nor_reads_data_under_a_name_is_no_run(text, kind, source):
    assert ended(text, context={"queryType": kind, "source": source}) is None


def test_a_statement_that_fails_to_parse_is_a_failed_run_of_a_named_client():
    failure = {"errorCode": {"name": "SYNTAX_ERROR"}, "failureType": "x", "failureMessage": "mismatched input 'selec'"}
    changes = {"metadata": {"queryState": "FAILED"}, "failureInfo": failure}
    event = ended("selec x from a", context={"queryType": None}, **changes)
    assert (event["eventType"], event["job"]["name"]) == ("FAIL", "etl.query")
    assert ended("selec x from a", context={"queryType": None, "source": None}, **changes) is None


ENGINE_OUTPUT = {
    "catalogName": "memory",
    "schema": "default",
    "table": "b",
    "columns": [
        {
            "columnName": "k",
            "columnType": "bigint",
            "sourceColumns": [
                {"catalog": "memory", "schema": "default", "table": "a", "columnName": "nationkey"},
            ],
        },
        {"columnName": "n", "columnType": "varchar", "sourceColumns": []},
    ],
}
MATCHING = (
    "insert into b select * from a match_recognize (order by nationkey measures x.nationkey as k, x.name as n "
    "pattern (x) define x as true)"
)
READS_A = [{"catalog": "memory", "schema": "default", "table": "a", "directlyReferenced": True}]


def test_columns_that_are_not_derived_have_the_edges_of_the_engine_and_stay_unknown():
    event = ended(MATCHING, metadata={"tables": READS_A}, ioMetadata={"output": ENGINE_OUTPUT})
    assert edges(event) == {"k": {("memory.default.a#nationkey", "TRANSFORMATION")}, "": set()}
    assert [each["name"] for each in event["inputs"]] == ["memory.default.a"]
    (output,) = event["outputs"]
    # Trino's analysis is not complete.
    assert output["facets"]["columnLineage"]["unknownFields"] == ["k", "n"]


def test_a_statement_without_columns_of_the_engine_has_unknown_ones():
    event = ended(MATCHING, metadata={"tables": READS_A, "queryState": "FAILED"})
    (output,) = event["outputs"]
    assert output["facets"]["columnLineage"]["unknownFields"] == ["k", "n"]


@pytest.mark.parametrize("terms", [" + ".join(["nationkey"] * 5000), "(" * 3000 + "nationkey" + ")" * 3000])
def test_a_statement_that_is_nested_too_deeply_has_unknown_columns(terms):
    event = ended(
        f"insert into b select {terms}, name from a", metadata={"tables": READS_A}, ioMetadata={"output": ENGINE_OUTPUT}
    )
    (output,) = event["outputs"]
    assert output["facets"]["columnLineage"]["unknownFields"] == ["k", "n"]
    assert "nested too deeply" in output["facets"]["columnLineage"]["unknownBecause"][0]
    assert [each["name"] for each in event["inputs"]] == ["memory.default.a"]


def test_refreshing_a_materialized_view_is_known_from_the_engine():
    event = ended(
        "refresh materialized view b",
        metadata={"tables": READS_A, "updateType": "REFRESH MATERIALIZED VIEW"},
        ioMetadata={"output": ENGINE_OUTPUT},
    )
    assert event["job"]["name"] == "etl.refresh_materialized_view.default.b"
    assert edges(event)["k"] == {("memory.default.a#nationkey", "TRANSFORMATION")}


def test_star_follows_the_order_of_the_table_and_not_that_of_the_accessed_columns():
    event = ended("insert into c select *, 'x' from b")
    assert edges(event)["n"] == {("memory.default.b#k", "IDENTITY")}
    assert edges(event)["c"] == {("memory.default.b#n", "IDENTITY")}


def test_long_job_names_are_cut_and_stay_distinct():
    tables = [f"memory.schema.table_with_a_long_name_{number}" for number in range(20)]
    first, second = (job_name("etl", "query", "", tables[start:], "memory") for start in (0, 1))
    assert len(first) == len(second) == MAX_LENGTH
    assert first != second


@pytest.mark.parametrize(
    "change",
    [
        {"metadata": None},
        {"createTime": "yesterday"},
        {"createTime": None},
        {"metadata": {"queryId": "", "query": "select 1", "queryState": "QUEUED"}},
        {"metadata": {"queryId": "x", "query": 7, "queryState": "QUEUED"}},
        {"context": []},
    ],
)
def test_what_is_no_event_is_refused(change):
    with pytest.raises(ListenerEventError, match="no event of Trino's HTTP event listener"):
        Query.parse({**RECORDED[0], **change})
