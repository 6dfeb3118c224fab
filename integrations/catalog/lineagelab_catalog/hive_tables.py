# SPDX-License-Identifier: Apache-2.0
"""Tables of a Hive Metastore, Iceberg or not: parameters of the table.

A table is changed under the lock that Iceberg's commits take, and only if its metadata location is still the one that
was read: an outdated location would discard a commit.
"""

import getpass
import socket
import time
from collections.abc import Iterator
from urllib.parse import urlsplit

from hive_metastore.ThriftHiveMetastore import Client
from hive_metastore.ttypes import (
    CheckLockRequest,
    EnvironmentContext,
    LockComponent,
    LockLevel,
    LockRequest,
    LockResponse,
    LockState,
    LockType,
    MetaException,
    UnlockRequest,
)
from hive_metastore.ttypes import Table as HiveTable
from thrift.protocol import TBinaryProtocol
from thrift.Thrift import TException
from thrift.transport import TSocket, TTransport

from lineagelab_catalog.changes import Changes, with_changes
from lineagelab_catalog.tables import CatalogError, ChangesOf, Table, TableError

COMMENT = "comment"
DEFAULT_PORT = 9083
TIMEOUT_SECONDS = 60
LOCK_SECONDS = 60.0
_POLL_SECONDS = 0.2
_LOCATION = "metadata_location"


class HiveTables:
    """Tables of the metastore at `uri` (thrift://host:port)."""

    def __init__(self, uri: str) -> None:
        self._uri = uri

    def labels(self) -> Iterator[str]:
        """Yield `database.table` of all tables; see `TableCatalog`."""
        try:
            with Connection(self._uri) as client:
                for database in client.get_all_databases():
                    yield from (f"{database}.{name}" for name in client.get_all_tables(database))
        except (TException, OSError) as error:
            raise CatalogError(f"listing the tables of the metastore {self._uri} failed: {_text(error)}") from error

    def update(self, label: str, changes_of: ChangesOf) -> Changes:
        """Change the parameters of a table under its lock; see `TableCatalog`."""
        database, _, name = label.partition(".")
        try:
            with Connection(self._uri) as client:
                # Most tables need no change, and no lock to see that.
                if not (changes := changes_of(_table(client.get_table(database, name)))):
                    return changes
                return _update_locked(client, database, name, changes_of)
        except (TException, OSError) as error:
            raise TableError(_text(error)) from error


class Connection:
    """Context with a client of the metastore at `uri`, without Kerberos.

    A class, because the errors of the client cannot be raised in the generator of a `contextmanager`.
    """

    def __init__(self, uri: str) -> None:
        parts = urlsplit(uri)
        connection = TSocket.TSocket(parts.hostname, parts.port or DEFAULT_PORT)
        connection.setTimeout(TIMEOUT_SECONDS * 1_000)
        self._transport = TTransport.TBufferedTransport(connection)

    def __enter__(self) -> Client:
        """Connect."""
        self._transport.open()
        return Client(TBinaryProtocol.TBinaryProtocol(self._transport))

    def __exit__(self, *_: object) -> None:
        """Close the connection."""
        self._transport.close()


def _table(found: HiveTable) -> Table:
    label = f"{found.dbName}.{found.tableName}"
    parameters = dict(found.parameters or {})
    location = (found.sd.location if found.sd else "") or ""
    return Table(label, (label,), location, parameters, parameters.get(COMMENT, ""))


def _alter(client: Client, database: str, name: str, found: HiveTable, changes: Changes) -> None:
    expected = (found.parameters or {}).get(_LOCATION)
    found.parameters = with_changes(found.parameters or {}, changes)
    if changes.comment:
        found.parameters[COMMENT] = changes.comment
    elif changes.comment == "":
        found.parameters.pop(COMMENT, None)
    context = {"DO_NOT_UPDATE_STATS": "true"}
    if expected:
        context |= {"expected_parameter_key": _LOCATION, "expected_parameter_value": expected}
    client.alter_table_with_environment_context(database, name, found, EnvironmentContext(properties=context))


def _update_locked(client: Client, database: str, name: str, changes_of: ChangesOf) -> Changes:
    component = LockComponent(
        level=LockLevel.TABLE, type=LockType.EXCLUSIVE, dbname=database, tablename=name, isTransactional=True
    )
    lock: LockResponse = client.lock(
        LockRequest(component=[component], user=getpass.getuser(), hostname=socket.gethostname())
    )
    try:
        deadline = time.monotonic() + LOCK_SECONDS
        while lock.state == LockState.WAITING:
            if time.monotonic() > deadline:
                raise TableError(f"its lock was not released within {LOCK_SECONDS:.0f} s; repeat the command")
            time.sleep(_POLL_SECONDS)  # the metastore has no call that waits
            lock = client.check_lock(CheckLockRequest(lockid=lock.lockid))
        if lock.state != LockState.ACQUIRED:
            raise TableError(f"the metastore refused the lock: {lock.errorMessage}")
        found = client.get_table(database, name)
        if changes := changes_of(_table(found)):
            _alter(client, database, name, found, changes)
        return changes
    finally:
        client.unlock(UnlockRequest(lockid=lock.lockid))


def _text(error: Exception) -> str:
    return error.message if isinstance(error, MetaException) and error.message else str(error) or repr(error)
