# SPDX-License-Identifier: Apache-2.0
"""`labkit:index:Bucket`: a bucket of the object store, deleted with its objects.

Reading a bucket is a single signed HEAD request. Only changes use boto3, whose client takes 1 s of CPU time to create.
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
from infra.provider.kind import Kind, OperationContext, ReadResult

NOT_FOUND_CODES = frozenset({"404", "NoSuchBucket"})
ACCESS_DENIED_CODES = frozenset({"403", "AccessDenied", "InvalidAccessKeyId", "SignatureDoesNotMatch"})
"""Codes of a store that rejects our keys: its buckets belong to another lab, or to earlier credentials."""

CONNECT_SECONDS = 5
READ_SECONDS = 30

_TIMEOUT = httpx.Timeout(READ_SECONDS, connect=CONNECT_SECONDS)

RETRY_SECONDS = 3
"""Time for which reads are retried when the store drops connections or responds with a server error."""


class BucketKind(Kind[Bucket]):
    """Buckets of the object store; `create` adopts an existing bucket."""

    name = "Bucket"
    inputs = Bucket
    replace_on = frozenset({"endpoint", "name"})

    def create(self, inputs: Bucket, call: OperationContext) -> dict[str, Any]:
        try:
            _s3_client(inputs).create_bucket(Bucket=inputs.name)
        except ClientError as error:
            if _error_code(error) not in {"BucketAlreadyOwnedByYou", "BucketAlreadyExists"}:
                raise _failure(inputs, "create", error) from error
        except BotoCoreError as error:
            raise _failure(inputs, "create", error) from error
        return {}

    def read(self, inputs: Bucket, call: OperationContext) -> ReadResult[Bucket] | None:
        if not _has_keys(inputs):
            return None
        try:
            answer = _head_bucket(inputs, call)
        except httpx.ConnectError:
            return None  # the store is down: it is created again, then its buckets
        except httpx.HTTPError as error:
            raise _failure(inputs, "read", error) from error
        if str(answer.status_code) in NOT_FOUND_CODES | ACCESS_DENIED_CODES:
            return None
        if not answer.is_success:
            why = f"the store responded with status {answer.status_code} {answer.reason_phrase}"
            raise _failure(inputs, "read", why)
        return ReadResult(inputs)

    def update(self, old: Bucket, new: Bucket, call: OperationContext) -> dict[str, Any]:
        return {}

    def delete(self, inputs: Bucket, call: OperationContext) -> None:
        if not _has_keys(inputs):
            return
        try:
            _empty_and_delete(_s3_client(inputs), inputs.name)
        except EndpointConnectionError:
            return  # the store is down; its data is deleted with it
        except ClientError as error:
            if _error_code(error) not in NOT_FOUND_CODES | ACCESS_DENIED_CODES:
                raise _failure(inputs, "delete", error) from error
        except BotoCoreError as error:
            raise _failure(inputs, "delete", error) from error


def _empty_and_delete(client: Any, bucket: str) -> None:  # noqa: ANN401 - boto3 has no type hints
    for page in client.get_paginator("list_objects_v2").paginate(Bucket=bucket):
        keys = [{"Key": item["Key"]} for item in page.get("Contents", [])]
        if keys:
            client.delete_objects(Bucket=bucket, Delete={"Objects": keys, "Quiet": True})
    client.delete_bucket(Bucket=bucket)


def _error_code(error: ClientError) -> str:
    return str(error.response["Error"]["Code"])


def _has_keys(inputs: Bucket) -> bool:
    """Return whether the credentials file has the store's keys; without them the store is created again."""
    path = Path(inputs.credentials)
    return path.exists() and credentials.read(path).keys() >= credentials.S3_NAMES


def _head_bucket(inputs: Bucket, call: OperationContext) -> httpx.Response:
    """Return the response to a HEAD request; after repeated server errors, the last one.

    Raises:
        httpx.HTTPError: the store does not respond.
    """
    url = f"{inputs.endpoint}/{inputs.name}"
    answer: httpx.Response | None = None
    failure: httpx.HTTPError | None = None
    for _ in call.poll(RETRY_SECONDS):
        try:
            answer = client().head(url, headers=_signature(url, inputs), timeout=_TIMEOUT)
        except (httpx.NetworkError, httpx.RemoteProtocolError) as error:
            answer, failure = None, error
            continue
        if not answer.is_server_error:
            return answer
    if answer is not None:
        return answer
    assert failure is not None  # `poll` yields at least once
    raise failure


def _signature(url: str, inputs: Bucket) -> Mapping[str, str]:
    """Return the headers of a signed HEAD request."""
    keys = credentials.read(Path(inputs.credentials))
    ours = Credentials(keys[credentials.S3_ACCESS_KEY], keys[credentials.S3_SECRET_KEY])
    request = AWSRequest("HEAD", url)
    S3SigV4Auth(ours, "s3", credentials.S3_REGION).add_auth(request)
    return dict(request.headers.items())


def _s3_client(inputs: Bucket) -> Any:  # noqa: ANN401 - as above
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


def _failure(inputs: Bucket, operation: str, cause: Exception | str) -> LabError:
    return LabError(f"could not {operation} bucket {inputs.name} at {inputs.endpoint}: {cause}")
