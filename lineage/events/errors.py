# SPDX-License-Identifier: Apache-2.0
"""Errors of events. The API maps them to typed HTTP errors."""


class EventError(ValueError):
    """Event that must not be stored; the message names the fault and the expected value."""


class MalformedJson(EventError):
    """The body is not JSON that every consumer reads alike.

    `position` is the offset in characters where reading stopped; None if there is no single position.
    """

    def __init__(self, message: str, position: int | None = None) -> None:
        super().__init__(message)
        self.position = position


class InvalidEvent(EventError):
    """The body is JSON but not a valid event. `field` is the path of the fault, as in `inputs[0].namespace`."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(f"{field}: {message}" if field else message)
        self.field = field
