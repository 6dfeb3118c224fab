# SPDX-License-Identifier: Apache-2.0
"""Blocking calls in threads."""

import asyncio
from collections.abc import Callable
from typing import ParamSpec, TypeVar

_P = ParamSpec("_P")
_T = TypeVar("_T")


async def run_to_end(function: Callable[_P, _T], *args: _P.args, **kwargs: _P.kwargs) -> _T:
    """Call a function in a thread; a cancellation takes effect once it has returned.

    A thread cannot be cancelled: what it uses must not be closed, or used by others, before its end.
    """
    call = asyncio.ensure_future(asyncio.to_thread(function, *args, **kwargs))
    cancelled = False
    while not call.done():
        try:
            await asyncio.shield(call)
        except asyncio.CancelledError:
            cancelled = True
        except Exception:
            break  # raised below
    if cancelled:
        raise asyncio.CancelledError
    return call.result()
