# SPDX-License-Identifier: Apache-2.0
"""Fake of the vendor's volume resource."""

import docker.errors

from tests.docker.plugin.resource import Daemon, DockerRequestError, Resource, ResourceState, docker_labels
from tests.vendor_plugin.properties import Properties

IN_USE_SECONDS = 30
"""Time limit for the removal of the volume's container."""

CONFLICT = 409


class Volume(Resource):
    """`docker.Volume`; its id is its name."""

    token = "docker:index/volume:Volume"
    arguments = "VolumeArgs"
    supported = frozenset({"name", "labels.label", "labels.value"})
    in_place = frozenset({"cluster"})
    outputs = ("mountpoint",)

    def create(self, daemon: Daemon, inputs: Properties) -> ResourceState:
        volume = daemon.client.volumes.create(inputs["name"], labels=docker_labels(inputs))
        return ResourceState(volume.id, inputs, {"mountpoint": volume.attrs["Mountpoint"]})

    def read(self, daemon: Daemon, resource_id: str, inputs: Properties) -> ResourceState | None:
        try:
            attributes = daemon.client.volumes.get(resource_id).attrs
        except docker.errors.NotFound:
            return None
        return ResourceState(resource_id, inputs, {"mountpoint": attributes["Mountpoint"]})

    def delete(self, daemon: Daemon, resource_id: str, inputs: Properties) -> None:
        last = ""
        for _ in daemon.attempts(IN_USE_SECONDS):
            try:
                daemon.client.volumes.get(resource_id).remove()
            except docker.errors.NotFound:
                return
            except docker.errors.APIError as error:
                if error.status_code != CONFLICT:
                    raise
                last = str(error.explanation)
        raise DockerRequestError(f"could not remove volume {resource_id}: {last}")
