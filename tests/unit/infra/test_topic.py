# SPDX-License-Identifier: Apache-2.0
"""What a refresh finds of a topic where the broker does not answer."""

from infra.model.resources import Topic
from infra.provider.kind import Call
from infra.provider.kinds import topic
from infra.provider.kinds.topic import TopicKind


def topic_at(door):
    bootstrap = f"127.0.0.1:{door.getsockname()[1]}"
    return Topic(bootstrap=bootstrap, cluster="mine", name="t", partitions=1, config={})


def test_a_topic_of_a_broker_that_is_away_is_not_there(door):
    inputs = topic_at(door)
    door.close()
    assert TopicKind().read(inputs, Call()) is None


def test_a_broker_whose_port_is_open_before_it_listens_is_away(door, visits, monkeypatch):
    monkeypatch.setattr(topic, "METADATA_TIMEOUT_SECONDS", 2)
    assert TopicKind().read(topic_at(door), Call()) is None
    assert visits
