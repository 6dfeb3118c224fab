# SPDX-License-Identifier: Apache-2.0
"""Base class of resource kinds, and the context of a request from the engine."""

import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Generic, TypeVar

from infra.errors import Interrupted, LabError
from infra.model.inputs import Inputs

POLL_SECONDS = 0.1
"""Default interval at which `OperationContext.poll` yields."""


class ServiceUnreachable(LabError):
    """The service of a resource does not respond, so the state of the resource is unknown."""


I = TypeVar("I", bound=Inputs)  # noqa: E741 - the one type variable of the module, read as "inputs"


@dataclass(frozen=True)
class OperationContext:
    """Context of one request: cancellation and progress.

    Attributes:
        stopped: set when the user interrupts the update.
        report: shows a progress line on the resource's row while the update runs.
        warn: adds a warning to the update's summary.
        note: adds a line to the update's summary.
        outputs: the resource's outputs in the state; empty when it is created.
    """

    stopped: threading.Event = field(default_factory=threading.Event)
    report: Callable[[str], None] = lambda _: None
    warn: Callable[[str], None] = lambda _: None
    note: Callable[[str], None] = lambda _: None
    outputs: Mapping[str, Any] = field(default_factory=dict)

    def poll(self, seconds: float, interval: float = POLL_SECONDS) -> Iterator[None]:
        """Yield every `interval` seconds for at most `seconds`, at least once.

        Raises:
            Interrupted: the user stopped the update.
        """
        deadline = time.monotonic() + seconds
        while True:
            yield
            if self.stopped.wait(interval):
                raise Interrupted("stopped by the user")
            if time.monotonic() >= deadline:
                return


@dataclass(frozen=True)
class ReadResult(Generic[I]):
    """Actual state of a resource: its inputs as observed, and its outputs."""

    inputs: I
    outputs: dict[str, Any] = field(default_factory=dict)


class Kind(ABC, Generic[I]):
    """A resource kind. Methods raise `LabError` with a message for the user.

    The engine validates inputs (`Inputs`) on every preview and update and calls `read` on refresh. If inputs differ
    from the state it calls `update`, or `delete` and `create` if a property of `replace_on` differs.

    While the service does not respond, `read` and `delete` raise `ServiceUnreachable`: a refresh then keeps the
    resource in the state, and the next update calls `create`.

    Attributes:
        addresses: properties of `replace_on` with the address of the service. A service of the lab keeps its data when
            its address changes: `create` then takes over what is at the new one, and nothing is deleted.
    """

    name: ClassVar[str]
    inputs: ClassVar[type[Inputs]]
    replace_on: ClassVar[frozenset[str]] = frozenset()
    addresses: ClassVar[frozenset[str]] = frozenset()

    @abstractmethod
    def create(self, inputs: I, call: OperationContext) -> dict[str, Any]:
        """Create the resource and return its outputs.

        Idempotent: a killed create leaves a partial resource and no state. A failed create cleans up after itself.
        """

    @abstractmethod
    def read(self, inputs: I, call: OperationContext) -> ReadResult[I] | None:
        """Return the actual state; None if the resource is missing or has to be created again.

        Raises:
            ServiceUnreachable: the service does not respond.
        """

    @abstractmethod
    def update(self, old: I, new: I, call: OperationContext) -> dict[str, Any]:
        """Change the resource in place and return its outputs."""

    @abstractmethod
    def delete(self, inputs: I, call: OperationContext) -> None:
        """Delete the resource; does nothing if it does not exist.

        Raises:
            ServiceUnreachable: the service does not respond.
        """
