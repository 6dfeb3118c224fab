# SPDX-License-Identifier: Apache-2.0
import http.server
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from infra.toolchain.cache import Cache
from infra.toolchain.process import Runner


@pytest.fixture
def cache(tmp_path: Path) -> Cache:
    return Cache.open(tmp_path / "cache")


@pytest.fixture
def runner(cache: Cache) -> Runner:
    return Runner(cache.tmp)


@dataclass
class Recorder:
    """Progress that records notes and finished artefacts."""

    notes: list[str] = field(default_factory=list)
    finished: list[str] = field(default_factory=list)
    closed: bool = False

    def start(self, name: str, activity: str) -> None:
        pass

    def update(self, name: str, text: str) -> None:
        pass

    def done(self, name: str, source: str, seconds: float, size: int) -> None:
        self.finished.append(name)

    def note(self, text: str) -> None:
        self.notes.append(text)

    def close(self) -> None:
        self.closed = True


@pytest.fixture
def progress() -> Recorder:
    return Recorder()


class _Handler(http.server.BaseHTTPRequestHandler):
    """Serves the server's `files`; of a file under `/cut/` only the first half is sent."""

    def do_GET(self) -> None:
        cut = self.path.startswith("/cut/")
        content = self.server.files.get(self.path.removeprefix("/cut").lstrip("/"))  # type: ignore[attr-defined]
        if content is None:
            self.send_error(404)
            return
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content[: len(content) // 2] if cut else content)

    def log_message(self, format: str, *args: object) -> None:
        """Suppress the request log."""


@dataclass
class Site:
    url: str
    files: dict[str, bytes]


@pytest.fixture
def site() -> Iterator[Site]:
    """HTTP server on loopback; tests add files to `files`."""
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Handler) as server:
        server.files = {}  # type: ignore[attr-defined]
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield Site(f"http://127.0.0.1:{server.server_port}", server.files)  # type: ignore[attr-defined]
        server.shutdown()
        thread.join()
