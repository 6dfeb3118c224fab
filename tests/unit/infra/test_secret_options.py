# SPDX-License-Identifier: Apache-2.0
"""Detection of secret options and of references to secrets."""

import pytest

from infra.model.secret_options import has_password_in_url, is_reference, is_secret, references


@pytest.mark.parametrize(
    "option",
    [
        *(
            "database.password",
            "aws.secret.access.key",
            "iceberg.catalog.s3.secret-access-key",
            "iceberg.catalog.token",
        ),
        *("sasl.jaas.config", "ssl.key.passphrase", "gcs.credentials.json", "consumer.override.ssl.keystore.password"),
    ],
)
def test_detect_secret_by_name(option):
    assert is_secret(option)


@pytest.mark.parametrize(
    "option",
    [
        *("database.user", "aws.access.key.id", "aws.credentials.provider.class", "transforms.unwrap.tombstones"),
        *("transforms.key.field", "message.key.columns", "gcs.credentials.path", "tokenizer"),
    ],
)
def test_similar_names_are_not_secrets(option):
    assert not is_secret(option)


@pytest.mark.parametrize(
    "option",
    [
        *("basic.auth.user.info", "iceberg.catalog.header.Authorization", "api.key", "auth.apikey"),
        *("ssl.keystore.key", "database.pass"),
    ],
)
def test_detect_secret_by_alternative_spelling(option):
    assert is_secret(option)


def test_detect_password_in_url():
    assert has_password_in_url("jdbc:postgresql://me:hunter2@host/db")
    assert not any(
        has_password_in_url(text)
        for text in ("http://host:8080/a@b", "jdbc:postgresql://me:${env:A}@host/db", "s3://bucket/key:x")
    )


def test_distinguish_references_from_literals():
    assert references("${env:A}-${file:/etc/x:B}") == [("env", "A"), ("file", "B")]
    assert is_reference("${env:A}${env:B}")
    assert is_reference('a.PlainLoginModule required username="u" password="${env:A}";')
    assert not is_reference('a.PlainLoginModule required password="hunter2" username="${env:A}";')
    assert not any(is_reference(text) for text in ("jdbc:${env:A}", "hunter2 ${env:A}"))
    assert not any(is_reference(text) for text in ("$1", "${topic}", "@{topic.orders}", "", "${env:}"))
