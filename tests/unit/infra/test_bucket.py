# SPDX-License-Identifier: Apache-2.0
"""What a refresh finds of a bucket where the store does not know it, or us, or is not well."""

import socket
from http.server import BaseHTTPRequestHandler

import pytest

from infra import credentials
from infra.errors import LabError
from infra.model.resources import Bucket
from infra.provider.kind import Call
from infra.provider.kinds.bucket import BucketKind
from tests.unit.infra.answering import next_answer, serving


class Store(BaseHTTPRequestHandler):
    """Gives its answers in turn, the last one for ever; None cuts the connection off."""

    def do_HEAD(self):
        self.server.asked.append((self.path, dict(self.headers)))
        status = next_answer(self.server)
        if status is None:
            self.close_connection = True
            return
        self.send_response(status)
        self.end_headers()

    def log_message(self, *_):
        pass


@pytest.fixture
def store():
    with serving(Store) as running:
        yield running


@pytest.fixture
def keys(tmp_path):
    path = tmp_path / "credentials.env"
    credentials.ensure(path)
    return path


@pytest.fixture
def read(store, keys):
    """Reads the bucket `lake` of a store that gives these answers."""

    def run(*answers):
        store.answers = list(answers)
        inputs = Bucket(endpoint=f"http://127.0.0.1:{store.server_port}", name="lake", credentials=str(keys))
        return BucketKind().read(inputs, Call())

    return run


def test_a_bucket_that_is_there_is_asked_for_once_with_our_signature(read, store, keys):
    assert read(200).inputs.name == "lake"
    [(path, headers)] = store.asked
    assert path == "/lake"
    assert f"Credential={credentials.read(keys)[credentials.S3_ACCESS_KEY]}/" in headers["Authorization"]
    assert headers["X-Amz-Content-SHA256"] == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"


@pytest.mark.parametrize("status", [404, 403])
def test_a_bucket_that_the_store_does_not_know_or_does_not_show_us_is_not_there(read, status):
    assert read(status) is None


@pytest.mark.parametrize("trouble", [503, None])
def test_a_store_that_is_just_starting_is_asked_again(read, store, trouble):
    assert read(trouble, trouble, 200) is not None
    assert len(store.asked) == 3


def test_a_store_that_stays_unwell_is_told(read):
    with pytest.raises(LabError, match=r"could not read bucket lake at http.*the store responded with status 503"):
        read(503)


def test_a_store_that_cuts_off_every_request_is_told(read):
    with pytest.raises(LabError, match="could not read bucket lake at http"):
        read(None)


def test_what_the_store_refuses_otherwise_is_told_at_once(read, store):
    with pytest.raises(LabError, match="the store responded with status 400 Bad Request"):
        read(400)
    assert len(store.asked) == 1


def test_a_bucket_of_a_store_that_is_away_is_not_there(keys):
    with socket.create_server(("127.0.0.1", 0)) as door:
        endpoint = f"http://127.0.0.1:{door.getsockname()[1]}"
    assert BucketKind().read(Bucket(endpoint=endpoint, name="lake", credentials=str(keys)), Call()) is None


def test_without_keys_nothing_is_asked(store, tmp_path):
    inputs = Bucket(endpoint=f"http://127.0.0.1:{store.server_port}", name="lake", credentials=str(tmp_path / "none"))
    assert BucketKind().read(inputs, Call()) is None
    assert store.asked == []
