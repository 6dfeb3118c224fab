# SPDX-License-Identifier: Apache-2.0
"""Registration of declared resources with Pulumi. Imported by the program only: Pulumi's SDK takes 0.5 s to import."""

from collections.abc import Callable, Mapping

import pulumi

from infra.catalog import left_out
from infra.model import Lab, Site
from infra.provider.resource import LabkitResource
from infra.settings import Settings
from infra.targets.declarations import CREDENTIALS, FINGERPRINT, ResourceDeclaration, outputs

ResourceFactory = Callable[
    [ResourceDeclaration, pulumi.ResourceOptions, Mapping[str, pulumi.CustomResource]], pulumi.CustomResource
]
"""Registers one resource, given the resources that it needs by key."""


def labkit_resource(
    wanted: ResourceDeclaration, options: pulumi.ResourceOptions, made: Mapping[str, pulumi.CustomResource]
) -> pulumi.CustomResource:
    """Register a resource of the provider `labkit`."""
    later: dict[str, pulumi.Input[str]] | None = None
    if wanted.secret:
        later = {FINGERPRINT: credentials_fingerprint(made)}
    read = (FINGERPRINT,) if wanted.key == CREDENTIALS else ()
    return LabkitResource(wanted.kind, wanted.key, wanted.inputs, options, later, read)


def credentials_fingerprint(made: Mapping[str, pulumi.CustomResource]) -> pulumi.Output[str]:
    """Return the fingerprint of the credentials, which changes with any of them."""
    value: pulumi.Output[str] = pulumi.get(made[CREDENTIALS], FINGERPRINT)
    return value


def register_resources(declarations: tuple[ResourceDeclaration, ...], make: ResourceFactory = labkit_resource) -> None:
    """Register resources with Pulumi, each after the resources that it needs."""
    by_key = {resource.key: resource for resource in declarations}
    made: dict[str, pulumi.CustomResource] = {}

    def resource(key: str) -> pulumi.CustomResource:
        if key not in made:
            needs = [resource(need) for need in by_key[key].needs]
            made[key] = make(by_key[key], pulumi.ResourceOptions(depends_on=needs), made)
        return made[key]

    for key in by_key:
        resource(key)


def export_outputs(lab: Lab, site: Site, settings: Settings, environment_path: str) -> None:
    """Export the stack's outputs."""
    pulumi.export("endpoints", outputs(lab, site))
    pulumi.export("environment_file", environment_path)
    if missing := left_out(site, settings):
        pulumi.export("left_out", missing)
