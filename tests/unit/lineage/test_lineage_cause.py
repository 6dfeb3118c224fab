# SPDX-License-Identifier: Apache-2.0
"""Cause of a wrong number: seeded incidents and ten controls, and single rules."""

import json
from collections import Counter

import pytest

from lineage.checks.cause import ChangeKind, find_cause, render_json, render_text
from lineage.checks.cause.ranking import BLAME
from lineage.events.timestamps import parse_time
from tests.unit.lineage.incidents import KINDS, SINCE, UNTIL, incident

SEEDS = range(5)
CONTROLS = range(10)
SINCE_NS, UNTIL_NS = parse_time(SINCE.isoformat()), parse_time(UNTIL.isoformat())
ORDERS, TOTALS = "orders", "totals"

ORIGIN = {
    "start": {"namespace": "db", "name": TOTALS, "field": "total"},
    "columns": [{"namespace": "db", "name": ORDERS, "field": "price", "distance": 1}],
    "datasets": [{"namespace": "db", "name": ORDERS, "distance": 1}],
    "jobs": [{"namespace": "jobs", "name": "sum", "distance": 1}],
}


def finding_of(found):
    return find_cause([found.origin], found.events, SINCE_NS, UNTIL_NS)


def is_right(found):
    """Return whether the top cause is the answer; for a control, whether nothing is blamed."""
    cause = finding_of(found).cause
    if found.answer is None:
        return cause is None
    kinds, name = found.answer
    return cause is not None and cause.change.kind in kinds and cause.change.node.name == name


def event(at, schema=None, rows=None, sql="SELECT 1", state="COMPLETE", run="r1", job="sum", **facets):
    """Return an event of the job that reads `orders` and writes `totals`."""
    orders = {"namespace": "db", "name": ORDERS, "facets": {}, "inputFacets": {}}
    if schema:
        orders["facets"]["schema"] = {"fields": [{"name": name, "type": kind} for name, kind in schema.items()]}
    if rows is not None:
        orders["inputFacets"]["inputStatistics"] = {"rowCount": rows}
    return {
        "eventTime": f"2026-03-02T{at}:00Z",
        "eventType": state,
        "run": {"runId": run, "facets": facets},
        "job": {"namespace": "jobs", "name": job, "facets": {"sql": {"query": sql}}},
        "inputs": [orders],
        "outputs": [{"namespace": "db", "name": TOTALS}],
    }


def causes_of(*events, since="06:00", until="12:00"):
    times = (parse_time(f"2026-03-02T{time}:00Z") for time in (since, until))
    return find_cause([ORIGIN], events, *times)


@pytest.mark.parametrize("kind", KINDS)
def test_top_cause_of_seeded_incidents_is_the_answer(kind):
    wrong = [seed for seed in SEEDS if not is_right(incident(kind, seed))]
    assert wrong == []


def test_no_change_is_blamed_where_only_the_data_changed():
    blamed = {seed: finding_of(incident("control", seed)).cause for seed in CONTROLS}
    assert {seed: cause for seed, cause in blamed.items() if cause is not None} == {}


def test_order_of_events_is_irrelevant():
    found = incident("column removed", 1)
    assert render_json(finding_of(found)) == render_json(
        find_cause([found.origin], reversed(found.events), SINCE_NS, UNTIL_NS)
    )


def test_change_before_the_number_was_right_is_no_cause():
    old, new = {"price": "string"}, {"price": "string", "list_price": "string"}
    assert causes_of(event("01:00", old), event("05:00", new), event("07:00", new)).causes == ()
    assert causes_of(event("01:00", old), event("07:00", new)).cause.change.added == {"list_price"}


def test_added_column_of_a_dataset_on_the_path_names_its_first_run():
    new = {"price": "string", "list_price": "string"}
    finding = causes_of(
        event("01:00", {"price": "string"}), event("08:00", new, run="r8"), event("09:00", new, run="r9")
    )
    assert (finding.cause.change.kind, finding.cause.change.run) == (ChangeKind.SCHEMA, "r8")
    assert "columns added: list_price" in render_text(render_json(finding))


