# SPDX-License-Identifier: Apache-2.0
"""`labkit:index:Bucket`: a bucket of the object store, removed with what is in it.

To look at a bucket is one signed request. A client of boto3 first reads the description of all of S3, which takes a
second of a processor: it is left to what changes something.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import httpx
from botocore.auth import S3SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from botocore.exceptions import BotoCoreError, ClientError, EndpointConnectionError

from infra import credentials
from infra.errors import LabError
from infra.http_client import client
from infra.model.resources import Bucket
from infra.provider.kind import Call, Found, Kind

GONE = frozenset({"404", "NoSuchBucket"})
FOREIGN = frozenset({"403", "AccessDenied", "InvalidAccessKeyId", "SignatureDoesNotMatch"})
"""The store does not know our keys: it is another lab's, or was made with other keys. Its buckets are not ours."""

CONNECT_SECONDS = 5
READ_SECONDS = 30

_TIMEOUT = httpx.Timeout(READ_SECONDS, connect=CONNECT_SECONDS)

PATIENCE_SECONDS = 3
"""How long a store may refuse or cut off connections, or say that it is not well, before that is believed."""


class BucketKind(Kind[Bucket]):
    """A bucket that is there already is taken over."""

    name = "Bucket"
    inputs = Bucket
    replace_on = frozenset({"endpoint", "name"})

    def create(self, inputs: Bucket, call: Call) -> dict[str, Any]:
        try:
            _boto(inputs).create_bucket(Bucket=inputs.name)
        except ClientError as error:
            if _code(error) not in {"BucketAlreadyOwnedByYou", "BucketAlreadyExists"}:
                raise _failure(inputs, "create", error) from error
        except BotoCoreError as error:
            raise _failure(inputs, "create", error) from error
        return {}

    def read(self, inputs: Bucket, call: Call) -> Found[Bucket] | None:
        if not _has_keys(inputs):
            return None
        try:
            answer = _look(inputs, call)
        except httpx.ConnectError:
            return None  # the store itself is gone: it is made anew, its buckets after it
        except httpx.HTTPError as error:
            raise _failure(inputs, "read", error) from error
        if str(answer.status_code) in GONE | FOREIGN:
            return None
        if not answer.is_success:
            why = f"the store answered {answer.status_code} {answer.reason_phrase}"
            raise _failure(inputs, "read", why)
        return Found(inputs)

    def update(self, old: Bucket, new: Bucket, call: Call) -> dict[str, Any]:
        return {}

    def delete(self, inputs: Bucket, call: Call) -> None:
        if not _has_keys(inputs):
            return
        try:
            _empty_and_delete(_boto(inputs), inputs.name)
        except EndpointConnectionError:
            return  # the store is gone, and with it the bucket
        except ClientError as error:
            if _code(error) not in GONE | FOREIGN:
                raise _failure(inputs, "delete", error) from error
        except BotoCoreError as error:
            raise _failure(inputs, "delete", error) from error


def _empty_and_delete(client: Any, bucket: str) -> None:  # noqa: ANN401 - boto3 has no types of its own
    for page in client.get_paginator("list_objects_v2").paginate(Bucket=bucket):
        keys = [{"Key": item["Key"]} for item in page.get("Contents", [])]
        if keys:
            client.delete_objects(Bucket=bucket, Delete={"Objects": keys, "Quiet": True})
    client.delete_bucket(Bucket=bucket)


def _code(error: ClientError) -> str:
    return str(error.response["Error"]["Code"])


def _has_keys(inputs: Bucket) -> bool:
    """Whether the keys are there; without them nothing can be asked, and the store is about to be made anew."""
    path = Path(inputs.credentials)
    return path.exists() and credentials.read(path).keys() >= credentials.NAMES_OF_S3


def _look(inputs: Bucket, call: Call) -> httpx.Response:
    """What the store answers to HEAD, which has a status and no text; the last that it said, where it is not well.

    Raises:
        httpx.HTTPError: it does not answer.
    """
    url = f"{inputs.endpoint}/{inputs.name}"
    answer: httpx.Response | None = None
    failure: httpx.HTTPError | None = None
    for _ in call.poll(PATIENCE_SECONDS):
        try:
            answer = client().head(url, headers=_signature(url, inputs), timeout=_TIMEOUT)
        except (httpx.NetworkError, httpx.RemoteProtocolError) as error:
            answer, failure = None, error
            continue
        if not answer.is_server_error:
            return answer
    if answer is not None:
        return answer
    assert failure is not None  # `poll` gives at least one turn
    raise failure


def _signature(url: str, inputs: Bucket) -> Mapping[str, str]:
    """The headers with which a HEAD of a URL is ours."""
    keys = credentials.read(Path(inputs.credentials))
    ours = Credentials(keys[credentials.S3_ACCESS_KEY], keys[credentials.S3_SECRET_KEY])
    request = AWSRequest("HEAD", url)
    S3SigV4Auth(ours, "s3", credentials.S3_REGION).add_auth(request)
    return dict(request.headers.items())


def _boto(inputs: Bucket) -> Any:  # noqa: ANN401 - as above
    import boto3
    from botocore.client import Config

    keys = credentials.read(Path(inputs.credentials))
    return boto3.client(
        "s3",
        endpoint_url=inputs.endpoint,
        aws_access_key_id=keys[credentials.S3_ACCESS_KEY],
        aws_secret_access_key=keys[credentials.S3_SECRET_KEY],
        region_name=credentials.S3_REGION,
        config=Config(
            s3={"addressing_style": "path"},
            connect_timeout=CONNECT_SECONDS,
            read_timeout=READ_SECONDS,
            retries={"max_attempts": 3},
        ),
    )


def _failure(inputs: Bucket, what: str, why: Exception | str) -> LabError:
    return LabError(f"could not {what} bucket {inputs.name} at {inputs.endpoint}: {why}")
