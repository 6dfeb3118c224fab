# SPDX-License-Identifier: Apache-2.0
"""The client that everything in a process shares: of a service that comes and goes, it keeps nothing."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler

import httpx
import pytest

from infra.http_client import client
from tests.unit.infra.answering import serving


class Service(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"  # keeps connections, if it is let

    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"ok")

    def log_message(self, *_):
        pass


@contextmanager
def service(port=0):
    with serving(Service, port) as running:
        yield f"http://127.0.0.1:{running.server_port}"


def test_a_service_that_was_started_anew_is_reached():
    with service() as address:
        assert client().get(address).text == "ok"
    with pytest.raises(httpx.ConnectError):
        client().get(address)
    with service(httpx.URL(address).port):
        assert client().get(address).text == "ok"


def test_threads_share_it():
    with service() as address, ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(lambda _: client().get(address).text, range(64)))
    assert set(answers) == {"ok"}


def test_it_takes_no_proxy_from_the_environment(monkeypatch):
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.delenv("NO_PROXY", raising=False)
    client.cache_clear()
    with service() as address:
        assert client().get(address).text == "ok"
