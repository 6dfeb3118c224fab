# SPDX-License-Identifier: Apache-2.0
"""Connections to the lab's Postgres, with connection failures classified."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg

from infra import credentials
from infra.errors import LabError
from infra.model import external_settings
from infra.provider.connections import accepts_connections
from infra.provider.external_service import LoginRefused, external_error
from infra.provider.kind import OperationContext, ServiceUnreachable

STARTUP_TIMEOUT_SECONDS = 30
"""Time limit for crash recovery, during which the server listens but rejects connections."""

CONNECT_SECONDS = 5

STARTUP_ERRORS = ("the database system is ", "server closed the connection unexpectedly", "Connection reset by peer")
"""Error texts of a server that is starting or recovering.

The last two come from Docker, which accepts and closes connections to a container that does not listen yet.
"""

REFUSED = "Connection refused"
"""Error text while nothing listens at the port: the server ended after `reachable`."""

WRONG_PASSWORD = "password authentication failed"
"""Error text of a server that belongs to another lab."""

Connection = psycopg.Connection[tuple[Any, ...]]


@dataclass(frozen=True)
class PostgresServer:
    """Postgres server.

    Attributes:
        host: host of the server.
        port: port of the server.
        user: role that logs in.
        credentials: file with its password.
        external: the server existed before the lab, and may require TLS.
        authority: path of the certificate that the client trusts; None: the lab's own server has no TLS.
    """

    host: str
    port: int
    user: str
    credentials: str
    external: bool = False
    authority: str | None = None

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
            LoginRefused: the server rejects the password.
            ServiceUnreachable: nothing listens at the port of a lab's own server.
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
                    sslmode=self._encryption,
                    sslrootcert=self.authority,
                    connect_timeout=CONNECT_SECONDS,
                    autocommit=True,
                )
            except psycopg.OperationalError as error:
                if WRONG_PASSWORD in str(error):
                    raise self._refused_login(action) from error
                if REFUSED in str(error) and not self.external:
                    raise ServiceUnreachable(str(self.failure(action, error))) from error
                if not any(words in str(error) for words in STARTUP_ERRORS):
                    raise self.failure(action, error) from error
        if self.external:
            raise self._external_error(action, f"it was still starting after {STARTUP_TIMEOUT_SECONDS} s")
        raise LabError(
            f"could not {action}: the Postgres at {self} was still starting after {STARTUP_TIMEOUT_SECONDS} s; "
            "see: bin/lab logs postgres"
        )

    @property
    def _encryption(self) -> str:
        if self.authority is not None:
            return "verify-full"
        return "prefer" if self.external else "disable"

    def failure(self, action: str, error: psycopg.Error) -> LabError:
        """Return the error about a failed statement or connection, on one line."""
        cause = " ".join(str(error).split())
        if not self.external:
            return LabError(f"could not {action} at {self}: {cause}")
        may_not = isinstance(error, psycopg.errors.InsufficientPrivilege)
        return self._external_error(action, cause, f"give role {self.user} that right" if may_not else "")

    def _refused_login(self, action: str) -> LabError:
        if self.external:
            variable = credentials.variable(credentials.POSTGRES_PASSWORD)
            cause = f"it rejects the password of role {self.user}"
            return self._external_error(action, cause, f"set {variable} in the environment of `up`", LoginRefused)
        return LoginRefused(
            f"could not {action}: the Postgres at {self} rejects this lab's password. The port belongs "
            "to another lab or program: stop it, or set another lineage-lab:portOffset"
        )

    def _external_error(self, action: str, cause: str, remedy: str = "", error: type[LabError] = LabError) -> LabError:
        return external_error(external_settings.POSTGRES, f"{action} at {self}", cause, remedy, error)
