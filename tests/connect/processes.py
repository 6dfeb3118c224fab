# SPDX-License-Identifier: Apache-2.0
"""Services of the lab as child processes of a test, started by the lab's launch scripts."""

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
from infra.targets.local.site import LocalSite
from infra.toolchain import Artifacts

START_TIMEOUT_SECONDS = 180
STOP_TIMEOUT_SECONDS = 180
PORTS = range(22200, 22400)
"""Below the ephemeral range, and outside the ports of the labs that other tests start."""

PROBE_SECONDS = 0.05


def free_ports() -> Iterator[int]:
    """Yield free ports without end, in random order, so that concurrent test runs rarely collide.

    A port is yielded again after all others were. Raises RuntimeError: none of them is free.
    """
    order = random.sample(PORTS, len(PORTS))
    is_any_free = True
    while is_any_free:
        is_any_free = False
        for port in order:
            if not busy_ports({"a test": port}):
                is_any_free = True
                yield port
    raise RuntimeError(f"no port from {PORTS.start} to {PORTS.stop - 1} is free")


def local_site(root: Path, ports: Iterator[int], *services: str) -> LocalSite:
    """Return a site below `root` for these services, or all services, each on a free port."""
    endpoints = {
        service: tuple(replace(endpoint, port=next(ports)) for endpoint in ENDPOINTS[service])
        for service in services or ENDPOINTS
    }
    credentials.ensure(credentials_of(root))
    return LocalSite(root=root, port_offset=0, endpoints=endpoints, programs=Artifacts.open())


def credentials_of(root: Path) -> Path:
    """Return the credentials file of the services below `root`."""
    return root / "credentials.env"


def launcher_of(site: LocalSite) -> Launcher:
    """Return the launcher that renders services as scripts."""
    return Launcher(Artifacts.open(), PROJECT, credentials_of(site.root), sys.platform, os.geteuid())


@dataclass
class Running:
    """Started service; `log` is the file with its output."""

    service: Service
    process: subprocess.Popen[bytes]
    log: Path

    def output(self) -> str:
        """Return its output so far."""
        return self.log.read_text(errors="replace")

    def kill(self) -> None:
        """Kill it with SIGKILL."""
        self.process.kill()
        self.process.wait()

    def stop(self) -> None:
        """Stop it gracefully and wait for its exit."""
        if self.process.poll() is None:
            self.process.send_signal(getattr(signal, f"SIG{self.service.stop_signal}"))
            try:
                self.process.wait(STOP_TIMEOUT_SECONDS)
            except subprocess.TimeoutExpired:
                self.kill()
                raise


@contextmanager
def running(service: Service, site: LocalSite) -> Iterator[Running]:
    """Run a service for the duration of the block. Raises RuntimeError, as `await_ready` does."""
    with all_running((service,), site) as (started,):
        yield started


@contextmanager
def all_running(services: Iterable[Service], site: LocalSite) -> Iterator[list[Running]]:
    """Run independent services, started in parallel. Raises RuntimeError, as `await_ready` does."""
    with ExitStack() as started:
        processes = []
        for service in services:
            processes.append(start(service, site))
            started.callback(processes[-1].stop)
        for process in processes:
            await_ready(process, site)
        yield processes


def start(service: Service, site: LocalSite) -> Running:
    """Start a service without waiting for readiness. The caller stops it; it dies with this process."""
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
    pdeathsig = ["setpriv", "--pdeathsig", "KILL", "--"] if shutil.which("setpriv") else []
    with log.open("ab") as output:
        process = subprocess.Popen([*pdeathsig, "sh", str(script)], stdout=output, stderr=subprocess.STDOUT)
    return Running(service, process, log)


def await_ready(started: Running, site: LocalSite) -> None:
    """Wait until a service is ready.

    Raises:
        RuntimeError: it exited, or was not ready in time; the message has the end of its output.
    """
    deadline = time.monotonic() + START_TIMEOUT_SECONDS
    while started.process.poll() is None and time.monotonic() < deadline:
        if _is_ready(started.service, site):
            return
        time.sleep(PROBE_SECONDS)
    raise RuntimeError(f"{started.service.name} did not start: {started.output()[-4000:]}")


def _is_ready(service: Service, site: LocalSite) -> bool:
    probe = service.ready
    if not isinstance(probe, Probe):
        raise ValueError(f"service {service.name} has no readiness probe")
    address = site.listen(service.name, probe.endpoint)
    try:
        if probe.path:
            return httpx.get(f"{address.url}{probe.path}", timeout=5, trust_env=False).is_success
        with socket.create_connection((address.host, address.port), timeout=5):
            return True
    except (httpx.HTTPError, OSError):
        return False
