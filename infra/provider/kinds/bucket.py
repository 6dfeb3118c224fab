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
from infra.http_client import client_for
from infra.model import external_settings
from infra.model.resources import Bucket
from infra.provider.data_kind import DataKind, same_outputs
from infra.provider.external_service import external_error
from infra.provider.kind import OperationContext, ReadResult
from infra.provider.object_store import CONNECT_SECONDS, READ_SECONDS, error_code, s3_client

FOUND_CODES = frozenset({"BucketAlreadyOwnedByYou", "BucketAlreadyExists"})
NOT_FOUND_CODES = frozenset({"404", "NoSuchBucket"})
ACCESS_DENIED_CODES = frozenset({"403", "AccessDenied", "InvalidAccessKeyId", "SignatureDoesNotMatch"})
"""Codes of a store that rejects our keys: its buckets belong to another lab, or to earlier credentials."""

_TIMEOUT = httpx.Timeout(READ_SECONDS, connect=CONNECT_SECONDS)

GIVE_RIGHTS = "give the keys all rights to that bucket (and, unless it exists, the right to create it)"

RETRY_SECONDS = 3
"""Time for which reads are retried when the store drops connections or responds with a server error."""


class BucketKind(DataKind[Bucket]):
    """Buckets of the object store; `create` adopts an existing bucket."""

    name = "Bucket"
    inputs = Bucket
    replace_on = frozenset({"endpoint", "name"})
    addresses = frozenset({"endpoint"})
    setting = external_settings.OBJECT_STORE

    def describe(self, inputs: Bucket) -> str:
        return f"bucket {inputs.name} at {inputs.endpoint}"

    def create(self, inputs: Bucket, call: OperationContext) -> dict[str, Any]:
        # Some stores accept the creation of a bucket that the same user has.
        existed = self.exists_already(inputs, call) or not _create_bucket(inputs)
        return self.created(inputs, existed, call)

    def read(self, inputs: Bucket, call: OperationContext) -> ReadResult[Bucket] | None:
        if not _has_keys(inputs):
            return None
        try:
            answer = _head_bucket(inputs, call)
        except httpx.ConnectError as error:
            return self.unreadable(inputs, call, str(error))
        except httpx.HTTPError as error:
            raise _failure(inputs, "read", error) from error
        if str(answer.status_code) in ACCESS_DENIED_CODES:
            return self.refused(inputs, call, "the store denies access to it", GIVE_RIGHTS)
        if str(answer.status_code) in NOT_FOUND_CODES:
            return None
        if not answer.is_success:
            why = f"the store responded with status {answer.status_code} {answer.reason_phrase}"
            raise _failure(inputs, "read", why)
        return ReadResult(inputs, same_outputs(inputs, call))

    def update(self, old: Bucket, new: Bucket, call: OperationContext) -> dict[str, Any]:
        return same_outputs(new, call)

    def remove(self, inputs: Bucket, call: OperationContext) -> None:
        if not _has_keys(inputs):
            return
        try:
            _empty_and_delete(s3_client(inputs.endpoint, inputs.credentials), inputs.name)
        except EndpointConnectionError as error:
            raise self.unreachable(inputs, "delete", str(error)) from error
        except ClientError as error:
            not_ours = ACCESS_DENIED_CODES if not inputs.external else frozenset()
            if error_code(error) not in NOT_FOUND_CODES | not_ours:
                raise _failure(inputs, "delete", error) from error
        except BotoCoreError as error:
            raise _failure(inputs, "delete", error) from error


def _create_bucket(inputs: Bucket) -> bool:
    """Create the bucket; return False if it exists."""
    try:
        s3_client(inputs.endpoint, inputs.credentials).create_bucket(Bucket=inputs.name)
    except ClientError as error:
        if error_code(error) in FOUND_CODES:
            return False
        raise _failure(inputs, "create", error) from error
    except BotoCoreError as error:
        raise _failure(inputs, "create", error) from error
    return True


def _empty_and_delete(client: Any, bucket: str) -> None:  # noqa: ANN401 - boto3 has no type hints
    for page in client.get_paginator("list_objects_v2").paginate(Bucket=bucket):
        keys = [{"Key": item["Key"]} for item in page.get("Contents", [])]
        if keys:
            client.delete_objects(Bucket=bucket, Delete={"Objects": keys, "Quiet": True})
    client.delete_bucket(Bucket=bucket)


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
            answer = client_for(url).head(url, headers=_signature(url, inputs), timeout=_TIMEOUT)
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


def _failure(inputs: Bucket, operation: str, cause: Exception | str) -> LabError:
    action = f"{operation} bucket {inputs.name} at {inputs.endpoint}"
    if not inputs.external:
        return LabError(f"could not {action}: {cause}")
    denied = isinstance(cause, ClientError) and error_code(cause) in ACCESS_DENIED_CODES
    return external_error(external_settings.OBJECT_STORE, action, str(cause), GIVE_RIGHTS if denied else "")
