# SPDX-License-Identifier: Apache-2.0
"""Test certificate authority, and a certificate for loopback issued by it."""

import ssl
import subprocess
from dataclasses import dataclass
from pathlib import Path

from infra.toolchain import Artifacts

PASSWORD = "the-truststore-of-a-test"
_KEY = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes")


@dataclass(frozen=True)
class Certificates:
    """TLS context of a server on loopback, and the truststore (PKCS12, `PASSWORD`) of its clients."""

    server: ssl.SSLContext
    truststore: Path


def certificates(folder: Path) -> Certificates:
    """Create certificates, valid for one day, in `folder`.

    Raises:
        CalledProcessError: openssl or the JDK's keytool failed.
    """
    folder.mkdir(parents=True)
    (folder / "names").write_text("subjectAltName=IP:127.0.0.1\n")
    authority = ("-keyout", "authority.key", "-out", "authority.pem")
    _openssl(folder, "req", "-x509", *_KEY, "-subj", "/CN=a test", "-days", "1", *authority)
    _openssl(folder, "req", *_KEY, "-subj", "/CN=loopback", "-keyout", "server.key", "-out", "server.csr")
    signing = ("-CA", "authority.pem", "-CAkey", "authority.key", "-CAcreateserial", "-extfile", "names")
    _openssl(folder, "x509", "-req", "-in", "server.csr", "-days", "1", *signing, "-out", "server.pem")
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(folder / "server.pem", folder / "server.key")
    store = folder / "truststore.p12"
    # Java ignores certificates without the trust attribute, which keytool sets and openssl does not.
    keytool = str(Artifacts.open().java().with_name("keytool"))
    place = ("-keystore", store.name, "-storetype", "PKCS12", "-storepass", PASSWORD)
    _run(folder, keytool, "-importcert", "-noprompt", "-alias", "test", "-file", "authority.pem", *place)
    return Certificates(server, store)


def _openssl(folder: Path, *words: str) -> None:
    _run(folder, "openssl", *words)


def _run(folder: Path, *words: str) -> None:
    subprocess.run(words, cwd=folder, check=True, capture_output=True)
