# SPDX-License-Identifier: Apache-2.0
"""The shop's stream: reproducible, untidy in the given shares, the same from any number on."""

from decimal import Decimal, InvalidOperation

import pytest

from jobs.shop.orders import CURRENCIES, MAX_DELAY_MS, SUPPLIERS, Mix, batch, order

NOW = 1_800_000_000_000


def is_decimal_10_2(text):
    try:
        number = Decimal(text)
    except InvalidOperation:
        return False
    return number.is_finite() and abs(number) < 10**8


def test_the_same_number_is_the_same_order_whatever_was_written_before():
    whole = batch(Mix(), range(300), NOW)
    parts = [batch(Mix(), numbers, NOW) for numbers in (range(120), range(120, 121), range(121, 300))]
    assert tuple(placed for part in parts for placed in part.first) == whole.first
    assert tuple(placed for part in parts for placed in part.again) == whole.again


def test_two_seeds_share_no_order_id():
    ids = [{order(Mix(seed=seed), n, NOW).order_id for n in range(500)} for seed in (1, 2)]
    assert ids[0].isdisjoint(ids[1])
    assert len(ids[0]) == 500


def test_the_rates_are_the_shares_that_come_out():
    mix = Mix(error_rate=0.2, duplicate_rate=0.1, late_rate=0.3)
    orders = [order(mix, n, NOW) for n in range(4000)]
    broken = sum(not is_decimal_10_2(placed.price) for placed in orders) / 4000
    late = sum(placed.bid_time < NOW for placed in orders) / 4000
    twice = len(batch(mix, range(4000), NOW).again) / 4000
    assert broken == pytest.approx(0.2, abs=0.03)
    assert late == pytest.approx(0.3, abs=0.03)
    assert twice == pytest.approx(0.1, abs=0.03)
    assert all(NOW - MAX_DELAY_MS <= placed.bid_time <= NOW for placed in orders)
    assert {placed.supplier for placed in orders} == set(SUPPLIERS)


def test_a_tidy_shop_writes_nothing_broken_late_or_twice():
    made = batch(Mix(error_rate=0, duplicate_rate=0, late_rate=0), range(500), NOW)
    assert len(made.first) == 500
    assert made.again == ()
    assert all(is_decimal_10_2(placed.price) for placed in made.first)
    assert {placed.bid_time for placed in made.first} == {NOW}


def test_a_duplicate_is_the_very_same_order():
    made = batch(Mix(duplicate_rate=1), range(10), NOW)
    assert made.again == made.first


def test_every_currency_is_used_and_is_the_order_s_own():
    used = [placed.currency for placed in batch(Mix(), range(200), NOW).first]
    assert set(used) == set(CURRENCIES)
    assert used == [placed.currency for placed in batch(Mix(), range(200), NOW + 5).first]


@pytest.mark.parametrize("rate", [-0.1, 1.5])
def test_a_rate_that_is_no_share_is_refused_by_name(rate):
    with pytest.raises(ValueError, match=r"late_rate is a share from 0 to 1"):
        Mix(late_rate=rate)
