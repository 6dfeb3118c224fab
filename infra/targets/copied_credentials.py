# SPDX-License-Identifier: Apache-2.0
"""Inputs of the kinds that copy credentials and certificates from this machine to where containers read them."""

from infra.model.inputs import Inputs


class CopiedCredentialsInputs(Inputs):
    """A copy of the credentials and, with TLS, of the certificates.

    Attributes:
        path: path of the credentials file on this machine.
        fingerprint: fingerprint of the credentials; a change copies them again.
        revision: that of the user's files of credentials; a change copies them again, too.
        certificates: folder of the lab's certificates on this machine; None without TLS.
        certified: services that have one.
    """

    path: str
    fingerprint: str
    revision: str | None = None
    certificates: str | None = None
    certified: tuple[str, ...] | None = None
