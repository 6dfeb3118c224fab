# SPDX-License-Identifier: Apache-2.0
"""A lab that uses a broker, a registry, an object store and a Postgres that exist already."""

import re

import boto3
import httpx
import psycopg
import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, ConfigResource, NewTopic, ResourceType
from psycopg import sql

from infra import credentials
from infra.project import PULUMI_STATE
from infra.services.connect import worker as connect
from infra.services.schema_registry import CONFLUENT_API
from infra.toolchain import Artifacts
from tests.smoke.lab_under_test import LabUnderTest
from tests.stack.partial_lab import PartialLab, declarations
from tests.stack.polling import until

NEEDED = ("postgres", "kafka", "connect", "apicurio-registry", *connect.PLUGINS)
pytestmark = [
    pytest.mark.stack,
    pytest.mark.slow,
    pytest.mark.skipif(
        not all(Artifacts.open().has(name) for name in NEEDED), reason="not set up: bin/lab setup --tests"
    ),
]

STACK = "external"
ROLE, PASSWORD = "lab", "p@ss 'word\" $HOME"
"""Role without superuser rights, whose password a shell or a URL could misread."""


class Existing(PartialLab):
    """The existing services, with data of somebody else."""

    def __init__(self, folder, offset):
        super().__init__(folder, offset, ["kafka", "schema_registry", "object_store", "postgres"])

    @property
    def config(self):
        return {
            "portOffset": str(self.offset + 100),
            "profile": "connect",
            "shopRate": "50",
            "externalKafka": self.address(9092),
            "externalSchemaRegistry": f"http://{self.address(8081)}{CONFLUENT_API}",
            "externalS3": f"http://{self.address(9000)}",
            "externalPostgres": f"{ROLE}@{self.address(5432)}",
        }

    @property
    def variables(self):
        """Credentials in the environment of `up`."""
        given = {
            credentials.S3_ACCESS_KEY: self.secret(credentials.S3_ACCESS_KEY),
            credentials.S3_SECRET_KEY: self.secret(credentials.S3_SECRET_KEY),
            credentials.POSTGRES_PASSWORD: PASSWORD,
        }
        return {credentials.variable(name): value for name, value in given.items()}

    def make_data(self):
        """Create what somebody else has in the services: a topic, a bucket and a subject that the lab uses too."""
        admin = self.admin()
        config = {"retention.ms": "123456789"}
        admin.create_topics([NewTopic("bids", 5, 1, config=config)])["bids"].result(20)
        admin.create_topics([NewTopic("theirs", 1, 1)])["theirs"].result(20)
        producer = Producer({"bootstrap.servers": self.address(9092)})
        producer.produce("theirs", b"record")
        assert producer.flush(20) == 0
        self.s3().create_bucket(Bucket="archive")
        self.s3().put_object(Bucket="archive", Key="theirs.txt", Body=b"object")
        known = declarations(**self.engine.wanted | {"keys": ["subject/bids-value"]})
        schema = next(resource.inputs.avro for resource in known if resource.key == "subject/bids-value")
        self.registry("POST", "/subjects/bids-value/versions", json={"schema": schema})
        role = sql.SQL(f"CREATE ROLE {ROLE} LOGIN CREATEDB REPLICATION PASSWORD {{}}")
        self.query(role.format(sql.Literal(PASSWORD)))
        self.query(f"CREATE DATABASE shop OWNER {ROLE}")
        self.query("CREATE TABLE theirs AS SELECT 1 AS number", "shop")

    def admin(self):
        return AdminClient({"bootstrap.servers": self.address(9092)})

    def s3(self):
        return boto3.client(
            "s3",
            endpoint_url=f"http://{self.address(9000)}",
            aws_access_key_id=self.secret(credentials.S3_ACCESS_KEY),
            aws_secret_access_key=self.secret(credentials.S3_SECRET_KEY),
            region_name=credentials.S3_REGION,
        )

    def registry(self, method, path, **more):
        url = f"http://{self.address(8081)}{CONFLUENT_API}{path}"
        return httpx.request(method, url, timeout=60, trust_env=False, **more).raise_for_status().json()

    def query(self, statement, database="postgres"):
        with psycopg.connect(
            host="127.0.0.1",
            port=5432 + self.offset,
            user="postgres",
            password=self.secret(credentials.POSTGRES_PASSWORD),
            dbname=database,
            autocommit=True,
        ) as connection:
            cursor = connection.execute(statement)
            return cursor.fetchall() if cursor.description else []

    def topics(self):
        return set(self.admin().list_topics(timeout=60).topics) - {"__consumer_offsets", "__transaction_state"}

    def setting(self, topic, name):
        resource = ConfigResource(ResourceType.TOPIC, topic)
        admin = self.admin()  # its requests end with it
        return admin.describe_configs([resource])[resource].result(20)[name].value

    def count(self, topic):
        """Return the number of positions in a topic."""
        consumer = Consumer({"bootstrap.servers": self.address(9092), "group.id": "test"})
        try:
            numbers = consumer.list_topics(topic, timeout=60).topics[topic].partitions
            partitions = [TopicPartition(topic, number) for number in numbers]
            ends = [consumer.get_watermark_offsets(partition, timeout=60) for partition in partitions]
        finally:
            consumer.close()
        return sum(high - low for low, high in ends)

    def objects(self, prefix=""):
        pages = self.s3().get_paginator("list_objects_v2").paginate(Bucket="archive", Prefix=prefix)
        return {item["Key"] for page in pages for item in page.get("Contents", ())}


