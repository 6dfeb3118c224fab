# SPDX-License-Identifier: Apache-2.0
"""Where tables lie, asked of their Iceberg REST catalogs.

Flink knows a table by its name in the catalog alone. The catalog knows its location, which a user may have chosen.
Asking must not cost an emitter his event: a catalog that is slow, down or does not know the table yet is passed
over, and the table is taken to lie at the catalog's default location.
"""

import asyncio
import logging
import time
from collections.abc import Iterable
from urllib.parse import quote

import httpx

from lineage.rules import Rules, TableName

logger = logging.getLogger(__name__)

TIMEOUT = 2.0
"""Seconds that one question may take."""

KEEP = 60.0
"""Seconds for which an answer holds: a table may be dropped and made anew elsewhere."""

RETRY = 5.0
"""Seconds until a catalog that did not answer, or did not know a table, is asked again."""

_SEPARATOR = "\x1f"
"""Between the levels of a namespace, in the protocol of REST catalogs."""


class TableLocations:
    """Answers of the catalogs in the rules. `known` may be read at any time; `find` asks for what is missing."""

    def __init__(self, rules: Rules) -> None:
        self.known: dict[TableName, str] = {}
        self._rules = rules
        self._ask_again: dict[TableName, float] = {}
        self._prefixes: dict[str, str] = {}
        self._asking: dict[TableName, asyncio.Task[None]] = {}
        self._silent: set[str] = set()
        self._client = httpx.AsyncClient(timeout=TIMEOUT, trust_env=False)

    def due(self, tables: Iterable[TableName]) -> list[TableName]:
        """Those tables that a catalog should be asked for now."""
        now = time.monotonic()
        return [table for table in tables if self._ask_again.get(table, 0) <= now]

    async def find(self, tables: Iterable[TableName]) -> None:
        """Ask the catalogs; on return `known` holds what they answered. Never fails."""
        asking = []
        for table in tables:
            if table not in self._asking:
                self._asking[table] = asyncio.create_task(self._find(table))
            asking.append(self._asking[table])
        # Several senders may wait for one answer: one who goes away must not take it from the others.
        await asyncio.gather(*(asyncio.shield(task) for task in asking))

    async def close(self) -> None:
        """Give the connections back."""
        await self._client.aclose()

    async def _find(self, table: TableName) -> None:
        try:
            location = await self._ask(table)
        except (httpx.HTTPError, ValueError, KeyError, TypeError) as error:
            self._ask_again[table] = time.monotonic() + RETRY
            if table.catalog not in self._silent:
                self._silent.add(table.catalog)
                where = self._rules.catalog(table.catalog).uri
                logger.warning(
                    "catalog %s at %s gives no answer (%r); its tables count as lying at their default locations",
                    *(table.catalog, where, error),
                )
        else:
            self._silent.discard(table.catalog)
            self._ask_again[table] = time.monotonic() + (RETRY if location is None else KEEP)
            if location is not None:
                self.known[table] = location
        finally:
            del self._asking[table]

    async def _ask(self, table: TableName) -> str | None:
        """The table's location; None where the catalog does not have it."""
        *namespace, name = table.path.split(".")
        base = self._rules.catalog(table.catalog).uri.rstrip("/")
        prefix = await self._prefix(table.catalog, base)
        levels = quote(_SEPARATOR.join(namespace), safe="")
        response = await self._client.get(f"{base}/v1{prefix}/namespaces/{levels}/tables/{quote(name, safe='')}")
        if response.status_code == httpx.codes.NOT_FOUND:
            return None
        response.raise_for_status()
        location: object = response.json()["metadata"]["location"]
        if not isinstance(location, str) or "://" not in location:
            raise ValueError(f"location {location!r} of {table.path}")
        return location

    async def _prefix(self, catalog: str, base: str) -> str:
        if catalog not in self._prefixes:
            response = await self._client.get(f"{base}/v1/config")
            response.raise_for_status()
            config = response.json()
            prefix = (config.get("overrides") or {}).get("prefix") or (config.get("defaults") or {}).get("prefix")
            self._prefixes[catalog] = f"/{prefix}" if prefix else ""
        return self._prefixes[catalog]
