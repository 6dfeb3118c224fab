# SPDX-License-Identifier: Apache-2.0
"""Execution of commands in containers of pods, as `kubectl exec` does it."""

import asyncio
import io
import json
from collections.abc import Sequence
from typing import IO

from infra.errors import ServiceError
from infra.targets.kubernetes.channels import CHUNK, ChannelConnector, Channels, ChannelsClosed
from infra.targets.kubernetes.client import Cluster, KubernetesObject
from infra.targets.kubernetes.objects import PODS
from infra.targets.kubernetes.pod_stage import main_container

INPUT, OUTPUT, ERRORS, STATUS = 0, 1, 2, 3
"""Channels of a command; the last one reports its end."""

_CAUSE = "ExitCode"


class CommandError(ServiceError):
    """A command in a pod failed.

    Attributes:
        status: its exit status; None if it did not start or its end is unknown.
    """

    def __init__(self, message: str, status: int | None) -> None:
        super().__init__(message)
        self.status = status


def execute(
    cluster: Cluster,
    pod: KubernetesObject,
    command: Sequence[str],
    source: IO[bytes] | None = None,
    destination: IO[bytes] | None = None,
) -> None:
    """Run a command in the main container of a pod.

    Args:
        cluster: cluster of the pod.
        pod: a running pod.
        command: program and arguments.
        source: standard input. The protocol cannot close it: the command must read as many bytes as there are.
        destination: receives standard output.

    Raises:
        CommandError: the command failed; with its error output.
        RequestError: the API server rejected the request.
    """
    asyncio.run(_execute(cluster, pod, command, source, destination or io.BytesIO()))


async def _execute(
    cluster: Cluster, pod: KubernetesObject, command: Sequence[str], source: IO[bytes] | None, destination: IO[bytes]
) -> None:
    namespace, name = pod["metadata"]["namespace"], pod["metadata"]["name"]
    attempt = f"run {command[0]} in {PODS.described(namespace, name)}"
    query = [
        *(("command", word) for word in command),
        ("container", main_container(pod)),
        ("stdin", str(source is not None).lower()),
        ("stdout", "true"),
        ("stderr", "true"),
    ]
    channels = await ChannelConnector(cluster).open(PODS.path(namespace, name, "exec"), query, attempt)
    sending = asyncio.create_task(_send(channels, source)) if source else None
    errors = bytearray()
    try:
        while True:
            channel, data = await channels.receive()
            if channel == OUTPUT:
                destination.write(data)
            elif channel == ERRORS:
                errors += data
            elif channel == STATUS:
                _check(attempt, bytes(data), errors.decode(errors="replace"))
                return
    except ChannelsClosed as error:
        raise CommandError(f"the connection was lost while {cluster} was to {attempt}", None) from error
    finally:
        if sending:
            sending.cancel()
            await asyncio.gather(sending, return_exceptions=True)
        await channels.close()


async def _send(channels: Channels, source: IO[bytes]) -> None:
    while data := source.read(CHUNK):
        await channels.send(INPUT, data)


def _check(attempt: str, report: bytes, errors: str) -> None:
    """Raise CommandError if a command's final report is not one of success."""
    status = json.loads(report)
    if status.get("status") == "Success":
        return
    causes = status.get("details", {}).get("causes") or ()
    code = next((int(cause["message"]) for cause in causes if cause.get("reason") == _CAUSE), None)
    text = " ".join(errors.split()) or status.get("message", "")
    raise CommandError(f"could not {attempt}: {text}", code)