@pytest.fixture(scope="module")
def existing(tmp_path_factory, free_offset):
    with Existing(tmp_path_factory.mktemp("external") / "existing", free_offset + 11).running() as running:
        running.make_data()
        yield running


@pytest.fixture(scope="module")
def variables(existing):
    with pytest.MonkeyPatch.context() as patch:
        for name, value in existing.variables.items():
            patch.setenv(name, value)
        yield patch


@pytest.fixture(scope="module")
def lab(existing, variables):
    """A lab of the profile connect whose first rows have arrived."""
    with LabUnderTest(STACK).configured(config=existing.config) as under_test:
        result = under_test.lab("up")
        assert result.status == 0, result.text
        under_test.first_up = result
        yield under_test


def test_rows_reach_topic_and_archive_and_the_lineage_is_as_always(lab, existing):
    assert until(lambda: existing.count("orders") > 100 and existing.count("bids") > 100)
    assert until(lambda: existing.objects("topics/orders/") and existing.objects("topics/bids/"))
    assert lab.lab("verify").status == 0


def test_lab_runs_none_of_the_existing_services(lab, existing):
    names = {state.name for state in lab.supervisor.states()}
    assert names == {"lineage", "connect", "shop"}
    status = lab.lab("status").text
    assert "kafka" not in status
    shown = lab.environment
    assert shown["LAB_KAFKA"] == existing.address(9092)
    assert shown["LAB_S3"] == f"http://{existing.address(9000)}"
    assert (shown["PGUSER"], shown["PGPASSWORD"]) == (ROLE, PASSWORD)


def test_what_existed_before_is_used_as_it_is(lab, existing):
    assert existing.setting("bids", "retention.ms") == "123456789"
    assert len(existing.admin().list_topics("bids", timeout=60).topics["bids"].partitions) == 5
    assert existing.setting("orders", "retention.ms") == "-1"
    assert existing.registry("GET", "/subjects/bids-value/versions") == [1]
    assert "topic bids at" in lab.first_up.text
    assert "exists already: the lab uses it, and leaves it at the end" in lab.first_up.text


def test_second_up_changes_nothing_without_the_credentials(lab, variables, existing):
    with pytest.MonkeyPatch.context() as without:
        for name in existing.variables:
            without.delenv(name)
        again = lab.lab("up", "--no-pipeline")
    assert again.status == 0, again.text
    assert not re.search(r" (created|updated|replaced|deleted)", again.text), again.text


def test_credentials_are_in_no_state_and_no_file_but_two(lab, existing):
    secrets = {value.encode() for value in existing.variables.values()}
    files = [path for folder in (lab.root, PULUMI_STATE) for path in folder.rglob("*") if path.is_file()]
    holding = {path.name for path in files for secret in secrets if secret in path.read_bytes()}
    assert holding == {"credentials.env", "lab.env"}


def test_wrong_credentials_are_named_with_the_variable(lab, existing):
    remedies = {
        "LINEAGE_LAB_POSTGRES_PASSWORD": "rejects the password of role lab. To continue: set",
        "LINEAGE_LAB_S3_SECRET_KEY": "(lineage-lab:externalS3)",
    }
    # One at a time: the first error may end the update.
    for variable, remedy in remedies.items():
        with pytest.MonkeyPatch.context() as wrong:
            wrong.setenv(variable, "wrongwrong")
            refused = lab.lab("up", "--no-pipeline")
        assert refused.status != 0
        assert remedy in refused.text
        assert variable in refused.text
    healed = lab.lab("up", "--no-pipeline")
    assert healed.status == 0, healed.text


def test_down_leaves_what_is_not_the_labs_and_says_so(lab, existing):
    assert lab.lab("stop", "shop").status == 0
    removed = lab.lab("down")
    assert removed.status == 0, removed.text
    assert not lab.root.exists()

    assert existing.topics() == {"bids", "theirs"}
    assert existing.count("bids") > 100
    assert existing.count("theirs") == 1
    assert "topic bids at" in removed.text
    assert re.search(r"topic orders at \S+ was created by the lab and is deleted", removed.text)

    assert "theirs.txt" in existing.objects()
    assert existing.objects("topics/orders/")

    assert existing.registry("GET", "/subjects") == ["bids-value"]

    assert existing.query("SELECT number FROM theirs", "shop") == [(1,)]
    assert existing.query("SELECT tablename FROM pg_tables WHERE schemaname = 'public'", "shop") == [("theirs",)]
    assert existing.query("SELECT * FROM pg_replication_slots") == []
    assert existing.query("SELECT * FROM pg_publication", "shop") == []
