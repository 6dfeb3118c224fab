# SPDX-License-Identifier: Apache-2.0
"""Buckets in a real object store: reading, adoption and repair."""

import boto3
import pytest

from infra import credentials
from infra.provider.kind import OperationContext
from infra.provider.kinds.bucket import BucketKind
from tests.stack.partial_lab import PartialLab

pytestmark = pytest.mark.stack

KEYS = ("bucket/warehouse", "bucket/archive")


@pytest.fixture(scope="module")
def part(tmp_path_factory, free_offset):
    with PartialLab(tmp_path_factory.mktemp("buckets"), free_offset, KEYS).running() as made:
        yield made


@pytest.fixture
def store(part):
    return boto3.client(
        "s3",
        endpoint_url=f"http://{part.address(9000)}",
        aws_access_key_id=part.secret(credentials.S3_ACCESS_KEY),
        aws_secret_access_key=part.secret(credentials.S3_SECRET_KEY),
        region_name=credentials.S3_REGION,
    )


def test_existing_bucket_is_kept_and_a_missing_one_is_created(part, store):
    unchanged = part.up("--refresh")
    assert unchanged.status == 0, unchanged.text
    assert "unchanged" in unchanged.text
    assert "created" not in unchanged.text
    store.delete_bucket(Bucket="archive")
    mended = part.up("--refresh")
    assert mended.status == 0, mended.text
    assert {bucket["Name"] for bucket in store.list_buckets()["Buckets"]} == {"warehouse", "archive"}


def test_store_with_other_keys_is_another_labs(part, tmp_path):
    other = tmp_path / "credentials.env"
    credentials.ensure(other)
    ours = part.resources["bucket/warehouse"].inputs
    assert BucketKind().read(ours, OperationContext()) is not None
    assert BucketKind().read(ours.model_copy(update={"credentials": str(other)}), OperationContext()) is None
    half = tmp_path / "half.env"
    known = credentials.read(other) | {credentials.S3_ACCESS_KEY: part.secret(credentials.S3_ACCESS_KEY)}
    half.write_text(credentials.render(known))
    assert BucketKind().read(ours.model_copy(update={"credentials": str(half)}), OperationContext()) is None
