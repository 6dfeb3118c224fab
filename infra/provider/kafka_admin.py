# SPDX-License-Identifier: Apache-2.0
"""Admin client of Kafka, and connection check of its brokers."""

import logging

from confluent_kafka.admin import AdminClient

from infra.provider.connections import accepts_connections
from infra.security.kafka_login import admin_settings

METADATA_TIMEOUT_SECONDS = 20
"""Time limit of an admin request, and for a new topic to appear in the metadata."""


def admin_client(bootstrap: str, authority: str | None = None, credentials_file: str | None = None) -> AdminClient:
    """Return an admin client; it connects with the first request.

    In a lab with TLS, `authority` is the path of the certificate to trust, and the credentials file has the password.

    Raises:
        LabError: the file is missing.
    """
    quiet = logging.getLogger("labkit.kafka")
    quiet.setLevel(logging.CRITICAL)  # librdkafka logs; errors are raised
    login = admin_settings(authority, credentials_file) if authority and credentials_file else {}
    return AdminClient({"bootstrap.servers": bootstrap, "socket.timeout.ms": 5000, **login}, logger=quiet)


def broker_accepts_connections(bootstrap: str) -> bool:
    """Return whether one of the brokers accepts connections; the Kafka client would retry until its timeout."""
    for server in bootstrap.split(","):
        host, _, port = server.rpartition(":")
        if accepts_connections(host, int(port)):
            return True
    return False
