# SPDX-License-Identifier: Apache-2.0
"""Tests of a lab with TLS from outside, on any target.

Clients of others have the variables of `lab.env`; other clients must be refused.
"""

import ssl
from contextlib import suppress
from urllib.parse import urlsplit

import boto3
import httpx
import psycopg
import pytest
from botocore.exceptions import SSLError
from confluent_kafka import Consumer, KafkaError, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import AclBindingFilter, AclOperation, AclPermissionType, ResourcePatternType, ResourceType
from openlineage.client import OpenLineageClient
from pyiceberg.catalog import load_catalog

from infra.namespaces import ARCHIVE_BUCKET, TABLE_ORDERS, TOPIC_ORDERS
from infra.provider.kafka_admin import admin_client
from infra.security import certificates
from infra.security.certificate_files import AUTHORITY
from infra.services.postgres import SHOP
from tests.stack.polling import until

SECONDS = 20
UP_SECONDS = 1500
"""Beside another lab and other tests."""

HTTPS = ("LAB_LINEAGE", "LAB_S3", "LAB_S3_CONSOLE", "LAB_SCHEMA_REGISTRY", "LAB_ICEBERG_CATALOG")
PATHS = {
    "LAB_LINEAGE": "/health",
    "LAB_S3": "/minio/health/live",
    "LAB_SCHEMA_REGISTRY": "/subjects",
    "LAB_ICEBERG_CATALOG": "/v1/config",
    "LAB_S3_CONSOLE": "/",
}


def kafka_settings(lab, **changed):
    given = lab.environment
    return {
        "bootstrap.servers": given["LAB_KAFKA"],
        "security.protocol": given["KAFKA_SECURITY_PROTOCOL"],
        "sasl.mechanism": given["KAFKA_SASL_MECHANISM"],
        "sasl.username": given["KAFKA_SASL_USERNAME"],
        "sasl.password": given["KAFKA_SASL_PASSWORD"],
        "ssl.ca.location": given["KAFKA_SSL_CA_LOCATION"],
        "log_level": 0,
    } | {name.replace("_", "."): value for name, value in changed.items()}


def kafka_refusal(settings):
    """Return the errors of a client that finds no broker."""
    errors = []
    consumer = Consumer({"group.id": "refused", **settings, "error_cb": errors.append})
    with suppress(KafkaException):
        consumer.list_topics(timeout=5)
        pytest.fail("the broker accepts the client")
    consumer.close()
    return " ".join(error.str() for error in errors)


def database(lab, **changed):
    names = {
        "host": "PGHOST",
        "port": "PGPORT",
        "user": "PGUSER",
        "password": "PGPASSWORD",
        "sslmode": "PGSSLMODE",
        "sslrootcert": "PGSSLROOTCERT",
    }
    given = {option: lab.environment[name] for option, name in names.items()}
    return psycopg.connect(**{**given, **changed}, dbname=SHOP, connect_timeout=SECONDS)


def object_store(lab, authority):
    given = lab.environment
    return boto3.client(
        "s3",
        endpoint_url=given["AWS_ENDPOINT_URL_S3"],
        aws_access_key_id=given["AWS_ACCESS_KEY_ID"],
        aws_secret_access_key=given["AWS_SECRET_ACCESS_KEY"],
        region_name=given["AWS_REGION"],
        verify=authority,
    )


