# SPDX-License-Identifier: Apache-2.0
"""Alerts: single cases, quiet hours, any history; what is kept equals what the records say."""

import random

import pytest
from lineage_events import NAMESPACE, at, body, dataset, facet, read
from lineage_run_histories import RunHistories
from test_lineage_past import history

from lineage.alerts.alert import Alert, AlertKind
from lineage.alerts.contract_alerts import GRACE_SECONDS, LastingAlerts
from lineage.alerts.current import CurrentAlerts
from lineage.events import DatasetId, JobId
from lineage.events.timestamps import parse_time
from lineage.graph import Graph, LineageRecords, fold_events, is_stale
from lineage.graph.run_record import TERMINAL_RANK
from lineage.graph.schema_breaks import SchemaBreaks

SECOND = 10**9
JOB = JobId(NAMESPACE, "job")
HEARTBEAT = {"processingType": "STREAMING", "integration": "TEST", "emissionPattern": {"windowDuration": 10}}


class Board:
    """Records, graph and alerts, as the service has them."""

    def __init__(self, lineage):
        self.lineage = lineage
        self.graph = Graph(lineage)
        self.alerts = CurrentAlerts(lineage)
        self.breaks = SchemaBreaks(lineage)

    def at(self, now, listening_since=0, raised=frozenset()):
        self.graph.refresh()
        for values in (self.breaks.steps(), self.alerts.steps(self.graph)):
            for _ in values:
                pass
        return self.alerts.at(self.graph, self.breaks, now, listening_since, raised)


def alerts(*contents, second=100.0, listening=0.0):
    board = Board(fold_events([read(content) for content in contents]))
    return [(alert.kind.value, alert.text) for alert in board.at(parse_time(at(second)), parse_time(at(listening)))]


def checked(second, success, run):
    facets = {"dataQualityAssertions": facet(assertions=[{"assertion": "not_null", "success": success, "column": "a"}])}
    return body("COMPLETE", second, run=run, inputs=[{**dataset("orders"), "inputFacets": facets}])


def write(second, *columns, run):
    fields = {"fields": [{"name": name, "type": "int"} for name in columns]}
    return body("COMPLETE", second, run=run, job="writer", outputs=[dataset("orders", schema=fields)])


FAILED = (
    "failed",
    f"job {NAMESPACE}/job failed: run {body('START', 0)['run']['runId']}",
)
BROKEN = ("quality", f"dataset s3://warehouse/orders: not_null of a failed in job {NAMESPACE}/job")
DROPPED = ("schema", f"dataset s3://warehouse/orders: b removed; not run with it yet: {NAMESPACE}/job")


@pytest.mark.parametrize(
    ("contents", "expected"),
    [
        ([body("START", 0), body("COMPLETE", 1)], []),
        ([body("START", 0), body("ABORT", 1)], []),
        ([body("START", 0), body("FAIL", 1)], [FAILED]),
        ([body("START", 0), body("FAIL", 1), body("START", 2, run=2)], []),
        ([checked(1, False, 1)], [BROKEN]),
        ([checked(1, False, 1), checked(2, True, 2)], []),
        ([checked(1, True, 1)], []),
        ([write(1, "a", "b", run=1), write(2, "a", run=2), body("COMPLETE", 1, run=3, inputs=[dataset("orders")])],
         [DROPPED]),
        ([write(1, "a", "b", run=1), write(2, "a", run=2), body("START", 3, run=3, inputs=[dataset("orders")])], []),
        ([write(1, "a", "b", run=1), write(2, "a", run=2)], []),
    ],
)  # fmt: skip
def test_alerts_by_events(contents, expected):
    assert alerts(*contents) == expected
    random.Random(len(contents)).shuffle(contents)
    assert alerts(*contents) == expected


def beat(event_type, second, run=1):
    return body(event_type, second, run=run, job_facets={"jobType": HEARTBEAT})


def test_a_silent_stream_is_stale_after_three_of_its_intervals():
    silent = ("stale", f"job {NAMESPACE}/job is running, but has sent no event for 30 s")
    assert alerts(beat("START", 0), beat("RUNNING", 50), second=80) == []
    assert alerts(beat("START", 0), beat("RUNNING", 50), second=80.001) == [silent]
    assert alerts(beat("START", 0), beat("COMPLETE", 50), second=500) == []
    assert alerts(body("START", 0), second=10**6) == []  # a batch run may take long


def test_nothing_is_stale_because_the_service_was_down():
    assert alerts(beat("START", 0), second=1_000, listening=980) == []
    assert [kind for kind, _ in alerts(beat("START", 0), second=1_011, listening=980)] == ["stale"]


def test_what_was_stale_before_a_restart_stays_so():
    board = Board(fold_events([read(beat("START", 0))]))
    (alert,) = board.at(parse_time(at(900)))
    restarted, now = parse_time(at(980)), parse_time(at(1_000))
    assert board.at(now, restarted, {alert.id}) == [alert]
    assert board.at(now, restarted, {"another"}) == []
    board.lineage.apply(read(beat("RUNNING", 995)))
    assert board.at(now, restarted, {alert.id}) == []


