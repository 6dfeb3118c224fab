# SPDX-License-Identifier: Apache-2.0
"""Validation of the lab model."""

import pytest

from infra.model import Binary, Bucket, Database, Lab, Service, Task, Topic

TOPIC = Topic(name="t", bootstrap="127.0.0.1:9092", cluster="c")
BUCKET = Bucket(name="b", endpoint="http://127.0.0.1:9000", credentials="/keys")
DATABASE = Database(name="d", host="127.0.0.1", port=5432, user="postgres", credentials="/keys", maintenance="postgres")


def test_lookup_of_parts_by_key():
    lab = Lab(
        services=(Service("kafka", Binary("k")),),
        tasks=(Task("job", Binary("j"), needs=("kafka", "topic/t", "bucket/b")),),
        resources=(TOPIC, BUCKET, DATABASE),
    )
    assert [part.key for part in lab.parts] == ["kafka", "job", "topic/t", "bucket/b", "database/d"]
    assert lab.resources_of(Topic) == (TOPIC,)
    assert lab.service("kafka").name == "kafka"
    with pytest.raises(KeyError):
        lab.service("job")


def test_memory_counts_every_replica_and_the_largest_task():
    services = (Service("kafka", Binary("k"), memory_mib=500, replicas=3), Service("page", Binary("p"), memory_mib=100))
    tasks = (Task("large", Binary("l"), memory_mib=2000), Task("small", Binary("s"), memory_mib=1000))
    assert Lab(services, tasks).memory_mib == 3 * 500 + 100 + 2000


def test_reject_need_for_missing_part():
    with pytest.raises(ValueError, match="job needs topic/orders, which the lab does not contain"):
        Lab((), (Task("job", Binary("j"), needs=("topic/orders",)),))


def test_reject_duplicate_key():
    with pytest.raises(ValueError, match="duplicate key twin in the lab"):
        Lab((Service("twin", Binary("a")),), (Task("twin", Binary("b")),))
