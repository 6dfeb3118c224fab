# SPDX-License-Identifier: Apache-2.0
"""Newest checkpoint of a lost job.

The last one that the launcher observed may be outdated, or deleted while the launcher was down: Flink retains a few. So
the checkpoint folder is listed, where it is reachable.
"""

import os
import re
from collections.abc import Iterable
from pathlib import Path
from urllib.parse import urlsplit

from lineagelab_flink.errors import FlinkError

METADATA = "_metadata"
"""File that Flink writes last: a checkpoint without it is incomplete."""

_CHECKPOINT = re.compile(r"(?P<folder>.+)/chk-\d+/?")
_NUMBERED = re.compile(rf"(?:.*/)?chk-(\d+)/{METADATA}")


def newest_in_folder(known: str) -> str:
    """Return the newest checkpoint in the folder of a known one; the known one where no other is found.

    Args:
        known: `file:/...`, `s3://...` or `s3a://...`; a savepoint is returned unchanged.

    Raises:
        FlinkError: the folder cannot be listed.
    """
    found = _CHECKPOINT.fullmatch(known)
    if found is None:
        return known
    folder = found["folder"]
    number = latest(_files(folder))
    return known if number is None else f"{folder}/chk-{number}"


def latest(files: Iterable[str]) -> int | None:
    """Return the highest number of a complete checkpoint among file names; None for none."""
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
    # Imported only after a loss: boto3 takes 30 MB and 0.5 s.
    import boto3
    from botocore.client import Config
    from botocore.exceptions import BotoCoreError, ClientError

    endpoint = os.environ.get("S3_ENDPOINT")
    client = boto3.client("s3", endpoint_url=endpoint, config=Config(s3={"addressing_style": "path"}))
    try:
        pages = client.get_paginator("list_objects_v2").paginate(Bucket=bucket, Prefix=f"{prefix}/chk-")
        return [str(item["Key"]) for page in pages for item in page.get("Contents", [])]
    except (BotoCoreError, ClientError) as error:
        raise FlinkError(f"cannot list checkpoints in {bucket}/{prefix} at {endpoint}: {error}") from error
