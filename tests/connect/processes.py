# SPDX-License-Identifier: Apache-2.0
"""Services of the lab as processes of a test's own: started by the lab's scripts, ready when they answer, ended."""

import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import httpx

from infra import credentials
from infra.catalog import ENDPOINTS
from infra.model import Probe, Service
from infra.project import PROJECT
from infra.provider.preflight import busy_ports
from infra.targets.launch_script import Launcher
from infra.targets.local.target import LocalSite
from infra.toolchain import Artifacts

START_SECONDS = 180
STOP_SECONDS = 60
PORTS = range(22200, 22400)
"""Below those that clients are given, and not among those of the labs that other tests start."""

BETWEEN_PROBES = 0.05


def free_ports() -> Iterator[int]:
    """Ports of this machine on which nobody listens, each once.

    They come in no order, so that test runs side by side seldom want the same one. Raises RuntimeError: all are taken.
    """
    yield from (port for port in random.sample(PORTS, len(PORTS)) if not busy_ports({"a test": port}))
    raise RuntimeError(f"no port from {PORTS.start} to {PORTS.stop - 1} is left; tests ask for those they use alone")


def local_site(root: Path, ports: Iterator[int], *services: str) -> LocalSite:
    """A place for these services of the lab below `root`, each on a free port; for all where none is named."""
    endpoints = {
        service: tuple(replace(endpoint, port=next(ports)) for endpoint in ENDPOINTS[service])
        for service in services or ENDPOINTS
    }
    credentials.ensure(credentials_of(root))
    return LocalSite(root, 0, endpoints, Artifacts.open())


def credentials_of(root: Path) -> Path:
    """The file with the passwords of the services below `root`."""
    return root / "credentials.env"


def launcher_of(site: LocalSite) -> Launcher:
    """What makes a service a script."""
    return Launcher(Artifacts.open(), PROJECT, credentials_of(site.root), sys.platform, os.geteuid())


@dataclass
class Running:
    """A service that answers. `log` is what it prints."""

    service: Service
    process: subprocess.Popen[bytes]
    log: Path

    def said(self) -> str:
        """What it has printed so far."""
        return self.log.read_text(errors="replace")

    def kill(self) -> None:
        """End it as a power cut would."""
        self.process.kill()
        self.process.wait()

    def stop(self) -> None:
        """Ask it to end, and wait until it has."""
        if self.process.poll() is None:
            self.process.send_signal(getattr(signal, f"SIG{self.service.stop_signal}"))
            try:
                self.process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                self.kill()
                raise


@contextmanager
def running(service: Service, site: LocalSite) -> Iterator[Running]:
    """A service until the block ends. Raises RuntimeError, as `await_ready` does."""
    with all_running((service,), site) as (started,):
        yield started


@contextmanager
def all_running(services: Iterable[Service], site: LocalSite) -> Iterator[list[Running]]:
    """Services that do not need each other, started at once. Raises RuntimeError, as `await_ready` does."""
    with ExitStack() as started:
        processes = []
        for service in services:
            processes.append(start(service, site))
            started.callback(processes[-1].stop)
        for process in processes:
            await_ready(process, site)
        yield processes


def start(service: Service, site: LocalSite) -> Running:
    """A service that may not answer yet. Whoever starts it stops it; should this process die, it dies too."""
    for name, text in service.files.items():
        file = Path(site.file(service.name, name))
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    for volume in service.volumes:
        Path(site.volume(service.name, volume)).mkdir(parents=True, exist_ok=True)
    scratch = Path(site.scratch(service.name))
    scratch.mkdir(parents=True, exist_ok=True)
    script = scratch.parent / "run.sh"
    script.write_text(launcher_of(site).script(service, scratch))
    log = scratch.parent / "log"
    tied = ["setpriv", "--pdeathsig", "KILL", "--"] if shutil.which("setpriv") else []
    with log.open("ab") as output:
        process = subprocess.Popen([*tied, "sh", str(script)], stdout=output, stderr=subprocess.STDOUT)
    return Running(service, process, log)


def await_ready(started: Running, site: LocalSite) -> None:
    """Wait until a service answers.

    Raises:
        RuntimeError: it ended, or did not answer in time; the text has the end of what it printed.
    """
    give_up = time.monotonic() + START_SECONDS
    while started.process.poll() is None and time.monotonic() < give_up:
        if _answers(started.service, site):
            return
        time.sleep(BETWEEN_PROBES)
    raise RuntimeError(f"{started.service.name} did not start: {started.said()[-4000:]}")


def _answers(service: Service, site: LocalSite) -> bool:
    probe = service.ready
    if not isinstance(probe, Probe):
        raise ValueError(f"{service.name} has no probe")
    address = site.listen(service.name, probe.endpoint)
    try:
        if probe.path:
            return httpx.get(f"{address.url}{probe.path}", timeout=5, trust_env=False).is_success
        with socket.create_connection((address.host, address.port), timeout=5):
            return True
    except (httpx.HTTPError, OSError):
        return False
