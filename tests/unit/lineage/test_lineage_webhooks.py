# SPDX-License-Identifier: Apache-2.0
"""Webhooks: settings, signatures, and delivery by a real service to a real receiver that fails, hangs and goes away."""

import base64
import hmac
import json
import os
import re
import subprocess
import sys
import threading
import time
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.request import Request, urlopen

import pytest
from lineage_events import NAMESPACE, body

from lineage.alerts.outbox import FILE, Outbox
from lineage.alerts.webhook import WEBHOOKS_VARIABLE, Change, WebhooksError, headers, messages, read_webhooks
from tests.bench.service_process import REPOSITORY, running_service

KEY = b"sixteen bytes or more"
SECRET = "whsec_" + base64.b64encode(KEY).decode()
DEADLINE = 300


class Receiver:
    """HTTP server that records requests; `status` is its response, `hang` keeps it from responding."""

    def __init__(self):
        self.status, self.hang, self.requests = 200, threading.Event(), []
        self._hanging = threading.Event()
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                content = self.rfile.read(int(self.headers["Content-Length"]))
                receiver.requests.append((self.path, dict(self.headers), content, receiver.status))
                if receiver.hang.is_set():
                    receiver._hanging.wait(DEADLINE)
                    return
                self.send_response(receiver.status)
                self.send_header("Location", "/elsewhere")
                self.end_headers()

            def log_message(self, *words):
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def accepted(self, path="/json"):
        """Return the bodies that were answered with success, in order."""
        return [json.loads(content) for at, _, content, status in self.requests if at == path and status == 200]

    def wait(self, condition):
        until = time.monotonic() + DEADLINE
        while not condition():
            assert time.monotonic() < until, f"the receiver got {self.requests}"
            time.sleep(0.05)

    def close(self):
        self._hanging.set()
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def receiver():
    found = Receiver()
    yield found
    found.close()


@pytest.fixture
def webhooks(tmp_path, receiver):
    file = tmp_path / "webhooks.json"
    rows = [
        {"name": "ops", "url": f"{receiver.url}/json", "shape": "json", "secret": SECRET},
        {"name": "chat", "url": f"{receiver.url}/slack", "shape": "slack", "kinds": ["failed"]},
    ]
    file.write_text(json.dumps(rows))
    return file


def send(url, event_type, run, job="job"):
    """Send an event of now: alerts are about the present."""
    content = body(event_type, 0, run=run, job=job)
    content["eventTime"] = (datetime.now(UTC) - timedelta(milliseconds=1)).isoformat()
    request = Request(f"{url}/api/v1/lineage", json.dumps(content).encode(), {"Content-Type": "application/json"})
    with urlopen(request, timeout=60):
        pass


def state(url):
    with urlopen(f"{url}/api/v1/alerts", timeout=60) as answer:
        return json.load(answer)


def wait_for_baseline(tmp_path):
    """Wait until the service has looked once: earlier problems are not sent."""
    until = time.monotonic() + DEADLINE
    while True:
        outbox = Outbox(tmp_path / "data", read_webhooks(tmp_path / "webhooks.json"))
        known = outbox._execute("SELECT 1 FROM state", ())
        outbox.close()
        if known:
            return
        assert time.monotonic() < until
        time.sleep(0.1)


