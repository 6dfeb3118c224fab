# SPDX-License-Identifier: Apache-2.0
"""Client of Trino's REST API, on the standard library: columns of tables, and states of queries."""

import json
from http.client import HTTPException
from typing import Any
from urllib.error import HTTPError
from urllib.request import ProxyHandler, Request, build_opener

SOURCE = "lineage-lab-lineage"
"""Source of the statements of this client, whose events are ignored."""

TIMEOUT = 10.0
"""Seconds for the connection, and for each part of a response."""

GONE = "GONE"
"""State of a query that Trino no longer knows."""

_UNKNOWN = frozenset({404, 410})


class TrinoError(Exception):
    """Trino does not respond, or rejects a statement; the message is its own."""


class MissingTableError(TrinoError):
    """There is no such table."""


class TrinoClient:
    """Client of the coordinator at `url`, as `user`. Proxies of the environment are not used."""

    def __init__(self, url: str, user: str, timeout: float = TIMEOUT) -> None:
        self._url = url.rstrip("/")
        self._headers = {"X-Trino-User": user, "X-Trino-Source": SOURCE}
        self._timeout = timeout
        self._opener = build_opener(ProxyHandler({}))

    def has_started(self) -> bool:
        """Return whether the coordinator responds and accepts statements."""
        try:
            return self._get(f"{self._url}/v1/info").get("starting") is False
        except TrinoError:
            return False

    def columns(self, table: str) -> dict[str, str]:
        """Return the columns of `catalog.schema.table` in order -> types.

        Raises:
            MissingTableError: there is no such table.
            TrinoError: it cannot be found out.
        """
        rows = self._run("DESCRIBE " + ".".join(f'"{part}"' for part in table.replace('"', '""').split(".")))
        return {str(name): str(kind) for name, kind, *_ in rows}

    def state(self, query_id: str) -> str:
        """Return the state of a query, `GONE` if Trino does not know it. Raises TrinoError."""
        try:
            return str(self._get(f"{self._url}/v1/query/{query_id}?pruned=true").get("state", ""))
        except TrinoError as error:
            if isinstance(error.__cause__, HTTPError) and error.__cause__.code in _UNKNOWN:
                return GONE
            raise

    def _run(self, statement: str) -> list[list[Any]]:
        answer = self._open(Request(f"{self._url}/v1/statement", data=statement.encode(), headers=self._headers))
        rows: list[list[Any]] = []
        while True:
            if error := answer.get("error"):
                message = f"{statement}: {error.get('message')}"
                if error.get("errorName") in {"TABLE_NOT_FOUND", "SCHEMA_NOT_FOUND", "CATALOG_NOT_FOUND"}:
                    raise MissingTableError(message)
                raise TrinoError(message)
            rows += answer.get("data") or []
            if "nextUri" not in answer:
                return rows
            answer = self._get(answer["nextUri"])

    def _get(self, url: str) -> dict[str, Any]:
        return self._open(Request(url, headers=self._headers))

    def _open(self, request: Request) -> dict[str, Any]:
        try:
            with self._opener.open(request, timeout=self._timeout) as response:
                found = json.load(response)
        except (OSError, HTTPException, ValueError) as error:
            raise TrinoError(f"Trino at {self._url} does not respond: {error}") from error
        if not isinstance(found, dict):
            raise TrinoError(f"Trino at {self._url} sent no object")
        return found