def test_retyped_column_beside_the_path_is_listed_and_not_blamed():
    finding = causes_of(
        event("01:00", {"price": "string", "item": "int"}), event("08:00", {"price": "string", "item": "string"})
    )
    assert finding.cause is None
    assert "the data themselves changed" in render_text(render_json(finding))
    assert "type of item: int, now string" in render_text(render_json(finding))


def with_edges(found, columns, rows):
    """Return an event whose output has column edges from these columns of `orders`, and others that decide on rows."""
    source = {"namespace": "db", "name": ORDERS}
    found["outputs"][0]["facets"] = {
        "columnLineage": {
            "fields": {"total": {"inputFields": [{**source, "field": name} for name in columns]}},
            "dataset": [{**source, "field": name} for name in rows],
        }
    }
    return found


def test_column_that_only_decides_on_rows_is_behind_what_is_on_the_path():
    """The origin that the service returns has both kinds of columns."""
    origin = {**ORIGIN, "columns": [*ORIGIN["columns"], {**ORIGIN["columns"][0], "field": "state"}]}
    types = {"price": "int", "state": "int"}
    changed = [("08:00", types | {"state": "string"}), ("09:00", {"price": "string", "state": "string"})]
    events = [
        with_edges(event(at, schema, run=f"r{at[:2]}"), ["price"], ["state"])
        for at, schema in (("01:00", types), *changed)
    ]
    times = (parse_time(f"2026-03-02T{time}:00Z") for time in ("06:00", "12:00"))
    price, state = find_cause([origin], events, *times).causes
    assert (price.change.removed, state.change.removed) == ({"price"}, {"state"})
    assert price.score > 0.5 > state.score >= BLAME


def test_columns_count_alike_if_the_events_have_no_column_lineage():
    origin = {**ORIGIN, "columns": [*ORIGIN["columns"], {**ORIGIN["columns"][0], "field": "state"}]}
    events = [event("01:00", {"state": "int"}), event("08:00", {"state": "string"})]
    times = (parse_time(f"2026-03-02T{time}:00Z") for time in ("06:00", "12:00"))
    (state,) = find_cause([origin], events, *times).causes
    assert state.score > 0.5


def test_fewer_rows_are_a_symptom_of_a_changed_job():
    usual = [event(f"0{hour}:00"[:5], rows=1000, run=f"r{hour}") for hour in range(1, 6)]
    changed = [event(f"0{hour}:00", rows=600, sql="SELECT 2", run=f"r{hour}") for hour in range(7, 10)]
    finding = causes_of(*usual, *changed)
    assert finding.cause.change.kind is ChangeKind.DEFINITION
    assert [change.kind for change in finding.cause.explains] == [ChangeKind.VOLUME]
    alone = causes_of(*usual, *[event(f"0{hour}:00", rows=600, run=f"r{hour}") for hour in range(7, 10)])
    assert alone.cause.change.kind is ChangeKind.VOLUME


def streaming(at, rows, run="r1"):
    found = event(at, rows=rows, state="RUNNING", run=run)
    found["job"]["facets"]["jobType"] = {"processingType": "STREAMING"}
    return found


def test_rows_after_a_quiet_time_of_a_stream_are_no_change():
    quiet = [streaming(f"0{hour}:00", 0) for hour in range(1, 6)]
    assert causes_of(*quiet, streaming("07:00", 657)).causes == ()
    busy = [streaming(f"0{hour}:30", 600) for hour in range(1, 6)]
    assert causes_of(*quiet, *busy, streaming("07:00", 657), streaming("08:00", 0)).causes == ()


def test_reports_beside_a_quiet_time_of_a_stream_are_no_volume():
    """Rows arrived for a part of their time only: here the shop was stopped and started."""
    busy = [streaming(f"0{hour}:00", 1350) for hour in range(1, 6)]
    quiet = streaming("05:30", 0)
    assert causes_of(*busy, quiet, streaming("07:00", 803)).causes == ()
    assert causes_of(*busy, quiet, streaming("07:00", 803), streaming("08:00", 0)).causes == ()
    assert causes_of(*busy, streaming("07:00", 803), streaming("08:00", 0)).causes == ()
    fewer = causes_of(*busy, quiet, streaming("07:00", 803), streaming("08:00", 700))
    assert fewer.cause.change.summary == "sum read 700 rows, before 1350 (-48%)"


