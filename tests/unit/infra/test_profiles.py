# SPDX-License-Identifier: Apache-2.0
"""Profiles of the lab: parts, memory and features."""

import json

import pytest

from infra.catalog import LabSettings, build_lab
from infra.cli.setup import required_artifacts
from infra.model import Bucket, Connector, Topic
from infra.services.overview import enabled_features
from infra.user_files import UserFiles
from tests.unit.infra.test_services import FakeSite

CONNECT = LabSettings(profile="connect")


@pytest.fixture(scope="module")
def connect_lab():
    return build_lab(FakeSite(), CONNECT)


def test_profile_connect_has_capture_archive_and_lineage_only(connect_lab):
    names = {service.name for service in connect_lab.services}
    assert names == {"lineage", "kafka", "schema_registry", "connect", "postgres", "object_store", "shop"}
    assert connect_lab.tasks == ()
    assert {connector.name for connector in connect_lab.resources_of(Connector)} == {"orders_source", "orders_archive"}
    assert {bucket.name for bucket in connect_lab.resources_of(Bucket)} == {"archive"}
    assert {topic.name for topic in connect_lab.resources_of(Topic)} == {"orders", "bids", "dlq.orders_archive"}


def test_profile_connect_needs_far_less_memory_and_no_spark_or_flink(connect_lab):
    assert connect_lab.memory_mib < build_lab(FakeSite(), LabSettings()).memory_mib / 2
    assert not {name for name in required_artifacts(CONNECT) if name.startswith(("spark", "flink", "supplier"))}


def test_profile_connect_leaves_users_spark_and_flink_jobs_out():
    files = UserFiles(spark={"mine.py": "# lab: task\n"}, flink={"mine.sql": "-- lab: service\nSELECT 1;\n"})
    assert build_lab(FakeSite(), CONNECT, files) == build_lab(FakeSite(), CONNECT)


def test_contract_features_and_lineage_page_follow_the_profile(connect_lab):
    assert enabled_features(CONNECT) == frozenset()
    assert enabled_features(LabSettings(flink=False)) == {"lake"}
    shown = {service["name"] for service in json.loads(connect_lab.service("lineage").files["lab.json"])["services"]}
    assert shown == {"kafka", "schema_registry", "connect", "postgres", "object_store"}
