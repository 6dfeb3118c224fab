# SPDX-License-Identifier: Apache-2.0
"""What `lab up` waits for before it says that the pipeline runs."""

from infra.cli.first_run import enough_rows, rows_of


def test_a_slow_shop_is_waited_for_and_a_fast_one_not_for_long():
    assert [enough_rows(rate) for rate in (0.01, 2, 1000)] == [1, 40, 100]


def snapshot(number, **summary):
    return {"snapshot-id": number, "summary": {"operation": "append", **summary}}


def test_the_rows_of_a_table_are_those_of_its_current_snapshot():
    snapshots = [snapshot(1, **{"total-records": "5"}), snapshot(2, **{"total-records": "7"})]
    metadata = {"current-snapshot-id": 1, "snapshots": snapshots}
    assert rows_of({"metadata": metadata}) == 5
    assert rows_of({"metadata": {**metadata, "current-snapshot-id": 2}}) == 7


def test_a_table_without_a_commit_has_none():
    assert rows_of({"metadata": {}}) == 0
    assert rows_of({"metadata": {"current-snapshot-id": -1, "snapshots": []}}) == 0
    assert rows_of({"metadata": {"current-snapshot-id": None, "snapshots": [snapshot(1)]}}) == 0
    assert rows_of({"metadata": {"current-snapshot-id": 1, "snapshots": [snapshot(1)]}}) == 0
