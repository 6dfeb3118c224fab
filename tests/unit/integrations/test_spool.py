# SPDX-License-Identifier: Apache-2.0
"""The spool delivers events to a service that is down, busy or failing for a while, and never blocks its caller."""

import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from lineagelab_common import spool as spools
from lineagelab_common.client import UnavailableError
from lineagelab_common.events import EventWriter, Json
from lineagelab_common.queue_facet import EMITTER_QUEUE, SCHEMA, with_queue
from lineagelab_common.spool import BoundedQueue, Message, Spool
from tests.unit.integrations.lineage_endpoint import CUT, GARBAGE, HANGS, TAKEN, answering, free_port

RUN = "0193a1f0-0000-7000-8000-000000000001"
WRITER = EventWriter("urn:test")
JOB = {"namespace": "lab", "name": "orders_etl"}


@pytest.fixture(autouse=True)
def short_backoff(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spools, "FIRST_BACKOFF", 0.01)
    monkeypatch.setattr(spools, "MAX_BACKOFF", 0.05)


@pytest.fixture(autouse=True)
def no_threads_left() -> Iterator[None]:
    before = set(threading.enumerate())
    yield
    for thread in set(threading.enumerate()) - before:
        thread.join(5)
        assert not thread.is_alive(), thread.name


def event(event_type: str, second: int = 0) -> Json:
    return WRITER.run_event(event_type, f"2026-01-01T00:00:{second:02}.000Z", {"runId": RUN}, JOB, [], [])


def spool_of(url: str, path: Path | None = None, timeout: float = 30, **options: object) -> Spool:
    """Return a spool, which sends an event again that was accepted within more than the timeout."""
    return Spool(url, path, timeout=timeout, **options)  # type: ignore[arg-type]


def kinds(events: list[Json]) -> list[str]:
    return [f"{each['eventType']} {each['eventTime'][17:19]}" for each in events]


RUN_EVENTS = [event("START"), event("RUNNING", 1), event("RUNNING", 2), event("COMPLETE", 3)]
IN_ORDER = ["START 00", "RUNNING 01", "RUNNING 02", "COMPLETE 03"]


@pytest.mark.parametrize(
    "trouble",
    [(500, 503), (429, 408), (GARBAGE, GARBAGE), (CUT, CUT), (HANGS,)],
    ids=["server error", "busy", "invalid HTTP", "connection closed", "no response"],
)
def test_events_arrive_in_order_after_temporary_failures(trouble: tuple) -> None:
    with answering(*trouble, TAKEN) as service:
        spool = spool_of(service.url, timeout=3 if HANGS in trouble else 30)
        for each in RUN_EVENTS:
            spool.add(each)

        assert kinds(service.wait_for_events(4)) == IN_ORDER
        assert spool.close(30)

    assert spool.dropped == 0


def test_events_arrive_at_a_service_that_starts_late(caplog: pytest.LogCaptureFixture) -> None:
    port = free_port()
    spool = spool_of(f"http://127.0.0.1:{port}")
    for each in RUN_EVENTS:
        spool.add(each)
    with answering(TAKEN, port=port) as service:
        assert kinds(service.wait_for_events(4)) == IN_ORDER
        spool.close(30)

    assert caplog.text.count("is not accepted by") <= 1


def test_a_rejected_event_is_dropped_and_the_next_one_sent(caplog: pytest.LogCaptureFixture) -> None:
    delivered = []
    with answering(422, TAKEN) as service:
        spool = spool_of(service.url)
        spool.add(event("START"), lambda: delivered.append("START"))
        spool.add(event("RUNNING", 1))
        assert kinds(service.wait_for_events(1)) == ["RUNNING 01"]
        assert spool.close(30)

    assert spool.dropped == 1
    assert delivered == ["START"]
    assert f"START of run {RUN} of orders_etl is not sent to {service.url}: HTTP status 422" in caplog.text


def test_a_redirect_is_a_rejection() -> None:
    with answering(302, TAKEN) as service:
        spool = spool_of(service.url)
        spool.add(event("START"))
        assert spool.close(30)

        assert (spool.dropped, service.taken) == (1, [])


def test_an_event_that_the_service_cannot_process_does_not_block_the_others() -> None:
    with answering(500, 500, 500, TAKEN) as service:
        spool = spool_of(service.url)
        spool.add(event("RUNNING", 1))
        spool.add(event("RUNNING", 2))
        assert kinds(service.wait_for_events(2)) == ["RUNNING 02", "RUNNING 01"]
        assert spool.close(30)

    assert spool.dropped == 0


