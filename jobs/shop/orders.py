# SPDX-License-Identifier: Apache-2.0
"""What the shop sells: a reproducible, endless stream of orders. No I/O, no clock.

The n-th order depends on the seed and on n alone, so a shop that was restarted goes on where it left off
instead of writing the same orders again.
"""

import random
import uuid
from dataclasses import dataclass

SUPPLIERS = ("alder", "birch", "cedar", "elm", "hazel", "larch", "maple", "rowan")
ITEMS = ("anvil", "bellows", "chisel", "drill", "easel", "file", "gimlet", "hammer", "level", "plane")
CURRENCIES = ("CHF", "EUR", "GBP", "SEK")
BROKEN_PRICES = ("", "n/a", "12,50", "free", "1.2.3", "NaN", "99999999999999.99")
LATEST_DELAY_MS = 10 * 60 * 1000


@dataclass(frozen=True)
class Mix:
    """How untidy the stream is. Each rate is the share of orders it touches, 0 to 1.

    Attributes:
        seed: two shops with the same seed write the same orders.
        error_rate: orders whose price is no decimal number.
        duplicate_rate: orders that are written a second time, unchanged.
        late_rate: orders whose `bid_time` lies up to ten minutes back.
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
    """One order. `bid_time` is in milliseconds since the epoch, UTC."""

    order_id: str
    item: str
    price: str
    supplier: str
    bid_time: int

    @property
    def currency(self) -> str:
        """Of the price. The tables of the first version have no column for it."""
        return CURRENCIES[int(self.order_id[:8], 16) % len(CURRENCIES)]


@dataclass(frozen=True)
class Batch:
    """Orders that are written together: all of them, or none.

    Attributes:
        first: orders that are written for the first time.
        again: those among them that are written a second time, unchanged.
    """

    first: tuple[Order, ...]
    again: tuple[Order, ...]


def order(mix: Mix, number: int, now_ms: int) -> Order:
    """The order with this number, had it been placed at `now_ms`."""
    dice = random.Random(f"{mix.seed}/{number}")
    broken = dice.random() < mix.error_rate
    late = dice.random() < mix.late_rate
    price = dice.choice(BROKEN_PRICES) if broken else f"{dice.randint(100, 250_000) / 100:.2f}"
    return Order(
        order_id=str(uuid.UUID(int=dice.getrandbits(128), version=4)),
        item=dice.choice(ITEMS),
        price=price,
        supplier=dice.choice(SUPPLIERS),
        bid_time=now_ms - (dice.randint(1, LATEST_DELAY_MS) if late else 0),
    )


def is_written_twice(mix: Mix, number: int) -> bool:
    """Whether the order with this number is written a second time."""
    return random.Random(f"{mix.seed}/{number}/copies").random() < mix.duplicate_rate


def batch(mix: Mix, numbers: range, now_ms: int) -> Batch:
    """The orders with these numbers, had they all been placed at `now_ms`."""
    placed = [(number, order(mix, number, now_ms)) for number in numbers]
    return Batch(
        tuple(made for _, made in placed), tuple(made for number, made in placed if is_written_twice(mix, number))
    )
