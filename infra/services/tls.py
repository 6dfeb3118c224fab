# SPDX-License-Identifier: Apache-2.0
"""Trust in the services of a lab with TLS: JVM options and variables of clients, none without TLS, and paths."""

from pathlib import PurePath

from infra.model import Site
from infra.security.certificate_files import AUTHORITY, CERTIFICATE, CHAIN, KEY, KEY_STORE, STORE_PASSWORD, TRUST_STORE

VERIFIED = "verify-full"
"""Postgres' name of the mode in which a client checks the server's certificate and its name."""


def authority(site: Site) -> str | None:
    """Return the path of the authority's certificate; None without TLS."""
    return site.certificate_file(AUTHORITY) if site.tls else None


def client_authority(site: Site) -> str | None:
    """Return the path of the authority's certificate on the user's machine; None without TLS."""
    return str(PurePath(site.client_certificates, AUTHORITY)) if site.tls else None


def certificate(site: Site, service: str) -> str:
    """Return the path of the certificate of a service."""
    return site.certificate_file(service, CERTIFICATE)


def key(site: Site, service: str) -> str:
    """Return the path of the private key of a service."""
    return site.certificate_file(service, KEY)


def chain(site: Site, service: str) -> str:
    """Return the path of a PEM file with the private key and the certificate of a service."""
    return site.certificate_file(service, CHAIN)


def key_store(site: Site, service: str) -> str:
    """Return the path of a PKCS 12 file with the private key and the certificate of a service."""
    return site.certificate_file(service, KEY_STORE)


def folder(site: Site, service: str) -> str:
    """Return the folder of a service's certificate and key."""
    return site.certificate_file(service)


def java_options(site: Site) -> tuple[str, ...]:
    """Return JVM options of clients: they trust the lab's authority, and no other."""
    if not site.tls:
        return ()
    return (
        f"-Djavax.net.ssl.trustStore={site.certificate_file(TRUST_STORE)}",
        "-Djavax.net.ssl.trustStoreType=PKCS12",
        f"-Djavax.net.ssl.trustStorePassword={STORE_PASSWORD}",
    )


def python_environment(site: Site) -> dict[str, str]:
    """Return environment variables of clients in Python, of Postgres and of the AWS SDKs outside of a JVM."""
    path = authority(site)
    if path is None:
        return {}
    return {"SSL_CERT_FILE": path, "AWS_CA_BUNDLE": path, **postgres_environment(path)}


def postgres_environment(path: str | None) -> dict[str, str]:
    """Return the variables of libpq by which clients check the server's certificate against an authority's."""
    return {} if path is None else {"PGSSLMODE": VERIFIED, "PGSSLROOTCERT": path}


def jdbc_parameters(site: Site) -> str:
    """Return the same as the end of a JDBC URL of Postgres."""
    path = authority(site)
    return "" if path is None else f"?sslmode={VERIFIED}&sslrootcert={path}"
