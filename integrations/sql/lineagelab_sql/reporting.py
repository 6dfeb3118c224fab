# SPDX-License-Identifier: Apache-2.0
"""Queue of the events of a short-lived command."""

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

from lineagelab_common.file_lock import locked
from lineagelab_common.spool import Spool

CLOSE_SECONDS = 10.0
"""Seconds to wait at the end for the delivery of events; what is left is sent by the next command."""


@contextmanager
def event_spool(environment: Mapping[str, str]) -> Iterator[Spool]:
    """Provide the queue of events. `LINEAGE_SPOOL` names a file that keeps undelivered ones for the next command.

    A command that runs beside another one keeps its events in memory.
    """
    service, file = environment.get("OPENLINEAGE_URL", ""), environment.get("LINEAGE_SPOOL")
    with ExitStack() as stack:
        path = Path(file) if file else None
        if path is not None:
            try:
                stack.enter_context(locked(path.with_name(f"{path.name}.lock")))
            except BlockingIOError:
                path = None
        spool = Spool(service, path)
        stack.callback(spool.close, CLOSE_SECONDS)
        yield spool
