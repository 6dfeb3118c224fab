# SPDX-License-Identifier: Apache-2.0
"""Refresh of subjects whose registry does not respond."""

from infra.model.resources import Subject
from infra.provider.kind import OperationContext
from infra.provider.kinds.subject import SubjectKind


def subject_at(listening_socket):
    return Subject(
        registry=f"http://127.0.0.1:{listening_socket.getsockname()[1]}",
        name="s",
        avro='"string"',
        compatibility="NONE",
    )


def test_subject_of_an_unreachable_registry_reads_as_missing(listening_socket):
    inputs = subject_at(listening_socket)
    listening_socket.close()
    assert SubjectKind().read(inputs, OperationContext()) is None


def test_registry_that_closes_connections_counts_as_unreachable(listening_socket, closed_connections):
    assert SubjectKind().read(subject_at(listening_socket), OperationContext()) is None
    assert closed_connections
