# SPDX-License-Identifier: Apache-2.0
"""Events reach a service that is away, busy or broken for a while, in order; one that stays so costs nothing."""

from collections.abc import Iterator

import pytest
from openlineage.client.event_v2 import Job, JobEvent, Run, RunEvent, RunState

from lineagelab_spark import emitter
from lineagelab_spark.emitter import Emitter
from tests.unit.spark.lineage_endpoint import CUT, GARBAGE, HANGS, TAKEN, answering, free_port

RUN = "0193a1f0-0000-7000-8000-000000000001"


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(emitter, "_FIRST_PAUSE", 0.01)
    monkeypatch.setattr(emitter, "_LONGEST_PAUSE", 0.05)
    monkeypatch.setattr(emitter, "TIMEOUT_SECONDS", 0.3)


def event(event_type: str, second: int = 0, name: str = "orders_etl") -> RunEvent:
    time = f"2026-01-01T00:00:{second:02}.000+00:00"
    return RunEvent(eventType=RunState(event_type), eventTime=time, run=Run(RUN), job=Job("lab", name))


def kinds(events: list[dict]) -> list[str]:
    return [f"{event['eventType']} {event['eventTime'][17:19]}" for event in events]


@pytest.fixture
def run() -> list[RunEvent]:
    return [event("START"), event("RUNNING", 1), event("RUNNING", 2), event("COMPLETE", 3)]


WHOLE = ["START 00", "RUNNING 01", "RUNNING 02", "COMPLETE 03"]


@pytest.mark.parametrize(
    "trouble",
    [(500, 503), (429, 408), (GARBAGE, GARBAGE), (CUT, CUT), (HANGS,)],
    ids=["broken", "busy", "garbage", "cut", "hangs"],
)
def test_a_run_arrives_whole_and_in_order_after_trouble(trouble: tuple, run: list[RunEvent]) -> None:
    with answering(*trouble, TAKEN) as service:
        sender = Emitter(service.url)
        for each in run:
            sender.emit(each)

        assert kinds(service.wait_for_events(4)) == WHOLE
        sender.close(5)

    assert sender.dropped == 0


def test_a_run_arrives_whole_at_a_service_that_starts_late(
    run: list[RunEvent], caplog: pytest.LogCaptureFixture
) -> None:
    port = free_port()
    sender = Emitter(f"http://127.0.0.1:{port}")
    for each in run:
        sender.emit(each)
    with answering(TAKEN, port=port) as service:
        assert kinds(service.wait_for_events(4)) == WHOLE
        sender.close(5)

    assert caplog.text.count("does not take it yet") <= 1


def test_an_event_that_is_refused_is_given_up_and_the_next_one_sent(caplog: pytest.LogCaptureFixture) -> None:
    read = []
    with answering(422, TAKEN) as service:
        sender = Emitter(service.url)
        sender.emit(event("START"), lambda: read.append("START"))
        sender.emit(event("RUNNING", 1))
        assert kinds(service.wait_for_events(1)) == ["RUNNING 01"]
        sender.close(5)

    assert sender.dropped == 1
    assert read == ["START"]
    assert "run 0193a1f0-0000-7000-8000-000000000001 of orders_etl" in caplog.text
    assert "it answers 422" in caplog.text


def test_an_event_that_breaks_the_service_does_not_hold_the_others_for_ever(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(emitter, "MOST_ANSWERS", 3)
    with answering(500, 500, 500, TAKEN) as service:
        sender = Emitter(service.url)
        sender.emit(event("RUNNING", 1))
        sender.emit(event("RUNNING", 2))
        assert kinds(service.wait_for_events(1)) == ["RUNNING 02"]
        sender.close(5)

    assert sender.dropped == 1


def test_too_many_events_cost_old_states_and_one_line(caplog: pytest.LogCaptureFixture) -> None:
    with answering(HANGS, TAKEN) as service:
        sender = Emitter(service.url, most_bytes=4000)
        sender.emit(event("START"))
        service.wait_for_requests(1)
        for second in range(1, 60):
            sender.emit(event("RUNNING", second))
        sender.emit(event("COMPLETE", 59))
        service.released.set()
        sender.close(30)

        arrived = kinds(service.taken)

    assert arrived[0] == "START 00"
    assert arrived[-2:] == ["RUNNING 59", "COMPLETE 59"]
    assert arrived == sorted(arrived, key=lambda kind: kind.split()[1])
    assert sender.dropped == 61 - len(arrived)
    assert caplog.text.count("more than 4000 bytes wait") == 1


@pytest.mark.parametrize("answer", [500, GARBAGE, HANGS])
def test_what_is_not_taken_until_the_end_is_lost_and_said_to_be(
    answer: int | str, caplog: pytest.LogCaptureFixture
) -> None:
    with answering(answer) as service:
        sender = Emitter(service.url)
        read: list[str] = []
        sender.emit(event("START"), lambda: read.append("START"))
        service.wait_for_requests(1)
        sender.close(0.2)

        assert sender.dropped == 1
        assert read == []
        assert f"1 lineage events were not taken by {service.url}" in caplog.text

        sender.emit(event("RUNNING", 1))
        assert "lineage is closed" in caplog.text


def test_events_about_jobs_are_sent_too() -> None:
    with answering(TAKEN) as service:
        sender = Emitter(service.url)
        sender.emit(JobEvent(eventTime="2026-01-01T00:00:00.000+00:00", job=Job("lab", "orders_etl")))
        (taken,) = service.wait_for_events(1)
        sender.close(5)

    assert taken["job"]["name"] == "orders_etl"
    assert "run" not in taken


@pytest.fixture
def no_threads_left() -> Iterator[None]:
    import threading

    before = set(threading.enumerate())
    yield
    for thread in set(threading.enumerate()) - before:
        thread.join(5)
        assert not thread.is_alive(), thread.name


@pytest.mark.usefixtures("no_threads_left")
def test_nothing_is_left_behind(run: list[RunEvent]) -> None:
    with answering(TAKEN) as service:
        sender = Emitter(service.url)
        sender.emit(run[0])
        sender.close(5)

        assert kinds(service.taken) == ["START 00"]
