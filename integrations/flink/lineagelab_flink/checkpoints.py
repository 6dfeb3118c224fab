# SPDX-License-Identifier: Apache-2.0
"""Newest checkpoint of a lost job.

The last one that the launcher observed may be outdated, or deleted while the launcher was down: Flink retains a few. A
job may also be lost before its launcher has observed any. So the checkpoint folder is listed, where it is reachable.
"""

import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import NoReturn
from urllib.parse import urlsplit

from lineagelab_flink.errors import FlinkError

WITHOUT_STATE = "start without state: rename the job, or stop its launcher and delete the launcher's state"
"""Remedy where a job cannot continue from its state."""

METADATA = "_metadata"
"""File that Flink writes last: a checkpoint without it is incomplete."""

_CHECKPOINT = re.compile(r"(?P<folder>.+)/chk-\d+/?")
_NUMBERED = re.compile(rf"(?:.*/)?chk-(\d+)/{METADATA}")


def is_checkpoint(path: str) -> bool:
    """Return whether a path is one of the numbered checkpoints that Flink writes itself, rather than a savepoint."""
    return _CHECKPOINT.fullmatch(path) is not None


def to_restore(known: str, job_folders: Iterable[str]) -> str:
    """Return the path from which a job continues; empty for none.

    Args:
        known: newest observed checkpoint or savepoint, `file:/...`, `s3://...` or `s3a://...`; empty for none.
        job_folders: folders of checkpoints that are newer than `known`, by job, the newest first.

    Raises:
        FlinkError: the folder cannot be listed, or what the job should be restored from does not exist.
    """
    for folder in job_folders:
        number = latest(_files(folder, "chk-") or ())
        if number is not None:
            return f"{folder}/chk-{number}"
    return newest_in_folder(known)


def newest_in_folder(known: str) -> str:
    """Return the newest checkpoint in the folder of a known one; a savepoint is returned unchanged.

    Raises:
        FlinkError: the folder cannot be listed, or there is no complete checkpoint or savepoint.
    """
    if not known:
        return known
    found = _CHECKPOINT.fullmatch(known)
    files = _files(found["folder"], "chk-") if found else _files(known, METADATA)
    if files is None:
        return known
    if found is None:
        return known if files else _missing("savepoint", known)
    number = latest(files)
    return _missing("checkpoint", known) if number is None else f"{found['folder']}/chk-{number}"


def _missing(what: str, path: str) -> NoReturn:
    raise FlinkError(
        f"the {what} {path}, from which the job continues, does not exist; put it back, or {WITHOUT_STATE}"
    )


def latest(files: Iterable[str]) -> int | None:
    """Return the highest number of a complete checkpoint among file names; None for none."""
    numbers = [int(found[1]) for file in files if (found := _NUMBERED.fullmatch(file))]
    return max(numbers, default=None)


def _files(folder: str, start: str) -> list[str] | None:
    """Return the metadata files in a folder, of names that begin with `start`; None if this process cannot list it."""
    address = urlsplit(folder)
    if address.scheme == "file" and Path(address.path).parent.is_dir():
        return [str(file) for file in Path(address.path).rglob(METADATA) if _is_below(file, address.path, start)]
    if address.scheme in {"s3", "s3a"} and "AWS_ACCESS_KEY_ID" in os.environ:
        return _objects(address.netloc, f"{address.path.strip('/')}/{start}")
    return None  # Flink reports what is missing


def _is_below(file: Path, folder: str, start: str) -> bool:
    return str(file.relative_to(folder)).startswith(start)


def _objects(bucket: str, prefix: str) -> list[str]:
    # Imported only after a loss: boto3 takes 30 MB and 0.5 s.
    import boto3
    from botocore.client import Config
    from botocore.exceptions import BotoCoreError, ClientError

    endpoint = os.environ.get("S3_ENDPOINT")
    client = boto3.client("s3", endpoint_url=endpoint, config=Config(s3={"addressing_style": "path"}))
    try:
        pages = client.get_paginator("list_objects_v2").paginate(Bucket=bucket, Prefix=prefix)
        keys = [str(item["Key"]) for page in pages for item in page.get("Contents", [])]
    except (BotoCoreError, ClientError) as error:
        raise FlinkError(f"cannot list checkpoints {bucket}/{prefix}* at {endpoint}: {error}") from error
    return [key for key in keys if key.endswith(f"/{METADATA}")]
