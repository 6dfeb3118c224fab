# SPDX-License-Identifier: Apache-2.0
"""Certificates of a lab with TLS: its own authority, and a key and certificate of each service.

All files are in one folder, readable by its owner only. The authority's key stays there, so that certificates are
renewed without a change for clients; nothing outside of the lab should trust it.
"""

import hashlib
import ipaddress
import os
from collections.abc import Collection, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import pkcs12
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from infra.errors import LabError
from infra.security.certificate_files import (
    AUTHORITY,
    CERTIFICATE,
    CHAIN,
    KEY,
    KEY_STORE,
    STORE_PASSWORD,
    TRUST_STORE,
    paths_of_services,
)

AUTHORITY_VALID = timedelta(days=3650)
VALID = timedelta(days=397)
RENEWED_BEFORE = timedelta(days=30)
"""Validity of the authority and of certificates, and the time before their end from which `up` renews them."""

_AUTHORITY_KEY = "ca.key"
_LOOPBACK_HOSTS = ("localhost", "127.0.0.1", "::1")
_CLOCK_SKEW = timedelta(hours=1)


Hosts = Mapping[str, Collection[str]]
"""Services -> the names and addresses in their certificates beside those of loopback."""


def ensure(folder: Path, services: Hosts, now: datetime | None = None) -> str:
    """Make missing certificates, and those that are about to expire; return a hash that changes with any of them.

    Raises:
        LabError: the folder cannot be written.
    """
    moment = now or datetime.now(UTC)
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        if not _is_valid_authority(folder, moment):
            _make_authority(folder, moment)
        for service, hosts in services.items():
            if not _is_valid(folder, service, hosts, moment):
                _make_certificate(folder, service, hosts, moment)
        return fingerprint(folder, services)
    except OSError as error:
        raise LabError(f"cannot write the lab's certificates: {error}") from error


def are_valid(folder: Path, services: Hosts, now: datetime | None = None) -> bool:
    """Return whether `ensure` would make none."""
    moment = now or datetime.now(UTC)
    certificates = (_is_valid(folder, service, hosts, moment) for service, hosts in services.items())
    return _is_valid_authority(folder, moment) and all(certificates)


def fingerprint(folder: Path, services: Collection[str]) -> str:
    """Return a hash that changes with the authority and any certificate.

    Raises:
        OSError: one of them cannot be read.
    """
    return fingerprint_of({path: (folder / path).read_bytes() for path in _fingerprinted(services)}, services)


def fingerprint_of(files: Mapping[str, bytes], services: Collection[str]) -> str:
    """Return the same hash of files by path in the folder; missing ones are as empty ones."""
    found = b"".join(files.get(path, b"") for path in _fingerprinted(services))
    return hashlib.sha256(found).hexdigest()[:16]


def _fingerprinted(services: Collection[str]) -> list[str]:
    return [AUTHORITY, *(f"{service}/{CERTIFICATE}" for service in sorted(services))]


def files_of_services(folder: Path, services: Collection[str]) -> dict[str, bytes]:
    """Return the content of all files that services and their clients read, by path in the folder.

    Raises:
        OSError: one of them cannot be read.
    """
    return {path: (folder / path).read_bytes() for path in paths_of_services(services)}


def _make_authority(folder: Path, now: datetime) -> None:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, f"lineage lab {x509.random_serial_number():x}"[:40])])
    usage = _key_usage(signs_certificates=True)
    certificate = (
        _builder(name, name, key.public_key(), now, AUTHORITY_VALID)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(usage, critical=True)
        .sign(key, hashes.SHA256())
    )
    _write(folder / _AUTHORITY_KEY, _key_text(key))
    trusted = [pkcs12.PKCS12Certificate(certificate, b"lineage-lab")]
    _write(folder / TRUST_STORE, pkcs12.serialize_java_truststore(trusted, _store_encryption()))
    # Last: the other files exist where this one does.
    _write(folder / AUTHORITY, certificate.public_bytes(serialization.Encoding.PEM))


def _make_certificate(folder: Path, service: str, hosts: Collection[str], now: datetime) -> None:
    authority = _read_certificate(folder / AUTHORITY)
    authority_key = serialization.load_pem_private_key((folder / _AUTHORITY_KEY).read_bytes(), password=None)
    assert isinstance(authority_key, ec.EllipticCurvePrivateKey)
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, service)])
    certificate = (
        _builder(name, authority.subject, key.public_key(), now, VALID)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(_key_usage(signs_certificates=False), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .add_extension(x509.SubjectAlternativeName(_general_names(hosts)), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(authority_key.public_key()), critical=False)
        .sign(authority_key, hashes.SHA256())
    )
    own = folder / service
    own.mkdir(exist_ok=True, mode=0o700)
    key_text, text = _key_text(key), certificate.public_bytes(serialization.Encoding.PEM)
    _write(own / KEY, key_text)
    _write(own / CHAIN, key_text + text)
    store = pkcs12.serialize_key_and_certificates(service.encode(), key, certificate, [authority], _store_encryption())
    _write(own / KEY_STORE, store)
    _write(own / CERTIFICATE, text)


def _builder(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePublicKey, now: datetime, valid: timedelta
) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - _CLOCK_SKEW)
        .not_valid_after(now + valid)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key), critical=False)
    )


def _key_usage(signs_certificates: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=not signs_certificates,
        key_cert_sign=signs_certificates,
        crl_sign=signs_certificates,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )


def _general_names(hosts: Collection[str]) -> list[x509.GeneralName]:
    return [_general_name(host) for host in dict.fromkeys((*_LOOPBACK_HOSTS, *hosts))]


def _general_name(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        return x509.DNSName(host)


def _key_text(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )


def _store_encryption() -> serialization.KeySerializationEncryption:
    return serialization.BestAvailableEncryption(STORE_PASSWORD.encode())


def _is_valid_authority(folder: Path, now: datetime) -> bool:
    complete = (folder / _AUTHORITY_KEY).exists() and (folder / TRUST_STORE).exists()
    return complete and _lasts(folder / AUTHORITY, now) is not None


def _is_valid(folder: Path, service: str, hosts: Collection[str], now: datetime) -> bool:
    """Return whether a service has its files, of this authority and for these hosts, which are valid for a while."""
    own = folder / service
    certificate = _lasts(own / CERTIFICATE, now)
    if certificate is None or not all((own / name).exists() for name in (KEY, CHAIN, KEY_STORE)):
        return False
    try:
        certificate.verify_directly_issued_by(_read_certificate(folder / AUTHORITY))
        names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except (ValueError, InvalidSignature, x509.ExtensionNotFound):
        return False
    return set(_general_names(hosts)) <= set(names)


def _lasts(path: Path, now: datetime) -> x509.Certificate | None:
    """Return a certificate that need not be renewed yet; None if it must be, or is missing or damaged."""
    try:
        certificate = _read_certificate(path)
    except (OSError, ValueError):
        return None
    return certificate if certificate.not_valid_after_utc - RENEWED_BEFORE > now else None


def _read_certificate(path: Path) -> x509.Certificate:
    return x509.load_pem_x509_certificate(path.read_bytes())


def _write(path: Path, content: bytes) -> None:
    """Write a file atomically, with mode 0600."""
    temporary = path.with_name(path.name + ".new")
    temporary.unlink(missing_ok=True)
    with os.fdopen(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(content)
    temporary.rename(path)
