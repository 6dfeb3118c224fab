# SPDX-License-Identifier: Apache-2.0
"""Connections of the kinds to the lab's Postgres, and what each way of not getting one means."""

import socket
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg

from infra import credentials
from infra.errors import LabError
from infra.provider.kind import Call

PATIENCE_SECONDS = 30
"""How long a server may take to recover from its log after it was killed: it listens before it is done."""

CONNECT_SECONDS = 5

STARTING = ("the database system is ", "server closed the connection unexpectedly", "Connection reset by peer")
"""What is said when it is starting up, not yet accepting connections, or in recovery.

Docker takes connections for a container that does not listen yet, and cuts them off.
"""

FOREIGN = "password authentication failed"
"""The server does not know our password: it is another lab's. Its databases are not ours."""

Connection = psycopg.Connection[tuple[Any, ...]]


class ForeignServer(LabError):
    """The server that answers is not this lab's."""


@dataclass(frozen=True)
class Server:
    """The server at `host` and `port`. `credentials` is the file that holds the password of `user`."""

    host: str
    port: int
    user: str
    credentials: str

    def __str__(self) -> str:
        return f"{self.host}:{self.port}"

    def reachable(self) -> bool:
        """Whether it can be asked at all: something listens, and there is a password to show."""
        if not Path(self.credentials).exists():
            return False
        try:
            socket.create_connection((self.host, self.port), timeout=CONNECT_SECONDS).close()
        except OSError:
            return False
        return True

    def connect(self, database: str, doing: str, call: Call) -> Connection:
        """A connection that commits each statement; waits for a server that is still starting.

        Args:
            database: to connect to.
            doing: what is attempted, `create database shop` for instance; every error begins with it.

        Raises:
            ForeignServer: it is another lab's.
            LabError: it refuses, or does not get ready.
        """
        password = credentials.read(Path(self.credentials)).get(credentials.POSTGRES_PASSWORD, "")
        for _ in call.poll(PATIENCE_SECONDS):
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
                if FOREIGN in str(error):
                    raise ForeignServer(
                        f"could not {doing}: the Postgres at {self} does not take this lab's password. Another lab "
                        "or program has the port: end it, or set another portOffset"
                    ) from error
                if not any(words in str(error) for words in STARTING):
                    raise self.failure(doing, error) from error
        raise LabError(
            f"could not {doing}: the Postgres at {self} was still starting after {PATIENCE_SECONDS} s; "
            "see: lab logs postgres"
        )

    def failure(self, doing: str, error: psycopg.Error) -> LabError:
        """What the server, or the way to it, said against it."""
        return LabError(f"could not {doing} at {self}: {' '.join(str(error).split())}")
