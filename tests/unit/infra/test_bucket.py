# SPDX-License-Identifier: Apache-2.0
"""Refresh of buckets: missing, forbidden, or in a store that fails."""

from http.server import BaseHTTPRequestHandler

import pytest

from infra import credentials
from infra.errors import LabError
from infra.model.resources import Bucket
from infra.provider.kind import OperationContext
from infra.provider.kinds.bucket import BucketKind
from tests.unit.infra.http_server import next_response, serving


class StoreHandler(BaseHTTPRequestHandler):
    """Sends its responses in turn and repeats the last one; None closes the connection."""

    def do_HEAD(self):
        self.server.received.append((self.path, dict(self.headers)))
        status = next_response(self.server)
        if status is None:
            self.close_connection = True
            return
        self.send_response(status)
        self.end_headers()

    def log_message(self, *_):
        pass


@pytest.fixture
def store():
    with serving(StoreHandler) as running:
        yield running


@pytest.fixture
def keys(tmp_path):
    path = tmp_path / "credentials.env"
    credentials.ensure(path)
    return path


@pytest.fixture
def read(store, keys):
    """Return a function that reads the bucket `lake` from a store with the given responses."""

    def run(*responses):
        store.responses = list(responses)
        inputs = Bucket(endpoint=f"http://127.0.0.1:{store.server_port}", name="lake", credentials=str(keys))
        return BucketKind().read(inputs, OperationContext())

    return run


def test_read_sends_one_signed_head_request(read, store, keys):
    assert read(200).inputs.name == "lake"
    [(path, headers)] = store.received
    assert path == "/lake"
    assert f"Credential={credentials.read(keys)[credentials.S3_ACCESS_KEY]}/" in headers["Authorization"]
    assert headers["X-Amz-Content-SHA256"] == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"


@pytest.mark.parametrize("status", [404, 403])
def test_missing_or_forbidden_bucket_reads_as_missing(read, status):
    assert read(status) is None


@pytest.mark.parametrize("failure", [503, None])
def test_read_retries_while_the_store_is_starting(read, store, failure):
    assert read(failure, failure, 200) is not None
    assert len(store.received) == 3


def test_persistent_server_error_is_reported(read):
    with pytest.raises(LabError, match=r"could not read bucket lake at http.*the store responded with status 503"):
        read(503)


def test_closed_connections_are_reported(read):
    with pytest.raises(LabError, match="could not read bucket lake at http"):
        read(None)


def test_client_error_is_reported_without_retry(read, store):
    with pytest.raises(LabError, match="the store responded with status 400 Bad Request"):
        read(400)
    assert len(store.received) == 1


def test_read_without_credentials_sends_no_request(store, tmp_path):
    inputs = Bucket(endpoint=f"http://127.0.0.1:{store.server_port}", name="lake", credentials=str(tmp_path / "none"))
    assert BucketKind().read(inputs, OperationContext()) is None
    assert store.received == []
