# SPDX-License-Identifier: Apache-2.0
"""Tests of the topics that an edited job no longer reads."""

import pytest

from lineagelab_flink.errors import FlinkError
from lineagelab_flink.launcher_state import JobLineage
from lineagelab_flink.restored_topics import require

ORDERS = {"namespace": "kafka://127.0.0.1:9092", "name": "orders"}
BIDS = {"namespace": "kafka://127.0.0.1:9092", "name": "bids"}
ORDERS_ELSEWHERE = {"namespace": "kafka://broker:29092", "name": "orders"}
TABLE = {"namespace": "s3://warehouse", "name": "live/orders"}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ([ORDERS], [ORDERS]),
        ([ORDERS], [ORDERS, BIDS]),
        ([ORDERS], [ORDERS_ELSEWHERE]),
        ([TABLE], [ORDERS]),
    ],
)
def test_a_job_that_reads_the_topics_of_its_state_is_accepted(before, after, caplog):
    require(JobLineage("a", before), JobLineage("b", after), "savepoint-1")
    assert not caplog.messages


@pytest.mark.parametrize(
    ("before", "after", "topics"), [([ORDERS], [BIDS], "orders"), ([ORDERS, BIDS], [TABLE], "bids, orders")]
)
def test_dropped_topics_are_named_with_a_remedy(before, after, topics):
    with pytest.raises(FlinkError, match=rf"no longer reads {topics}, .*savepoint-1.*rename the job"):
        require(JobLineage("a", before), JobLineage("b", after), "savepoint-1")


@pytest.mark.parametrize("after", [None, JobLineage("b")])
def test_unknown_inputs_are_a_warning(after, caplog):
    require(JobLineage("a", [ORDERS]), after, "savepoint-1")
    assert caplog.messages == ["cannot check that the edited job reads the topics of its state savepoint-1"]
