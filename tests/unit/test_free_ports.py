# SPDX-License-Identifier: Apache-2.0
"""Ports for services that tests start."""

import itertools
import socket

import pytest

from tests.connect import processes


@pytest.fixture
def held(monkeypatch):
    """A bound port between the two others that tests may use."""
    first = next(processes.free_ports())
    monkeypatch.setattr(processes, "PORTS", range(first - 1, first + 2))
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", first))
        listener.listen()
        yield first


def test_ports_do_not_run_out_when_a_suite_uses_more_than_there_are(held):
    found = list(itertools.islice(processes.free_ports(), 10))
    assert len(found) == 10
    assert set(found) <= {held - 1, held + 1}


def test_an_error_names_the_ports_if_all_are_held(held, monkeypatch):
    monkeypatch.setattr(processes, "PORTS", range(held, held + 1))
    with pytest.raises(RuntimeError, match=f"no port from {held} to {held} is free"):
        next(processes.free_ports())
