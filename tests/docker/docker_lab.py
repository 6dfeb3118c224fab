# SPDX-License-Identifier: Apache-2.0
"""A real lab on Docker, driven by its own command, looked at through the daemon."""

import os
import signal
import subprocess
from collections.abc import Callable
from contextlib import suppress

import docker
from docker.models.containers import Container

from infra.targets.docker.names import PART_LABEL, ROLE_LABEL, SERVICE_ROLE, STACK_LABEL
from tests.smoke.lab_under_test import CommandResult, LabUnderTest
from tests.stack_files import SMOKE_DOCKER


class DockerLab(LabUnderTest):
    """The stack of the Docker tests."""

    def __init__(self, daemon: docker.DockerClient) -> None:
        super().__init__(SMOKE_DOCKER)
        self.daemon = daemon

    @property
    def _ours(self) -> dict[str, str]:
        return {"label": f"{STACK_LABEL}={self.stack}"}

    def containers(self) -> dict[str, Container]:
        """The containers of services and tasks, by part."""
        found = self.daemon.containers.list(all=True, filters=self._ours)
        return {container.labels[PART_LABEL]: container for container in found if PART_LABEL in container.labels}

    def services(self) -> dict[str, Container]:
        """Those that run on."""
        return {name: found for name, found in self.containers().items() if found.labels[ROLE_LABEL] == SERVICE_ROLE}

    def lives(self) -> dict[str, tuple[str, str]]:
        """Which container each part has, and since when it runs: what nobody touched has the same."""
        return {name: (found.id, found.attrs["State"]["StartedAt"]) for name, found in self.containers().items()}

    def ids(self) -> dict[str, str]:
        """Which container each part has. A service whose neighbour went may have restarted, in the same container."""
        return {name: found.id for name, found in self.containers().items()}

    def left(self) -> set[str]:
        """What the daemon has of the stack."""
        things = [
            *self.daemon.containers.list(all=True, filters=self._ours),
            *self.daemon.networks.list(filters=self._ours),
            *self.daemon.volumes.list(filters=self._ours),
        ]
        return {thing.name for thing in things}

    def interrupted(self, command: str, when: Callable[[], bool]) -> CommandResult:
        """Runs a command and sends it, and all that it has started, Ctrl-C as soon as something is so."""
        with subprocess.Popen(**self.command(command), start_new_session=True) as process:
            while not when():
                with suppress(subprocess.TimeoutExpired):
                    process.wait(timeout=0.2)
                    raise AssertionError("it ended before it could be interrupted")
            os.killpg(process.pid, signal.SIGINT)
            text, _ = process.communicate(timeout=120)
        return CommandResult(process.returncode, text)
