# SPDX-License-Identifier: Apache-2.0
"""Certificates of a lab with TLS, checked by TLS itself: who trusts them, their names, files and renewal."""

import shutil
import socket
import ssl
import stat
import threading
from datetime import UTC, datetime, timedelta

import pytest

from infra.errors import LabError
from infra.provider.inputs import CredentialsInputs
from infra.provider.kind import OperationContext
from infra.provider.kinds.credentials import CredentialsKind
from infra.security import certificates
from infra.security.certificate_files import AUTHORITY, CERTIFICATE, KEY

SERVICES = {"kafka": ("kafka",), "lineage": ()}
NOW = datetime.now(UTC)
LATER = NOW + certificates.VALID - certificates.RENEWED_BEFORE + timedelta(days=1)


@pytest.fixture
def folder(tmp_path):
    certificates.ensure(tmp_path / "certificates", SERVICES)
    return tmp_path / "certificates"


def handshake(folder, service, trusted, host="127.0.0.1"):
    """Connect to a server with the certificate of a service; raise what the client or the server raises."""
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(folder / service / CERTIFICATE, folder / service / KEY)
    client = ssl.create_default_context(cafile=trusted)
    ours, theirs = socket.socketpair()

    def serve():
        try:
            server.wrap_socket(theirs, server_side=True).close()
        except OSError:
            theirs.close()  # the client refuses the certificate, which it raises itself

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        with client.wrap_socket(ours, server_hostname=host) as connection:
            return connection.version()
    finally:
        ours.close()
        thread.join()


@pytest.mark.parametrize("service", SERVICES)
@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1"])
def test_a_client_that_trusts_the_authority_connects(folder, service, host):
    assert handshake(folder, service, folder / AUTHORITY, host) in {"TLSv1.2", "TLSv1.3"}


def test_another_name_is_refused(folder):
    with pytest.raises(ssl.SSLCertVerificationError, match="not valid for"):
        handshake(folder, "kafka", folder / AUTHORITY, "example.org")


def test_host_names_are_those_of_the_service(folder):
    assert handshake(folder, "kafka", folder / AUTHORITY, "kafka")
    with pytest.raises(ssl.SSLCertVerificationError, match="not valid for"):
        handshake(folder, "lineage", folder / AUTHORITY, "kafka")


def test_a_certificate_without_a_host_name_is_made_again(folder):
    wanted = {**SERVICES, "lineage": ("lineage", "10.0.0.7")}
    assert not certificates.are_valid(folder, wanted)
    certificates.ensure(folder, wanted)
    assert certificates.are_valid(folder, wanted)
    assert handshake(folder, "lineage", folder / AUTHORITY, "lineage")
    assert handshake(folder, "lineage", folder / AUTHORITY, "10.0.0.7")


def test_services_get_everything_but_the_key_of_the_authority(folder):
    files = certificates.files_of_services(folder, SERVICES)
    on_disk = {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    assert files == {path: content for path, content in on_disk.items() if path != "ca.key"}
    assert certificates.fingerprint_of(files, SERVICES) == certificates.fingerprint(folder, SERVICES)
    assert certificates.fingerprint_of({}, SERVICES) != certificates.fingerprint(folder, SERVICES)


def test_the_authority_of_another_lab_is_refused(folder, tmp_path):
    certificates.ensure(tmp_path / "other", SERVICES)
    with pytest.raises(ssl.SSLCertVerificationError):
        handshake(folder, "kafka", tmp_path / "other" / AUTHORITY)


def test_a_certificate_of_a_service_is_no_authority(folder):
    with pytest.raises(ssl.SSLCertVerificationError):
        handshake(folder, "kafka", folder / "lineage" / CERTIFICATE)


def test_only_the_owner_reads_the_files(folder):
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert len(files) == 3 + 4 * len(SERVICES)
    assert {stat.S_IMODE(path.stat().st_mode) for path in files} == {0o600}
    assert {
        stat.S_IMODE(path.stat().st_mode) for path in (folder, *filter(lambda p: p.is_dir(), folder.iterdir()))
    } == {0o700}


def test_made_once(folder):
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    first = certificates.ensure(folder, SERVICES)
    assert certificates.are_valid(folder, SERVICES)
    assert certificates.ensure(folder, SERVICES) == first
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before


def test_a_certificate_is_renewed_a_month_before_its_end_by_the_same_authority(folder):
    authority = (folder / AUTHORITY).read_bytes()
    before = certificates.ensure(folder, SERVICES)
    assert not certificates.are_valid(folder, SERVICES, LATER)
    assert certificates.ensure(folder, SERVICES, LATER) != before
    assert certificates.are_valid(folder, SERVICES, LATER)
    assert (folder / AUTHORITY).read_bytes() == authority


def test_all_are_made_again_when_the_authority_ends(folder):
    end = NOW + certificates.AUTHORITY_VALID
    authority = (folder / AUTHORITY).read_bytes()
    certificates.ensure(folder, SERVICES, end)
    assert (folder / AUTHORITY).read_bytes() != authority
    assert certificates.are_valid(folder, SERVICES, end)


LOST = dict.fromkeys(("ca.key", "ca.p12", "ca.pem", "kafka/private.key", "kafka/public.crt"))
DAMAGED = dict.fromkeys(("ca.pem", "kafka/public.crt"), "-----BEGIN CERTIFICATE-----\nrubbish\n")


@pytest.mark.parametrize(("name", "content"), [*LOST.items(), *DAMAGED.items()])
def test_lost_files_and_damaged_certificates_are_made_again(folder, name, content):
    (folder / name).unlink()
    if content is not None:
        (folder / name).write_text(content)
    assert not certificates.are_valid(folder, SERVICES)
    certificates.ensure(folder, SERVICES)
    assert certificates.are_valid(folder, SERVICES)
    assert handshake(folder, "kafka", folder / AUTHORITY)


def test_a_folder_that_cannot_be_written_is_an_error(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(LabError, match="cannot write the lab's certificates"):
        certificates.ensure(tmp_path / "file" / "certificates", SERVICES)


def inputs(tmp_path, **more):
    return CredentialsInputs(path=str(tmp_path / "credentials.env"), **more)


def with_tls(tmp_path):
    return inputs(tmp_path, certificates=str(tmp_path / "certificates"), certified=tuple(SERVICES))


def test_services_restart_when_a_certificate_is_renewed(tmp_path):
    kind, call = CredentialsKind(), OperationContext()
    made = kind.create(with_tls(tmp_path), call)
    assert kind.read(with_tls(tmp_path), call).outputs == made
    shutil.rmtree(tmp_path / "certificates" / "kafka")
    assert kind.read(with_tls(tmp_path), call) is None  # a refresh finds it, and `up` makes it again
    assert kind.create(with_tls(tmp_path), call)["fingerprint"] != made["fingerprint"]


def test_without_tls_the_certificates_are_removed(tmp_path):
    kind, call = CredentialsKind(), OperationContext()
    kind.create(with_tls(tmp_path), call)
    kind.update(with_tls(tmp_path), inputs(tmp_path), call)
    assert not (tmp_path / "certificates").exists()
    kind.create(with_tls(tmp_path), call)
    kind.delete(with_tls(tmp_path), call)
    assert list(tmp_path.iterdir()) == []