class TlsTests:
    """Tests of the fixture `lab`, which is up. They come before those of subclasses."""

    @pytest.fixture
    def other_authority(self, tmp_path):
        """Certificate of an authority that the lab does not know."""
        certificates.ensure(tmp_path, {})
        return str(tmp_path / AUTHORITY)

    def test_the_lineage_meets_the_contract(self, lab):
        verified = lab.lab("verify")
        assert verified.status == 0, verified.text

    def test_up_changes_nothing_the_second_time(self, lab):
        repeated = lab.lab("up", seconds=UP_SECONDS)
        assert repeated.status == 0, repeated.text
        assert " unchanged" in repeated.text, repeated.text
        assert " changes." not in repeated.text, repeated.text

    def test_kafka_of_the_user(self, lab):
        consumer = Consumer({**kafka_settings(lab), "group.id": "outside", "enable.auto.commit": False})
        consumer.assign([TopicPartition(TOPIC_ORDERS, 0, 0)])
        (record,) = consumer.consume(1, timeout=SECONDS)
        assert record.error() is None
        consumer.close()

    def test_postgres_of_the_user(self, lab):
        with database(lab) as connection:
            (encrypted,) = connection.execute("SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()").fetchone()
        assert encrypted is True

    def test_object_store_of_the_user(self, lab):
        until(
            lambda: object_store(lab, lab.environment["AWS_CA_BUNDLE"]).list_objects_v2(Bucket=ARCHIVE_BUCKET)[
                "KeyCount"
            ]
        )

    @pytest.mark.parametrize("name", HTTPS)
    def test_http_of_the_user(self, lab, name):
        trusted = ssl.create_default_context(cafile=lab.environment["LAB_CA_FILE"])
        url = lab.environment[name] + PATHS[name]
        assert url.startswith("https:")
        assert httpx.get(url, verify=trusted, timeout=SECONDS).is_success
        with pytest.raises(httpx.ConnectError, match="certificate verify failed"):
            httpx.get(url, timeout=SECONDS)
        with pytest.raises(httpx.HTTPError) as refused:
            httpx.get(f"http://{urlsplit(url).netloc}{PATHS[name]}", timeout=SECONDS).raise_for_status()
        assert "200" not in str(refused.value)

    def test_iceberg_tables_of_the_user(self, lab, monkeypatch):
        for name in ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE"):
            monkeypatch.setenv(name, lab.environment["LAB_CA_FILE"])
        catalog = load_catalog("lake", type="rest", uri=lab.environment["LAB_ICEBERG_CATALOG"])
        assert catalog.load_table(TABLE_ORDERS).current_snapshot().summary["total-records"] != "0"

    def test_sql_of_the_lab(self, lab):
        counted = lab.lab("sql", f"SELECT count(*) > 0 AS some FROM lake.{TABLE_ORDERS}")
        assert counted.status == 0, counted.text
        assert "True" in counted.text, counted.text

    def test_events_of_the_user(self, lab, monkeypatch):
        for name in ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "OPENLINEAGE_URL", "OPENLINEAGE_API_KEY"):
            monkeypatch.setenv(name, lab.environment.get(name, lab.environment["LAB_CA_FILE"]))
        client = OpenLineageClient()
        assert client.transport.kind == "http"
        client.close()

    @pytest.mark.parametrize(
        ("changed", "cause", "logged"),
        [
            ({"sasl_password": "wrong"}, "Authentication failed", "Invalid username or password"),
            ({"sasl_username": "nobody"}, "Authentication failed", "Invalid username or password"),
            ({"sasl_username": "admin"}, "Authentication failed", "Invalid username or password"),
            ({"security_protocol": "SSL"}, "", "during SASL handshake"),
            ({"security_protocol": "PLAINTEXT"}, "", "SSL handshake failed"),
        ],
    )
    def test_kafka_refuses_a_wrong_login(self, lab, changed, cause, logged):
        before = lab.log("kafka").count(logged)
        assert cause in kafka_refusal(kafka_settings(lab, **changed))
        until(lambda: lab.log("kafka").count(logged) > before)

    def test_kafka_with_another_certificate_is_refused_by_the_client(self, lab, other_authority):
        assert "certificate" in kafka_refusal(kafka_settings(lab, ssl_ca_location=other_authority))

    def test_kafka_refuses_and_logs_what_the_user_may_not_do(self, lab):
        errors = []
        producer = Producer(kafka_settings(lab))
        producer.produce(TOPIC_ORDERS, b"forged", on_delivery=lambda error, _: errors.append(error))
        producer.flush(SECONDS)
        assert [error.code() for error in errors] == [KafkaError.TOPIC_AUTHORIZATION_FAILED]
        until(lambda: "Principal = User:client is Denied operation = WRITE" in lab.log("kafka"))

    @pytest.mark.parametrize(
        ("changed", "cause"),
        [
            ({"sslmode": "disable"}, "no encryption"),
            ({"password": "wrong"}, "password authentication failed"),
        ],
    )
    def test_postgres_refuses(self, lab, changed, cause):
        with pytest.raises(psycopg.OperationalError, match=cause):
            database(lab, **changed)
        until(lambda: cause in lab.log("postgres"))

    def test_another_certificate_is_refused_by_clients(self, lab, other_authority):
        with pytest.raises(psycopg.OperationalError, match="certificate verify failed"):
            database(lab, sslrootcert=other_authority)
        with pytest.raises(SSLError):
            object_store(lab, other_authority).list_buckets()

    def test_rights_that_somebody_changed_are_restored(self, lab):
        root = lab.root
        admin = admin_client(
            lab.environment["LAB_KAFKA"], lab.environment["LAB_CA_FILE"], str(root / "credentials.env")
        )
        rights = AclBindingFilter(
            ResourceType.TOPIC,
            None,
            ResourcePatternType.ANY,
            "User:client",
            None,
            AclOperation.ANY,
            AclPermissionType.ANY,
        )
        assert len(next(iter(admin.delete_acls([rights]).values())).result()) == 3
        until(lambda: admin.describe_acls(rights).result() == [])
        restored = lab.lab("up", seconds=UP_SECONDS)
        assert restored.status == 0, restored.text
        assert len(admin.describe_acls(rights).result()) == 3

    def test_a_lost_certificate_is_made_again_and_its_clients_go_on(self, lab):
        before = (lab.root / "certificates" / "kafka" / "public.crt").read_bytes()
        (lab.root / "certificates" / "kafka" / "public.crt").unlink()
        renewed = lab.lab("up", seconds=UP_SECONDS)
        assert renewed.status == 0, renewed.text
        assert (lab.root / "certificates" / "kafka" / "public.crt").read_bytes() != before
        verified = lab.lab("verify")
        assert verified.status == 0, verified.text
