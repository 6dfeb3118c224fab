# SPDX-License-Identifier: Apache-2.0
"""Which options are secrets, and what counts as a reference to one."""

import pytest

from infra.secret_options import is_reference, is_secret, references


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
def test_secrets_are_known_by_their_names(option):
    assert is_secret(option)


@pytest.mark.parametrize(
    "option",
    [
        *("database.user", "aws.access.key.id", "aws.credentials.provider.class", "transforms.unwrap.tombstones"),
        *("transforms.key.field", "message.key.columns", "gcs.credentials.path", "tokenizer"),
    ],
)
def test_what_only_sounds_like_one_is_none(option):
    assert not is_secret(option)


def test_references_are_told_from_text():
    assert references("${env:A}-${file:/etc/x:B}") == [("env", "A"), ("file", "B")]
    assert is_reference("jdbc:${env:A}")
    assert not any(is_reference(text) for text in ("$1", "${topic}", "@{topic.orders}", "", "${env:}"))
