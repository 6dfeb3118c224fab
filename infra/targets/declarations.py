# SPDX-License-Identifier: Apache-2.0
"""Resources as data, rendered by a target before Pulumi runs."""

import hashlib
import json
from dataclasses import dataclass, replace
from typing import Any

from infra.catalog import certified_services, external_credentials, secret_files
from infra.credentials import file_revision
from infra.model import ExternalService, Lab, ProtectedService, PublicImage, Resource, Service, Site, Task
from infra.model.inputs import Inputs
from infra.provider.inputs import CredentialsInputs, EnvironmentFileInputs
from infra.services import tls
from infra.services.discovery import definitions
from infra.settings import Settings
from lineage.checks.authorities import AUTHORITY_VARIABLE

CREDENTIALS = "credentials"
FINGERPRINT = "fingerprint"

DISK_MIB = 2048
"""Disk space that the preflight requires: more than a day of the default shop writes."""

DEFINITION_LENGTH = 16

SET_BY_ENGINE = ""
"""Placeholder of an input that is another resource's output."""


@dataclass(frozen=True)
class ResourceDeclaration:
    """A resource of a rendered lab.

    Attributes:
        kind: the kind's name.
        key: unique; other resources name it in `needs`.
        inputs: its inputs; outputs of other resources are `SET_BY_ENGINE`.
        needs: keys of the resources to be created before it.
        secret: True if it restarts when a credential changes.
    """

    kind: str
    key: str
    inputs: Inputs
    needs: tuple[str, ...]
    secret: bool = False


def definition_hash(definition: object) -> str:
    """Return the hash of a service's or task's definition, JSON without credentials."""
    text = json.dumps(definition, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:DEFINITION_LENGTH]


def outputs(lab: Lab, site: Site) -> dict[str, str]:
    """Return the stack's endpoints by name: a URL for web services, else `host:port`."""
    own = [(service.name, endpoint) for service in lab.services for endpoint in service.endpoints]
    # The address of an existing service is the URL that clients use.
    external = [
        (known.name, replace(known.endpoints[0], published_path=""))
        for known in definitions()
        if known.name in site.external
    ]
    return {
        endpoint.published_as: address.url + endpoint.published_path if endpoint.scheme else str(address)
        for service, endpoint in (*own, *external)
        if endpoint.published_as
        for address in [site.address(service, endpoint.name, "outside")]
    }


def resource_declaration(resource: Resource) -> ResourceDeclaration:
    """Return the declaration of a resource inside a service, or of an existing service."""
    needs = (CREDENTIALS, *resource.needs) if isinstance(resource, ExternalService) else resource.needs
    is_protected = isinstance(resource, ProtectedService)
    return ResourceDeclaration(resource.kind, resource.key, resource, needs, secret=is_protected)


def reads_credentials(part: Service | Task, site: Site) -> bool:
    """Return whether a part reads credentials or, in a lab with TLS, certificates: every client trusts them."""
    return bool(part.secrets) or (site.tls and not isinstance(part.run, PublicImage))


def secret_files_revision(settings: Settings) -> str | None:
    """Return a hash that changes with the user's files of credentials; None if there are none."""
    return " ".join(map(file_revision, secret_files(settings).values())) or None


def certificate_inputs(site: Site, settings: Settings) -> dict[str, Any]:
    """Return the inputs of kinds that make certificates, or copy them; empty without TLS."""
    return {"certificates": site.client_certificates, "certified": certified_services(settings)} if site.tls else {}


def copied_credentials(path: str, site: Site, settings: Settings) -> dict[str, Any]:
    """Return the inputs of `CopiedCredentialsInputs`; `path` is that of the credentials file on this machine."""
    return {
        "path": path,
        "fingerprint": SET_BY_ENGINE,
        "revision": secret_files_revision(settings),
        **certificate_inputs(site, settings),
    }


def credentials_declaration(
    path: str, settings: Settings, needs: tuple[str, ...], site: Site, hosts: dict[str, tuple[str, ...]] | None = None
) -> ResourceDeclaration:
    """Return the file with the stack's credentials, and with TLS the folder of its certificates.

    `hosts` are the names in the certificates beside those of loopback: service -> host names.
    """
    inputs = CredentialsInputs(
        path=path,
        given=external_credentials(settings) or None,
        files={name: str(file) for name, file in secret_files(settings).items()} or None,
        revision=secret_files_revision(settings),
        hosts=hosts if site.tls else None,
        **certificate_inputs(site, settings),
    )
    return ResourceDeclaration("Credentials", CREDENTIALS, inputs, needs)


def environment_file(lab: Lab, site: Site, settings: Settings, path: str) -> ResourceDeclaration:
    """Return `lab.env`; its key is the file's name.

    Args:
        lab: the lab whose endpoints it lists.
        site: the place of the lab.
        settings: settings of the stack.
        path: path of the file on this machine.
    """
    included = [known for known in definitions() if known.included(site, settings) or known.name in site.external]
    values = {f"LAB_{name.upper()}": value for name, value in outputs(lab, site).items()}
    secrets: dict[str, str] = {}
    for known in included:
        values |= known.client_environment(site)
        secrets |= {**known.client_secrets, **(known.tls_client_secrets if site.tls else {})}
    if authority := tls.client_authority(site):
        values[AUTHORITY_VARIABLE] = authority
    inputs = EnvironmentFileInputs(
        path=path,
        values=values,
        secrets=secrets,
        credentials=site.client_credentials,
        fingerprint=SET_BY_ENGINE,
    )
    return ResourceDeclaration("EnvironmentFile", path.rpartition("/")[2], inputs, (CREDENTIALS,), secret=True)
