# SPDX-License-Identifier: Apache-2.0
"""Connections to the lab's Postgres, with connection failures classified."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg

from infra import credentials
from infra.errors import LabError
from infra.provider.connections import accepts_connections
from infra.provider.kind import OperationContext

STARTUP_TIMEOUT_SECONDS = 30
"""Time limit for crash recovery, during which the server listens but rejects connections."""

CONNECT_SECONDS = 5

STARTUP_ERRORS = ("the database system is ", "server closed the connection unexpectedly", "Connection reset by peer")
"""Error texts of a server that is starting or recovering.

The last two come from Docker, which accepts and closes connections to a container that does not listen yet.
"""

WRONG_PASSWORD = "password authentication failed"
"""Error text of a server that belongs to another lab."""

Connection = psycopg.Connection[tuple[Any, ...]]


class ForeignServer(LabError):
    """The server at the address belongs to another lab."""


@dataclass(frozen=True)
class PostgresServer:
    """Postgres server at `host:port`; `credentials` is the file with the password of `user`."""

    host: str
    port: int
    user: str
    credentials: str

    def __str__(self) -> str:
        return f"{self.host}:{self.port}"

    def reachable(self) -> bool:
        """Return whether the port accepts connections and the password file exists."""
        return Path(self.credentials).exists() and accepts_connections(self.host, self.port, CONNECT_SECONDS)

    def connect(self, database: str, action: str, call: OperationContext) -> Connection:
        """Open an autocommit connection; waits for a server that is starting.

        Args:
            database: the database to connect to.
            action: for error messages, `create database shop` for example.
            call: the request's context.

        Raises:
            ForeignServer: the server belongs to another lab.
            LabError: the server rejects the connection or is not ready in time.
        """
        password = credentials.read(Path(self.credentials)).get(credentials.POSTGRES_PASSWORD, "")
        for _ in call.poll(STARTUP_TIMEOUT_SECONDS):
            try:
                return psycopg.connect(
                    host=self.host,
                    port=self.port,
                    user=self.user,
                    password=password,
                    dbname=database,
                    sslmode="disable",
                    connect_timeout=CONNECT_SECONDS,
                    autocommit=True,
                )
            except psycopg.OperationalError as error:
                if WRONG_PASSWORD in str(error):
                    raise ForeignServer(
                        f"could not {action}: the Postgres at {self} rejects this lab's password. The port belongs "
                        "to another lab or program: stop it, or set another lineage-lab:portOffset"
                    ) from error
                if not any(words in str(error) for words in STARTUP_ERRORS):
                    raise self.failure(action, error) from error
        raise LabError(
            f"could not {action}: the Postgres at {self} was still starting after {STARTUP_TIMEOUT_SECONDS} s; "
            "see: bin/lab logs postgres"
        )

    def failure(self, action: str, error: psycopg.Error) -> LabError:
        """Return the error about a failed statement or connection, on one line."""
        return LabError(f"could not {action} at {self}: {' '.join(str(error).split())}")
