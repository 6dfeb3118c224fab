# SPDX-License-Identifier: Apache-2.0
"""`labkit:index:Bucket`: a bucket of the object store, removed with what is in it."""

from pathlib import Path
from typing import Any

import boto3
from botocore.client import Config
from botocore.exceptions import BotoCoreError, ClientError, EndpointConnectionError

from infra import credentials
from infra.errors import LabError
from infra.provider.kind import Call, Found, Inputs, Kind

GONE = frozenset({"404", "NoSuchBucket"})
FOREIGN = frozenset({"403", "AccessDenied", "InvalidAccessKeyId", "SignatureDoesNotMatch"})
"""The store does not know our keys: it is another lab's, or was made with other keys. Its buckets are not ours."""


class BucketInputs(Inputs):
    """`endpoint` is the URL of the store, `credentials` the file that holds the keys."""

    endpoint: str
    bucket: str
    credentials: str


class BucketKind(Kind[BucketInputs]):
    """A bucket that is there already is taken over."""

    name = "Bucket"
    inputs = BucketInputs
    replace_on = frozenset({"endpoint", "bucket"})

    def create(self, inputs: BucketInputs, call: Call) -> dict[str, Any]:
        try:
            _client(inputs).create_bucket(Bucket=inputs.bucket)
        except ClientError as error:
            if _code(error) not in {"BucketAlreadyOwnedByYou", "BucketAlreadyExists"}:
                raise _failure(inputs, "create", error) from error
        except BotoCoreError as error:
            raise _failure(inputs, "create", error) from error
        return {}

    def read(self, inputs: BucketInputs, call: Call) -> Found[BucketInputs] | None:
        if not _has_keys(inputs):
            return None
        try:
            _client(inputs).head_bucket(Bucket=inputs.bucket)
        except EndpointConnectionError:
            return None  # the store itself is gone: it is made anew, its buckets after it
        except ClientError as error:
            if _code(error) in GONE | FOREIGN:
                return None
            raise _failure(inputs, "read", error) from error
        except BotoCoreError as error:
            raise _failure(inputs, "read", error) from error
        return Found(inputs)

    def update(self, old: BucketInputs, new: BucketInputs, call: Call) -> dict[str, Any]:
        return {}

    def delete(self, inputs: BucketInputs, call: Call) -> None:
        if not _has_keys(inputs):
            return
        try:
            _empty_and_delete(_client(inputs), inputs.bucket)
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


def _has_keys(inputs: BucketInputs) -> bool:
    """Whether the keys are there; without them nothing can be asked, and the store is about to be made anew."""
    path = Path(inputs.credentials)
    return path.exists() and credentials.read(path).keys() >= credentials.NAMES_OF_S3


def _client(inputs: BucketInputs) -> Any:  # noqa: ANN401 - as above
    keys = credentials.read(Path(inputs.credentials))
    return boto3.client(
        "s3",
        endpoint_url=inputs.endpoint,
        aws_access_key_id=keys[credentials.S3_ACCESS_KEY],
        aws_secret_access_key=keys[credentials.S3_SECRET_KEY],
        region_name=credentials.S3_REGION,
        config=Config(s3={"addressing_style": "path"}, connect_timeout=5, read_timeout=30, retries={"max_attempts": 3}),
    )


def _failure(inputs: BucketInputs, what: str, error: Exception) -> LabError:
    return LabError(f"could not {what} bucket {inputs.bucket} at {inputs.endpoint}: {error}")
