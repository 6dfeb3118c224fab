# SPDX-License-Identifier: Apache-2.0
"""What a resource kind is: its inputs, and what the engine asks of it."""

import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar, Generic, TypeVar

from infra.errors import Interrupted
from infra.model.inputs import Inputs

POLL_SECONDS = 0.1


I = TypeVar("I", bound=Inputs)  # noqa: E741 - the one type variable of the module, read as "inputs"


@dataclass(frozen=True)
class Call:
    """What comes with every request: a way to be stopped, and a way to say what goes on.

    Attributes:
        stopped: set when the user interrupts the update.
        say: shows a line on the resource's own row while the update runs.
    """

    stopped: threading.Event = field(default_factory=threading.Event)
    say: Callable[[str], None] = lambda _: None

    def poll(self, seconds: float) -> Iterator[None]:
        """Yields ten times a second for at most `seconds`; between two turns it notices an interrupt.

        Raises:
            Interrupted: the user stopped the update.
        """
        deadline = time.monotonic() + seconds
        while True:
            yield
            if self.stopped.wait(POLL_SECONDS):
                raise Interrupted("stopped by the user")
            if time.monotonic() >= deadline:
                return


@dataclass(frozen=True)
class Found(Generic[I]):
    """What `read` found in the world: the inputs as they really are, and the outputs."""

    inputs: I
    outputs: dict[str, Any] = field(default_factory=dict)


class Kind(ABC, Generic[I]):
    """One kind of resource. Methods raise `LabError` with a text made for the user.

    The order in which the engine calls: `check` is done by `Inputs` itself, on every preview and update.
    `read` on refresh. Where inputs differ from those in the state, `update`, or `delete` and `create` where
    a property of `replace_on` differs.
    """

    name: ClassVar[str]
    inputs: ClassVar[type[Inputs]]
    replace_on: ClassVar[frozenset[str]] = frozenset()

    @abstractmethod
    def create(self, inputs: I, call: Call) -> dict[str, Any]:
        """Makes the thing and returns its outputs. Must succeed where it is half there already:
        a create that was killed leaves no trace in the state. What fails leaves nothing behind."""

    @abstractmethod
    def read(self, inputs: I, call: Call) -> Found[I] | None:
        """Looks at the thing; None where it is gone or so broken that it has to be made anew."""

    @abstractmethod
    def update(self, old: I, new: I, call: Call) -> dict[str, Any]:
        """Changes the thing in place and returns its outputs."""

    @abstractmethod
    def delete(self, inputs: I, call: Call) -> None:
        """Removes the thing; a thing that is gone already is no error."""
