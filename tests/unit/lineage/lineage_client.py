# SPDX-License-Identifier: Apache-2.0
"""HTTP client for tests of a real service: keeps one connection and reconnects after the service closed it."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

from lineage_events import encode

from lineage.access.keys import ADMIN_TOKEN_FILE
from tests.bench.http_connection import Answer, HttpConnection, request_bytes
from tests.bench.load_generator import BATCH_PATH, EVENT_PATH
from tests.bench.service_process import ServiceProcess, running_service

JSON = {"Content-Type": "application/json"}
"""Header of a write."""

DETAIL_PAGES = 15
"""Number of jobs and datasets whose pages `read_everything` reads."""


def admin_headers(data: Path) -> dict[str, str]:
    """Return the headers of an administrative request to a service with that data directory."""
    return {"Authorization": f"Bearer {(data / ADMIN_TOKEN_FILE).read_text().strip()}"}


class Client:
    """Client of one service; must be closed."""

    def __init__(self, service: ServiceProcess) -> None:
        self.service = service
        self._connection: HttpConnection | None = None

    def send(self, request: bytes) -> Answer:
        """Send a request and return the response; retry once if the service has closed the connection meanwhile."""
        if self._connection is not None:
            try:
                return self._connection.exchange(request)
            except OSError:
                self.close()
        self._connection = HttpConnection(self.service.host, self.service.port)
        return self._connection.exchange(request)

    def post(self, content: object, path: str = EVENT_PATH, **headers: str) -> Answer:
        """Post JSON, or bytes unchanged; underscores in header names become hyphens."""
        body = content if isinstance(content, bytes) else encode(content)
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return self.send(request_bytes("POST", path, body, named))

    def post_batch(self, contents: list[bytes]) -> Answer:
        """Post events as one JSON array."""
        return self.post(b"[" + b",".join(contents) + b"]", BATCH_PATH)

    def get(self, target: str) -> Answer:
        """Read `target`, a path relative to `/api/v1`."""
        return self.send(request_bytes("GET", f"/api/v1{target}"))

    def json(self, target: str) -> Any:
        """Read JSON; the response must be a success."""
        answer = self.get(target)
        assert answer.status == 200, (target, answer)
        return json.loads(answer.body)

    def stored(self) -> list[dict[str, Any]]:
        """Return all run events by paging, oldest first."""
        found: list[dict[str, Any]] = []
        while True:
            page = self.json(f"/events/lineage?limit=5000&offset={len(found)}&sortDirection=asc")
            found += page["events"]
            if len(found) >= page["totalCount"] or not page["events"]:
                return found

    def read_everything(self) -> None:
        """Read every kind of page, and those of the last jobs and datasets by name; each must exist."""
        graph = self.json("/graph")
        for target in ("/namespaces", "/jobs", "/search?q=a", "/stats", "/events/lineage"):
            self.json(target)
        for kind, nodes in (("job", graph["jobs"]), ("dataset", graph["datasets"])):
            for node in nodes[-DETAIL_PAGES:]:
                namespace, name = quote(node["namespace"], safe=""), quote(node["name"], safe="")
                where = f"/namespaces/{namespace}/{kind}s/{name}"
                node_id = quote(f"{kind}:{node['namespace']}:{node['name']}", safe="")
                self.json(f"/namespaces/{namespace}")
                self.json(where)
                if kind == "job":
                    self.json(f"{where}/runs")
                self.json(f"/lineage?nodeId={node_id}&depth=3")
                self.json(f"/column-lineage?nodeId={node_id}&depth=3&withDownstream=true")

    def close(self) -> None:
        """Close the connection."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None


@contextmanager
def connected_client(data: Path, *arguments: object, prefix: tuple[str, ...] = ()) -> Iterator[Client]:
    """Run a service as `running_service` does; yield a client, which is closed at the end, also after a failure."""
    with running_service(data, *arguments, prefix=prefix) as service:
        client = Client(service)
        try:
            yield client
        finally:
            client.close()
