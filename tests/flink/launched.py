# SPDX-License-Identifier: Apache-2.0
"""Launchers as processes, and what the lineage service knows of their jobs, as a test sees them."""

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

from infra.namespaces import JOBS
from infra.project import PROJECT, python_path

PATIENCE_SECONDS = 120
TERMINAL = ("COMPLETE", "FAIL", "ABORT")
BETWEEN_LOOKS = 0.1


def until(holds: Callable[[], Any], what: str, seconds: float = PATIENCE_SECONDS) -> Any:
    """Waits for something, and returns it."""
    deadline = time.monotonic() + seconds
    while True:
        found = holds()
        if found:
            return found
        assert time.monotonic() < deadline, f"waited {seconds} s for {what}"
        time.sleep(BETWEEN_LOOKS)


@dataclass
class Launched:
    """A launcher, which may be killed and started again. `folder` is a test's own, `command` what `python -m` runs."""

    folder: Path
    command: tuple[str, ...]
    environment: dict[str, str]
    processes: list[subprocess.Popen[bytes]] = field(default_factory=list)

    @classmethod
    def of(cls, folder: Path, command: tuple[str, ...], environment: dict[str, str]) -> "Launched":
        """One that is not started yet."""
        own = {
            "PYTHONPATH": python_path(PROJECT),
            "OPENLINEAGE_NAMESPACE": JOBS,
            "FLINK_STATE": str(folder / "state.json"),
            "LINEAGE_OPEN_RUNS": str(folder / "untold.json"),
        }
        return cls(folder, command, {**own, **environment})

    def start(self) -> "Launched":
        """Starts it, once more if it was there before."""
        command = [sys.executable, "-m", *self.command]
        with (self.folder / "log").open("ab") as log:
            environment = {**os.environ, **self.environment}
            started = subprocess.Popen(command, cwd=PROJECT, env=environment, stdout=log, stderr=subprocess.STDOUT)
        self.processes.append(started)
        return self

    def kill(self) -> None:
        """As a power cut would."""
        self.processes[-1].kill()
        self.processes[-1].wait()

    def stop(self) -> int:
        """Asks it to stop, and returns its exit code."""
        self.processes[-1].send_signal(signal.SIGTERM)
        return self.wait()

    def wait(self) -> int:
        """Until it has ended; its exit code."""
        return self.processes[-1].wait(PATIENCE_SECONDS)

    def end(self) -> None:
        """At the end of a test: nothing of it may be left."""
        if self.processes and self.processes[-1].poll() is None:
            self.stop()

    def said(self) -> str:
        """What it has printed, in all its lives."""
        return (self.folder / "log").read_text()

    def remembers(self) -> dict[str, Any]:
        """What it keeps for its next life."""
        path = self.folder / "state.json"
        return json.loads(path.read_text())["memory"] if path.exists() else {}


@dataclass(frozen=True)
class ReportedLineage:
    """What a lineage service knows of one job."""

    url: str
    name: str

    def runs(self) -> list[dict[str, Any]]:
        """Its runs, the oldest first."""
        answer = self._get(f"/namespaces/{JOBS}/jobs/{self.name}/runs")
        return sorted(answer.get("runs", []), key=lambda run: run["startedAt"] or run["createdAt"])

    def states(self) -> list[str]:
        return [run["state"] for run in self.runs()]

    def await_states(self, *wanted: str) -> list[dict[str, Any]]:
        """Waits until the runs stand so, and returns them."""
        until(lambda: self.states() == list(wanted), f"{self.name} to stand at {wanted}, not {self.states()}")
        return self.runs()

    def events(self, run_id: str | None = None) -> list[dict[str, Any]]:
        """Every event of the job, of the listener and of the launcher, the oldest first."""
        found = self._get("/events/lineage", limit=1000, sortDirection="asc")["events"]
        own = [event for event in found if event["job"]["name"] == self.name]
        return [event for event in own if run_id is None or event["run"]["runId"] == run_id]

    def from_launcher(self, run_id: str) -> list[dict[str, Any]]:
        """What the launcher has said of a run."""
        return [event for event in self.events(run_id) if event["producer"].startswith("urn:lineage-lab:")]

    def by_launcher(self, run_id: str) -> Counter[str]:
        """How often the launcher has said what of a run."""
        return Counter(event["eventType"] for event in self.from_launcher(run_id))

    def edges(self) -> dict[str, list[str]]:
        """What the job reads and writes now."""
        job = self._get(f"/namespaces/{JOBS}/jobs/{self.name}")
        return {
            side: sorted(f"{one['namespace']} {one['name']}" for one in job[side]) for side in ("inputs", "outputs")
        }

    def _get(self, path: str, **parameters: object) -> dict[str, Any]:
        answer = httpx.get(f"{self.url}/api/v1{path}", params=parameters, timeout=20, trust_env=False)
        return answer.json() if answer.is_success else {}
