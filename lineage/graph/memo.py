# SPDX-License-Identifier: Apache-2.0
"""Results of pure functions whose arguments are too large to be kept as keys."""

from collections.abc import Callable, Hashable
from threading import Lock
from typing import Generic, TypeVar

_K = TypeVar("_K", bound=Hashable)
_V = TypeVar("_V")


class Memo(Generic[_K, _V]):
    """At most `size` results by key; what was added first is forgotten first. Thread-safe."""

    __slots__ = ("_found", "_lock", "_size")

    def __init__(self, size: int) -> None:
        self._size = size
        self._found: dict[_K, _V] = {}
        self._lock = Lock()

    def get(self, key: _K, make: Callable[[], _V]) -> _V:
        """Return the result of a key, made if it is not known."""
        try:
            return self._found[key]
        except KeyError:
            made = make()
        with self._lock:
            if len(self._found) >= self._size:
                self._found.pop(next(iter(self._found)))
            self._found[key] = made
        return made
