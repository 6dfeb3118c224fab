# SPDX-License-Identifier: Apache-2.0
"""Registration of the Docker target's resources with Pulumi. Imported by the program only: Pulumi's SDKs are slow."""

from collections.abc import Mapping
from typing import Any

import pulumi
import pulumi_docker as docker

from infra.provider.resource import LabkitResource
from infra.targets.declarations import ResourceDeclaration
from infra.targets.docker.inputs import ContainerInputs, NetworkInputs, RemoteImageInputs, VolumeInputs
from infra.targets.docker.keys import container_key
from infra.targets.docker.kind_inputs import ContainerReadyInputs
from infra.targets.labels import CREDENTIALS_LABEL
from infra.targets.registration import credentials_fingerprint, labkit_resource


class DockerResourceFactory:
    """Registers resources and sets the inputs that are outputs of other resources.

    Args:
        host: the daemon's address. It is part of the state: `pulumi refresh` and `pulumi destroy` use the one of the
            last update unless they run the program (https://github.com/pulumi/pulumi-docker/issues/1106).
    """

    def __init__(self, host: str) -> None:
        self._names: dict[str, pulumi.Output[str]] = {}
        self._images: dict[str, pulumi.Output[str]] = {}
        self._vendor = pulumi.ResourceOptions(provider=docker.Provider("daemon", host=host))

    def __call__(
        self, wanted: ResourceDeclaration, options: pulumi.ResourceOptions, made: Mapping[str, pulumi.CustomResource]
    ) -> pulumi.CustomResource:
        """Register one resource (`infra.targets.registration.ResourceFactory`)."""
        key, inputs = wanted.key, wanted.inputs
        with_provider = pulumi.ResourceOptions.merge(options, self._vendor)
        if isinstance(inputs, NetworkInputs):
            network = docker.Network(key, **_sdk_arguments(inputs), opts=with_provider)
            self._names[inputs.name] = network.name
            return network
        if isinstance(inputs, VolumeInputs):
            volume = docker.Volume(key, **_sdk_arguments(inputs), opts=with_provider)
            self._names[inputs.name] = volume.name
            return volume
        if isinstance(inputs, RemoteImageInputs):
            image = docker.RemoteImage(key, **_sdk_arguments(inputs), opts=with_provider)
            self._images[inputs.name] = image.image_id
            return image
        if isinstance(inputs, ContainerInputs):
            arguments = self._container_arguments(inputs, credentials_fingerprint(made) if wanted.secret else None)
            # The replacement has the name and the ports of the old container.
            delete_first = pulumi.ResourceOptions(delete_before_replace=True)
            return docker.Container(key, **arguments, opts=pulumi.ResourceOptions.merge(with_provider, delete_first))
        if isinstance(inputs, ContainerReadyInputs):
            later: dict[str, pulumi.Input[Any]] = {"container": made[container_key(inputs.service)].id}
            return LabkitResource(wanted.kind, key, inputs, options, later)
        return labkit_resource(wanted, options, made)

    def _container_arguments(self, inputs: ContainerInputs, secrets: pulumi.Output[str] | None) -> dict[str, Any]:
        """Return the arguments of a container, with network, volumes and public image as outputs of their resources.

        A replaced network or volume replaces the container too, as does a public image with another identifier.
        """
        arguments = _sdk_arguments(inputs)
        arguments["image"] = self._images.get(inputs.image, inputs.image)
        for attached in arguments["networks_advanced"]:
            attached["name"] = self._names[attached["name"]]
        for mount in arguments["volumes"]:
            if "volume_name" in mount:
                mount["volume_name"] = self._names[mount["volume_name"]]
        if secrets is not None:
            arguments["labels"].append({"label": CREDENTIALS_LABEL, "value": secrets})
        return arguments


def _sdk_arguments(inputs: NetworkInputs | VolumeInputs | RemoteImageInputs | ContainerInputs) -> dict[str, Any]:
    return inputs.model_dump(exclude_none=True)
