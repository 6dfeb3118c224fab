# SPDX-License-Identifier: Apache-2.0
"""Fixtures of the stack tests: Pulumi engines that are torn down, free ports."""

import socket

import pytest

from infra.catalog import ENDPOINTS
from infra.provider.preflight import busy_ports
from infra.targets.local.supervisor import Supervisor
from tests.stack.engine import PROGRAM, Engine


@pytest.fixture
def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@pytest.fixture(scope="session")
def free_offset():
    """Return a port offset at which nothing listens on any port of a lab.

    From the first offset on, no port is one of the labs of `tests/stack_files.py`, which run in parallel, or of
    those that the kernel gives to clients.
    """
    ports = {f"{service} {e.name}": e.port for service, endpoints in ENDPOINTS.items() for e in endpoints}
    for offset in range(13100, 22000, 100):
        if not busy_ports({name: port + offset for name, port in ports.items()}):
            return offset
    raise AssertionError("no free port offset")


@pytest.fixture
def make_engine(tmp_path):
    """Return a function that creates engines; their processes are stopped after the test."""
    made = []

    def make(name="one", ports=None, program=PROGRAM):
        engine = Engine(tmp_path / name, ports, program)
        made.append(engine)
        return engine

    yield make
    for engine in made:
        Supervisor(engine.root).shut_down()


@pytest.fixture
def engine(make_engine):
    return make_engine()
