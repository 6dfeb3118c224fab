# SPDX-License-Identifier: Apache-2.0
"""Table locations, looked up in Iceberg REST catalogs.

Flink names a table by its catalog name alone; its location, which may be user-defined, is in the catalog. A lookup
never fails an event: if the catalog is slow, down or does not have the table yet, the table is assumed at the
catalog's default location.
"""

import asyncio
import logging
import re
import ssl
import time
from collections.abc import Iterable
from typing import Any
from urllib.parse import quote, urlsplit, urlunsplit

import httpx

from lineage.events import parse_json
from lineage.events.validation import MAX_NAME
from lineage.rules import Rules, TableName

logger = logging.getLogger(__name__)

TIMEOUT = 2.0
"""Timeout of a lookup in seconds."""

KEEP = 60.0
"""Lifetime of a location in seconds: a table may be dropped and created again elsewhere."""

RETRY = 5.0
"""Retry interval in seconds after a failed lookup or an unknown table."""

MAX_ANSWER = 32 * 2**20
"""Maximum bytes of a response: table metadata with thousands of snapshots has several MiB."""

_MAX_CONCURRENT = 16
_SEPARATOR = "\x1f"
"""Separator between the levels of a namespace in the Iceberg REST protocol."""

_LOCATION = re.compile(r"[a-z][a-z0-9+.-]*://[^/\x00-\x20\x7f]*/[^\x00-\x1f\x7f]*[^/\x00-\x1f\x7f]/*")
"""Scheme, authority, and the path, which is the dataset's name."""


def _verified(rules: Rules) -> ssl.SSLContext | bool:
    """Return what the client trusts: the authorities of this machine, or those of SSL_CERT_FILE alone.

    The client itself would not look at them. They are only read, which takes a while, for a catalog with TLS.
    """
    encrypted = any(catalog.uri.startswith("https:") for catalog in rules.catalogs)
    return ssl.create_default_context() if encrypted else True


class TableLocations:
    """Table locations from the catalogs in the rules. `known` holds the results; `find` looks up missing ones."""

    def __init__(self, rules: Rules) -> None:
        self.known: dict[TableName, str] = {}
        self._rules = rules
        self._retry_at: dict[TableName, float] = {}
        self._unavailable_until: dict[str, float] = {}
        self._prefixes: dict[str, str] = {}
        self._lookups: dict[TableName, asyncio.Task[None]] = {}
        self._client = httpx.AsyncClient(timeout=TIMEOUT, trust_env=False, verify=_verified(rules))
        self._slots = asyncio.Semaphore(_MAX_CONCURRENT)

    def due(self, tables: Iterable[TableName]) -> list[TableName]:
        """Return the tables whose lookup is due."""
        now = time.monotonic()
        return [
            table
            for table in tables
            if self._retry_at.get(table, 0) <= now and self._unavailable_until.get(table.catalog, 0) <= now
        ]

    async def find(self, tables: Iterable[TableName]) -> None:
        """Look tables up; on return `known` holds the locations received in time. Never raises."""
        asking = []
        for table in tables:
            if table not in self._lookups:
                self._lookups[table] = asyncio.create_task(self._find_table(table))
            asking.append(self._lookups[table])
        # The tasks outlive this wait: several senders may wait for one lookup, and one may disconnect.
        if asking:
            await asyncio.wait(asking, timeout=TIMEOUT)

    async def close(self) -> None:
        """Cancel lookups and close connections."""
        for task in self._lookups.values():
            task.cancel()
        await asyncio.gather(*self._lookups.values(), return_exceptions=True)
        await self._client.aclose()

    async def _find_table(self, table: TableName) -> None:
        try:
            async with self._slots, asyncio.timeout(TIMEOUT):
                location = await self._look_up(table)
        except Exception as error:
            # A catalog failure must not reject an event.
            self._mark_unavailable(table.catalog, error)
        else:
            self._unavailable_until.pop(table.catalog, None)
            self._retry_at[table] = time.monotonic() + (RETRY if location is None else KEEP)
            if location is not None:
                self.known[table] = location
        finally:
            del self._lookups[table]

    def _mark_unavailable(self, catalog: str, error: Exception) -> None:
        now = time.monotonic()
        if self._unavailable_until.get(catalog, 0) <= now:
            logger.warning(
                "catalog %s at %s is unavailable (%r); its tables are assumed at their default locations",
                *(catalog, _without_credentials(self._rules.catalog(catalog).uri), error),
            )
        self._unavailable_until[catalog] = now + RETRY

    async def _look_up(self, table: TableName) -> str | None:
        """Return the table's location; None if the catalog does not have it."""
        *namespace, name = table.path.split(".")
        base = self._rules.catalog(table.catalog).uri.rstrip("/")
        prefix = await self._catalog_prefix(table.catalog, base)
        levels = quote(_SEPARATOR.join(namespace), safe="")
        answer = await self._get_json(f"{base}/v1{prefix}/namespaces/{levels}/tables/{quote(name, safe='')}")
        if answer is None:
            return None
        location = answer["metadata"]["location"]
        if not isinstance(location, str) or len(location) > MAX_NAME or not _LOCATION.fullmatch(location):
            raise ValueError(f"table {table.path} has the invalid location {location!r:.200}")
        return location

    async def _catalog_prefix(self, catalog: str, base: str) -> str:
        if catalog not in self._prefixes:
            config = await self._get_json(f"{base}/v1/config") or {}
            prefix = (config.get("overrides") or {}).get("prefix") or (config.get("defaults") or {}).get("prefix")
            self._prefixes[catalog] = f"/{prefix}" if prefix else ""
        return self._prefixes[catalog]

    async def _get_json(self, url: str) -> dict[str, Any] | None:
        """Fetch a JSON object; None on status 404."""
        async with self._client.stream("GET", url) as response:
            if response.status_code == httpx.codes.NOT_FOUND:
                return None
            response.raise_for_status()
            content = bytearray()
            async for chunk in response.aiter_bytes():
                content += chunk
                if len(content) > MAX_ANSWER:
                    raise ValueError(f"response exceeds {MAX_ANSWER} bytes")
        answer = parse_json(bytes(content))
        if not isinstance(answer, dict):
            raise ValueError("response is not a JSON object")
        return answer


def _without_credentials(url: str) -> str:
    """Return a URL without user and password."""
    parts = urlsplit(url)
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))
