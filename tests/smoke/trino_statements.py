# SPDX-License-Identifier: Apache-2.0
"""Statements on the Trino of a lab, by its REST protocol."""

from typing import Any

import httpx


class StatementError(Exception):
    """Trino's error of a statement."""


class Statements:
    """Statements on one coordinator.

    Args:
        url: of the coordinator.
        schema: of tables that are named without one.
    """

    def __init__(self, url: str, schema: str) -> None:
        self.url = url
        self._headers = {"X-Trino-User": "smoke", "X-Trino-Catalog": "lake", "X-Trino-Schema": schema}

    def run(self, statement: str, source: str = "") -> list[tuple[Any, ...]]:
        """Run a statement for a client named `source`; return its rows. Raises StatementError."""
        headers = {**self._headers, **({"X-Trino-Source": source} if source else {})}
        with httpx.Client(headers=headers, timeout=120) as client:
            answer = client.post(f"{self.url}/v1/statement", content=statement).raise_for_status().json()
            rows = []
            while True:
                if error := answer.get("error"):
                    raise StatementError(f"{error['errorName']}: {error['message']}")
                rows += [tuple(row) for row in answer.get("data") or ()]
                if "nextUri" not in answer:
                    return rows
                answer = client.get(answer["nextUri"]).raise_for_status().json()