def test_a_stream_that_gets_fewer_rows_or_none_has_changed():
    busy = [streaming(f"0{hour}:00", 600) for hour in range(1, 6)]
    fewer = causes_of(*busy, streaming("07:00", 0), streaming("07:30", 250), streaming("08:00", 300))
    assert fewer.cause.change.summary == "sum read 300 rows, before 600 (-50%)"
    none = causes_of(*busy, streaming("07:00", 0), streaming("08:00", 0))
    assert none.cause.change.summary == "sum read 0 rows, before 600 (-100%)"


def test_a_stream_that_is_often_quiet_is_not_blamed_for_being_so():
    """Half of the reports are of no rows; one more is chance, ten of them are not."""
    often = [streaming(f"0{hour}:{minute}", rows) for hour in range(1, 6) for minute, rows in (("00", 600), ("30", 0))]
    assert causes_of(*often, streaming("07:00", 0)).causes == ()
    ten = [streaming(f"07:{minute}", 0) for minute in range(10, 20)]
    assert causes_of(*often, *ten).cause.change.summary == "sum read 0 rows, before 600 (-100%)"


def test_volume_without_enough_history_is_not_compared():
    assert causes_of(event("01:00", rows=1000), event("07:00", rows=10)).causes == ()


def test_failure_that_a_later_run_repaired_is_no_cause():
    failed = event("07:00", state="FAIL", run="r7", errorMessage={"message": "no space left"})
    assert causes_of(event("01:00"), failed, event("08:00", run="r8")).causes == ()
    assert "no space left" in causes_of(event("01:00"), failed).cause.change.summary


def test_columns_that_a_failed_run_had_not_decoded_are_not_missing():
    """A streaming query whose batches fail to be read knows a topic by its raw records."""
    failed = {"state": "FAIL", "errorMessage": {"message": "java.lang.Error: lost\n\tat a.B.c(B.java:1)\n\tat d.E"}}
    decoded, raw = {"price": "string"}, {"_value": "binary"}
    events = [event("01:00", decoded), event("07:00", raw, state="START", run="r7"), event("07:01", raw, **failed)]
    (cause,) = causes_of(events[0], events[1], {**events[2], "run": {**events[2]["run"], "runId": "r7"}}).causes
    assert (cause.change.kind, cause.change.summary) == (ChangeKind.FAILURE, "the run failed: java.lang.Error: lost")


def test_columns_of_a_dataset_are_those_that_its_writer_reports():
    writer = {**event("01:00", job="load"), "inputs": [], "outputs": event("01:00", {"price": "int"})["inputs"]}
    origin = {**ORIGIN, "jobs": [*ORIGIN["jobs"], {"namespace": "jobs", "name": "load", "distance": 2}]}
    reads = [event("02:00", {"price": "int"}), event("08:00", {"item": "int"})]
    times = [parse_time(f"2026-03-02T{time}:00Z") for time in ("06:00", "12:00")]
    assert find_cause([origin], [writer, *reads], *times).causes == ()
    assert find_cause([origin], reads, *times).cause.change.removed == {"price"}


def test_changes_of_other_jobs_are_not_considered():
    assert causes_of(event("01:00", job="other"), event("07:00", job="other", sql="SELECT 2")).causes == ()


def test_report_is_json_with_evidence():
    finding = causes_of(event("01:00"), event("07:00", sql="SELECT 0.7", run="r7"))
    (row,) = render_json(finding)["causes"]
    assert json.loads(json.dumps(row)) == row
    assert (row["kind"], row["run"], row["before"]) == ("definition", "r7", '{"query": "SELECT 1"}')


def test_incidents_contain_what_could_be_blamed_wrongly():
    """The harmless changes of the histories are detected, so that controls are not passed by blindness."""
    kinds = Counter(cause.change.kind for seed in CONTROLS for cause in finding_of(incident("control", seed)).causes)
    assert kinds[ChangeKind.SCHEMA] >= len(CONTROLS)
    assert kinds[ChangeKind.TAGS] >= 1
