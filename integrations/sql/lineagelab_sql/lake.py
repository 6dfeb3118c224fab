# SPDX-License-Identifier: Apache-2.0
"""DuckDB connections to an Iceberg REST catalog."""

import importlib
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import urlopen

import duckdb

NAMESPACE = "duckdb://:memory:"
"""OpenLineage namespace of the tables of an in-memory DuckDB. Aliases map it to the catalog's tables."""

CATALOG_SECONDS = 10.0
"""Limit for the first response of the catalog."""

_EXTENSIONS = ("avro", "httpfs", "iceberg")


class LakeError(Exception):
    """The lake cannot be reached, or its address is missing; the message says what to do."""


@dataclass(frozen=True)
class Lake:
    """An Iceberg catalog and its object store.

    Attributes:
        name: of the catalog in SQL.
        schema: of tables that are named without one.
        catalog: URL of the REST catalog.
        store: URL of the S3 endpoint.
        authority: file with the certificate that catalog and store are checked with; empty: the machine's.
    """

    name: str
    schema: str
    catalog: str
    warehouse: str
    store: str
    access_key: str
    secret_key: str
    region: str
    authority: str = ""

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> "Lake":
        """Read the addresses and credentials of a lab, as its `lab.env` has them. Raises LakeError."""
        try:
            return cls(
                name=environment.get("LAKE_CATALOG", "lake"),
                schema=environment.get("LAKE_SCHEMA", "sales"),
                catalog=environment["LAB_ICEBERG_CATALOG"],
                warehouse=environment.get("LAKE_WAREHOUSE", "s3://warehouse"),
                store=environment["AWS_ENDPOINT_URL_S3"],
                access_key=environment["AWS_ACCESS_KEY_ID"],
                secret_key=environment["AWS_SECRET_ACCESS_KEY"],
                region=environment.get("AWS_REGION", "us-east-1"),
                authority=environment.get("LAB_CA_FILE", ""),
            )
        except KeyError as error:
            raise LakeError(
                f"the variable {error.args[0]} is not set: load the lab's lab.env, or use `lab sql`"
            ) from error

    @property
    def default(self) -> tuple[str, str]:
        """Catalog and schema of tables that are named without them."""
        return self.name, self.schema

    def connect(self, *, writable: bool) -> duckdb.DuckDBPyConnection:
        """Return a connection on which the catalog is attached.

        Raises:
            LakeError: the catalog does not respond.
        """
        connection = duckdb.connect(
            ":memory:", config={"autoinstall_known_extensions": False, "autoload_known_extensions": False}
        )
        try:
            self.attach(connection, writable=writable)
            connection.execute(f"USE {quoted(self.name)}.{quoted(self.schema)}")
        except duckdb.Error as error:
            connection.close()
            raise self._error(error) from error
        except LakeError:
            connection.close()
            raise
        return connection

    def attach(self, connection: duckdb.DuckDBPyConnection, *, writable: bool) -> None:
        """Attach the catalog to a connection; its extensions are those of the installed wheels.

        Raises:
            LakeError: the catalog does not respond.
        """
        self._require_response()
        for name in _EXTENSIONS:
            connection.load_extension(str(_extension(name)))
        if self.authority:
            connection.execute(f"SET GLOBAL ca_cert_file = {_text(self.authority)}")
            connection.execute("SET GLOBAL enable_server_cert_verification = true")
        store = urlsplit(self.store)
        connection.execute(
            f"CREATE OR REPLACE SECRET store (TYPE s3, KEY_ID {_text(self.access_key)}, "
            f"SECRET {_text(self.secret_key)}, ENDPOINT {_text(store.netloc)}, URL_STYLE 'path', "
            f"USE_SSL {store.scheme == 'https'}, REGION {_text(self.region)})"
        )
        mode = f"READ_ONLY {not writable}"  # without it, a warehouse at s3:// is read-only
        try:
            connection.execute(
                f"ATTACH {_text(self.warehouse)} AS {quoted(self.name)} (TYPE iceberg, ENDPOINT {_text(self.catalog)}, "
                f"AUTHORIZATION_TYPE 'none', ACCESS_DELEGATION_MODE 'none', {mode})"
            )
        except duckdb.Error as error:
            raise self._error(error) from error

    def _error(self, error: Exception) -> LakeError:
        return LakeError(f"cannot attach the Iceberg catalog {self.catalog}: {error}; see: bin/lab status")

    def _require_response(self) -> None:
        """Raise LakeError unless the catalog responds: DuckDB would wait for minutes, and not look for Ctrl-C."""
        try:
            trusted = ssl.create_default_context(cafile=self.authority) if self.authority else None
            with urlopen(f"{self.catalog}/v1/config", timeout=CATALOG_SECONDS, context=trusted):
                pass
        except OSError as error:
            raise self._error(error) from error


def _extension(name: str) -> Path:
    """Return the file of an extension; DuckDB would download it."""
    package = importlib.import_module(f"duckdb_extension_{name}")
    (folder,) = package.__path__
    return next(Path(folder).rglob("*.duckdb_extension"))


def quoted(name: str) -> str:
    """Return an identifier of SQL."""
    return '"' + name.replace('"', '""') + '"'


def _text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"
