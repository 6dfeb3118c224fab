# SPDX-License-Identifier: Apache-2.0
"""Why an event is refused. The API turns these into typed HTTP errors."""


class EventError(ValueError):
    """An event that must not be stored; the message says what is wrong and what is expected."""


class MalformedJson(EventError):
    """The body is not JSON that every consumer reads alike.

    `position` is the offset in characters where reading stopped; None where no single place is to blame.
    """

    def __init__(self, message: str, position: int | None = None) -> None:
        super().__init__(message)
        self.position = position


class InvalidEvent(EventError):
    """The body is JSON but no valid event. `field` is the culprit's path, as in `inputs[0].namespace`."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(f"{field}: {message}" if field else message)
        self.field = field
