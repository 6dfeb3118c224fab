# SPDX-License-Identifier: Apache-2.0
"""What launchers keep in files: what they remember, what is still to be told, and which checkpoint is the newest."""

import socket
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from lineagelab_flink import checkpoints, launcher_state, outbox
from lineagelab_flink.launcher_state import Described, Remembered
from lineagelab_flink.lifecycle import Memory, Phase
from lineagelab_flink.outbox import Outbox, within

REMEMBERED = Remembered(
    Memory(Phase.OPEN, "job", "definition", 1000, "chk-2", "chk-1", True, 3),
    Described("definition", [{"name": "orders"}], [{"name": "live/orders"}], {"sql": {}}),
    "BATCH",
    "2.2.1",
    "no such column",
)


def test_what_is_remembered_comes_back(tmp_path):
    launcher_state.save(tmp_path / "below" / "state.json", REMEMBERED)
    assert launcher_state.load(tmp_path / "below" / "state.json") == REMEMBERED


@pytest.mark.parametrize("text", ["", "{", "[]", '{"memory": {}}', '{"memory": {"phase": "AWAKE"}, "described": {}}'])
def test_a_damaged_file_is_forgotten_and_said(tmp_path, capsys, text):
    (tmp_path / "state.json").write_text(text)
    assert launcher_state.load(tmp_path / "state.json") == Remembered()
    assert "cannot be read" in capsys.readouterr().err


def test_there_may_be_nothing_to_remember(tmp_path, capsys):
    assert launcher_state.load(tmp_path / "state.json") == Remembered()
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("there", "number"),
    [
        (["chk-9/_metadata", "chk-10/_metadata"], 10),
        (["job/chk-9/_metadata", "job/chk-11/part-0"], 9),
        (["shared/x", "taskowned/y"], None),
        ([], None),
    ],
)
def test_the_newest_checkpoint_is_the_last_whole_one(there, number):
    assert checkpoints.latest(there) == number


def test_the_folder_knows_better_than_who_looked_a_while_ago(tmp_path):
    for number in (8, 9, 10):
        (tmp_path / f"chk-{number}").mkdir()
    (tmp_path / "chk-8" / "_metadata").touch()
    (tmp_path / "chk-9" / "_metadata").touch()
    assert checkpoints.newest(f"file:{tmp_path}/chk-5") == f"file:{tmp_path}/chk-9"
    assert checkpoints.newest(f"file:{tmp_path}/savepoint-1") == f"file:{tmp_path}/savepoint-1"
    assert checkpoints.newest("") == ""


class Service:
    """A lineage service of a test's own; `answers` are given in order, the last one for ever."""

    def __init__(self, *answers):
        self.answers = list(answers)
        self.taken = []
        service = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                status = service.answers.pop(0) if len(service.answers) > 1 else service.answers[0]
                if status < 300:
                    service.taken.append(body.decode())
                self.send_response(status)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_):
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    @property
    def url(self):
        return f"http://127.0.0.1:{self._server.server_port}"


def told(what, number=0):
    return {"eventType": what, "number": number, "run": {"runId": "r"}, "job": {"name": "j"}}


def test_events_are_told_and_then_kept_no_longer(tmp_path):
    with Service(201) as service:
        box = Outbox(tmp_path / "untold.json", service.url)
        box.add(told("START"))
        box.add(told("RUNNING"))
        assert box.close(20, threading.Event())
    assert len(service.taken) == 2
    assert (tmp_path / "untold.json").read_text() == "[]"


def test_what_a_service_is_not_there_for_is_told_by_the_next_launcher(tmp_path):
    with Service(201) as service:
        away = service.url
    box = Outbox(tmp_path / "untold.json", away)
    box.add(told("ABORT"))
    assert not box.close(0.5, threading.Event())
    with Service(500, 503, 201) as service:
        assert Outbox(tmp_path / "untold.json", service.url).close(30, threading.Event())
    assert len(service.taken) == 1


def test_a_service_that_never_answers_holds_up_nobody(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as hangs:
        box = Outbox(tmp_path / "untold.json", f"http://127.0.0.1:{hangs.getsockname()[1]}")
        box.add(told("START", 1))
        box.add(told("ABORT", 2))
        assert not box.close(0.5, threading.Event())
    with Service(201) as service:
        assert Outbox(tmp_path / "untold.json", service.url).close(30, threading.Event())
    assert len(service.taken) == 2


def test_an_event_that_the_service_cannot_stand_holds_up_no_other(tmp_path):
    with Service(500, 201) as service:
        box = Outbox(tmp_path / "untold.json", service.url)
        box.add(told("START", 1))
        box.add(told("START", 2))
        assert box.close(30, threading.Event())
    assert len(service.taken) == 2


def test_a_refused_event_is_given_up(tmp_path):
    with Service(422) as service:
        box = Outbox(tmp_path / "untold.json", service.url)
        box.add(told("START"))
        assert box.close(20, threading.Event())
    assert service.taken == []


def test_without_a_service_nothing_is_kept(tmp_path):
    box = Outbox(tmp_path / "untold.json", "")
    box.add(told("START"))
    assert box.close(20, threading.Event())
    assert not (tmp_path / "untold.json").exists()


def test_a_damaged_outbox_is_given_up(tmp_path, caplog):
    (tmp_path / "untold.json").write_text('{"eventType": 1}')
    with Service(201) as service:
        assert Outbox(tmp_path / "untold.json", service.url).close(20, threading.Event())
    assert "given up" in caplog.text


def test_where_too_much_waits_states_go_first_and_the_oldest_of_them():
    events = [told("START", 1), told("RUNNING", 2), told("RUNNING", 3), told("ABORT", 4)]
    size = len(str(events)) // 4
    assert [event["number"] for event in within(3 * size, events)] == [1, 3, 4]
    assert [event["number"] for event in within(size, events)] == [4]
    assert outbox.within(10**6, events) == events
