# SPDX-License-Identifier: Apache-2.0
"""Hands to Pulumi what the Docker target has declared, with the vendor's SDK. Only the program imports this."""

from collections.abc import Mapping
from typing import Any

import pulumi
import pulumi_docker as docker

from infra.provider.resource import LabkitResource
from infra.targets.declarations import ResourceDeclaration
from infra.targets.docker import names
from infra.targets.docker.inputs import ContainerInputs, NetworkInputs, RemoteImageInputs, VolumeInputs
from infra.targets.docker.keys import container_key
from infra.targets.docker.kind_inputs import ContainerReadyInputs
from infra.targets.registration import fingerprint, labkit_resource


class Registration:
    """Hands rendered resources to Pulumi. What is an output of another resource is filled in here.

    The vendor's provider is told not to ask the daemon before anything is made: a preview works without one, and
    `DockerHost`, which comes first, says more of what is wrong.
    """

    def __init__(self) -> None:
        self._names: dict[str, pulumi.Output[str]] = {}
        self._images: dict[str, pulumi.Output[str]] = {}
        self._vendor = pulumi.ResourceOptions(provider=docker.Provider("daemon", disable_docker_daemon_check=True))

    def __call__(
        self, wanted: ResourceDeclaration, options: pulumi.ResourceOptions, made: Mapping[str, pulumi.CustomResource]
    ) -> pulumi.CustomResource:
        """Makes one resource, given those that it needs (`infra.targets.registration.ResourceFactory`)."""
        key, inputs = wanted.key, wanted.inputs
        vendors = pulumi.ResourceOptions.merge(options, self._vendor)
        if isinstance(inputs, NetworkInputs):
            network = docker.Network(key, **_arguments(inputs), opts=vendors)
            self._names[inputs.name] = network.name
            return network
        if isinstance(inputs, VolumeInputs):
            volume = docker.Volume(key, **_arguments(inputs), opts=vendors)
            self._names[inputs.name] = volume.name
            return volume
        if isinstance(inputs, RemoteImageInputs):
            image = docker.RemoteImage(key, **_arguments(inputs), opts=vendors)
            self._images[inputs.name] = image.image_id
            return image
        if isinstance(inputs, ContainerInputs):
            arguments = self._container(inputs, fingerprint(made) if wanted.secret else None)
            # Two containers cannot have one name, nor one port.
            once = pulumi.ResourceOptions(delete_before_replace=True)
            return docker.Container(key, **arguments, opts=pulumi.ResourceOptions.merge(vendors, once))
        if isinstance(inputs, ContainerReadyInputs):
            later: dict[str, pulumi.Input[Any]] = {"container": made[container_key(inputs.service)].id}
            return LabkitResource(wanted.kind, key, inputs, options, later)
        return labkit_resource(wanted, options, made)

    def _container(self, inputs: ContainerInputs, secrets: pulumi.Output[str] | None) -> dict[str, Any]:
        """Network and volumes by their outputs: where one has to be made anew, so has the container.

        So with a public image, by its identifier: the vendor's plugin takes a name for changed at each refresh.
        """
        arguments = _arguments(inputs)
        arguments["image"] = self._images.get(inputs.image, inputs.image)
        for attached in arguments["networks_advanced"]:
            attached["name"] = self._names[attached["name"]]
        for mount in arguments["volumes"]:
            if "volume_name" in mount:
                mount["volume_name"] = self._names[mount["volume_name"]]
        if secrets is not None:
            arguments["labels"].append({"label": names.CREDENTIALS_LABEL, "value": secrets})
        return arguments


def _arguments(inputs: NetworkInputs | VolumeInputs | RemoteImageInputs | ContainerInputs) -> dict[str, Any]:
    """As the vendor's SDK takes them."""
    return inputs.model_dump(exclude_none=True)
