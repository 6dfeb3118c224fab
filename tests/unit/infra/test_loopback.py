# SPDX-License-Identifier: Apache-2.0
"""Shared HTTP client of a process: restarts of services, threads, proxies."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler

import httpx
import pytest

from infra.http_client import client
from tests.unit.infra.http_server import serving


class Service(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"  # keep-alive connections

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


def test_client_reaches_a_restarted_service():
    with service() as address:
        assert client().get(address).text == "ok"
    with pytest.raises(httpx.ConnectError):
        client().get(address)
    with service(httpx.URL(address).port):
        assert client().get(address).text == "ok"


def test_client_is_thread_safe():
    with service() as address, ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(lambda _: client().get(address).text, range(64)))
    assert set(answers) == {"ok"}


def test_client_ignores_proxy_variables(monkeypatch):
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.delenv("NO_PROXY", raising=False)
    client.cache_clear()
    with service() as address:
        assert client().get(address).text == "ok"
