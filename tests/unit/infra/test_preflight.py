# SPDX-License-Identifier: Apache-2.0
"""Preflight: busy ports, shortages of memory and disk."""

import os
import socket

import pytest

from infra.catalog import LabSettings
from infra.cli.lifecycle import check_new_lab
from infra.cli.stack import Stack
from infra.errors import PreflightError
from infra.provider.preflight import busy_ports, resource_shortages
from infra.services import kafka
from infra.toolchain import Artifacts


@pytest.fixture
def busy_port():
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))
        holder.listen()
        yield holder.getsockname()[1]


def test_busy_port_is_reported_with_its_holder(busy_port):
    (line,) = busy_ports({"kafka broker": busy_port})
    assert line.startswith(f"port {busy_port} (kafka broker) is held by ")
    assert f"pid {os.getpid()}" in line


def test_free_port_is_not_reported(busy_port):
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        free = other.getsockname()[1]
    assert busy_ports({"api": free}) == []


def test_shortages_report_required_memory_and_disk(tmp_path):
    memory, disk = resource_shortages(tmp_path / "not" / "there" / "yet", 10**9, 10**12)
    assert memory.startswith("memory: the chosen services need 1000000000 MiB, ")
    assert f"under {tmp_path}" in disk
    assert resource_shortages(tmp_path, 1, 1) == []


@pytest.fixture
def busy_broker_port():
    """Port in use that leaves room for the lab's other ports above it."""
    for port in range(21400, 21500):
        with socket.socket() as holder:
            try:
                holder.bind(("127.0.0.1", port))
            except OSError:
                continue
            holder.listen()
            yield port
            return
    pytest.fail("no free port from 21400 to 21499")


def test_a_new_lab_with_a_busy_port_is_refused_before_anything_is_installed(tmp_path, monkeypatch, busy_broker_port):
    monkeypatch.setenv("LINEAGE_LAB_CACHE", str(tmp_path))
    offset = busy_broker_port - kafka.BROKER.port
    with pytest.raises(PreflightError, match=rf"port {busy_broker_port} \(kafka broker\) is held by "):
        check_new_lab(Stack("no-such-stack", Artifacts.open()), LabSettings(port_offset=offset, preflight="warn"))
    assert not (tmp_path / "components").exists()
