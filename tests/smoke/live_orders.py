# SPDX-License-Identifier: Apache-2.0
"""What Flink's jobs must have made of the orders in the topic, counted again without Flink."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation

from tests.smoke.places import Record

WINDOW_MS = 5_000
OUT_OF_ORDER_MS = 5_000

Window = tuple[str, int]
"""A supplier, and the first millisecond of five seconds."""


@dataclass(frozen=True)
class Sale:
    """A record of an order that has a price. Times are in milliseconds since 1970.

    Attributes:
        arrived: when Kafka took it.
        placed: its own time.
        is_behind: an order of the topic that was there before is more than five seconds younger.
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
class Topic:
    """The sound orders of a topic, and the time up to which every window must have been told."""

    sales: tuple[Sale, ...]
    closed: int

    @property
    def ids(self) -> Counter[str]:
        """Each sound order once."""
        return Counter({sale.order_id for sale in self.sales})

    @property
    def windows(self) -> Mapping[Window, list[Sale]]:
        """The orders of each closed window; an order that was sent twice is in it twice."""
        found = defaultdict(list)
        for sale in self.sales:
            if sale.window[1] + WINDOW_MS <= self.closed:
                found[sale.window].append(sale)
        return found


@dataclass(frozen=True)
class Compared:
    """Closed windows beside what was told of them.

    Attributes:
        missing: rows of closed windows that were not told.
        differences: what lateness cannot explain, in words.
    """

    missing: int
    differences: tuple[str, ...]


def price_of(text: str | None) -> Decimal | None:
    """A price as DECIMAL(10, 2); None for another. The shop writes two decimals, or what is no number."""
    try:
        number = Decimal(text or "")
    except InvalidOperation:
        return None
    return number if number.is_finite() and abs(number) < 10**8 else None


def topic_of(records: Iterable[Record]) -> Topic:
    """What a topic of orders has; its records in any order."""
    newest: dict[int, int] = {}
    sales, youngest = [], 0
    for record in sorted(records, key=lambda one: (one.timestamp, one.position)):
        placed = milliseconds(record.value["bid_time"])
        partition = record.position[0]
        newest[partition] = max(newest.get(partition, 0), placed)
        behind, youngest = placed < youngest - OUT_OF_ORDER_MS, max(youngest, placed)
        price = price_of(record.value["price"])
        if price is not None:
            sales.append(Sale(record.key, record.value["supplier"], price, record.timestamp, placed, behind))
    return Topic(tuple(sales), min(newest.values(), default=0) - OUT_OF_ORDER_MS)


def compare(topic: Topic, told: Mapping[Window, tuple[int, Decimal]]) -> Compared:
    """Closed windows of a topic with the last that was told of each: count and total."""
    missing, differences = 0, []
    for window, sales in topic.windows.items():
        count, total = told.get(window, (0, Decimal(0)))
        wanted = sum(sale.price for sale in sales)
        left_out = len(sales) - count
        missing += left_out
        if not 0 <= left_out <= sum(sale.is_behind for sale in sales):
            differences.append(f"{window}: {count} of {len(sales)} orders, which came in time")
        elif total > wanted or (left_out == 0 and total != wanted):
            differences.append(f"{window}: {total} of {count} orders that make {wanted}")
    known = {sale.window for sale in topic.sales}
    differences += [f"{window}: the topic has no order in it" for window in told.keys() - known]
    return Compared(missing, tuple(differences))


def told_of(records: Iterable[Record]) -> dict[Window, tuple[int, Decimal]]:
    """The last that a topic of windows says of each."""
    values = {record.key: record.value for record in records}.values()
    return {
        (value["supplier"], milliseconds(value["window_start"])): (value["count"], value["total_price"])
        for value in values
    }


def milliseconds(time: datetime) -> int:
    """Since 1970."""
    return round(time.astimezone(UTC).timestamp() * 1000)
