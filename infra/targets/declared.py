# SPDX-License-Identifier: Apache-2.0
"""What every target makes of a lab before Pulumi sees it: resources as data, in the order of their needs."""

from dataclasses import dataclass

from infra.model import Lab, Site
from infra.provider.inputs import EnvironmentFileInputs, Inputs
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
