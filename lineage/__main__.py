# SPDX-License-Identifier: Apache-2.0
"""`python -m lineage`: run the service. SIGTERM or SIGINT stops it after all accepted events are on disk."""

import gc
import logging
import os
import signal
import socket
import sys
from types import FrameType
from typing import NoReturn

import uvicorn
from fastapi import FastAPI

from lineage.access.keys import KeysError
from lineage.alerts.outbox import OutboxError
from lineage.alerts.webhook import WebhooksError
from lineage.api import create_app
from lineage.api.connections import ConnectionLimits, limited_protocol
from lineage.api.lab import LabError
from lineage.rules import Rules, RulesError, read_rules
from lineage.settings import Settings, parse_arguments
from lineage.store import StoreError, StoreUnusable
from lineage.store.opening import open_log

GRACE_SECONDS = 10
"""Time limit in seconds for open requests after the signal."""

KEEP_ALIVE_SECONDS = 30
"""Time limit in seconds of an idle connection; emitters send an event every 30 s or more often, or reconnect."""

_GC_THRESHOLDS = (50_000, 25_000, 25_000)
"""Thresholds of garbage collection by generation; the last two are practically never reached.

Objects of events and records have no cycles: collections find next to nothing, and took 15 % of the time of ingest
where each object was examined twice.
"""

_HEADERS = [("Cross-Origin-Resource-Policy", "same-origin")]
"""Headers of all responses: no other origin may embed one."""


def main() -> None:
    """Run the service. Exit code: 2 with a one-line error if it cannot start, 0 after a signal."""
    settings = parse_arguments(sys.argv[1:])
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s %(message)s")
    # Records live as long as the process, and nothing that folds events makes cycles: collections would only cost time,
    # a third of the start.
    gc.disable()
    try:
        rules = read_rules(settings.rules) if settings.rules else Rules()
        listener = _listen(settings)
        app = create_app(settings, rules, open_log(settings, listener.getsockname()[1], os.environ))
    except (RulesError, KeysError, LabError, WebhooksError, OutboxError, StoreError, StoreUnusable, OSError) as error:
        print(f"lineage: {error}", file=sys.stderr)
        sys.exit(2)
    _serve(settings, listener, app)


def _listen(settings: Settings) -> socket.socket:
    """Bind the port before anything else, so that a port in use is reported in one line and no data is touched."""
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((settings.host, settings.port))
    except OSError as error:
        listener.close()
        where = f"{settings.host}:{settings.port}"
        raise OSError(f"cannot listen on {where}: {error.strerror}; free the port or set --port") from error
    return listener


def _serve(settings: Settings, listener: socket.socket, app: FastAPI) -> None:
    # A collection examines some 50,000 objects, which takes 15 to 20 ms.
    gc.set_threshold(*_GC_THRESHOLDS)
    gc.freeze()
    gc.enable()
    # The writer's thread runs mostly in C and needs the GIL briefly; the default switch interval of 5 ms would be
    # most of the time of a commit.
    sys.setswitchinterval(0.0005)
    # uvicorn raises the signal again after its graceful shutdown; without handlers that would look like a crash.
    signal.signal(signal.SIGTERM, _exit)
    signal.signal(signal.SIGINT, _exit)
    host, port = listener.getsockname()[:2]
    scheme = "https" if settings.certificate else "http"
    print(f"lineage service on {scheme}://{host}:{port}, data in {settings.store or settings.data}", flush=True)
    limits = ConnectionLimits(total=settings.max_connections, remote=settings.max_connections * 3 // 4)
    config = uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        http=limited_protocol(limits),
        ws="none",
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        headers=_HEADERS,
        timeout_graceful_shutdown=GRACE_SECONDS,
        ssl_certfile=settings.certificate,
        ssl_keyfile=settings.certificate_key,
    )
    _Server(config, app).run(sockets=[listener])


class _Server(uvicorn.Server):
    """Server that closes the change streams first: otherwise shutdown would wait for their clients."""

    def __init__(self, config: uvicorn.Config, app: FastAPI) -> None:
        super().__init__(config)
        self._app = app

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop accepting connections, close change streams, let open requests finish."""
        self._app.state.service.change_feed.close()
        await super().shutdown(sockets)


def _exit(_signal: int, _frame: FrameType | None) -> NoReturn:
    """Exit at once: freeing a large graph object by object would exceed a supervisor's stop timeout."""
    logging.shutdown()
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
