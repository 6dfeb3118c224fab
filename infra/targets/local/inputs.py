# SPDX-License-Identifier: Apache-2.0
"""Inputs of the local target's kinds. Separate from the kinds, so that the program does not import their clients."""

from typing import Literal

from pydantic import Field

from infra.model.inputs import Inputs
from infra.provider.preflight import Preflight


class SupervisorInputs(Inputs):
    """Inputs of `Supervisor`; `root` is deleted with the resource, `ports` are numbers by purpose."""

    root: str
    ports: dict[str, int]
    memory_mib: int
    disk_mib: int
    preflight: Preflight


class ProbeInputs(Inputs):
    """Readiness probe: a connection to `host:port`, or a 2xx response to `path` if given.

    `authority` is the path of the certificate to trust, for a response over TLS.
    """

    host: str
    port: int
    path: str
    seconds: int
    authority: str | None = None


class ProcessInputs(Inputs):
    """Inputs of `Process`, a service or task under supervisord.

    Attributes:
        root: the stack's folder (`infra.targets.local.supervisor`).
        program: its name, unique in the stack.
        script: the start script.
        files: configuration files by name.
        volumes: folders that are kept when the program is replaced.
        is_service: True for a service (started now, kept running), False for a task (started by `lab run`).
        probe: readiness probe; None: ready after running for 1 s.
        stop_seconds: time between `stop_signal` and SIGKILL.
        stop_signal: signal of a graceful shutdown.
        restart: `always`, or `on_failure` for a service that may exit with status 0 and then stays stopped.
        ports: ports that it binds, by purpose; the start fails if another process holds one.
        fingerprint: of the credentials; a change restarts it.
        revision: of the code and jars that it runs; a change restarts it.
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
