# SPDX-License-Identifier: Apache-2.0
"""Lineage service (`python -m lineage`) as a subprocess on a free loopback port."""

import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

import psutil

REPOSITORY = Path(__file__).resolve().parents[2]
START_SECONDS = 600
STOP_SECONDS = 60
_BANNER = re.compile(r"http://([^\s:]+):(\d+)")


@dataclass(frozen=True)
class ServiceProcess:
    """Running service. `ready_seconds` is the time from its start to the first response of /health."""

    process: subprocess.Popen[str]
    host: str
    port: int
    ready_seconds: float

    @property
    def url(self) -> str:
        """Return the root URL."""
        return f"http://{self.host}:{self.port}"

    def cpu_seconds(self) -> float:
        """Return the CPU time so far, user and system."""
        times = psutil.Process(self.process.pid).cpu_times()
        return times.user + times.system

    def pss_mib(self) -> float:
        """Return the proportional set size in MiB."""
        return psutil.Process(self.process.pid).memory_full_info().pss / 2**20

    def kill(self) -> None:
        """Kill the process with SIGKILL."""
        self.process.kill()
        self.process.wait()


@contextmanager
def running_service(data: Path, *arguments: object, prefix: tuple[str, ...] = ()) -> Iterator[ServiceProcess]:
    """Run a service with the data directory `data`; `prefix` precedes its command.

    Raises:
        RuntimeError: it ended or did not respond in time; the message has its output.
    """
    words = [*prefix, sys.executable, "-m", "lineage", "--port", "0", "--data", str(data), *map(str, arguments)]
    log = data.with_name(f"{data.name}.log")
    started = time.monotonic()
    with log.open("ab") as errors:
        process = subprocess.Popen(words, cwd=REPOSITORY, stdout=subprocess.PIPE, stderr=errors, text=True)
    try:
        yield _await_ready(process, log, started)
    finally:
        _stop(process)
        assert process.stdout is not None
        process.stdout.close()


def _await_ready(process: subprocess.Popen[str], log: Path, started: float) -> ServiceProcess:
    assert process.stdout is not None
    banner = process.stdout.readline()
    found = _BANNER.search(banner)
    while found and process.poll() is None and time.monotonic() < started + START_SECONDS:
        try:
            with urlopen(f"{found[0]}/health", timeout=5):
                return ServiceProcess(process, found[1], int(found[2]), time.monotonic() - started)
        except (URLError, TimeoutError):
            time.sleep(0.005)
    raise RuntimeError(f"the lineage service did not start: {banner}{log.read_text(errors='replace')[-2000:]}")


def _stop(process: subprocess.Popen[str]) -> None:
    if process.poll() is None:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
