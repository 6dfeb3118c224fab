# SPDX-License-Identifier: Apache-2.0
"""Expected results of the Flink jobs, computed from the orders in the topic without Flink."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation

from tests.smoke.stores import Record

WINDOW_MS = 5_000
OUT_OF_ORDER_MS = 5_000

Window = tuple[str, int]
"""Supplier and window start; windows are five seconds long."""


@dataclass(frozen=True)
class PricedRecord:
    """Record of an order with a valid price. Times are in milliseconds since the epoch.

    Attributes:
        arrived: record timestamp assigned by Kafka.
        placed: event time, `bid_time`.
        is_behind: an earlier record of the topic has an event time more than five seconds later.
    """

    order_id: str
    supplier: str
    price: Decimal
    arrived: int
    placed: int
    is_behind: bool

    @property
    def window(self) -> Window:
        return self.supplier, self.placed - self.placed % WINDOW_MS


@dataclass(frozen=True)
class ValidOrders:
    """Valid orders of a topic, and the time up to which every window must have been emitted."""

    sales: tuple[PricedRecord, ...]
    closed: int

    @property
    def ids(self) -> Counter[str]:
        """Ids of the valid orders, each counted once."""
        return Counter({sale.order_id for sale in self.sales})

    @property
    def windows(self) -> Mapping[Window, list[PricedRecord]]:
        """Records by closed window, duplicates included."""
        found = defaultdict(list)
        for sale in self.sales:
            if sale.window[1] + WINDOW_MS <= self.closed:
                found[sale.window].append(sale)
        return found


@dataclass(frozen=True)
class WindowComparison:
    """Comparison of the closed windows with the emitted ones.

    Attributes:
        missing: number of records of closed windows that no emitted window counts.
        differences: deviations that late records do not explain, one line of text each.
    """

    missing: int
    differences: tuple[str, ...]


def parse_price(text: str | None) -> Decimal | None:
    """Return a price that fits DECIMAL(10, 2), else None. The shop writes two decimals or an invalid number."""
    try:
        number = Decimal(text or "")
    except InvalidOperation:
        return None
    return number if number.is_finite() and abs(number) < 10**8 else None


def valid_orders(records: Iterable[Record]) -> ValidOrders:
    """Return the valid orders of a topic from its records, given in any order."""
    newest: dict[int, int] = {}
    sales, youngest = [], 0
    for record in sorted(records, key=lambda one: (one.timestamp, one.position)):
        placed = epoch_milliseconds(record.value["bid_time"])
        partition = record.position[0]
        newest[partition] = max(newest.get(partition, 0), placed)
        behind, youngest = placed < youngest - OUT_OF_ORDER_MS, max(youngest, placed)
        price = parse_price(record.value["price"])
        if price is not None:
            sales.append(PricedRecord(record.key, record.value["supplier"], price, record.timestamp, placed, behind))
    return ValidOrders(tuple(sales), min(newest.values(), default=0) - OUT_OF_ORDER_MS)


def compare_windows(topic: ValidOrders, emitted: Mapping[Window, tuple[int, Decimal]]) -> WindowComparison:
    """Compare the closed windows of a topic with the last emission of each: count and total price."""
    missing, differences = 0, []
    for window, sales in topic.windows.items():
        count, total = emitted.get(window, (0, Decimal(0)))
        expected = sum(sale.price for sale in sales)
        left_out = len(sales) - count
        missing += left_out
        if not 0 <= left_out <= sum(sale.is_behind for sale in sales):
            differences.append(f"{window}: counted {count} of {len(sales)} orders, none of them late")
        elif total > expected or (left_out == 0 and total != expected):
            differences.append(f"{window}: total {total} of {count} orders, expected {expected}")
    known = {sale.window for sale in topic.sales}
    differences += [f"{window}: no order of the topic is in this window" for window in emitted.keys() - known]
    return WindowComparison(missing, tuple(differences))


def emitted_windows(records: Iterable[Record]) -> dict[Window, tuple[int, Decimal]]:
    """Return the last emitted count and total price of each window."""
    values = {record.key: record.value for record in records}.values()
    return {
        (value["supplier"], epoch_milliseconds(value["window_start"])): (value["count"], value["total_price"])
        for value in values
    }


def epoch_milliseconds(time: datetime) -> int:
    """Return the milliseconds since the epoch."""
    return round(time.astimezone(UTC).timestamp() * 1000)
