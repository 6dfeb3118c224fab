# SPDX-License-Identifier: Apache-2.0
"""S3 client of an object store. Its creation takes 1 s of CPU time."""

from pathlib import Path
from typing import Any

from botocore.exceptions import ClientError

from infra import credentials

CONNECT_SECONDS = 5
READ_SECONDS = 30
RETRIES = 3

LOGIN_CODES = frozenset({"403", "InvalidAccessKeyId", "SignatureDoesNotMatch"})
"""Codes of a store that does not know the keys."""

GIVE_KEYS = (
    f"set {credentials.variable(credentials.S3_ACCESS_KEY)} and {credentials.variable(credentials.S3_SECRET_KEY)} to "
    "keys of the store, in the environment of `up`"
)


def s3_client(endpoint: str, credentials_file: str) -> Any:  # noqa: ANN401 - boto3 has no type hints
    """Return a client of the store at the URL `endpoint`; the file holds its keys."""
    import boto3
    from botocore.client import Config

    keys = credentials.read(Path(credentials_file))
    return boto3.client(
        "s3",
        endpoint_url=endpoint,
        aws_access_key_id=keys[credentials.S3_ACCESS_KEY],
        aws_secret_access_key=keys[credentials.S3_SECRET_KEY],
        region_name=credentials.S3_REGION,
        config=Config(
            s3={"addressing_style": "path"},
            connect_timeout=CONNECT_SECONDS,
            read_timeout=READ_SECONDS,
            retries={"max_attempts": RETRIES},
        ),
    )


def error_code(error: ClientError) -> str:
    """Return the store's code of an error."""
    return str(error.response["Error"]["Code"])
