# SPDX-License-Identifier: Apache-2.0
"""Background process that forwards ports of this machine to the pods of a stack.

    python -m infra.targets.kubernetes.port_forward CONFIG.json

CONFIG.json holds `PortForwardInputs`. The process ends with SIGTERM; the failure of a connection never ends it.
"""

import asyncio
import json
import logging
import resource
import signal
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from logging.handlers import RotatingFileHandler
from pathlib import Path

from infra.errors import LabError
from infra.targets.kubernetes import background
from infra.targets.kubernetes.channels import ChannelConnector
from infra.targets.kubernetes.client import connect
from infra.targets.kubernetes.forwarder import Forwarder
from infra.targets.kubernetes.kind_inputs import PortForwardInputs
from infra.targets.kubernetes.ready_pods import ReadyPods

OPEN_FILES = 8192
"""Wanted limit of open files: each connection has two sockets, and macOS allows 256 by default."""

RELOAD_SECONDS = 10
"""Shortest time between two reads of the kubeconfig after the API server has rejected the credentials."""

LOG_BYTES = 1_000_000
"""Size at which the log is rotated; one older file is kept."""

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True)
class ForwardFiles:
    """Files of the process in the stack's folder on this machine."""

    root: Path

    @property
    def config(self) -> Path:
        return self.root / "port-forward.json"

    @property
    def lock(self) -> Path:
        return self.root / "port-forward.pid"

    @property
    def log(self) -> Path:
        return self.root / "port-forward.log"


class Credentials:
    """Current client of a context; the kubeconfig is read again if the API server rejects its credentials."""

    def __init__(self, context: str) -> None:
        self._context = context
        self._reloaded = time.monotonic()
        self._reloading = threading.Lock()
        self.cluster = connect(context)
        self.connector = ChannelConnector(self.cluster)

    def reload(self) -> None:
        """Start to read the kubeconfig again, at most every `RELOAD_SECONDS`."""
        if time.monotonic() - self._reloaded > RELOAD_SECONDS and self._reloading.acquire(blocking=False):
            threading.Thread(target=self._reload, daemon=True).start()

    def _reload(self) -> None:
        try:
            cluster = connect(self._context)
            self.cluster, self.connector = cluster, ChannelConnector(cluster)
        except LabError as error:
            _LOG.warning("%s", error)
        finally:
            self._reloaded = time.monotonic()
            self._reloading.release()


@dataclass(frozen=True)
class Forwarding:
    """All forwarded ports of a stack."""

    credentials: Credentials
    pods: ReadyPods
    forwarders: tuple[Forwarder, ...]

    async def run(self) -> None:
        """Forward connections until SIGTERM."""
        loop, ended, stopped = asyncio.get_running_loop(), asyncio.Event(), threading.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, ended.set)
        changed = asyncio.Event()
        watching = threading.Thread(
            target=self.pods.watch, args=(_thread_safe(loop, changed.set), stopped), daemon=True, name="watch"
        )
        watching.start()
        updating = asyncio.create_task(self._update(changed))
        await ended.wait()
        stopped.set()
        updating.cancel()
        for forwarder in self.forwarders:
            await forwarder.close()
        _LOG.info("ended")

    async def _update(self, changed: asyncio.Event) -> None:
        """Open and close the ports with each change of the ready pods; a busy port is tried again every second."""
        reported: set[str] = set()
        while True:
            changed.clear()
            busy = {str(forwarder) for forwarder in self.forwarders if not await _is_updated(forwarder)}
            if busy - reported:
                _LOG.warning("held by another process: %s", ", ".join(sorted(busy)))
            reported = busy
            if busy:
                await asyncio.sleep(1)
            else:
                await changed.wait()


async def _is_updated(forwarder: Forwarder) -> bool:
    """Open or close a port; return False if another process listens on it."""
    try:
        await forwarder.update()
    except OSError:
        return False
    return True


def _thread_safe(loop: asyncio.AbstractEventLoop, function: Callable[[], None]) -> Callable[[], None]:
    def call() -> None:
        if not loop.is_closed():
            loop.call_soon_threadsafe(function)

    return call


def prepare(inputs: PortForwardInputs, log: Path) -> Forwarding:
    """Connect to the cluster and bind all ports.

    Raises:
        LabError: there is no usable cluster.
        OSError: a port is in use.
    """
    handler = RotatingFileHandler(log, maxBytes=LOG_BYTES, backupCount=1)
    logging.basicConfig(format="%(asctime)s %(levelname)s %(message)s", level=logging.INFO, handlers=[handler])
    _raise_file_limit()
    credentials = Credentials(inputs.context)
    pods = ReadyPods(lambda: credentials.cluster, inputs.namespace, {forward.service for forward in inputs.forwards})
    forwarders = tuple(
        Forwarder(forward, inputs.namespace, lambda: credentials.connector, pods.of, credentials.reload)
        for forward in inputs.forwards
    )
    for forwarder in forwarders:
        forwarder.reserve()
        _LOG.info("forwarding %s", forwarder)
    pods.refresh()
    return Forwarding(credentials, pods, forwarders)


def _raise_file_limit() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = OPEN_FILES if hard == resource.RLIM_INFINITY else min(OPEN_FILES, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def main(config: Path) -> int:
    """Run the process of a configuration file in the background."""
    inputs = PortForwardInputs.model_validate(json.loads(config.read_text(encoding="utf-8")))
    files = ForwardFiles(Path(inputs.root))

    def serve(forwarding: Forwarding) -> None:
        asyncio.run(forwarding.run())

    return background.detach(files.lock, files.log, lambda: prepare(inputs, files.log), serve)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
