# SPDX-License-Identifier: Apache-2.0
"""The model refuses a lab that cannot be built."""

import pytest

from infra.model import Binary, Bucket, Database, Lab, Service, Task, Topic

TOPIC = Topic(name="t", bootstrap="127.0.0.1:9092", cluster="c")
BUCKET = Bucket(name="b", endpoint="http://127.0.0.1:9000", credentials="/keys")
DATABASE = Database(name="d", host="127.0.0.1", port=5432, user="postgres", credentials="/keys", maintenance="postgres")


def test_parts_are_found_by_their_key():
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


def test_a_part_that_needs_what_is_not_there_is_refused():
    with pytest.raises(ValueError, match="job needs topic/orders, which is not a part of the lab"):
        Lab((), (Task("job", Binary("j"), needs=("topic/orders",)),))


def test_two_parts_of_one_name_are_refused():
    with pytest.raises(ValueError, match="two parts of the lab have the key twin"):
        Lab((Service("twin", Binary("a")),), (Task("twin", Binary("b")),))
