# SPDX-License-Identifier: Apache-2.0
"""Order stream of the shop: reproducible from any number, with the configured rates of bad rows."""

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


def test_order_depends_only_on_its_number():
    whole = batch(Mix(), range(300), NOW)
    parts = [batch(Mix(), numbers, NOW) for numbers in (range(120), range(120, 121), range(121, 300))]
    assert tuple(placed for part in parts for placed in part.first) == whole.first
    assert tuple(placed for part in parts for placed in part.again) == whole.again


def test_order_ids_of_two_seeds_are_disjoint():
    ids = [{order(Mix(seed=seed), n, NOW).order_id for n in range(500)} for seed in (1, 2)]
    assert ids[0].isdisjoint(ids[1])
    assert len(ids[0]) == 500


def test_observed_shares_match_the_configured_rates():
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


def test_rates_of_zero_give_no_bad_late_or_duplicate_orders():
    made = batch(Mix(error_rate=0, duplicate_rate=0, late_rate=0), range(500), NOW)
    assert len(made.first) == 500
    assert made.again == ()
    assert all(is_decimal_10_2(placed.price) for placed in made.first)
    assert {placed.bid_time for placed in made.first} == {NOW}


def test_duplicate_equals_its_order():
    made = batch(Mix(duplicate_rate=1), range(10), NOW)
    assert made.again == made.first


def test_every_currency_is_used_and_stable_per_order():
    used = [placed.currency for placed in batch(Mix(), range(200), NOW).first]
    assert set(used) == set(CURRENCIES)
    assert used == [placed.currency for placed in batch(Mix(), range(200), NOW + 5).first]


@pytest.mark.parametrize("rate", [-0.1, 1.5])
def test_rate_outside_0_to_1_is_rejected_by_name(rate):
    with pytest.raises(ValueError, match=r"late_rate is a share from 0 to 1"):
        Mix(late_rate=rate)
