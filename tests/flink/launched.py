# SPDX-License-Identifier: Apache-2.0
"""Launcher processes, and the lineage that the service has stored of their jobs."""

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import psutil

from infra.namespaces import JOB_NAMESPACE
from infra.project import PROJECT, python_path

TIMEOUT_SECONDS = 300
TERMINAL = ("COMPLETE", "FAIL", "ABORT")
POLL_INTERVAL_SECONDS = 0.1
HANDLES_SIGNALS = "supervising "
"""Logged by a launcher that handles signals; before it, SIGTERM ends the process as any other."""


def until(holds: Callable[[], Any], what: str, seconds: float = TIMEOUT_SECONDS) -> Any:
    """Poll until the result of a function is truthy, and return it."""
    deadline = time.monotonic() + seconds
    while True:
        found = holds()
        if found:
            return found
        assert time.monotonic() < deadline, f"waited {seconds} s for {what}"
        time.sleep(POLL_INTERVAL_SECONDS)


@dataclass
class Launched:
    """Launcher process that can be killed and restarted. `command` is the module with its arguments."""

    folder: Path
    command: tuple[str, ...]
    environment: dict[str, str]
    processes: list[subprocess.Popen[bytes]] = field(default_factory=list)
    log_size: int = 0
    """Characters that earlier processes have logged."""

    @classmethod
    def of(cls, folder: Path, command: tuple[str, ...], environment: dict[str, str]) -> "Launched":
        """Create a launcher without starting it."""
        own = {
            "PYTHONPATH": python_path(PROJECT),
            "OPENLINEAGE_NAMESPACE": JOB_NAMESPACE,
            "FLINK_STATE": str(folder / "state.json"),
            "LINEAGE_OPEN_RUNS": str(folder / "open-runs.json"),
            # A killed launcher leaves its temporary files.
            "TMPDIR": str(folder),
        }
        return cls(folder, command, {**own, **environment})

    def start(self) -> "Launched":
        """Start the process; also after an earlier one has ended."""
        command = [sys.executable, "-m", *self.command]
        with (self.folder / "log").open("ab") as log:
            self.log_size = len(self.log())
            environment = {**os.environ, **self.environment}
            started = subprocess.Popen(command, cwd=PROJECT, env=environment, stdout=log, stderr=subprocess.STDOUT)
        self.processes.append(started)
        return self

    def kill(self) -> None:
        """Kill the process with SIGKILL."""
        self.processes[-1].kill()
        self.processes[-1].wait()

    def stop(self) -> int:
        """Send SIGTERM, as soon as the process handles it, and return the exit code."""
        process = self.processes[-1]
        until(lambda: HANDLES_SIGNALS in self.log()[self.log_size :] or process.poll() is not None, "the launcher")
        process.send_signal(signal.SIGTERM)
        return self.wait()

    def wait(self) -> int:
        """Wait for the process to end and return its exit code."""
        return self.processes[-1].wait(TIMEOUT_SECONDS)

    def close(self) -> None:
        """Stop the process if it still runs."""
        if self.processes and self.processes[-1].poll() is None:
            self.stop()

    def jvms(self, main: str) -> list[psutil.Process]:
        """Return the JVMs that run a main class, of those that the process has started."""
        try:
            found = psutil.Process(self.processes[-1].pid).children(recursive=True)
        except psutil.NoSuchProcess:
            return []
        return [process for process in found if main in process.cmdline()]

    def jvm(self, main: str) -> psutil.Process:
        """Wait until there is such a JVM, and return it."""
        (found,) = until(lambda: self.jvms(main), f"{main} to start")
        return found

    def log(self) -> str:
        """Return the combined log of all started processes."""
        return (self.folder / "log").read_text()

    def saved_state(self) -> dict[str, Any]:
        """Return the state that the launcher has saved."""
        path = self.folder / "state.json"
        return json.loads(path.read_text())["memory"] if path.exists() else {}


@dataclass(frozen=True)
class ReportedLineage:
    """Lineage of one job, as stored by a lineage service."""

    url: str
    name: str

    def runs(self) -> list[dict[str, Any]]:
        """Return the runs of the job, oldest first."""
        answer = self._get(f"/namespaces/{JOB_NAMESPACE}/jobs/{self.name}/runs")
        return sorted(answer.get("runs", []), key=lambda run: run["startedAt"] or run["createdAt"])

    def states(self) -> list[str]:
        return [run["state"] for run in self.runs()]

    def await_states(self, *wanted: str) -> list[dict[str, Any]]:
        """Wait until the runs have these states, oldest first, and return them."""
        until(
            lambda: self.states() == list(wanted),
            f"runs of {self.name} to have the states {wanted}, not {self.states()}",
        )
        return self.runs()

    def events(self, run_id: str | None = None) -> list[dict[str, Any]]:
        """Return the events of the job from listener and launcher, oldest first."""
        found = self._get("/events/lineage", limit=1000, sortDirection="asc", names="canonical")["events"]
        own = [event for event in found if event["job"]["name"] == self.name]
        return [event for event in own if run_id is None or event["run"]["runId"] == run_id]

    def launcher_events(self, run_id: str) -> list[dict[str, Any]]:
        """Return the launcher's events of a run."""
        return [event for event in self.events(run_id) if event["producer"].startswith("urn:lineage-lab:")]

    def launcher_event_types(self, run_id: str) -> Counter[str]:
        """Count the launcher's events of a run by type."""
        return Counter(event["eventType"] for event in self.launcher_events(run_id))

    def reports(self, run_id: str) -> tuple[int, int]:
        """Count the START events and the terminal events of a run, from listener and launcher."""
        types = [event["eventType"] for event in self.events(run_id)]
        return types.count("START"), sum(types.count(terminal) for terminal in TERMINAL)

    def edges(self) -> dict[str, list[str]]:
        """Return the current inputs and outputs of the job."""
        job = self._get(f"/namespaces/{JOB_NAMESPACE}/jobs/{self.name}")
        return {
            side: sorted(f"{one['namespace']} {one['name']}" for one in job[side]) for side in ("inputs", "outputs")
        }

    def await_edges(self, wanted: dict[str, list[str]]) -> None:
        """Wait until the job has these inputs and outputs; the listener delivers its events in the background."""
        until(lambda: self.edges() == wanted, f"the edges {wanted} of {self.name}, not {self.edges()}")

    def _get(self, path: str, **parameters: object) -> dict[str, Any]:
        answer = httpx.get(f"{self.url}/api/v1{path}", params=parameters, timeout=60, trust_env=False)
        return answer.json() if answer.is_success else {}
