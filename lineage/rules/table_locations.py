# SPDX-License-Identifier: Apache-2.0
"""Where tables lie, asked of their Iceberg REST catalogs.

Flink knows a table by its name in the catalog alone. The catalog knows its location, which a user may have chosen.
Asking must not cost an emitter his event: a catalog that is slow, down or does not know the table yet is passed
over, and the table is taken to lie at the catalog's default location.
"""

import asyncio
import logging
import re
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
"""Seconds after which a sender waits no longer, and a question counts as not answered."""

KEEP = 60.0
"""Seconds for which an answer holds: a table may be dropped and made anew elsewhere."""

RETRY = 5.0
"""Seconds until a catalog that did not answer, or did not know a table, is asked again."""

MAX_ANSWER = 32 * 2**20
"""Bytes of an answer: the metadata of a table with thousands of snapshots has some of these MiB."""

_AT_ONCE = 16
_SEPARATOR = "\x1f"
"""Between the levels of a namespace, in the protocol of REST catalogs."""

_LOCATION = re.compile(r"[a-z][a-z0-9+.-]*://[^/\x00-\x20\x7f]*/[^\x00-\x1f\x7f]*[^/\x00-\x1f\x7f]/*")
"""A scheme, an authority, and the path that makes the dataset's name."""


class TableLocations:
    """Answers of the catalogs in the rules. `known` may be read at any time; `find` asks for what is missing."""

    def __init__(self, rules: Rules) -> None:
        self.known: dict[TableName, str] = {}
        self._rules = rules
        self._ask_again: dict[TableName, float] = {}
        self._silent_until: dict[str, float] = {}
        self._prefixes: dict[str, str] = {}
        self._asking: dict[TableName, asyncio.Task[None]] = {}
        self._client = httpx.AsyncClient(timeout=TIMEOUT, trust_env=False)
        self._turns = asyncio.Semaphore(_AT_ONCE)

    def due(self, tables: Iterable[TableName]) -> list[TableName]:
        """Those tables that a catalog should be asked for now."""
        now = time.monotonic()
        return [
            table
            for table in tables
            if self._ask_again.get(table, 0) <= now and self._silent_until.get(table.catalog, 0) <= now
        ]

    async def find(self, tables: Iterable[TableName]) -> None:
        """Ask the catalogs; on return `known` holds what they answered in time. Never fails."""
        asking = []
        for table in tables:
            if table not in self._asking:
                self._asking[table] = asyncio.create_task(self._find(table))
            asking.append(self._asking[table])
        # Waiting does not own the tasks: several senders may wait for one answer, and one may go away.
        if asking:
            await asyncio.wait(asking, timeout=TIMEOUT)

    async def close(self) -> None:
        """Give the connections back."""
        for task in self._asking.values():
            task.cancel()
        await asyncio.gather(*self._asking.values(), return_exceptions=True)
        await self._client.aclose()

    async def _find(self, table: TableName) -> None:
        try:
            async with self._turns, asyncio.timeout(TIMEOUT):
                location = await self._ask(table)
        except Exception as error:
            # Whatever a server may answer, it must not cost a sender his event.
            self._silence(table.catalog, error)
        else:
            self._silent_until.pop(table.catalog, None)
            self._ask_again[table] = time.monotonic() + (RETRY if location is None else KEEP)
            if location is not None:
                self.known[table] = location
        finally:
            del self._asking[table]

    def _silence(self, catalog: str, error: Exception) -> None:
        now = time.monotonic()
        if self._silent_until.get(catalog, 0) <= now:
            logger.warning(
                "catalog %s at %s gives no answer (%r); its tables count as lying at their default locations",
                *(catalog, _public(self._rules.catalog(catalog).uri), error),
            )
        self._silent_until[catalog] = now + RETRY

    async def _ask(self, table: TableName) -> str | None:
        """The table's location; None where the catalog does not have it."""
        *namespace, name = table.path.split(".")
        base = self._rules.catalog(table.catalog).uri.rstrip("/")
        prefix = await self._prefix(table.catalog, base)
        levels = quote(_SEPARATOR.join(namespace), safe="")
        answer = await self._get(f"{base}/v1{prefix}/namespaces/{levels}/tables/{quote(name, safe='')}")
        if answer is None:
            return None
        location = answer["metadata"]["location"]
        if not isinstance(location, str) or len(location) > MAX_NAME or not _LOCATION.fullmatch(location):
            raise ValueError(f"table {table.path} is said to lie at {location!r:.200}")
        return location

    async def _prefix(self, catalog: str, base: str) -> str:
        if catalog not in self._prefixes:
            config = await self._get(f"{base}/v1/config") or {}
            prefix = (config.get("overrides") or {}).get("prefix") or (config.get("defaults") or {}).get("prefix")
            self._prefixes[catalog] = f"/{prefix}" if prefix else ""
        return self._prefixes[catalog]

    async def _get(self, url: str) -> dict[str, Any] | None:
        """A JSON object; None where the server does not know the address."""
        async with self._client.stream("GET", url) as response:
            if response.status_code == httpx.codes.NOT_FOUND:
                return None
            response.raise_for_status()
            content = bytearray()
            async for chunk in response.aiter_bytes():
                content += chunk
                if len(content) > MAX_ANSWER:
                    raise ValueError(f"an answer of more than {MAX_ANSWER} bytes")
        answer = parse_json(bytes(content))
        if not isinstance(answer, dict):
            raise ValueError("an answer that is no JSON object")
        return answer


def _public(url: str) -> str:
    """A URL without user and password."""
    parts = urlsplit(url)
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))
