# SPDX-License-Identifier: Apache-2.0
"""Connections to the database of the log. Errors name the database and never its password."""

from typing import Any

import psycopg
from psycopg import sql as quoted
from psycopg.conninfo import make_conninfo

from lineage.store.errors import StoreError, StoreFull
from lineage.store.postgres.address import PostgresAddress
from lineage.store.postgres.sql import SCHEMA

Connection = psycopg.Connection[tuple[Any, ...]]

CONNECT_SECONDS = 5
"""Timeout of opening a connection."""

SILENCE_SECONDS = 15
"""Seconds after which an unreachable peer counts as gone: by the client, by the server, and for a stopped writer."""

_KEEPALIVE = {"keepalives": "1", "keepalives_idle": "5", "keepalives_interval": "3", "keepalives_count": "3"}
_MILLISECONDS = 1000


def connect(address: PostgresAddress, purpose: str) -> Connection:
    """Open an autocommit connection; `purpose` is shown in `pg_stat_activity`.

    Raises:
        StoreError: the server cannot be reached, or rejects the login.
    """
    parameters = make_conninfo(
        address.url,
        password=address.password,
        connect_timeout=CONNECT_SECONDS,
        application_name=f"lineage {purpose}",
        options=f"-c search_path={SCHEMA} -c timezone=UTC",
        tcp_user_timeout=SILENCE_SECONDS * _MILLISECONDS,
        **_KEEPALIVE,
    )
    try:
        return psycopg.connect(parameters, autocommit=True)
    except psycopg.Error as error:
        raise StoreError(f"cannot connect to the store {address}: {_one_line(error)}") from error


def expire_when_silent(connection: Connection) -> None:
    """Make the server end this session, and free its locks, when the client stops or cannot be reached.

    The client must send a statement more often than every `SILENCE_SECONDS`.
    """
    for name, value in (
        ("idle_session_timeout", f"{SILENCE_SECONDS}s"),
        ("idle_in_transaction_session_timeout", f"{SILENCE_SECONDS}s"),
        ("tcp_keepalives_idle", "5"),
        ("tcp_keepalives_interval", "3"),
        ("tcp_keepalives_count", "3"),
    ):
        connection.execute(quoted.SQL("SET {} = {}").format(quoted.Identifier(name), quoted.Literal(value)))


def store_error(address: PostgresAddress, attempt: str, error: psycopg.Error) -> StoreError:
    """Return the error about a failed statement."""
    kind = StoreFull if isinstance(error, psycopg.errors.DiskFull) else StoreError
    return kind(f"cannot {attempt} the store {address}: {_one_line(error)}")


def _one_line(error: psycopg.Error) -> str:
    return " ".join(str(error).split()) or repr(error)
