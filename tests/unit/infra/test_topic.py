# SPDX-License-Identifier: Apache-2.0
"""Refresh of topics whose broker does not respond."""

import pytest

from infra.model.resources import Topic
from infra.provider.kind import OperationContext, ServiceUnreachable
from infra.provider.kinds import topic
from infra.provider.kinds.topic import TopicKind


def topic_at(listening_socket):
    bootstrap = f"127.0.0.1:{listening_socket.getsockname()[1]}"
    return Topic(bootstrap=bootstrap, cluster="mine", name="t", partitions=1, config={})


def test_broker_that_closes_connections_counts_as_unreachable(listening_socket, closed_connections, monkeypatch):
    monkeypatch.setattr(topic, "METADATA_TIMEOUT_SECONDS", 2)
    for operation in (TopicKind().read, TopicKind().delete):
        with pytest.raises(ServiceUnreachable):
            operation(topic_at(listening_socket), OperationContext())
    assert closed_connections
