# SPDX-License-Identifier: Apache-2.0
"""The shop's stream: reproducible, untidy in the given shares, resumable at any number."""

from decimal import Decimal, InvalidOperation
from itertools import count, islice

import pytest

from jobs.shop.orders import LATEST_DELAY_MS, SUPPLIERS, Mix, copies, messages, order

NOW = 1_800_000_000_000


def is_decimal_10_2(text):
    try:
        number = Decimal(text)
    except InvalidOperation:
        return False
    return number.is_finite() and abs(number) < 10**8


def test_the_same_number_is_the_same_order_whatever_was_written_before():
    whole = [placed for _, placed in islice(messages(Mix(), 0, count(NOW)), 300)]
    numbers = [number for number, _ in islice(messages(Mix(), 0, count(NOW)), 300)]
    resumed_at = numbers[200]
    resumed = next(islice(messages(Mix(), resumed_at, count(NOW)), 1))[1]
    assert resumed.order_id == whole[200].order_id
    assert resumed.price == whole[200].price


def test_two_seeds_share_no_order_id():
    ids = [{order(Mix(seed=seed), n, NOW).order_id for n in range(500)} for seed in (1, 2)]
    assert ids[0].isdisjoint(ids[1])
    assert len(ids[0]) == 500


def test_the_rates_are_the_shares_that_come_out():
    mix = Mix(error_rate=0.2, duplicate_rate=0.1, late_rate=0.3)
    orders = [order(mix, n, NOW) for n in range(4000)]
    broken = sum(not is_decimal_10_2(placed.price) for placed in orders) / 4000
    late = sum(placed.bid_time < NOW for placed in orders) / 4000
    twice = sum(copies(mix, n) == 2 for n in range(4000)) / 4000
    assert broken == pytest.approx(0.2, abs=0.03)
    assert late == pytest.approx(0.3, abs=0.03)
    assert twice == pytest.approx(0.1, abs=0.03)
    assert all(NOW - LATEST_DELAY_MS <= placed.bid_time <= NOW for placed in orders)
    assert {placed.supplier for placed in orders} == set(SUPPLIERS)


def test_a_tidy_shop_writes_nothing_broken_late_or_twice():
    mix = Mix(error_rate=0, duplicate_rate=0, late_rate=0)
    stream = list(islice(messages(mix, 0, count(NOW)), 500))
    assert [number for number, _ in stream] == list(range(500))
    assert all(is_decimal_10_2(placed.price) for _, placed in stream)
    assert [placed.bid_time for _, placed in stream] == [NOW + n for n in range(500)]


def test_a_duplicate_is_the_very_same_order():
    stream = list(islice(messages(Mix(duplicate_rate=1), 0, count(NOW)), 10))
    assert [number for number, _ in stream] == [0, 0, 1, 1, 2, 2, 3, 3, 4, 4]
    assert all(stream[i] == stream[i + 1] for i in range(0, 10, 2))


@pytest.mark.parametrize("rate", [-0.1, 1.5])
def test_a_rate_that_is_no_share_is_refused_by_name(rate):
    with pytest.raises(ValueError, match=r"late_rate is a share from 0 to 1"):
        Mix(late_rate=rate)


def test_a_bid_is_the_order_without_its_item():
    placed = order(Mix(), 1, NOW)
    assert placed.bid_record() == {k: v for k, v in placed.record().items() if k != "item"}