def test_quiet_hours_raise_nothing_and_a_stall_is_noticed_within_30_seconds_of_silence():
    """24 hours of four streams without rows, looked at every 5 s; then one of them stalls."""
    board = Board(LineageRecords())
    jobs = [f"stream{number}" for number in range(4)]
    stalled = jobs[2]

    def send(event_type, second, job):
        board.lineage.apply(
            read(body(event_type, second, run=1 + jobs.index(job), job=job, job_facets={"jobType": HEARTBEAT}))
        )

    for job in jobs:
        send("START", 0, job)
    day, noticed = 24 * 3_600, None
    for second in range(0, day + 120, 5):
        for number, job in enumerate(jobs):
            if (second + number) % 10 < 5 and not (second > day and job == stalled):
                send("RUNNING", second + 0.1 * number, job)
        found = board.at(parse_time(at(second)) + SECOND)
        if second <= day:
            assert found == []
        elif found and noticed is None:
            assert [(alert.kind, alert.subject) for alert in found] == [(AlertKind.STALE, JobId(NAMESPACE, stalled))]
            noticed = second
    assert noticed is not None
    assert noticed - day <= 30 + 5


def naive(lineage, now):
    """Return kinds and subjects of alerts of runs by the records alone."""
    graph = Graph(lineage)
    graph.refresh()
    found = set()
    for job in graph.job_lineages:
        run = graph.latest_run(job)
        if run is None:
            continue
        if is_stale(lineage, run, now):
            found.add((AlertKind.STALE, job))
        # Of terminal events FAIL prevails.
        if run.terminal is not None and run.terminal[0] == TERMINAL_RANK["FAIL"]:
            found.add((AlertKind.FAILED, job))
    return found


@pytest.mark.parametrize("seed", range(20))
def test_kept_alerts_equal_those_of_the_records_after_every_event(seed):
    chance = random.Random(seed)
    events = RunHistories(seed).make() if seed % 2 else [read(content) for content in history(seed)]
    for place in chance.sample(range(len(events)), 5):  # some arrive late
        events.insert(min(len(events), place + chance.randrange(20)), events.pop(place))
    board = Board(LineageRecords())
    raised = set()
    for number, event in enumerate(events):
        board.lineage.apply(event)
        if chance.random() < 0.5:
            continue
        for delay in (0, 25, 40, 3_600):
            now = event.order.time + delay * SECOND
            found = board.at(now)
            assert len({alert.id for alert in found}) == len(found)
            assert {(each.kind, each.subject) for each in found if each.kind in ("failed", "stale")} == naive(
                board.lineage, now
            )
            raised |= {alert.kind for alert in found}
            if number % 10 == 0:
                assert found == Board(board.lineage).at(now)
    assert raised


def test_an_alert_of_a_schema_change_ends_when_its_last_reader_has_run():
    board = Board(LineageRecords())

    def texts(*contents):
        for content in contents:
            board.lineage.apply(read(content))
        return [alert.text.partition("yet: ")[2] for alert in board.at(parse_time(at(100)))]

    def reader(job, second, run):
        return body("COMPLETE", second, run=run, job=job, inputs=[dataset("orders")])

    def start(job, second, run):
        return body("START", second, run=run, job=job, inputs=[dataset("orders")])

    assert texts(reader("one", 1, 11), reader("two", 1, 12), write(1, "a", "b", run=1)) == []
    assert texts(write(2, "a", run=2)) == [f"{NAMESPACE}/one, {NAMESPACE}/two"]
    assert texts(start("two", 3, 22)) == [f"{NAMESPACE}/one"]
    assert texts(start("three", 4, 33)) == [f"{NAMESPACE}/one"]
    assert texts(start("one", 5, 44)) == []
    assert texts(write(6, "b", run=3)) == [f"{NAMESPACE}/one, {NAMESPACE}/three, {NAMESPACE}/two"]


def test_the_id_is_that_of_the_occurrence():
    first = Alert(AlertKind.FAILED, JOB, "run 1", "text", 5)
    assert first.id == Alert(AlertKind.FAILED, JOB, "run 1", "other text", 7).id
    others = [
        Alert(AlertKind.FAILED, JOB, "run 2", "text", 5),
        Alert(AlertKind.STALE, JOB, "run 1", "text", 5),
        Alert(AlertKind.FAILED, DatasetId(*JOB), "run 1", "text", 5),
        Alert(AlertKind.FAILED, None, "run 1", "text", 5),
    ]
    assert len({first.id, *(alert.id for alert in others)}) == 5


def test_names_with_line_breaks_stay_one_line():
    facets = {"dataQualityAssertions": facet(assertions=[{"assertion": "a\nb", "success": False, "column": "c\td"}])}
    (found,) = alerts(body("COMPLETE", 1, inputs=[{**dataset("orders"), "inputFacets": facets}]))
    assert found[1] == f"dataset s3://warehouse/orders: a b of c d failed in job {NAMESPACE}/job"


def test_a_difference_from_the_contract_must_last():
    lasting = LastingAlerts()
    one, other = (Alert(AlertKind.CONTRACT, None, name, name, None) for name in ("one", "other"))
    assert lasting.at([one], 0) == []
    assert lasting.at([one, other], (GRACE_SECONDS - 1) * SECOND) == []
    assert lasting.at([one, other], GRACE_SECONDS * SECOND) == [one]
    assert lasting.at([other], (GRACE_SECONDS + 1) * SECOND) == []
    assert lasting.at([one, other], (2 * GRACE_SECONDS) * SECOND) == [other]
