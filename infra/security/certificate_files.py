# SPDX-License-Identifier: Apache-2.0
"""Files in the folder of a lab's certificates (`infra.security.certificates`)."""

from collections.abc import Iterable

from lineage.checks.authorities import AUTHORITY_VARIABLE

AUTHORITY = "ca.pem"
"""Certificate of the authority, which clients trust."""

TRUST_STORE = "ca.p12"
"""The same for Java programs, PKCS 12 with `STORE_PASSWORD`."""

STORE_PASSWORD = "changeit"
"""Password of the PKCS 12 files. It protects nothing, but Java requires one; the files' mode does."""

CERTIFICATE, KEY, CHAIN, KEY_STORE = "public.crt", "private.key", "chain.pem", "keystore.p12"
"""Files in the folder of a service: certificate, key, both together, and both as PKCS 12."""


def paths_of_services(services: Iterable[str]) -> list[str]:
    """Return the paths, in the folder, of all files that services and their clients read."""
    own = [f"{service}/{name}" for service in services for name in (CERTIFICATE, KEY, CHAIN, KEY_STORE)]
    return [AUTHORITY, TRUST_STORE, *own]


def trusting_environment(authority: str) -> dict[str, str]:
    """Return the variables by which the provider's clients trust the authority whose certificate is in a file."""
    return {AUTHORITY_VARIABLE: authority, "AWS_CA_BUNDLE": authority}
