# SPDX-License-Identifier: Apache-2.0
"""Flink cluster of the lab: its three JVMs, rendered like the local target renders them, without a whole lab.

Checkpoints are kept in a folder, so that no object store uses CPU time during a measurement; `lineage=False` removes
the lineage listener. Everything else is as in `bin/lab`.
"""

import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import httpx
import psutil

from infra.model import Service
from infra.namespaces import flink_lineage_settings
from infra.services.flink.cluster import CONFIG
from infra.services.flink.settings import (
    CHECKPOINT_FOLDER,
    GATEWAY,
    GATEWAY_REST,
    JOBMANAGER,
    JOBMANAGER_REST,
    TASKMANAGER,
)
from infra.targets.local.log_files import log_tail
from tests.bench.partial_lab import PartialLab, process_environment
from tests.bench.service_process import REPOSITORY

JVMS = (JOBMANAGER, TASKMANAGER, GATEWAY)
LISTENER_JVMS = (JOBMANAGER, GATEWAY)
"""JVMs with the lineage listener: it reports a job where the job is submitted and where it is coordinated."""

START_SECONDS = 180
STOP_SECONDS = 60
PROBE_INTERVAL = 0.1


@dataclass(frozen=True)
class FlinkCluster:
    """Cluster in the folder of `lab`; `processes` are its running JVMs by service."""

    lab: PartialLab
    processes: dict[str, "subprocess.Popen[bytes]"] = field(default_factory=dict)

    @property
    def url(self) -> str:
        """Return the URL of the REST API."""
        return self.lab.site.address(JOBMANAGER, JOBMANAGER_REST.name).url

    def start(self, *names: str, lineage: bool) -> None:
        """Start JVMs and wait until the gateway responds and the TaskManager has registered its slots.

        Raises:
            RuntimeError: a JVM ended, or the cluster was not ready in time; the message has the end of the log.
        """
        for name in names:
            self.processes[name] = self._start_jvm(name, lineage)
        deadline = time.monotonic() + START_SECONDS
        while not self._is_ready():
            ended = [name for name, process in self.processes.items() if process.poll() is not None]
            if ended or time.monotonic() > deadline:
                name = ended[0] if ended else JOBMANAGER
                tail = log_tail(self._log_file(name))
                raise RuntimeError(
                    f"the Flink cluster in {self.lab.folder} did not start. End of the {name} log:\n{tail}"
                )
            time.sleep(PROBE_INTERVAL)

    def restart_listeners(self, *, lineage: bool) -> None:
        """Restart JobManager and gateway with the listener or without; the TaskManager keeps running."""
        self.stop(*LISTENER_JVMS)
        self.start(*LISTENER_JVMS, lineage=lineage)

    def stop(self, *names: str) -> None:
        """Stop JVMs in this order."""
        for process in [self.processes.pop(name) for name in names if name in self.processes]:
            process.terminate()
            try:
                process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def cpu_seconds(self) -> dict[str, float]:
        """Return user and system time of each JVM so far, JIT compiler and garbage collector included."""
        times = {name: psutil.Process(process.pid).cpu_times() for name, process in self.processes.items()}
        return {name: used.user + used.system for name, used in times.items()}

    def pss_mib(self) -> float:
        """Return the proportional set size of all JVMs together."""
        return sum(psutil.Process(jvm.pid).memory_full_info().pss for jvm in self.processes.values()) / 2**20

    def _start_jvm(self, name: str, lineage: bool) -> "subprocess.Popen[bytes]":
        part = self.lab.part(name)
        if not isinstance(part, Service):
            raise TypeError(f"{name} is not a service of the lab")
        config = with_checkpoints_in(part.files[CONFIG], self.lab.folder / "checkpoints")
        files = {**part.files, CONFIG: config if lineage else without_listener(config)}
        script = self.lab.write_script(replace(part, files=files))
        with self._log_file(name).open("ab") as log:
            words = ["sh", str(script)]
            return subprocess.Popen(
                words, cwd=REPOSITORY, env=process_environment(), stdout=log, stderr=subprocess.STDOUT
            )

    def _is_ready(self) -> bool:
        gateway = self.lab.site.address(GATEWAY, GATEWAY_REST.name).url
        try:
            overview = httpx.get(f"{self.url}/overview", timeout=5, trust_env=False).raise_for_status().json()
            answers = httpx.get(f"{gateway}/v1/info", timeout=5, trust_env=False).is_success
        except httpx.HTTPError:
            return False
        return answers and int(overview["slots-total"]) > 0

    def _log_file(self, name: str) -> Path:
        return self.lab.folder / f"{name}.log"


@contextmanager
def managed_cluster(lab: PartialLab) -> Iterator[FlinkCluster]:
    """Yield a cluster that is not started; stop its remaining JVMs at the end."""
    lab.folder.mkdir(parents=True, exist_ok=True)
    cluster = FlinkCluster(lab)
    try:
        yield cluster
    finally:
        cluster.stop(GATEWAY, TASKMANAGER, JOBMANAGER)


def with_checkpoints_in(config: str, checkpoints: Path) -> str:
    """Return the configuration with its checkpoints in a folder.

    Raises:
        ValueError: the configuration does not contain the lab's checkpoint folder.
    """
    if CHECKPOINT_FOLDER not in config:
        raise ValueError(f"cannot move the checkpoints: Flink's configuration does not contain {CHECKPOINT_FOLDER}")
    return config.replace(CHECKPOINT_FOLDER, checkpoints.as_uri())


def without_listener(config: str) -> str:
    """Return the configuration without the settings of the lineage listener.

    Raises:
        ValueError: one of these settings is missing, so that both configurations might be equal.
    """
    settings = tuple(f"{name}:" for name in flink_lineage_settings(""))
    lines = config.splitlines(keepends=True)
    kept = [line for line in lines if not line.startswith(settings)]
    if len(lines) - len(kept) != len(settings):
        raise ValueError(f"Flink's configuration does not contain all settings of the lineage listener: {settings}")
    return "".join(kept)
