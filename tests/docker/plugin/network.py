# SPDX-License-Identifier: Apache-2.0
"""Networks of the daemon."""

import docker.errors

from tests.docker.plugin.properties import Properties
from tests.docker.plugin.resource import Daemon, Made, Refused, Resource, labels_of

IN_USE_SECONDS = 30
"""How long a network may still have containers that are being removed."""


class Network(Resource):
    """`docker.Network`. Everything about it forces a replacement."""

    token = "docker:index/network:Network"
    arguments = "NetworkArgs"
    learnt = frozenset({"name", "driver", "labels.label", "labels.value"})
    outputs = ("scope",)

    def create(self, daemon: Daemon, inputs: Properties) -> Made:
        network = daemon.client.networks.create(
            inputs["name"], driver=inputs.get("driver"), check_duplicate=True, labels=labels_of(inputs)
        )
        return Made(network.id, inputs, {"scope": network.attrs.get("Scope", "local")})

    def read(self, daemon: Daemon, known: str, inputs: Properties) -> Made | None:
        try:
            attributes = daemon.client.networks.get(known).attrs
        except docker.errors.NotFound:
            return None
        real = {"name": attributes["Name"], "driver": attributes["Driver"]}
        return Made(known, inputs | {k: v for k, v in real.items() if k in inputs}, {"scope": attributes["Scope"]})

    def delete(self, daemon: Daemon, known: str, inputs: Properties) -> None:
        last = "it was not asked"
        for _ in daemon.attempts(IN_USE_SECONDS):
            try:
                daemon.client.networks.get(known).remove()
            except docker.errors.NotFound:
                return
            except docker.errors.APIError as error:
                if "has active endpoints" not in str(error):
                    raise
                last = str(error.explanation)
        raise Refused(f"could not remove network {inputs.get('name', known)}: {last}")
