# SPDX-License-Identifier: Apache-2.0
"""Connection to the Docker daemon, and conversion of its errors to messages with remedies."""

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
"""API version of Docker 20.10, the oldest tested release."""

DEFAULT_HOST = "unix:///var/run/docker.sock"

CONNECT_SECONDS = 10
REQUEST_SECONDS = 120
"""Timeout of a request; longer than the longest stop of a container."""

LOG_LINES = 30


class EngineError(LabError):
    """No usable Docker daemon."""


def engine_host() -> str:
    """Return the daemon's address as the `docker` command: `DOCKER_HOST`, `DOCKER_CONTEXT`, else the current context.

    Raises:
        EngineError: the context of `DOCKER_CONTEXT` cannot be read.
    """
    if host := os.environ.get("DOCKER_HOST"):
        return host
    name = os.environ.get("DOCKER_CONTEXT") or None
    try:
        context = ContextAPI.get_context(name)
    except (DockerException, ValueError, OSError):  # damaged configuration of the `docker` command, which is optional
        context = None
    if name and context is None:
        raise EngineError(
            f"the Docker context {name} of DOCKER_CONTEXT cannot be read. `docker context ls` lists the existing ones; "
            "or set DOCKER_HOST to the daemon's address"
        )
    return str(context.Host) if context and context.Host else DEFAULT_HOST


def connect() -> DockerClient:
    """Return a client of the daemon.

    Raises:
        EngineError: the daemon does not respond, refuses this user, or is too old.
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
        required = ".".join(map(str, MINIMUM_API))
        raise EngineError(
            f"the Docker daemon at {host} is too old: its API version is {version}, {required} is required (Docker "
            "20.10 of 2020). Upgrade it, or set DOCKER_HOST to another daemon"
        )
    return client


def _check_socket(host: str) -> None:
    """Raise OSError if no process listens on a local socket; the SDK would leave its own socket open."""
    scheme, _, path = host.partition("://")
    if scheme == "unix":
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(path)


def _cause_and_remedy(error: BaseException) -> str:
    """Return the cause of a failed connection and the remedy."""
    text = str(error)
    if "Permission denied" in text or "PermissionError" in text:
        return (
            "permission denied. Join the group that owns its socket (`sudo usermod -aG docker $USER`, then log in "
            "again), or run a rootless daemon and set DOCKER_HOST to its address"
        )
    if any(known in text for known in ("FileNotFoundError", "No such file", "ConnectionRefused", "Connection refused")):
        return (
            "no daemon listens there. Start it (Docker Desktop; `sudo systemctl start docker`), or set DOCKER_HOST to "
            "another daemon; without Docker, run the lab as processes of this machine: bin/lab up --stack dev"
        )
    return f"{_one_line(text)}. Check it with `docker version`; DOCKER_HOST selects the daemon"


@contextmanager
def docker_errors(operation: str) -> Iterator[None]:
    """Convert errors of the Docker SDK; `operation` is for the message, `start kafka` for example.

    Raises:
        ServiceError: the operation failed.
    """
    try:
        yield
    except (DockerException, requests.RequestException) as error:
        raise ServiceError(f"the Docker daemon could not {operation}: {error_message(error)}") from error


def error_message(error: BaseException) -> str:
    """Return the daemon's error message without the request, with the remedy of known causes."""
    text = _one_line(str(getattr(error, "explanation", None) or error))
    if found := re.search(r"(?:Bind for|listen tcp4?) \S*?:(\d+)(?: failed|:)", text):
        return f"{text}. Port {found[1]} is in use: stop the process that holds it, or set lineage-lab:portOffset"
    if "no space left on device" in text:
        return f"{text}. Free disk space in Docker's data folder: `docker system df`, `docker system prune`"
    if "all predefined address pools" in text:
        return f"{text}. Remove unused networks: `docker network prune`"
    return text


def _one_line(text: str) -> str:
    return " ".join(text.split())[:600]


def image_names(client: DockerClient) -> set[str]:
    """Return the identifiers and references of all images that the daemon has; one request."""
    with docker_errors("list images"):
        found = client.api.images()
    return {name for image in found for name in (image["Id"], *(image["RepoTags"] or ()))}


def find_container(client: DockerClient, name: str) -> Container | None:
    """Return the container with a name or id; None if it does not exist."""
    try:
        return client.containers.get(name)
    except NotFound:
        return None


def read_text(container: Container, path: str) -> str | None:
    """Return the text of a file in a running or stopped container; None if the file does not exist."""
    return next((content.decode() for content in read_files(container, path).values()), None)


def read_files(container: Container, path: str) -> dict[str, bytes]:
    """Return the content of a file or of all files of a folder in a running or stopped container.

    Keys are paths in the folder, or the name of the file. Empty if it does not exist.
    """
    try:
        chunks, _ = container.get_archive(path)
    except NotFound:
        return {}
    with tarfile.open(fileobj=io.BytesIO(b"".join(chunks))) as archive:
        found = {member.name: archive.extractfile(member) for member in archive.getmembers() if member.isfile()}
        # The first part of a path is the folder itself.
        return {name.partition("/")[2] or name: file.read() for name, file in found.items() if file}


@contextmanager
def closing_stream(stream: "CancellableStream[bytes]") -> Iterator["CancellableStream[bytes]"]:
    """Close a stream that may not be read to its end; its own `close` leaves the socket to the garbage collector."""
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
    """Return the client that all threads of this process share; it reuses connections."""
    return connect()
