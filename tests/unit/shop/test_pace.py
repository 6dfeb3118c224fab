# SPDX-License-Identifier: Apache-2.0
"""Number of orders due at a time, by rate."""

import pytest

from jobs.shop.pace import MAX_BATCH, Pace


@pytest.mark.parametrize(
    ("rate", "elapsed", "done", "due"),
    [(20, 0, 0, 1), (20, 0.04, 1, 0), (20, 0.05, 1, 1), (20, 1, 1, 20), (0.5, 1.9, 1, 0), (0.5, 2, 1, 1), (5, 1, 9, 0)],
)
def test_number_of_orders_due(rate, elapsed, done, due):
    assert Pace(rate).due(elapsed, done) == due


def test_delayed_shop_catches_up_in_batches():
    assert Pace(5000).due(60, 0) == MAX_BATCH


@pytest.mark.parametrize(("elapsed", "done", "seconds"), [(0, 1, 0.05), (0.01, 1, 0.04), (3, 1, 0)])
def test_seconds_until_the_next_order(elapsed, done, seconds):
    assert Pace(20).seconds_to_next(elapsed, done) == pytest.approx(seconds)


def test_one_more_order_is_due_after_the_wait():
    pace = Pace(7)
    assert all(pace.due(pace.seconds_to_next(0, done) + 1e-9, done) == 1 for done in range(50))