def test_beyond_the_size_limit_old_heartbeats_are_dropped_and_one_line_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with answering(HANGS, TAKEN) as service:
        spool = spool_of(service.url, max_bytes=4000)
        spool.add(event("START"))
        service.wait_for_requests(1)
        for second in range(1, 60):
            spool.add(event("RUNNING", second))
        spool.add(event("COMPLETE", 59))
        service.released.set()
        assert spool.close(30)

        arrived = kinds(service.taken)

    assert arrived[0] == "START 00"
    assert arrived[-2:] == ["RUNNING 59", "COMPLETE 59"]
    assert arrived == sorted(arrived, key=lambda kind: kind.split()[1])
    assert spool.dropped == 61 - len(arrived)
    assert caplog.text.count("more than 4000 bytes wait") == 1


@pytest.mark.parametrize("answer", [500, GARBAGE, HANGS])
def test_without_a_file_undelivered_events_are_lost_and_logged(
    answer: int | str, caplog: pytest.LogCaptureFixture
) -> None:
    delivered: list[str] = []
    with answering(answer) as service:
        spool = spool_of(service.url, timeout=0.3)
        spool.add(event("START"), lambda: delivered.append("START"))
        service.wait_for_requests(1)
        assert not spool.close(0.2)

        assert spool.dropped == 1
        assert delivered == []
        assert f"1 lineage events were not accepted by {service.url}" in caplog.text

        spool.add(event("RUNNING", 1))
        assert "its spool is closed" in caplog.text


def test_add_does_not_block_on_the_service() -> None:
    with answering(HANGS) as service:
        spool = spool_of(service.url)
        spool.add(event("START"))
        service.wait_for_requests(1)
        for second in range(50):
            spool.add(event("RUNNING", second))
        assert service.asked == 1
        service.released.set()
        spool.close(0.1)


def test_closing_waits_for_the_callback_of_the_last_event() -> None:
    delivered: list[str] = []

    def slowly() -> None:
        time.sleep(0.3)
        delivered.append("COMPLETE")

    with answering(TAKEN) as service:
        spool = spool_of(service.url)
        spool.add(event("COMPLETE"), slowly)
        assert spool.close(30)

    assert delivered == ["COMPLETE"]


def test_an_event_about_a_job_is_sent() -> None:
    with answering(TAKEN) as service:
        spool = spool_of(service.url)
        spool.add(WRITER.job_event("2026-01-01T00:00:00.000Z", JOB, [], []))
        (taken,) = service.wait_for_events(1)
        spool.close(30)

    assert taken["job"]["name"] == "orders_etl"
    assert "run" not in taken


def test_delivered_events_leave_the_file(tmp_path: Path) -> None:
    with answering(TAKEN) as service:
        spool = spool_of(service.url, tmp_path / "spool.json")
        spool.add(event("START"))
        spool.add(event("RUNNING", 1))
        assert spool.close(30)

    assert kinds(service.taken) == ["START 00", "RUNNING 01"]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("answer", [HANGS, 503])
def test_with_a_file_events_survive_a_restart(tmp_path: Path, answer: int | str) -> None:
    with answering(answer) as service:
        spool = spool_of(service.url, tmp_path / "spool.json", timeout=0.3)
        spool.add(event("START", 1))
        spool.add(event("ABORT", 2))
        assert not spool.close(0.5)
        assert spool.dropped == 0
        service.released.set()
    with answering(500, 503, TAKEN) as service:
        assert spool_of(service.url, tmp_path / "spool.json").close(30)

    assert kinds(service.taken) == ["START 01", "ABORT 02"]


def test_closing_ends_early_when_it_is_cancelled(tmp_path: Path) -> None:
    cancel = threading.Event()
    cancel.set()
    spool = spool_of(f"http://127.0.0.1:{free_port()}", tmp_path / "spool.json")
    spool.add(event("ABORT"))
    began = time.monotonic()
    assert not spool.close(600, cancel)
    assert time.monotonic() - began < 300


