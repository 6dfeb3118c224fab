# SPDX-License-Identifier: Apache-2.0
"""A shop that was cut short owes exactly what is missing, and repeats nothing."""

from jobs.shop.resume import IN_FLIGHT, Resume, resume


def numbers(*ranges):
    return frozenset(number for each in ranges for number in each)


def test_an_empty_topic_is_a_new_shop():
    assert resume(frozenset(), frozenset()) == Resume(0, (), ())


def test_a_shop_that_stopped_in_good_order_owes_nothing():
    everything = numbers(range(500))
    assert resume(everything, everything) == Resume(500, (), ())


def test_what_one_partition_had_not_acknowledged_is_owed():
    orders = numbers(range(95), [98, 100])
    assert resume(orders, numbers(range(101))) == Resume(101, (95, 96, 97, 99), ())


def test_a_bid_whose_order_was_acknowledged_is_owed():
    assert resume(numbers(range(11)), numbers(range(10))) == Resume(11, (), (10,))


def test_a_bid_that_was_ahead_of_its_order_counts_too():
    assert resume(numbers(range(10)), numbers(range(11))) == Resume(11, (10,), ())


def test_what_lies_further_back_than_could_have_been_in_flight_is_taken_as_written():
    tail = numbers(range(10_000 - IN_FLIGHT, 10_000))
    assert resume(tail, tail) == Resume(10_000, (), ())
