# SPDX-License-Identifier: Apache-2.0
"""Inputs of the kinds that write files on this machine."""

from infra.model.inputs import Inputs


class CredentialsInputs(Inputs):
    """Inputs of `Credentials`.

    Attributes:
        path: the file.
        given: credentials of existing services, which the user provides: name -> key of the setting that requires it.
            None: all credentials are generated.
        files: credentials that are the content of a JSON file of the user: name -> path of the file.
        revision: hash of the content of these files, so that a change of one updates the credentials.
        certificates: folder of the lab's certificates; None without TLS.
        certified: services that get one.
        hosts: names in their certificates beside those of loopback: service -> host names. None: there are none.
    """

    path: str
    given: dict[str, str] | None = None
    files: dict[str, str] | None = None
    revision: str | None = None
    certificates: str | None = None
    certified: tuple[str, ...] | None = None
    hosts: dict[str, tuple[str, ...]] | None = None

    @property
    def hosts_by_service(self) -> dict[str, tuple[str, ...]]:
        """Names in the certificate of every service that has one."""
        return {service: (self.hosts or {}).get(service, ()) for service in self.certified or ()}


class EnvironmentFileInputs(Inputs):
    """Inputs of `EnvironmentFile`.

    Attributes:
        path: the file.
        values: shell variables and their values.
        secrets: shell variables and the names of the credentials that they get.
        credentials: path of the credentials file.
        fingerprint: of the credentials; the file is rewritten when they change.
    """

    path: str
    values: dict[str, str]
    secrets: dict[str, str]
    credentials: str
    fingerprint: str
