# SPDX-License-Identifier: Apache-2.0
"""Connections to the Docker daemon, and its errors as messages with remedies."""

import functools
import io
import os
import re
import socket
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager

import docker
import requests
from docker import DockerClient
from docker.context import ContextAPI
from docker.errors import DockerException, NotFound
from docker.models.containers import Container
from docker.types.daemon import CancellableStream

from infra.errors import LabError, ServiceError

MINIMUM_API = (1, 41)
"""Docker 20.10, the oldest that this was run with."""

DEFAULT_HOST = "unix:///var/run/docker.sock"

CONNECT_SECONDS = 10
REQUEST_SECONDS = 120
"""To stop a container may take as long as that is given to do so."""

LOG_LINES = 30


class EngineError(LabError):
    """No usable Docker daemon."""


def engine_host() -> str:
    """The daemon's address: `DOCKER_HOST`, else what the current context of the `docker` command says."""
    if host := os.environ.get("DOCKER_HOST"):
        return host
    try:
        context = ContextAPI.get_current_context()
    except (DockerException, ValueError, OSError):  # a broken configuration of a command that nobody here needs
        return DEFAULT_HOST
    return str(context.Host) if context and context.Host else DEFAULT_HOST


def connect() -> DockerClient:
    """A client of the daemon.

    Raises:
        EngineError: nobody answers, it is not for this user, or it is too old.
    """
    host = engine_host()
    try:
        _check_socket(host)
        client = docker.from_env(timeout=REQUEST_SECONDS, environment={**os.environ, "DOCKER_HOST": host})
        version = str(client.version()["ApiVersion"])
    except (DockerException, requests.RequestException, OSError) as error:
        raise EngineError(f"the Docker daemon at {host} cannot be reached: {_cause_and_remedy(error)}") from error
    if tuple(int(part) for part in version.split(".")) < MINIMUM_API:
        client.close()
        wanted = ".".join(map(str, MINIMUM_API))
        raise EngineError(
            f"the Docker daemon at {host} is too old: its API is {version}, {wanted} is needed (Docker 20.10 of "
            "2020). Upgrade it, or point DOCKER_HOST at another one"
        )
    return client


def _check_socket(host: str) -> None:
    """Raises OSError where nobody listens on a local socket: the SDK would leave its own open."""
    scheme, _, path = host.partition("://")
    if scheme == "unix":
        with socket.socket(socket.AF_UNIX) as door:
            door.connect(path)


def _cause_and_remedy(error: BaseException) -> str:
    """What keeps somebody from the daemon, and what to do."""
    text = str(error)
    if "Permission denied" in text or "PermissionError" in text:
        return (
            "this user may not use it. Join the group that owns its socket (`sudo usermod -aG docker $USER`, then "
            "log in anew), or run a rootless daemon and point DOCKER_HOST at it"
        )
    if any(known in text for known in ("FileNotFoundError", "No such file", "ConnectionRefused", "Connection refused")):
        return (
            "none answers there. Start it (Docker Desktop; `sudo systemctl start docker`), or point DOCKER_HOST at "
            "the one to use; without Docker the lab runs on this machine's own processes: bin/lab up --stack dev"
        )
    return f"{_shortened(text)}. `docker version` should work first; DOCKER_HOST says which daemon is meant"


@contextmanager
def docker_errors(what: str) -> Iterator[None]:
    """Convert errors of the Docker SDK; `what` is the failed operation, `start kafka` for example.

    Raises:
        ServiceError: with its explanation.
    """
    try:
        yield
    except (DockerException, requests.RequestException) as error:
        raise ServiceError(f"the Docker daemon could not {what}: {explanation(error)}") from error


def explanation(error: BaseException) -> str:
    """What the daemon said, without the request around it; of known causes the remedy too."""
    text = _shortened(str(getattr(error, "explanation", None) or error))
    if found := re.search(r"(?:Bind for|listen tcp4?) \S*?:(\d+)(?: failed|:)", text):
        return f"{text}. Somebody else has port {found[1]}: end the holder, or set another lineage-lab:portOffset"
    if "no space left on device" in text:
        return f"{text}. ResourceFactory room where Docker keeps its data: `docker system df`, `docker system prune`"
    if "all predefined address pools" in text:
        return f"{text}. Remove networks that nobody uses: `docker network prune`"
    return text


def _shortened(text: str) -> str:
    return " ".join(text.split())[:600]


def find(client: DockerClient, name: str) -> Container | None:
    """Return the container with a name or id; None if it does not exist."""
    try:
        return client.containers.get(name)
    except NotFound:
        return None


def text_of(container: Container, path: str) -> str | None:
    """What a file of a container says, whether the container runs or not; None where there is no such file."""
    try:
        chunks, _ = container.get_archive(path)
    except NotFound:
        return None
    with tarfile.open(fileobj=io.BytesIO(b"".join(chunks))) as archive:
        file = archive.extractfile(archive.getmembers()[0])
        return file.read().decode() if file else ""


@contextmanager
def closed(stream: "CancellableStream[bytes]") -> Iterator["CancellableStream[bytes]"]:
    """Closes a stream that may not be read to its end. Its own `close` leaves the socket to the garbage collector."""
    try:
        yield stream
    finally:
        stream._response.close()  # type: ignore[attr-defined]


def log_tail(container: Container, lines: int = LOG_LINES) -> str:
    """Return the last lines of a container's log, indented."""
    text = container.logs(tail=lines, timestamps=False).decode(errors="replace").rstrip()
    return "\n".join(f"    {line}" for line in text.splitlines()) or "    (nothing)"


@functools.cache
def shared_client() -> DockerClient:
    """One client for all the resources of a process: it keeps its connections, and threads may share it."""
    return connect()
