# SPDX-License-Identifier: Apache-2.0
"""Containers of the daemon."""

from typing import Any, ClassVar

import docker.errors
from pulumi.runtime.rpc import UNKNOWN

from tests.docker.plugin.container_config import (
    TIMES,
    inputs_of,
    nanoseconds,
    outputs_of,
    request,
    update_arguments,
)
from tests.docker.plugin.properties import Properties, Wrong
from tests.docker.plugin.resource import Daemon, Made, NotStarted, Refused, Resource

APPLIED = frozenset({"restart", "memory", "memorySwap"})
"""What an update changes of a container that is there."""

_IN_PLACE = """
attach containerReadRefreshTimeoutMilliseconds cpuPeriod cpuQuota cpuSet cpuShares destroyGraceSeconds
deviceReadBps deviceReadIops deviceWriteBps deviceWriteIops healthcheck init logs maxRetryCount memory
memoryReservation memorySwap mustRun removeVolumes restart rm start tmpfs wait waitTimeout
"""

_LEARNT = """
name image command entrypoints envs hostname user labels.label labels.value
networksAdvanced.name networksAdvanced.aliases ports.internal ports.external ports.ip ports.protocol
volumes.containerPath volumes.volumeName volumes.readOnly tmpfs readOnly init restart memory memorySwap
capabilities.drops securityOpts logDriver logOpts start mustRun stopSignal stopTimeout destroyGraceSeconds
removeVolumes healthcheck.tests healthcheck.interval healthcheck.timeout healthcheck.startPeriod healthcheck.retries
"""


class Container(Resource):
    """`docker.Container`.

    Of the inputs whose change does not force a replacement only a few reach a container that is there, as with the
    vendor's plugin: restart, memory, memorySwap; and mustRun, which starts it. Unlike the vendor's, it does not look
    after the start whether a container that must run does, and removes none that does not.
    """

    token = "docker:index/container:Container"
    arguments = "ContainerArgs"
    outputs = ("exitCode", "networkDatas")
    defaults: ClassVar[dict[str, Any]] = {
        "attach": False,
        "containerReadRefreshTimeoutMilliseconds": 15000,
        "logs": False,
        "mustRun": True,
        "readOnly": False,
        "removeVolumes": True,
        "restart": "no",
        "rm": False,
        "start": True,
        "stdinOpen": False,
        "tty": False,
        "wait": False,
        "waitTimeout": 60,
    }
    in_place = frozenset(_IN_PLACE.split())
    learnt = frozenset(_LEARNT.split())

    def mistakes(self, news: Properties, inputs: Properties) -> list[Wrong]:
        failures = super().mistakes(news, inputs)
        healthcheck = inputs.get("healthcheck")
        if isinstance(healthcheck, dict):  # else it is not known yet, or wrong
            failures += [
                Wrong(f"healthcheck.{key}", f"{text!r} is no duration as Go has it (500ms, 10s, 1m30s)")
                for key, text in healthcheck.items()
                if key in TIMES and isinstance(text, str) and text != UNKNOWN and nanoseconds(text) is None
            ]
        return failures

    def create(self, daemon: Daemon, inputs: Properties) -> Made:
        client = daemon.client.api
        try:
            known = client.create_container_from_config(request(inputs), inputs["name"])["Id"]
        except docker.errors.ImageNotFound as error:
            raise Refused(
                f"could not create container {inputs['name']}: there is no image {inputs['image']}"
            ) from error
        try:
            for network in inputs.get("networksAdvanced", [])[1:]:  # the daemon takes one with the request
                client.connect_container_to_network(known, network["name"], aliases=network.get("aliases"))
            if inputs["start"]:
                client.start(known)
        except docker.errors.APIError as error:
            made = self._made(daemon, known, inputs)
            raise NotStarted(
                f"container {inputs['name']} is there, but not started: {error.explanation}", made
            ) from error
        return self._made(daemon, known, inputs)

    def read(self, daemon: Daemon, known: str, inputs: Properties) -> Made | None:
        """A container that must run and does not is told by `mustRun`: the update that follows starts it."""
        try:
            answer = daemon.client.api.inspect_container(known)
        except docker.errors.NotFound:
            return None
        must_run = inputs["mustRun"] and answer["State"]["Running"]
        return Made(known, inputs_of(answer, inputs) | {"mustRun": must_run}, outputs_of(answer))

    def update(self, daemon: Daemon, known: str, old: Properties, new: Properties) -> Made:
        client = daemon.client.api
        if any(old.get(key) != new.get(key) for key in APPLIED):
            client.update_container(known, **update_arguments(new))
        if new["mustRun"] and not old["mustRun"]:
            client.start(known)
        return self._made(daemon, known, new)

    def delete(self, daemon: Daemon, known: str, inputs: Properties) -> None:
        client = daemon.client.api
        try:
            if grace := inputs.get("destroyGraceSeconds", 0):
                client.stop(known, timeout=grace)
            client.remove_container(known, v=inputs.get("removeVolumes", True), force=True)
        except docker.errors.NotFound:
            return

    def _made(self, daemon: Daemon, known: str, inputs: Properties) -> Made:
        answer = daemon.client.api.inspect_container(known)
        return Made(known, inputs_of(answer, inputs), outputs_of(answer))
