# SPDX-License-Identifier: Apache-2.0
"""Conditions that `lab up` waits for before it checks the lineage."""

from infra.cli.first_run import count_rows, required_rows


def test_required_rows_are_limited_for_slow_and_fast_shops():
    assert [required_rows(rate) for rate in (0.01, 2, 1000)] == [1, 40, 100]


def snapshot(number, **summary):
    return {"snapshot-id": number, "summary": {"operation": "append", **summary}}


def test_row_count_is_that_of_the_current_snapshot():
    snapshots = [snapshot(1, **{"total-records": "5"}), snapshot(2, **{"total-records": "7"})]
    metadata = {"current-snapshot-id": 1, "snapshots": snapshots}
    assert count_rows({"metadata": metadata}) == 5
    assert count_rows({"metadata": {**metadata, "current-snapshot-id": 2}}) == 7


def test_row_count_without_a_current_snapshot_is_zero():
    assert count_rows({"metadata": {}}) == 0
    assert count_rows({"metadata": {"current-snapshot-id": -1, "snapshots": []}}) == 0
    assert count_rows({"metadata": {"current-snapshot-id": None, "snapshots": [snapshot(1)]}}) == 0
    assert count_rows({"metadata": {"current-snapshot-id": 1, "snapshots": [snapshot(1)]}}) == 0
