# SPDX-License-Identifier: Apache-2.0
"""Resuming after an interruption: the next order number is found with few queries."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobs.shop.resume import WIDTH, first_unwritten


class Table:
    """Written order numbers, with a count of the queries."""

    def __init__(self, numbers):
        self.numbers = numbers
        self.questions = []

    def written(self, asked):
        self.questions.append(list(asked))
        return [number for number in asked if number in self.numbers]


@pytest.mark.parametrize("count", [0, 1, 2, 3, 62, 63, 64, 65, 500, 4096, 999_999, 123_456_789])
def test_resumes_after_the_last_order(count):
    table = Table(range(count))
    assert first_unwritten(table.written) == count
    assert len(table.questions) <= 7
    assert all(len(asked) <= WIDTH for asked in table.questions)


@given(st.integers(0, 2**40))
def test_resumes_after_the_last_of_many_orders(count):
    assert first_unwritten(Table(range(count)).written) == count


@given(st.sets(st.integers(0, 300)))
def test_resumes_with_a_missing_order_if_rows_were_deleted(numbers):
    first = first_unwritten(Table(numbers).written)
    assert first not in numbers
    assert first == 0 or first - 1 in numbers
