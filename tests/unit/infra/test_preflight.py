# SPDX-License-Identifier: Apache-2.0
"""The preflight names who holds a port, and what is too little."""

import os
import socket

import pytest

from infra.provider.preflight import busy_ports, resource_shortages


@pytest.fixture
def taken():
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))
        holder.listen()
        yield holder.getsockname()[1]


def test_a_busy_port_is_named_with_its_holder(taken):
    (line,) = busy_ports({"kafka broker": taken})
    assert line.startswith(f"port {taken} (kafka broker) is held by ")
    assert f"pid {os.getpid()}" in line


def test_a_free_port_is_no_problem(taken):
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        free = other.getsockname()[1]
    assert busy_ports({"api": free}) == []


def test_too_little_memory_and_disk_say_how_much_is_there(tmp_path):
    memory, disk = resource_shortages(tmp_path / "not" / "there" / "yet", 10**9, 10**12)
    assert memory.startswith("memory: the chosen services need 1000000000 MiB, ")
    assert f"under {tmp_path}" in disk
    assert resource_shortages(tmp_path, 1, 1) == []