def test_alerts_are_raised_resolved_and_signed(tmp_path, receiver, webhooks):
    with running_service(tmp_path / "data", "--webhooks", webhooks) as service:
        send(service.url, "FAIL", 1, "old")
        wait_for_baseline(tmp_path)
        send(service.url, "FAIL", 2)
        receiver.wait(lambda: len(receiver.accepted()) == 1 and receiver.accepted("/slack"))
        (found,) = [alert for alert in state(service.url)["alerts"] if alert["subject"]["name"] == "job"]
        send(service.url, "COMPLETE", 3)
        receiver.wait(lambda: len(receiver.accepted()) == 2)
        # A change is removed only after its response, which the service may still be reading.
        receiver.wait(lambda: all(each["waiting"] == 0 for each in state(service.url)["webhooks"]))
        assert {each["name"]: each["lastError"] for each in state(service.url)["webhooks"]} == {
            "ops": None,
            "chat": None,
        }
    raised, resolved = receiver.accepted()
    assert (raised["type"], raised["data"]) == ("alert.raised", found)
    assert found["subject"] == {"type": "JOB", "namespace": NAMESPACE, "name": "job"}
    assert (resolved["type"], resolved["data"]["id"]) == ("alert.resolved", found["id"])
    assert receiver.accepted("/slack")[0] == {"text": f"Alert: {found['text']}"}
    for _, sent, content, _ in receiver.requests:
        if "webhook-id" in sent:
            signed = f"{sent['webhook-id']}.{sent['webhook-timestamp']}.".encode() + content
            expected = base64.b64encode(hmac.new(KEY, signed, sha256).digest()).decode()
            assert sent["webhook-signature"] == f"v1,{expected}"
            assert abs(time.time() - int(sent["webhook-timestamp"])) < DEADLINE
    log = (tmp_path / "data.log").read_text()
    assert "Traceback" not in log
    assert receiver.url not in log
    assert ((tmp_path / "data" / FILE).stat().st_mode & 0o777) == 0o600


@pytest.mark.slow
@pytest.mark.parametrize("how", ["error", "redirect", "hanging"])
def test_no_alert_is_lost_if_the_receiver_fails_and_the_service_is_killed(tmp_path, receiver, webhooks, how):
    receiver.status = {"error": 503, "redirect": 307, "hanging": 0}[how]
    if how == "hanging":
        receiver.hang.set()
    with running_service(tmp_path / "data", "--webhooks", webhooks) as service:
        send(service.url, "START", 1)
        wait_for_baseline(tmp_path)
        for run in (2, 3):
            send(service.url, "FAIL", run, f"job{run}")
        receiver.wait(lambda: receiver.requests)
        service.kill()
    receiver.status = 200
    receiver.hang.clear()
    with running_service(tmp_path / "data", "--webhooks", webhooks):
        receiver.wait(lambda: len(receiver.accepted()) == 2 and receiver.accepted("/slack"))
    assert {found["data"]["subject"]["name"] for found in receiver.accepted()} == {"job2", "job3"}
    assert {path for path, *_ in receiver.requests} == {"/json", "/slack"}, "no redirect is followed"
    ids = {sent["webhook-id"] for path, sent, _, _ in receiver.requests if path == "/json"}
    assert len(ids) == 2, "a message keeps its id"


@pytest.mark.slow
def test_what_happened_while_the_service_was_down_is_told_once(tmp_path, receiver, webhooks):
    with running_service(tmp_path / "data", "--webhooks", webhooks) as service:
        send(service.url, "START", 1)
        wait_for_baseline(tmp_path)
    with running_service(tmp_path / "data") as service:
        send(service.url, "FAIL", 1)
    for _ in range(2):
        with running_service(tmp_path / "data", "--webhooks", webhooks) as service:
            receiver.wait(lambda: receiver.accepted())
            send(service.url, "START", 9, "other")
            receiver.wait(lambda service=service: state(service.url)["webhooks"][0]["waiting"] == 0)
    assert [found["type"] for found in receiver.accepted()] == ["alert.raised"]


