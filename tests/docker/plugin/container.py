# SPDX-License-Identifier: Apache-2.0
"""Fake of the vendor's container resource."""

from typing import Any, ClassVar

import docker.errors
from pulumi.runtime.rpc import UNKNOWN

from tests.docker.plugin.container_config import (
    DURATIONS,
    actual_inputs,
    container_outputs,
    create_request,
    parse_duration,
    update_arguments,
)
from tests.docker.plugin.image_lookup import find_or_pull_image
from tests.docker.plugin.resource import Daemon, DockerRequestError, NotStartedError, Resource, ResourceState
from tests.vendor_plugin.properties import InvalidProperty, Properties

UPDATABLE = frozenset({"restart", "memory", "memorySwap"})
"""Inputs that an update applies to an existing container."""

_IN_PLACE = """
attach containerReadRefreshTimeoutMilliseconds cpuPeriod cpuQuota cpuSet cpuShares destroyGraceSeconds
deviceReadBps deviceReadIops deviceWriteBps deviceWriteIops healthcheck init logs maxRetryCount memory
memoryReservation memorySwap mustRun removeVolumes restart rm start tmpfs wait waitTimeout
"""

_SUPPORTED = """
name image command entrypoints envs hostname user labels.label labels.value
networksAdvanced.name networksAdvanced.aliases ports.internal ports.external ports.ip ports.protocol
volumes.containerPath volumes.volumeName volumes.readOnly tmpfs readOnly init restart memory memorySwap
capabilities.drops securityOpts logDriver logOpts start mustRun stopSignal stopTimeout destroyGraceSeconds
removeVolumes healthcheck.tests healthcheck.interval healthcheck.timeout healthcheck.startPeriod healthcheck.retries
"""


class Container(Resource):
    """`docker.Container`.

    Of the inputs whose change does not force a replacement only a few are applied to an existing container: restart,
    memory, memorySwap; and mustRun, which starts it.
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
    supported = frozenset(_SUPPORTED.split())

    def invalid_properties(self, news: Properties, inputs: Properties) -> list[InvalidProperty]:
        failures = super().invalid_properties(news, inputs)
        healthcheck = inputs.get("healthcheck")
        if isinstance(healthcheck, dict):  # else it is unknown during a preview, or invalid
            failures += [
                InvalidProperty(f"healthcheck.{key}", f"{text!r} is not a Go duration (500ms, 10s, 1m30s)")
                for key, text in healthcheck.items()
                if key in DURATIONS and isinstance(text, str) and text != UNKNOWN and parse_duration(text) is None
            ]
        return failures

    def create(self, daemon: Daemon, inputs: Properties) -> ResourceState:
        """Create a container, and start it unless `start` is off; a start that fails leaves the container."""
        try:
            find_or_pull_image(daemon, inputs["image"])
        except DockerRequestError as error:
            raise DockerRequestError(f"Unable to create container with image {inputs['image']}: {error}") from error
        client = daemon.client.api
        resource_id = client.create_container_from_config(create_request(inputs), inputs["name"])["Id"]
        try:
            for network in inputs.get("networksAdvanced", [])[1:]:  # the request to create accepts one
                client.connect_container_to_network(resource_id, network["name"], aliases=network.get("aliases"))
            if inputs["start"]:
                client.start(resource_id)
        except docker.errors.APIError as error:
            made = ResourceState(resource_id, inputs, container_outputs(client.inspect_container(resource_id)))
            raise NotStartedError(
                f"Unable to start container: Error response from daemon: {error.explanation}", made
            ) from error
        return self._state(daemon, resource_id, inputs)

    def read(self, daemon: Daemon, resource_id: str, inputs: Properties) -> ResourceState | None:
        """Read a container; `mustRun` is False if it does not run, so that the next update starts it."""
        try:
            return self._state(daemon, resource_id, inputs)
        except docker.errors.NotFound:
            return None

    def update(self, daemon: Daemon, resource_id: str, old: Properties, new: Properties) -> ResourceState:
        client = daemon.client.api
        if new["mustRun"] and not old["mustRun"] and new["start"]:
            client.start(resource_id)
        if any(old.get(key) != new.get(key) for key in UPDATABLE):
            client.update_container(resource_id, **update_arguments(new))
        return self._state(daemon, resource_id, new)

    def delete(self, daemon: Daemon, resource_id: str, inputs: Properties) -> None:
        client = daemon.client.api
        try:
            client.stop(resource_id, timeout=inputs.get("destroyGraceSeconds", 0))
        except docker.errors.NotFound as error:
            raise DockerRequestError(
                f"Error stopping container {resource_id}: Error response from daemon: {error.explanation}"
            ) from error
        client.remove_container(resource_id, v=inputs.get("removeVolumes", True), force=True)

    def _state(self, daemon: Daemon, resource_id: str, inputs: Properties) -> ResourceState:
        response = daemon.client.api.inspect_container(resource_id)
        return ResourceState(resource_id, actual_inputs(response, inputs), container_outputs(response))
