# SPDX-License-Identifier: Apache-2.0
"""Tests of run ids, statistics, root causes and events, from recorded responses of Flink."""

from dataclasses import replace

import pytest

from lineagelab_flink.errors import root_cause
from lineagelab_flink.launcher_state import JobLineage
from lineagelab_flink.lifecycle import EventType
from lineagelab_flink.run_events import (
    FIGURES_FACET,
    Failure,
    FlinkRun,
    RunUpdate,
    Window,
    event,
    failure_of,
    stack_trace_of,
)
from lineagelab_flink.run_id import run_id
from lineagelab_flink.statistics import JobMetrics, last_checkpoint, parse_metrics, rows_since
from tests.openlineage_schemas import conformance_errors

RUN = FlinkRun(
    namespace="lineage-lab",
    name="gen",
    job_id="108c18d1ff5deb9c26612a752793e2e0",
    started=1795300825638,
    processing="STREAMING",
    job_type="SQL_JOB",
    version="2.2.1",
)
TOPIC = {"namespace": "kafka://kafka:9092", "name": "orders", "facets": {}}
TABLE = {"namespace": "s3://warehouse", "name": "live/orders", "facets": {}}
DESCRIBED = JobLineage("x", [TOPIC], [TABLE], {"sql": {"query": "INSERT"}})


@pytest.mark.parametrize(
    ("job_id", "started", "listener_id"),
    [
        ("108c18d1ff5deb9c26612a752793e2e0", 1795300825638, "01a20044-9a26-73ed-9cbf-2a1002ac71ad"),
        ("12c216fca4cc2979ea2bebb984bfb052", 1795301845971, "01a20054-2bd3-7065-bae5-e86c0a379d82"),
    ],
)
def test_the_run_id_equals_that_of_the_listener(job_id, started, listener_id):
    assert run_id(job_id, started) == listener_id


def test_the_run_id_of_a_start_at_a_full_second():
    assert run_id(RUN.job_id, 1795300825000)[:13] == "01a20044-97a8"


TRACE = """org.apache.flink.runtime.JobException: Recovery is suppressed by FixedDelayRestartBackoffTimeStrategy
\tat org.apache.flink.runtime.executiongraph.failover.ExecutionFailureHandler.handleFailure(X.java:219)
Caused by: java.lang.RuntimeException: outer
\tat x.Y
Caused by: java.lang.NumberFormatException: For input string: 'abc'. Invalid character found.
\tat org.apache.flink.table.data.binary.BinaryStringDataUtil.numberFormatExceptionFor(X.java:584)
\t... 14 more
"""


MISSING_TOPIC = """org.apache.flink.runtime.JobException: Recovery is suppressed
Caused by: org.apache.flink.util.FlinkRuntimeException: Failed to get metadata for topics [orders_x].
\tat x.Y
Caused by: java.util.concurrent.ExecutionException: x.org.apache.kafka.common.errors.UnknownTopicException: No.
Caused by: x.org.apache.kafka.common.errors.UnknownTopicException: No.
"""


@pytest.mark.parametrize(
    ("trace", "cause"),
    [
        (MISSING_TOPIC, "UnknownTopicException: No. (Failed to get metadata for topics [orders_x].)"),
        ("org.apache.kafka.common.errors.TimeoutException: late", "TimeoutException: late"),
        (TRACE, "NumberFormatException: For input string: 'abc'. Invalid character found."),
        ("org.apache.X: only this", "X: only this"),
        ("It answers 500", "It answers 500"),
        ("java.lang.NullPointerException\n\tat x", "NullPointerException"),
        ("", "no cause is given"),
    ],
)
def test_the_root_cause_is_the_deepest_cause(trace, cause):
    assert root_cause(trace) == cause


def test_the_latest_exception_is_reported():
    entries = [{"timestamp": 2, "stacktrace": TRACE}, {"timestamp": 1, "stacktrace": "earlier"}]
    said = {"exceptionHistory": {"entries": entries}}
    assert stack_trace_of(said) == TRACE
    assert failure_of(said, root_cause(TRACE)).message.startswith("NumberFormatException")
    assert stack_trace_of({}) == ""


VERTICES = [
    {
        "name": "Source: g[1] -> Calc[2]",
        "parallelism": 1,
        "metrics": {"read-records": 0, "write-records": 1081},
    }
]
SUMS = {
    "Source__g[1].numRecordsOut": 1081.0,
    "Source__g[1].pendingRecords": 3.0,
    "b[3]__Writer.numRecordsSend": 1080.0,
}
CHECKPOINT = {
    "id": 110,
    "is_savepoint": False,
    "state_size": 7,
    "end_to_end_duration": 15,
    "external_path": "file:/chk-110",
    "discarded": False,
}
CHECKPOINTS = {"counts": {"completed": 110, "failed": 41}, "latest": {"completed": CHECKPOINT, "savepoint": None}}


