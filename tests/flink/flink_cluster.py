# SPDX-License-Identifier: Apache-2.0
"""Flink session cluster with a SQL gateway for tests. Each JVM can be killed and restarted separately."""

import json
import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

import httpx

from infra.namespaces import flink_lineage_settings
from infra.services.flink.cluster import APPLICATION_MAIN, MODULE_OPTIONS, SESSION_MAIN, TASKMANAGER_MAIN
from infra.services.flink.settings import COMPONENT, GUARD_COMPONENT, SLOT_WAITING, TRANSPORT_COMPONENTS
from infra.toolchain import Artifacts
from lineagelab_flink.lifecycle import Job
from lineagelab_flink.rest import FlinkClient

START_TIMEOUT_SECONDS = 300
STOP_TIMEOUT_SECONDS = 30
PROBE_INTERVAL_SECONDS = 0.1

JOBMANAGER, TASKMANAGER, GATEWAY = "jobmanager", "taskmanager", "gateway"
APPLICATION = "application"
"""JobManager of an application cluster, which its launcher starts."""

_MAIN = {
    JOBMANAGER: SESSION_MAIN,
    APPLICATION: APPLICATION_MAIN,
    TASKMANAGER: TASKMANAGER_MAIN,
    GATEWAY: "org.apache.flink.table.gateway.SqlGateway",
}
_HEAP = {JOBMANAGER: "256m", APPLICATION: "256m", TASKMANAGER: "384m", GATEWAY: "256m"}


