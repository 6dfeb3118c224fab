# SPDX-License-Identifier: Apache-2.0
"""The newest checkpoint that a lost job has left.

The last one that a launcher saw may be a few seconds old, and where the launcher was away, gone: Flink keeps the last
few. So the folder is looked into, where it can be.
"""

import os
import re
from collections.abc import Iterable
from pathlib import Path
from urllib.parse import urlsplit

from lineagelab_flink.errors import FlinkError

METADATA = "_metadata"
"""Flink writes this file last: a checkpoint without it is not whole."""

_CHECKPOINT = re.compile(r"(?P<folder>.+)/chk-\d+/?")
_NUMBERED = re.compile(rf"(?:.*/)?chk-(\d+)/{METADATA}")


def newest(known: str) -> str:
    """The newest checkpoint beside a known one of the same job; that one itself where no other is found.

    Args:
        known: `file:/...`, `s3://...` or `s3a://...`; a savepoint is taken as it is.

    Raises:
        FlinkError: the folder cannot be looked into.
    """
    found = _CHECKPOINT.fullmatch(known)
    if found is None:
        return known
    folder = found["folder"]
    number = latest(_files(folder))
    return known if number is None else f"{folder}/chk-{number}"


def latest(files: Iterable[str]) -> int | None:
    """The highest number of a checkpoint that is whole, among file names; None where there is none."""
    numbers = [int(found[1]) for file in files if (found := _NUMBERED.fullmatch(file))]
    return max(numbers, default=None)


def _files(folder: str) -> list[str]:
    address = urlsplit(folder)
    if address.scheme == "file":
        return [str(file) for file in Path(address.path).glob(f"chk-*/{METADATA}")]
    if address.scheme in {"s3", "s3a"} and "AWS_ACCESS_KEY_ID" in os.environ:
        return _objects(address.netloc, address.path.lstrip("/"))
    return []


def _objects(bucket: str, prefix: str) -> list[str]:
    # Only after a loss: boto3 takes 30 MB and half a second.
    import boto3
    from botocore.client import Config
    from botocore.exceptions import BotoCoreError, ClientError

    endpoint = os.environ.get("S3_ENDPOINT")
    client = boto3.client("s3", endpoint_url=endpoint, config=Config(s3={"addressing_style": "path"}))
    try:
        pages = client.get_paginator("list_objects_v2").paginate(Bucket=bucket, Prefix=f"{prefix}/chk-")
        return [str(item["Key"]) for page in pages for item in page.get("Contents", [])]
    except (BotoCoreError, ClientError) as error:
        raise FlinkError(f"cannot look for checkpoints in {bucket}/{prefix} at {endpoint}: {error}") from error
