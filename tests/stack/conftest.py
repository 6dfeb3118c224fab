# SPDX-License-Identifier: Apache-2.0
"""What the stack tests share: engines that are torn down, free ports."""

import socket

import pytest

from infra.supervision import Supervisor
from tests.stack.engine import Engine


@pytest.fixture
def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@pytest.fixture
def make_engine(tmp_path):
    """Makes engines; whatever a test leaves running is ended."""
    made = []

    def make(name="one", ports=None):
        engine = Engine(tmp_path / name, ports)
        made.append(engine)
        return engine

    yield make
    for engine in made:
        Supervisor(engine.root).shut_down()


@pytest.fixture
def engine(make_engine):
    return make_engine()
