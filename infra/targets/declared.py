# SPDX-License-Identifier: Apache-2.0
"""What every target makes of a lab before Pulumi sees it: resources as data, in the order of their needs."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import pulumi

from infra.lab import left_out
from infra.model import Lab, Site
from infra.provider.inputs import EnvironmentFileInputs, Inputs
from infra.provider.resource import LabkitResource
from infra.settings import Settings
from infra.targets.client_environment import SECRETS, environment

CREDENTIALS = "credentials"
FINGERPRINT = "fingerprint"

DISK_MIB = 2048
"""What a lab writes in a day of the default shop, with room to spare."""

KNOWN_LATER = ""
"""Stands for an input that is another resource's output, until the engine fills it in."""


@dataclass(frozen=True)
class Declared:
    """A resource that the target wants.

    Attributes:
        kind: the kind's name.
        key: unique; other resources name it in `needs`.
        inputs: its inputs, all known but the credentials' fingerprint.
        needs: keys of the resources to be made before it.
        secret: it restarts when a credential changes.
    """

    kind: str
    key: str
    inputs: Inputs
    needs: tuple[str, ...]
    secret: bool = False


Make = Callable[[Declared, pulumi.ResourceOptions, Mapping[str, pulumi.CustomResource]], pulumi.CustomResource]
"""Makes one resource, given those that it needs by their key."""


def outputs(lab: Lab, site: Site) -> dict[str, str]:
    """The stack's endpoints by name: a URL where it is a web service, else `host:port`."""
    return {
        endpoint.published_as: f"{endpoint.scheme}://{address}" if endpoint.scheme else str(address)
        for service in lab.services
        for endpoint in service.endpoints
        if endpoint.published_as
        for address in [site.address(service.name, endpoint.name, "outside")]
    }


def environment_file(lab: Lab, site: Site, path: str, credentials: str) -> Declared:
    """`lab.env`; its key is the file's name. Both arguments are paths on this machine."""
    inputs = EnvironmentFileInputs(
        path=path,
        values=environment(outputs(lab, site)),
        secrets=SECRETS,
        credentials=credentials,
        fingerprint=KNOWN_LATER,
    )
    return Declared("EnvironmentFile", path.rpartition("/")[2], inputs, (CREDENTIALS,), secret=True)


def labkit_resource(
    wanted: Declared, options: pulumi.ResourceOptions, made: Mapping[str, pulumi.CustomResource]
) -> pulumi.CustomResource:
    """A resource of one of the kit's own kinds."""
    later: dict[str, pulumi.Input[str]] | None = None
    if wanted.secret:
        later = {FINGERPRINT: fingerprint(made)}
    read = (FINGERPRINT,) if wanted.key == CREDENTIALS else ()
    return LabkitResource(wanted.kind, wanted.key, wanted.inputs, options, later, read)


def fingerprint(made: Mapping[str, pulumi.CustomResource]) -> pulumi.Output[str]:
    """Changes when a credential does."""
    value: pulumi.Output[str] = pulumi.get(made[CREDENTIALS], FINGERPRINT)
    return value


def register(declared: tuple[Declared, ...], make: Make = labkit_resource) -> None:
    """Registers resources with Pulumi, each after those it needs."""
    by_key = {resource.key: resource for resource in declared}
    made: dict[str, pulumi.CustomResource] = {}

    def resource(key: str) -> pulumi.CustomResource:
        if key not in made:
            needs = [resource(need) for need in by_key[key].needs]
            made[key] = make(by_key[key], pulumi.ResourceOptions(depends_on=needs), made)
        return made[key]

    for key in by_key:
        resource(key)


def export(lab: Lab, site: Site, settings: Settings, environment_path: str) -> None:
    """The outputs of the stack."""
    pulumi.export("endpoints", outputs(lab, site))
    pulumi.export("environment_file", environment_path)
    if missing := left_out(site, settings):
        pulumi.export("left_out", missing)
