# SPDX-License-Identifier: Apache-2.0
"""The model refuses a lab that cannot be built."""

import pytest

from infra.model import Binary, Bucket, Database, Lab, Service, Task, Topic


def test_parts_are_found_by_their_key():
    lab = Lab(
        services=(Service("kafka", Binary("k")),),
        tasks=(Task("job", Binary("j"), needs=("kafka", "topic/t", "bucket/b")),),
        topics=(Topic("t"),),
        buckets=(Bucket("b"),),
        databases=(Database("d"),),
    )
    assert [part.key for part in lab.parts] == ["kafka", "job", "topic/t", "bucket/b", "database/d"]
    assert lab.service("kafka").name == "kafka"
    with pytest.raises(KeyError):
        lab.service("job")


def test_a_part_that_needs_what_is_not_there_is_refused():
    with pytest.raises(ValueError, match="job needs topic/orders, which is no part of the lab"):
        Lab((), (Task("job", Binary("j"), needs=("topic/orders",)),), (), ())


def test_two_parts_of_one_name_are_refused():
    with pytest.raises(ValueError, match="two parts of the lab are called twin"):
        Lab((Service("twin", Binary("a")),), (Task("twin", Binary("b")),), (), ())
