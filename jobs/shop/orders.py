# SPDX-License-Identifier: Apache-2.0
"""Reproducible, unbounded stream of orders. No I/O, no clock.

The n-th order depends only on the seed and n, so a restarted shop continues the same stream.
"""

import random
import uuid
from dataclasses import dataclass

SUPPLIERS = ("alder", "birch", "cedar", "elm", "hazel", "larch", "maple", "rowan")
ITEMS = ("anvil", "bellows", "chisel", "drill", "easel", "file", "gimlet", "hammer", "level", "plane")
CURRENCIES = ("CHF", "EUR", "GBP", "SEK")
BROKEN_PRICES = ("", "n/a", "12,50", "free", "1.2.3", "NaN", "99999999999999.99")
MAX_DELAY_MS = 10 * 60 * 1000


@dataclass(frozen=True)
class Mix:
    """Rates of irregular orders, each a share of all orders from 0 to 1.

    Attributes:
        seed: two shops with the same seed write the same orders.
        error_rate: orders with an invalid price.
        duplicate_rate: orders that are written twice, unchanged.
        late_rate: orders whose `bid_time` is up to ten minutes in the past.
    """

    seed: int = 7
    error_rate: float = 0.02
    duplicate_rate: float = 0.02
    late_rate: float = 0.05

    def __post_init__(self) -> None:
        for name in ("error_rate", "duplicate_rate", "late_rate"):
            rate = getattr(self, name)
            if not 0 <= rate <= 1:
                raise ValueError(f"{name} is a share from 0 to 1, not {rate}")


@dataclass(frozen=True)
class Order:
    """Order. `bid_time` is in milliseconds since the epoch, UTC."""

    order_id: str
    item: str
    price: str
    supplier: str
    bid_time: int

    @property
    def currency(self) -> str:
        """Currency of the price; an optional column of the tables."""
        return CURRENCIES[int(self.order_id[:8], 16) % len(CURRENCIES)]


@dataclass(frozen=True)
class Batch:
    """Orders that are written in one transaction.

    Attributes:
        first: orders to insert.
        again: those of them that are written a second time, unchanged.
    """

    first: tuple[Order, ...]
    again: tuple[Order, ...]


def order(mix: Mix, number: int, now_ms: int) -> Order:
    """Return the order with this number, placed at `now_ms`."""
    rng = random.Random(f"{mix.seed}/{number}")
    broken = rng.random() < mix.error_rate
    late = rng.random() < mix.late_rate
    price = rng.choice(BROKEN_PRICES) if broken else f"{rng.randint(100, 250_000) / 100:.2f}"
    return Order(
        order_id=str(uuid.UUID(int=rng.getrandbits(128), version=4)),
        item=rng.choice(ITEMS),
        price=price,
        supplier=rng.choice(SUPPLIERS),
        bid_time=now_ms - (rng.randint(1, MAX_DELAY_MS) if late else 0),
    )


def is_written_twice(mix: Mix, number: int) -> bool:
    """Return True if the order with this number is a duplicate."""
    return random.Random(f"{mix.seed}/{number}/copies").random() < mix.duplicate_rate


def batch(mix: Mix, numbers: range, now_ms: int) -> Batch:
    """Return the orders with these numbers, all placed at `now_ms`."""
    placed = [(number, order(mix, number, now_ms)) for number in numbers]
    return Batch(
        tuple(made for _, made in placed), tuple(made for number, made in placed if is_written_twice(mix, number))
    )
