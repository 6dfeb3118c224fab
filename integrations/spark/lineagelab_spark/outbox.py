# SPDX-License-Identifier: Apache-2.0
"""What is to be sent, in order, within bounds. Pure: no threads, no network."""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum


class Weight(IntEnum):
    """What is given up first where there is too much to send."""

    STATE = 0
    """Of a run: the next one says all that this one does, but for its window's statistics."""
    EDGE = 1
    """The start or the end of a run, or a statement about a job: nothing says it again."""


@dataclass(frozen=True)
class Message:
    """An event as it is sent. `about` is for people: which job and run. `read` is called once it is read."""

    body: bytes
    about: str
    weight: Weight = Weight.EDGE
    read: Callable[[], None] | None = None

    def is_read(self) -> None:
        """The other side has read the message, whatever it thinks of it."""
        if self.read is not None:
            self.read()


class Outbox:
    """Messages from the oldest to the latest, not more than so many bytes of them."""

    def __init__(self, most_bytes: int) -> None:
        self._most_bytes = most_bytes
        self._messages: deque[Message] = deque()
        self._bytes = 0

    def __len__(self) -> int:
        return len(self._messages)

    def __contains__(self, message: Message) -> bool:
        return any(kept is message for kept in self._messages)

    @property
    def first(self) -> Message | None:
        """What is to be sent next. It stays until it is `done`."""
        return self._messages[0] if self._messages else None

    def add(self, message: Message) -> list[Message]:
        """Adds a message, and returns those that have to go for it: the oldest of the least weight, it included."""
        self._messages.append(message)
        self._bytes += len(message.body)
        dropped = []
        while self._bytes > self._most_bytes:
            lightest = min(self._messages, key=lambda kept: kept.weight)
            self._remove(lightest)
            dropped.append(lightest)
        return dropped

    def done(self, message: Message) -> None:
        """Takes out what was sent, where it is still here: it may have had to go in the meantime."""
        if message in self:
            self._remove(message)

    def drain(self) -> list[Message]:
        """Takes out everything."""
        left = list(self._messages)
        self._messages.clear()
        self._bytes = 0
        return left

    def _remove(self, message: Message) -> None:
        # By identity: an event that is sent twice is two messages.
        place = next(place for place, kept in enumerate(self._messages) if kept is message)
        del self._messages[place]
        self._bytes -= len(message.body)
