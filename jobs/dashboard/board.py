# SPDX-License-Identifier: Apache-2.0
"""Queries of the tiles on one connection to the lake, and their reports to the lineage service."""

import logging
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import duckdb
import pyarrow

from jobs.dashboard.tile import Tile
from jobs.dashboard.tile_events import described, event, parsed
from lineagelab_common.events import Json
from lineagelab_common.identifiers import new_run_id, now
from lineagelab_sql.errors import UnsupportedSqlError
from lineagelab_sql.lake import Lake, LakeError, quoted
from lineagelab_sql.run_events import Described

log = logging.getLogger(__name__)

REPORT_SECONDS = 300.0
"""Refreshes of a tile within this time are reported as one run, unless the outcome changes."""

CONNECTION_SECONDS = 4.0
"""Age from which a connection that misses a table is replaced; connecting takes up to 2 s."""

NOT_BUILT = "not built yet: bin/lab run dbt_build"


@dataclass(frozen=True)
class Shown:
    """Content of a tile: the result of its query, or why there is none."""

    table: pyarrow.Table | None
    error: str = ""


@dataclass
class _Reported:
    """Last report of a tile."""

    lineage: Described | None = None
    error: str | None = None
    at: float = field(default=float("-inf"))


class Board:
    """The tiles of the dashboard. Its methods may be called from several threads.

    Args:
        lake: catalog of the tables.
        send: takes each lineage event.
    """

    def __init__(self, lake: Lake, tiles: list[Tile], send: Callable[[Json], None]) -> None:
        self.tiles = tiles
        self._lake = lake
        self._send = send
        self._connection: duckdb.DuckDBPyConnection | None = None
        self._connected_at = 0.0
        self._reported = {tile.name: _Reported() for tile in tiles}
        self._lock = threading.Lock()

    def refresh(self, tile: Tile) -> Shown:
        """Run a tile's query, and report it."""
        with self._lock:
            try:
                connection = self._connected()
                table = connection.execute(tile.query).to_arrow_table()
            except duckdb.CatalogException as error:
                self._disconnect_if_old()
                # Tables that do not exist yet are no failure: nothing has been shown of them.
                if self._reported[tile.name].lineage is None:
                    return Shown(None, NOT_BUILT)
                return self._failed(tile, str(error))
            except (duckdb.Error, LakeError) as error:
                self._disconnect()
                return self._failed(tile, str(error))
            self._succeeded(tile, connection)
            return Shown(table)

    def refresh_all(self) -> bool:
        """Refresh all tiles; return whether all have content."""
        shown = [self.refresh(tile) for tile in self.tiles]
        return all(each.table is not None for each in shown)

    def _connected(self) -> duckdb.DuckDBPyConnection:
        if self._connection is None:
            self._connection = self._lake.connect(writable=False)
            self._connected_at = time.monotonic()
        return self._connection

    def _disconnect_if_old(self) -> None:
        """Reconnect for the next query: a connection does not see schemas that are newer than itself."""
        if time.monotonic() - self._connected_at >= CONNECTION_SECONDS:
            self._disconnect()

    def _disconnect(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _succeeded(self, tile: Tile, connection: duckdb.DuckDBPyConnection) -> None:
        last = self._reported[tile.name]
        if last.error or time.monotonic() - last.at >= REPORT_SECONDS:
            last.lineage = self._described(tile, connection)
            self._report(tile, last.lineage, "")

    def _failed(self, tile: Tile, error: str) -> Shown:
        last = self._reported[tile.name]
        if last.lineage is not None and last.error != error:
            self._report(tile, last.lineage, error)
        return Shown(None, error)

    def _report(self, tile: Tile, lineage: Described, error: str) -> None:
        last, run_id = self._reported[tile.name], new_run_id()
        last.error, last.at = error, time.monotonic()
        self._send(event("START", now(), run_id, tile, lineage))
        self._send(event("FAIL" if error else "COMPLETE", now(), run_id, tile, lineage, error))

    def _described(self, tile: Tile, connection: duckdb.DuckDBPyConnection) -> Described:
        try:
            statement = parsed(tile, self._lake.default)
            tables = statement.tables - {statement.target}
        except UnsupportedSqlError as error:
            log.warning("tile %s has no lineage: %s", tile.name, error)
            tables = frozenset()
        read = {table: ".".join(map(quoted, table.split("."))) for table in tables}
        schemas = {table: _columns(connection, name) for table, name in read.items()}
        return described(tile, self._lake.default, schemas, _columns(connection, tile.query))


def _columns(connection: duckdb.DuckDBPyConnection, relation: str) -> Mapping[str, str]:
    """Return the columns of a table or query -> types."""
    found = connection.execute(f"DESCRIBE {relation}").fetchall()
    return {str(name): str(kind).lower() for name, kind, *_ in found}