def test_a_file_that_cannot_be_written_is_an_error_of_the_caller(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    spool = spool_of(f"http://127.0.0.1:{free_port()}", tmp_path / "file" / "spool.json")
    with pytest.raises(OSError, match="file"):
        spool.add(event("START"))
    spool.close(0)


def test_without_a_service_events_are_discarded(tmp_path: Path) -> None:
    spool = Spool("", tmp_path / "spool.json")
    spool.add(event("START"))
    assert spool.close(30)
    assert not (tmp_path / "spool.json").exists()


@pytest.mark.parametrize("text", ['{"eventType": 1}', "{", "", '"x"'])
def test_a_damaged_file_is_logged_and_replaced(tmp_path: Path, caplog: pytest.LogCaptureFixture, text: str) -> None:
    (tmp_path / "spool.json").write_text(text)
    with answering(TAKEN) as service:
        spool = spool_of(service.url, tmp_path / "spool.json")
        spool.add(event("START"))
        assert spool.close(30)

    assert "cannot read the lineage events" in caplog.text
    assert kinds(service.taken) == ["START 00"]


def test_file_entries_that_are_not_events_are_skipped(tmp_path: Path) -> None:
    (tmp_path / "spool.json").write_text('[1, {}, {"job": {"name": "j"}, "run": 7}]')
    with answering(TAKEN) as service:
        spool = spool_of(service.url, tmp_path / "spool.json", background=False)
        assert spool.flush()

    assert list(tmp_path.iterdir()) == []


def test_a_flush_tries_each_event_once_and_keeps_the_rest(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "spool.json"
    with answering(TAKEN, 503, TAKEN) as service:
        spool = spool_of(service.url, path, background=False)
        for each in RUN_EVENTS:
            spool.add(each)
        assert not spool.flush()
        assert kinds(service.taken) == ["START 00", "RUNNING 02", "COMPLETE 03"]
        assert "RUNNING of run" in caplog.text
        assert spool_of(service.url, path, background=False).flush()
        assert len(service.taken) == 4


def test_a_flush_stops_at_a_service_that_does_not_respond(tmp_path: Path) -> None:
    with answering(HANGS) as service:
        spool = spool_of(service.url, tmp_path / "spool.json", timeout=0.3, background=False)
        for each in RUN_EVENTS:
            spool.add(each)
        assert not spool.flush()
        assert service.asked == 1
    assert len(spool) == 4


def test_unneeded_event_is_discarded_and_an_undecidable_one_kept(tmp_path: Path) -> None:
    def is_needed(candidate: Json) -> bool:
        if candidate["eventType"] == "RUNNING":
            raise UnavailableError("unknown", has_answered=True)
        return candidate["eventType"] != "START"

    with answering(TAKEN) as service:
        spool = spool_of(service.url, tmp_path / "spool.json", background=False, is_needed=is_needed)
        for each in RUN_EVENTS:
            spool.add(each)
        assert not spool.flush()

    assert kinds(service.taken) == ["COMPLETE 03"]
    assert len(spool) == 2


def message(name: str, event_type: str = "RUNNING") -> Message:
    return Message({"eventType": event_type, "run": {"runId": "r"}, "job": {"name": name}}, b"12345")


def names(messages: list[Message]) -> list[str]:
    return [each.event["job"]["name"] for each in messages]


def test_a_full_queue_drops_the_oldest_heartbeats_first() -> None:
    queue = BoundedQueue(20)
    for each in (message("start", "START"), message("first"), message("second"), message("third", "OTHER")):
        assert queue.add(each) == []

    assert names(queue.add(message("end", "ABORT"))) == ["first"]
    assert names(queue.messages) == ["start", "second", "third", "end"]


def test_a_full_queue_without_heartbeats_drops_the_oldest_message() -> None:
    queue = BoundedQueue(10)
    for name in ("a", "b"):
        queue.add(message(name, "START"))

    assert names(queue.add(message("c", "START"))) == ["a"]
    assert names(queue.add(message("heartbeat"))) == ["heartbeat"]
    assert names(queue.messages) == ["b", "c"]


def test_equal_messages_are_removed_by_identity() -> None:
    queue = BoundedQueue(5)
    sent = message("same")
    queue.add(sent)
    queue.add(message("same"))

    assert not queue.remove(sent)
    assert len(queue) == 1


def test_a_message_larger_than_the_queue_is_dropped() -> None:
    queue = BoundedQueue(4)

    assert names(queue.add(message("large", "START"))) == ["large"]
    assert len(queue) == 0


def test_heartbeats_state_how_many_events_wait_and_were_dropped() -> None:
    with answering(422, HANGS, TAKEN) as service:
        spool = spool_of(service.url)
        rejected = threading.Event()
        spool.add(event("START"), rejected.set)
        assert rejected.wait(30)
        while len(spool):
            time.sleep(0.01)
        for each in (event("RUNNING", 1), event("RUNNING", 2), event("COMPLETE", 3)):
            spool.add(each)
        service.released.set()
        assert spool.close(30)
        first, second, last = service.taken[-3:]

    facets = [each["run"]["facets"][EMITTER_QUEUE] for each in (first, second)]
    assert facets == [
        {"_producer": WRITER.producer, "_schemaURL": SCHEMA, "waiting": waiting, "dropped": 1} for waiting in (0, 1)
    ]
    assert last == event("COMPLETE", 3)


def test_an_event_keeps_its_facets_beside_that_of_the_queue() -> None:
    before = event("RUNNING", 1)
    before["run"] = {"runId": RUN, "facets": {"parent": {}}}
    after = with_queue(before, 2, 1)
    assert after["run"]["facets"].keys() == {"parent", EMITTER_QUEUE}
    assert before["run"]["facets"] == {"parent": {}}
    assert with_queue(event("START"), 2, 1) == event("START")
