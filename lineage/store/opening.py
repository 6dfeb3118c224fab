# SPDX-License-Identifier: Apache-2.0
"""Opens the log that the settings name."""

import socket
from collections.abc import Mapping

from lineage.settings import Settings
from lineage.store.errors import StoreUnusable
from lineage.store.event_store import EventStore
from lineage.store.log import EventLog
from lineage.store.postgres.address import PostgresAddress, read_password


def open_log(settings: Settings, port: int, environment: Mapping[str, str]) -> EventStore:
    """Open or create the log; `port` is the one of this instance, which other instances show.

    Raises:
        StoreError: the database cannot be reached, or rejects the login.
        StoreUnusable: the log is in use, is not one of this version, or its driver is not installed.
    """
    if settings.store is None:
        return EventLog(settings.data, settings.max_store_bytes)
    try:
        # Imported here: without Postgres, the service does not need the driver.
        from lineage.store.postgres.log import PostgresLog
    except ImportError as error:
        raise StoreUnusable(
            f"a log in Postgres requires the extra `postgres`: pip install 'lineage-lab-service[postgres]' ({error})"
        ) from error
    address = PostgresAddress(settings.store, read_password(settings.store_password_file, environment))
    return PostgresLog(address, settings.data, f"{socket.gethostname()}:{port}")
