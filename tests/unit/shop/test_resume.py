# SPDX-License-Identifier: Apache-2.0
"""A shop that was cut short goes on with the very next order, and asks few questions to find it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobs.shop.resume import WIDTH, first_unwritten


class Table:
    """Order numbers that are written, and what was asked about them."""

    def __init__(self, numbers):
        self.numbers = numbers
        self.questions = []

    def written(self, asked):
        self.questions.append(list(asked))
        return [number for number in asked if number in self.numbers]


@pytest.mark.parametrize("count", [0, 1, 2, 3, 62, 63, 64, 65, 500, 4096, 999_999, 123_456_789])
def test_it_goes_on_after_the_last_order(count):
    table = Table(range(count))
    assert first_unwritten(table.written) == count
    assert len(table.questions) <= 7
    assert all(len(asked) <= WIDTH for asked in table.questions)


@given(st.integers(0, 2**40))
def test_it_goes_on_after_the_last_order_however_many_there_are(count):
    assert first_unwritten(Table(range(count)).written) == count


@given(st.sets(st.integers(0, 300)))
def test_where_rows_were_deleted_it_goes_on_with_one_that_is_not_there(numbers):
    first = first_unwritten(Table(numbers).written)
    assert first not in numbers
    assert first == 0 or first - 1 in numbers
