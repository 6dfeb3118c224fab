# SPDX-License-Identifier: Apache-2.0
"""Registration of the Kubernetes target's resources with Pulumi. Imported by the program only: the SDKs are slow."""

from collections.abc import Mapping
from typing import Any

import pulumi
import pulumi_kubernetes as kubernetes
from pulumi_kubernetes.helm.v3 import Release

from infra.targets.declarations import FINGERPRINT, ResourceDeclaration
from infra.targets.kubernetes.inputs import ReleaseInputs
from infra.targets.registration import credentials_fingerprint, labkit_resource


class KubernetesResourceFactory:
    """Registers resources and sets the inputs that are outputs of other resources.

    Attributes:
        context: context of the kubeconfig, for the vendor's provider; the lab's own kinds have it as an input.
    """

    def __init__(self, context: str) -> None:
        # Without the identifier, the plugin would replace the release when another cluster becomes the current one.
        provider = kubernetes.Provider("kubernetes", context=context, cluster_identifier=context)
        self._vendor = pulumi.ResourceOptions(provider=provider)

    def __call__(
        self, wanted: ResourceDeclaration, options: pulumi.ResourceOptions, made: Mapping[str, pulumi.CustomResource]
    ) -> pulumi.CustomResource:
        """Register one resource (`infra.targets.registration.ResourceFactory`)."""
        inputs = wanted.inputs
        if isinstance(inputs, ReleaseInputs):
            arguments: dict[str, Any] = inputs.model_dump()
            arguments["values"]["credentials"][FINGERPRINT] = credentials_fingerprint(made)
            return Release(wanted.key, **arguments, opts=pulumi.ResourceOptions.merge(options, self._vendor))
        return labkit_resource(wanted, options, made)
