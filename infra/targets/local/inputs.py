# SPDX-License-Identifier: Apache-2.0
"""Inputs of the local target's kinds. The program imports these, and never the kinds with their clients."""

from typing import Literal

from pydantic import Field

from infra.model.inputs import Inputs
from infra.provider.preflight import Preflight


class SupervisorInputs(Inputs):
    """`root` is the stack's folder; it is removed with the resource. `ports` says who wants which port."""

    root: str
    ports: dict[str, int]
    memory_mib: int
    disk_mib: int
    preflight: Preflight


class ProbeInputs(Inputs):
    """Ready is a connection to `host:port`, or a 2xx answer to `path` where one is given."""

    host: str
    port: int
    path: str
    seconds: int


class ProcessInputs(Inputs):
    """A program.

    Attributes:
        root: the stack's folder (`infra.targets.local.supervisor`).
        program: its name, unique in the stack.
        script: the shell script that becomes the program.
        files: configuration files by name.
        volumes: folders that outlive the program.
        is_service: a service (started now, kept running) rather than a task (started by `lab run`).
        probe: how to tell that it is ready; None: it is once it has run for a second.
        stop_seconds: time between `stop_signal` and SIGKILL.
        stop_signal: what asks it to stop.
        restart: `always`, or `on_failure` for a service that may end well and is then left alone.
        ports: what it binds, by what for: refused where somebody else has one already.
        fingerprint: of the credentials: it restarts when they change.
        revision: of the code and jars it runs: it restarts when they change.
    """

    root: str
    program: str
    script: str
    files: dict[str, str]
    volumes: list[str]
    is_service: bool
    stop_seconds: int
    fingerprint: str
    revision: str
    ports: dict[str, int] = Field(default_factory=dict)
    stop_signal: Literal["TERM", "INT"] = "TERM"
    restart: Literal["always", "on_failure"] = "always"
    probe: ProbeInputs | None = None
