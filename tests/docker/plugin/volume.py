# SPDX-License-Identifier: Apache-2.0
"""Named volumes of the daemon."""

import docker.errors

from tests.docker.plugin.properties import Properties
from tests.docker.plugin.resource import Daemon, Made, Refused, Resource, labels_of

IN_USE_SECONDS = 20
"""How long the container that had a volume may take to be gone."""

CONFLICT = 409


class Volume(Resource):
    """`docker.Volume`; its id is its name."""

    token = "docker:index/volume:Volume"
    arguments = "VolumeArgs"
    learnt = frozenset({"name", "labels.label", "labels.value"})
    in_place = frozenset({"cluster"})
    outputs = ("mountpoint",)

    def create(self, daemon: Daemon, inputs: Properties) -> Made:
        volume = daemon.client.volumes.create(inputs["name"], labels=labels_of(inputs))
        return Made(volume.id, inputs, {"mountpoint": volume.attrs["Mountpoint"]})

    def read(self, daemon: Daemon, known: str, inputs: Properties) -> Made | None:
        try:
            attributes = daemon.client.volumes.get(known).attrs
        except docker.errors.NotFound:
            return None
        return Made(known, inputs, {"mountpoint": attributes["Mountpoint"]})

    def delete(self, daemon: Daemon, known: str, inputs: Properties) -> None:
        last = "it was not asked"
        for _ in daemon.attempts(IN_USE_SECONDS):
            try:
                daemon.client.volumes.get(known).remove()
            except docker.errors.NotFound:
                return
            except docker.errors.APIError as error:
                if error.status_code != CONFLICT:
                    raise
                last = str(error.explanation)
        raise Refused(f"could not remove volume {known}: {last}")