def test_statistics_from_rest_responses():
    found = parse_metrics(VERTICES, SUMS, {"Source__g[1].currentFetchEventTimeLag": 12.0}, CHECKPOINTS, 2)
    assert found.read == {"Source__g[1]": 1081}
    assert found.written == {"b[3]__Writer": 1080}
    assert (found.pending, found.lag, found.restarts, found.completed, found.failed) == (3, 12, 2, 110, 41)
    assert found.vertices[0].written == 1081


def test_a_source_that_has_read_nothing_has_no_lag():
    lag = {"Source__g[1].currentFetchEventTimeLag": -9223372036854775808.0}
    assert parse_metrics(VERTICES, SUMS, lag, {}, None).lag is None


@pytest.mark.parametrize(
    ("latest", "path"),
    [
        ({"completed": CHECKPOINT, "savepoint": {**CHECKPOINT, "id": 112, "external_path": "savepoint"}}, "savepoint"),
        ({"completed": CHECKPOINT, "savepoint": {**CHECKPOINT, "id": 90}}, "file:/chk-110"),
        ({"completed": {**CHECKPOINT, "discarded": True}, "restored": {"id": 9, "external_path": "old"}}, "old"),
    ],
)
def test_the_newest_usable_checkpoint_is_selected(latest, path):
    assert last_checkpoint({"latest": latest})["external_path"] == path


def test_no_checkpoint():
    assert last_checkpoint({"latest": {"completed": None}}) is None
    assert last_checkpoint({}) is None


@pytest.mark.parametrize(
    ("before", "after", "rows"),
    [
        ({"a": 3}, {"a": 5}, 2),
        ({}, {"a": 5}, 5),
        ({"a": 9}, {"a": 5}, 5),
        (None, {"a": 5}, None),
        ({"a": 3}, {"a": 5, "b": 1}, None),
        ({"a": 3}, None, None),
        ({"a": 3}, {}, None),
    ],
)
def test_row_count_between_two_snapshots(before, after, rows):
    assert rows_since(before, after) == rows


def build(what=EventType.RUNNING, described=DESCRIBED, **more):
    return event(RUN, described, RunUpdate(what, 1795300830000, **more))


def test_an_event_is_self_contained():
    built = build()
    assert built["eventTime"] == "2026-11-21T22:40:30.000Z"
    assert built["run"]["runId"] == RUN.run_id
    assert (built["inputs"], built["outputs"]) == ([TOPIC], [TABLE])
    assert built["job"]["facets"]["sql"] == {"query": "INSERT"}
    job_type = built["job"]["facets"]["jobType"]
    assert (job_type["processingType"], job_type["integration"], job_type["jobType"]) == (
        *("STREAMING", "FLINK"),
        "SQL_JOB",
    )


@pytest.mark.parametrize(
    ("described", "mode"),
    [
        (DESCRIBED, "COMPLETE_SNAPSHOT"),
        (JobLineage("x", [TOPIC], []), "COMPLETE_SNAPSHOT"),
        (JobLineage("x"), "ACCUMULATIVE"),
        (JobLineage(), "ACCUMULATIVE"),
    ],
    ids=["known", "no output", "not declared", "of another definition"],
)
def test_events_without_datasets_do_not_remove_those_of_the_listener(described, mode):
    assert build(described=described)["job"]["facets"]["jobType"]["emissionPattern"]["eventContentMode"] == mode


def test_row_counts_require_a_single_dataset():
    before = JobMetrics(read={"a": 1}, written={"b": 1})
    after = replace(before, read={"a": 11}, written={"b": 6})
    built = build(window=Window(30.0, before, after))
    assert built["inputs"][0]["inputFacets"]["inputStatistics"]["rowCount"] == 10
    assert built["outputs"][0]["outputFacets"]["outputStatistics"]["rowCount"] == 5
    assert "inputFacets" not in TOPIC
    two = build(described=replace(DESCRIBED, inputs=[TOPIC, TABLE]), window=Window(30.0, before, after))
    assert not any("inputFacets" in dataset for dataset in two["inputs"])


def test_a_fail_event_has_the_root_cause():
    failure = failure_of({"exceptionHistory": {"entries": [{"timestamp": 1, "stacktrace": TRACE}]}}, "the cause")
    message = build(EventType.FAIL, failure=failure)["run"]["facets"]["errorMessage"]
    assert (message["message"], message["stackTrace"]) == ("the cause", TRACE)


def test_the_reason_for_missing_lineage_is_reported():
    event_of_run = event(replace(RUN, unknown_lineage="no memory"), DESCRIBED, RunUpdate(EventType.START, 1))
    assert event_of_run["run"]["facets"][FIGURES_FACET]["lineageUnknownBecause"] == "no memory"


@pytest.mark.parametrize("what", list(EventType))
def test_events_conform_to_the_openlineage_schemas(what):
    figures_of_window = parse_metrics(VERTICES, SUMS, {}, CHECKPOINTS, 2)
    window = Window(30.0, JobMetrics(read={}, written={}), figures_of_window)
    failure = Failure("the cause", TRACE) if what is EventType.FAIL else None
    described = replace(DESCRIBED, job_facets={})
    assert conformance_errors(build(what, described, why="a test", window=window, failure=failure)) == []
