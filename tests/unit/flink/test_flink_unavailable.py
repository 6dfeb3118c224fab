# SPDX-License-Identifier: Apache-2.0
"""Tests of telling a cluster that is gone from one that does not respond, with real sockets."""

import socket

import pytest

from lineagelab_flink import rest
from lineagelab_flink.errors import FlinkUnavailableError
from lineagelab_flink.rest import FlinkClient


def unavailable(port):
    """Return the error of a request to a port."""
    client = FlinkClient(f"http://127.0.0.1:{port}")
    try:
        with pytest.raises(FlinkUnavailableError) as raised:
            client.jobs()
    finally:
        client.close()
    return raised.value


def test_a_cluster_without_a_listener_is_gone():
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        assert unavailable(server.getsockname()[1]).is_gone


def test_a_frozen_cluster_is_not_gone(monkeypatch):
    monkeypatch.setattr(rest, "TIMEOUT_SECONDS", 0.2)
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        assert not unavailable(server.getsockname()[1]).is_gone
