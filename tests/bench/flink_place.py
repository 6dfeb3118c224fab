# SPDX-License-Identifier: Apache-2.0
"""The lab's Flink cluster without the lab: its three JVMs, rendered as the local target renders them, in a folder.

Checkpoints are kept in a folder too, so that no object store takes part of two processors. The rest is what `bin/lab`
would run, and `lineage=False` takes the listener away.
"""

import json
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
from tests.bench.service_process import REPOSITORY
from tests.bench.spark_place import Place, inherited

JVMS = (JOBMANAGER, TASKMANAGER, GATEWAY)
SPEAKING = (JOBMANAGER, GATEWAY)
"""Where the listener is: it speaks of a job where it is submitted, and where it is coordinated."""

START_SECONDS = 180
STOP_SECONDS = 60
BETWEEN_PROBES = 0.1


@dataclass(frozen=True)
class FlinkPlace:
    """A cluster. The folder of `place` is its own; `processes` are its JVMs by service."""

    place: Place
    processes: dict[str, "subprocess.Popen[bytes]"] = field(default_factory=dict)

    @property
    def url(self) -> str:
        """Of the REST API."""
        return self.place.site.address(JOBMANAGER, JOBMANAGER_REST.name).url

    def start(self, *names: str, lineage: bool) -> None:
        """Starts JVMs, and waits until the gateway answers and the TaskManager has brought its slots.

        Raises:
            RuntimeError: one has ended, or is not ready in time; the text has the end of its log.
        """
        for name in names:
            self.processes[name] = self._launch(name, lineage)
        deadline = time.monotonic() + START_SECONDS
        while not self._ready():
            ended = [name for name, process in self.processes.items() if process.poll() is not None]
            if ended or time.monotonic() > deadline:
                name = ended[0] if ended else JOBMANAGER
                raise RuntimeError(f"the cluster in {self.place.folder} is not ready: {log_tail(self._log(name))}")
            time.sleep(BETWEEN_PROBES)

    def switch(self, *, lineage: bool) -> None:
        """A new JobManager and a new gateway, with the listener or without, about the same TaskManager."""
        self.stop(*SPEAKING)
        self.start(*SPEAKING, lineage=lineage)

    def stop(self, *names: str) -> None:
        """Ends JVMs, in this order."""
        for process in [self.processes.pop(name) for name in names if name in self.processes]:
            process.terminate()
            try:
                process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def cpu_seconds(self) -> dict[str, float]:
        """User and system time of each JVM so far, compilers and collectors included."""
        times = {name: psutil.Process(process.pid).cpu_times() for name, process in self.processes.items()}
        return {name: taken.user + taken.system for name, taken in times.items()}

    def pss_mib(self) -> float:
        """Proportional set size of all JVMs together."""
        return sum(psutil.Process(jvm.pid).memory_full_info().pss for jvm in self.processes.values()) / 2**20

    def _launch(self, name: str, lineage: bool) -> "subprocess.Popen[bytes]":
        part = self.place.part(name)
        if not isinstance(part, Service):
            raise TypeError(f"{name} is no service of the lab")
        config = in_folder(part.files[CONFIG], self.place.folder / "checkpoints")
        files = {**part.files, CONFIG: config if lineage else without_listener(config)}
        script = self.place.script(replace(part, files=files))
        with self._log(name).open("ab") as log:
            words = ["sh", str(script)]
            return subprocess.Popen(words, cwd=REPOSITORY, env=inherited(), stdout=log, stderr=subprocess.STDOUT)

    def _ready(self) -> bool:
        gateway = self.place.site.address(GATEWAY, GATEWAY_REST.name).url
        try:
            overview = httpx.get(f"{self.url}/overview", timeout=5, trust_env=False).raise_for_status().json()
            answers = httpx.get(f"{gateway}/v1/info", timeout=5, trust_env=False).is_success
        except httpx.HTTPError:
            return False
        return answers and int(overview["slots-total"]) > 0

    def _log(self, name: str) -> Path:
        return self.place.folder / f"{name}.log"


@contextmanager
def prepared_cluster(place: Place) -> Iterator[FlinkPlace]:
    """A cluster that may be started; what is left of it is stopped."""
    place.folder.mkdir(parents=True, exist_ok=True)
    cluster = FlinkPlace(place)
    try:
        yield cluster
    finally:
        cluster.stop(GATEWAY, TASKMANAGER, JOBMANAGER)


def in_folder(config: str, checkpoints: Path) -> str:
    """The configuration with its checkpoints in a folder.

    Raises:
        ValueError: it says nothing of where the lab's checkpoints are.
    """
    if CHECKPOINT_FOLDER not in config:
        raise ValueError(f"Flink's configuration has no {CHECKPOINT_FOLDER}, and its checkpoints are to be moved")
    return config.replace(CHECKPOINT_FOLDER, checkpoints.as_uri())


def without_listener(config: str) -> str:
    """The configuration with no word of lineage in it.

    Raises:
        ValueError: it has none of the settings that make the listener speak, and would be the same without it.
    """
    spoken = tuple(f"{name}:" for name in flink_lineage_settings(""))
    lines = config.splitlines(keepends=True)
    kept = [line for line in lines if not line.startswith(spoken)]
    if len(lines) - len(kept) != len(spoken):
        raise ValueError(f"Flink's configuration was to have {json.dumps(spoken)}, and has not all of them")
    return "".join(kept)