@dataclass
class FlinkCluster:
    """Session cluster. `root` is an empty folder, `lineage` the URL to which its listener sends events."""

    root: Path
    ports: Mapping[str, int]
    lineage: str
    slots: int = 6
    jars: tuple[str, ...] = ()
    """Further jars on its class path."""
    processes: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    @classmethod
    def at(cls, root: Path, ports: Iterator[int], lineage: str, *jars: str) -> "FlinkCluster":
        """Create a cluster on free ports."""
        names = ("rest", "rpc", "blobs", "worker", "data", "sql")
        return cls(root, {name: next(ports) for name in names}, lineage, jars=jars)

    @property
    def url(self) -> str:
        """URL of the REST API."""
        return f"http://127.0.0.1:{self.ports['rest']}"

    @property
    def gateway_url(self) -> str:
        return f"http://127.0.0.1:{self.ports['sql']}"

    def start(self, *names: str) -> None:
        """Start JVMs in parallel and wait until they are ready: a TaskManager, when its slots are registered."""
        for name in names:
            self.processes[name] = self._launch(name)
        deadline = time.monotonic() + START_TIMEOUT_SECONDS
        for name in names:
            while not self._is_ready(name):
                starting = self.processes[name].poll() is None and time.monotonic() < deadline
                assert starting, f"{name} did not start: {self.log(name)[-4000:]}"
                time.sleep(PROBE_INTERVAL_SECONDS)

    @contextmanager
    def running(self, *names: str) -> Iterator[Self]:
        """Run JVMs for the block."""
        try:
            self.start(*names)
            yield self
        finally:
            self.stop()

    def kill(self, name: str) -> None:
        """Kill a JVM with SIGKILL."""
        self.processes[name].kill()
        self.processes[name].wait()

    @contextmanager
    def frozen(self, name: str) -> Iterator[None]:
        """Freeze a JVM for the block: it accepts connections and does not respond."""
        self.processes[name].send_signal(signal.SIGSTOP)
        try:
            yield
        finally:
            self.processes[name].send_signal(signal.SIGCONT)

    def restart(self, name: str) -> None:
        """Kill a JVM and start it again."""
        self.kill(name)
        self.start(name)

    def stop(self) -> None:
        """Stop all JVMs."""
        for process in self.processes.values():
            process.send_signal(signal.SIGTERM)
        for process in self.processes.values():
            try:
                process.wait(STOP_TIMEOUT_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def log(self, name: str) -> str:
        """Return the log of a JVM."""
        return (self.root / f"{name}.log").read_text(errors="replace")

    def jobs(self, name: str) -> list[Job]:
        """Return all jobs of a name that the cluster lists, oldest first."""
        return jobs_at(self.url, name)

    def command(self, name: str) -> tuple[str, ...]:
        """Write the configuration of the JVMs; return the command of one."""
        home, *components = map(Artifacts.open().component, (COMPONENT, GUARD_COMPONENT, *TRANSPORT_COMPONENTS))
        folder, temporary = self.root / "conf", self.root / "tmp"
        folder.mkdir(parents=True, exist_ok=True)
        temporary.mkdir(exist_ok=True)
        (folder / "config.yaml").write_text("".join(f"{key}: {json.dumps(value)}\n" for key, value in self._config()))
        (folder / "log4j2.properties").write_text(_LOGGING)
        arguments: Sequence[str] = () if name == GATEWAY else ("--configDir", str(folder))
        return (
            *(
                "java",
                f"-Xmx{_HEAP[name]}",
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-Xss512k",
                # A killed JVM leaves its temporary files.
                f"-Djava.io.tmpdir={temporary}",
            ),
            *MODULE_OPTIONS,
            f"-Dlog4j2.configurationFile={folder}/log4j2.properties",
            *(
                "-cp",
                ":".join((f"{home}/lib/*", f"{home}/planner/*", *(f"{each}/lib/*" for each in components), *self.jars)),
                _MAIN[name],
                *arguments,
            ),
        )

    def environment(self) -> dict[str, str]:
        """Return the environment of the JVMs."""
        home = Artifacts.open().component(COMPONENT)
        return {"FLINK_CONF_DIR": str(self.root / "conf"), "FLINK_PLUGINS_DIR": f"{home}/plugins"}

    def _launch(self, name: str) -> "subprocess.Popen[bytes]":
        die_with_parent = ["setpriv", "--pdeathsig", "KILL", "--"] if shutil.which("setpriv") else []
        command = [*die_with_parent, *self.command(name)]
        environment = {**os.environ, **self.environment()}
        with (self.root / f"{name}.log").open("ab") as log:
            return subprocess.Popen(command, env=environment, stdout=log, stderr=subprocess.STDOUT)

    def _is_ready(self, name: str) -> bool:
        try:
            if name == TASKMANAGER:
                overview = httpx.get(f"{self.url}/overview", timeout=5, trust_env=False).json()
                return int(overview["slots-total"]) >= self.slots and _listens(self.ports["data"])
            path = f"{self.gateway_url}/v1/info" if name == GATEWAY else f"{self.url}/overview"
            return httpx.get(path, timeout=5, trust_env=False).is_success
        except (httpx.HTTPError, ValueError, KeyError):
            return False

    def _config(self) -> Iterator[tuple[str, object]]:
        local = "127.0.0.1"
        memory = {
            "framework.heap.size": "64m",
            "task.heap.size": "320m",
            "framework.off-heap.size": "64m",
            "task.off-heap.size": "64m",
            "network.min": "64m",
            "network.max": "64m",
            "managed.size": "64m",
            "jvm-metaspace.size": "256m",
            "jvm-overhead.min": "128m",
            "jvm-overhead.max": "128m",
        }
        yield from {
            "jobmanager.rpc.address": local,
            "jobmanager.rpc.port": self.ports["rpc"],
            "jobmanager.bind-host": local,
            "blob.server.port": str(self.ports["blobs"]),
            "rest.address": local,
            "rest.bind-address": local,
            "rest.port": self.ports["rest"],
            "rest.bind-port": str(self.ports["rest"]),
            "taskmanager.host": local,
            "taskmanager.bind-host": local,
            "taskmanager.rpc.port": str(self.ports["worker"]),
            "taskmanager.data.port": self.ports["data"],
            "taskmanager.numberOfTaskSlots": self.slots,
            "taskmanager.cpu.cores": 1,
            **{f"taskmanager.memory.{name}": size for name, size in memory.items()},
            "sql-gateway.endpoint.rest.address": local,
            "sql-gateway.endpoint.rest.bind-address": local,
            "sql-gateway.endpoint.rest.port": self.ports["sql"],
            "sql-gateway.endpoint.rest.bind-port": str(self.ports["sql"]),
            "execution.checkpointing.interval": "1s",
            "execution.checkpointing.num-retained": 3,
            "execution.checkpointing.dir": f"file://{self.root}/checkpoints",
            "execution.checkpointing.savepoint-dir": f"file://{self.root}/checkpoints/savepoints",
            "execution.checkpointing.externalized-checkpoint-retention": "RETAIN_ON_CANCELLATION",
            "restart-strategy.type": "fixed-delay",
            "restart-strategy.fixed-delay.attempts": 20,
            "restart-strategy.fixed-delay.delay": "1s",
            "heartbeat.interval": "1s",
            "heartbeat.timeout": "10s",
            # An old JobManager treats missing slots as a fresh one only with SLOT_WAITING; 5 min by default.
            "slot.request.timeout": "20s",
            **SLOT_WAITING,
            "security.delegation.tokens.enabled": False,
            **flink_lineage_settings(self.lineage, str(self.root / "unsent-events")),
        }.items()


def jobs_at(url: str, name: str) -> list[Job]:
    """Return all jobs of a name that the JobManager at a URL lists, oldest first."""
    rest = FlinkClient(url)
    try:
        return sorted((job for known, job in rest.jobs() if known == name), key=lambda job: job.started)
    finally:
        rest.close()


def _listens(port: int) -> bool:
    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", port)) == 0


_LOGGING = """rootLogger.level=warn
rootLogger.appenderRef.console.ref=console
appender.console.type=Console
appender.console.name=console
appender.console.layout.type=PatternLayout
appender.console.layout.pattern=%d{ISO8601} %p %m (%c{1})%n
logger.jobs.name=org.apache.flink.runtime.executiongraph.ExecutionGraph
logger.jobs.level=info
"""
