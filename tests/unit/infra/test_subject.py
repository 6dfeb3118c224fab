# SPDX-License-Identifier: Apache-2.0
"""Refresh of subjects whose registry does not respond."""

import pytest

from infra.model.resources import Subject
from infra.provider.kind import OperationContext, ServiceUnreachable
from infra.provider.kinds.subject import SubjectKind


def subject_at(listening_socket):
    return Subject(
        registry=f"http://127.0.0.1:{listening_socket.getsockname()[1]}",
        name="s",
        avro='"string"',
        compatibility="NONE",
    )


def test_registry_that_closes_connections_counts_as_unreachable(listening_socket, closed_connections):
    with pytest.raises(ServiceUnreachable):
        SubjectKind().read(subject_at(listening_socket), OperationContext())
    assert closed_connections
