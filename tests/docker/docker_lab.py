# SPDX-License-Identifier: Apache-2.0
"""A lab on Docker, controlled by the `lab` command and inspected through the daemon."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress

import docker
from docker.models.containers import Container

from infra.services.connect import worker as connect
from infra.targets.labels import PART_LABEL, ROLE_LABEL, SERVICE_ROLE, STACK_LABEL
from tests.smoke.lab_under_test import CommandResult, LabUnderTest
from tests.stack_files import SMOKE_DOCKER

_HERDER_THREAD = '"DistributedHerder'
_DUMP_END = "JNI global ref"
"""Part of the last line of a thread dump."""

_DUMP_SECONDS = 20


class DockerLab(LabUnderTest):
    """A stack of the Docker tests."""

    def __init__(self, daemon: docker.DockerClient, stack: str = SMOKE_DOCKER) -> None:
        super().__init__(stack)
        self.daemon = daemon

    def log(self, service: str) -> str:
        return self.containers()[service].logs().decode(errors="replace")

    def lab(self, *words: str, seconds: int = 600) -> CommandResult:
        """Run `bin/lab WORDS --stack STACK`. If `up` fails, Connect's threads say what it waits for."""
        result = super().lab(*words, seconds=seconds)
        if result.status != 0 and words[0] == "up":
            print(self._threads_of_connect(), file=sys.stderr)
        return result

    def _threads_of_connect(self) -> str:
        """Return the stack of the thread that starts Connect, if it runs."""
        container = self.containers().get(connect.NAME)
        if container is None or container.status != "running":
            return "Connect does not run"
        container.kill("SIGQUIT")
        deadline = time.monotonic() + _DUMP_SECONDS
        while _DUMP_END not in (log := container.logs(tail=2_000).decode(errors="replace")):
            if time.monotonic() > deadline:
                return f"Connect wrote no thread dump within {_DUMP_SECONDS} s"
            time.sleep(0.2)
        return "\n\n".join(stack for stack in log.split("\n\n") if _HERDER_THREAD in stack) or "no herder thread"

    @property
    def _filter(self) -> dict[str, str]:
        return {"label": f"{STACK_LABEL}={self.stack}"}

    def containers(self) -> dict[str, Container]:
        """Return the containers of services and tasks by name."""
        found = self.daemon.containers.list(all=True, filters=self._filter, ignore_removed=True)
        return {container.labels[PART_LABEL]: container for container in found if PART_LABEL in container.labels}

    def services(self) -> dict[str, Container]:
        """Return the containers of services by name."""
        return {name: found for name, found in self.containers().items() if found.labels[ROLE_LABEL] == SERVICE_ROLE}

    def start_times(self) -> dict[str, tuple[str, str]]:
        """Return the container id and start time of each part, which change with any restart."""
        return {name: (found.id, found.attrs["State"]["StartedAt"]) for name, found in self.containers().items()}

    def ids(self) -> dict[str, str]:
        """Return the container id of each part, which a restart of a service does not change."""
        return {name: found.id for name, found in self.containers().items()}

    def kill(self, service: str) -> None:
        """Kill the container of a service."""
        self.containers()[service].kill()

    def object_names(self) -> set[str]:
        """Return the names of the stack's containers, networks and volumes."""
        found = [
            *self.daemon.containers.list(all=True, filters=self._filter),
            *self.daemon.networks.list(filters=self._filter),
            *self.daemon.volumes.list(filters=self._filter),
        ]
        return {item.name for item in found}

    def interrupt(self, command: str, when: Callable[[], bool]) -> CommandResult:
        """Run a command and send SIGINT to its process group as soon as `when` returns True."""
        with subprocess.Popen(**self.command(command), start_new_session=True) as process:
            while not when():
                with suppress(subprocess.TimeoutExpired):
                    process.wait(timeout=0.2)
                    raise AssertionError(f"lab {command} ended before it could be interrupted")
            os.killpg(process.pid, signal.SIGINT)
            text, _ = process.communicate(timeout=120)
        return CommandResult(process.returncode, text)
