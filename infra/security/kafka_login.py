# SPDX-License-Identifier: Apache-2.0
"""Login of clients to the lab's Kafka: SASL/PLAIN over TLS."""

from pathlib import Path

from infra import credentials

PROTOCOL, MECHANISM = "SASL_SSL", "PLAIN"

ADMIN = "admin"
"""User with all rights, by which the lab itself logs in."""


def admin_settings(authority: str, credentials_file: str) -> dict[str, str]:
    """Return the settings of librdkafka by which the administrator logs in.

    Args:
        authority: path of the certificate that the client trusts.
        credentials_file: file with the password.

    Raises:
        LabError: the file of credentials is missing.
    """
    return {
        "security.protocol": PROTOCOL,
        "sasl.mechanism": MECHANISM,
        "sasl.username": ADMIN,
        "sasl.password": credentials.read(Path(credentials_file)).get(credentials.KAFKA_ADMIN_PASSWORD, ""),
        "ssl.ca.location": authority,
    }