VALID = {"name": "ops", "url": "https://example.org/secret-path", "shape": "json", "secret": "sixteen bytes or more"}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "cannot read the webhooks"),
        ({}, "are not a list"),
        ([1], "webhook 1 in {}: is not an object"),
        ([VALID, VALID], "webhook 2 in {}: name 'ops' is used twice"),
        ([{**VALID, "uri": "x"}], "unknown key 'uri'"),
        ([{**VALID, "url": "example.org"}], "url is not an http or https URL"),
        ([{**VALID, "shape": "xml"}], "shape 'xml' is neither 'json' nor 'slack'"),
        ([{**VALID, "secret": "short"}], "'secret' is shorter than 16 bytes"),
        ([{**VALID, "secret": "whsec_???"}], "'secret' is not base64"),
        ([{key: value for key, value in VALID.items() if key != "secret"}], "'secret' is missing or no text"),
        ([{**VALID, "shape": "slack"}], "'secret' has no use for Slack"),
        ([{**VALID, "kinds": ["smoke"]}], "'kinds' is not a list of failed, stale, quality, schema, contract"),
        ([{**VALID, "kinds": []}], "'kinds' is not a list"),
    ],
)
def test_invalid_webhooks_are_refused_without_their_secrets(tmp_path, content, message):
    file = tmp_path / "webhooks.json"
    file.write_text(content if isinstance(content, str) else json.dumps(content))
    with pytest.raises(WebhooksError, match=re.escape(message.format(file))) as error:
        read_webhooks(file)
    assert "secret-path" not in str(error.value)


def test_the_service_does_not_start_with_invalid_webhooks(tmp_path):
    words = [sys.executable, "-m", "lineage", "--port", "0", "--data", tmp_path / "data", "--webhooks", tmp_path / "no"]
    ended = subprocess.run(words, cwd=REPOSITORY, capture_output=True, text=True, timeout=60, check=False)
    assert (ended.returncode, ended.stderr.count("\n")) == (2, 1)
    assert "lineage: cannot read the webhooks" in ended.stderr


def test_the_service_does_not_start_with_invalid_webhooks_of_the_environment(tmp_path):
    words = [sys.executable, "-m", "lineage", "--port", "0", "--data", tmp_path / "data"]
    environment = {**os.environ, WEBHOOKS_VARIABLE: "[1]"}
    ended = subprocess.run(
        words, cwd=REPOSITORY, env=environment, capture_output=True, text=True, timeout=60, check=False
    )
    assert (ended.returncode, ended.stderr) == (2, "lineage: webhook 1 in LINEAGE_WEBHOOKS: is not an object\n")


@pytest.mark.slow
def test_webhooks_of_the_environment_receive_alerts(tmp_path, receiver, webhooks, monkeypatch):
    monkeypatch.setenv(WEBHOOKS_VARIABLE, webhooks.read_text())
    with running_service(tmp_path / "data") as service:
        wait_for_baseline(tmp_path)
        send(service.url, "FAIL", 1)
        receiver.wait(lambda: {path for path, *_ in receiver.requests} >= {"/json", "/slack"})


def test_slack_gets_one_message_that_mentions_nobody(tmp_path):
    file = tmp_path / "webhooks.json"
    file.write_text(json.dumps([{"name": "chat", "url": "https://example.org", "shape": "slack"}]))
    (chat,) = read_webhooks(file)
    changes = [Change("alert.raised", {"kind": "failed", "text": f"job <!channel> & {n}"}) for n in range(30)]
    (content,) = messages(chat, changes, 0)
    lines = json.loads(content)["text"].split("\n")
    assert lines[0] == "Alert: job &lt;!channel&gt; &amp; 0"
    assert (len(lines), lines[-1]) == (21, "and 10 more")
    assert "webhook-signature" not in headers(chat, "id", content, 0)
    assert SECRET not in repr(chat)
    assert "example.org" not in repr(chat)


def test_messages_of_a_webhook_that_is_gone_are_removed(tmp_path, webhooks):
    both = read_webhooks(webhooks)
    outbox = Outbox(tmp_path, both)
    outbox.update([], 0)
    assert outbox.update([{"id": "1", "kind": "failed", "text": "x"}], 10**9) == 2
    outbox.close()
    outbox = Outbox(tmp_path, both[1:])
    assert [outbox.waiting(webhook.name) for webhook in both] == [0, 1]
    assert outbox.update([{"id": "1", "kind": "failed", "text": "x"}], 2 * 10**9) == 0
    outbox.close()
