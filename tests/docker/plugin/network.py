# SPDX-License-Identifier: Apache-2.0
"""Fake of the vendor's network resource."""

import docker.errors

from tests.docker.plugin.resource import Daemon, DockerRequestError, Resource, ResourceState, docker_labels
from tests.vendor_plugin.properties import Properties

IN_USE_SECONDS = 30
"""Time limit for the removal of the network's containers."""


class Network(Resource):
    """`docker.Network`. Every change forces a replacement."""

    token = "docker:index/network:Network"
    arguments = "NetworkArgs"
    supported = frozenset({"name", "driver", "labels.label", "labels.value"})
    outputs = ("scope",)

    def create(self, daemon: Daemon, inputs: Properties) -> ResourceState:
        network = daemon.client.networks.create(
            inputs["name"], driver=inputs.get("driver"), check_duplicate=True, labels=docker_labels(inputs)
        )
        return ResourceState(network.id, inputs, {"scope": network.attrs.get("Scope", "local")})

    def read(self, daemon: Daemon, resource_id: str, inputs: Properties) -> ResourceState | None:
        try:
            attributes = daemon.client.networks.get(resource_id).attrs
        except docker.errors.NotFound:
            return None
        real = {"name": attributes["Name"], "driver": attributes["Driver"]}
        return ResourceState(
            resource_id, inputs | {k: v for k, v in real.items() if k in inputs}, {"scope": attributes["Scope"]}
        )

    def delete(self, daemon: Daemon, resource_id: str, inputs: Properties) -> None:
        last = ""
        for _ in daemon.attempts(IN_USE_SECONDS):
            try:
                daemon.client.networks.get(resource_id).remove()
            except docker.errors.NotFound:
                return
            except docker.errors.APIError as error:
                if "has active endpoints" not in str(error):
                    raise
                last = str(error.explanation)
        raise DockerRequestError(f"could not remove network {inputs.get('name', resource_id)}: {last}")
