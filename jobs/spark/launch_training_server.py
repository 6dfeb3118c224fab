# SPDX-License-Identifier: Apache-2.0
"""Stub of an object store, a REST catalog and a lineage service, for the training run.

It implements the S3 requests of Hadoop's and Iceberg's clients for a small table, keeps objects in memory, and performs
no authentication.
"""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from urllib.parse import parse_qs, unquote, urlsplit
from xml.sax.saxutils import escape

BUCKET = "training"

_PREFIX = f"/{BUCKET}"
_NO_TABLE = {"error": {"message": "there is none", "type": "NoSuchTableException", "code": 404}}


@dataclass(frozen=True)
class Server:
    """Address of a running stub server."""

    url: str


@contextmanager
def serving() -> Iterator[Server]:
    """Run a server on a free loopback port."""
    handler = type("Handler", (_Handler,), {"objects": {}})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        server.daemon_threads = True
        thread = Thread(target=server.serve_forever, name="training-server", daemon=True)
        thread.start()
        try:
            yield Server(f"http://127.0.0.1:{server.server_port}")
        finally:
            server.shutdown()
            thread.join()


def unframed(body: bytes) -> bytes:
    """Return the content of a body in AWS chunked encoding: `SIZE;signature CRLF DATA CRLF` until a size of 0."""
    content, at = b"", 0
    while True:
        end = body.index(b"\r\n", at)
        size = int(body[at:end].split(b";")[0], 16)
        if size == 0:
            return content
        content += body[end + 2 : end + 2 + size]
        at = end + size + 4


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    objects: dict[str, bytes]

    def do_GET(self) -> None:
        key, query = self._asked()
        if key is None:
            self._catalog()
        elif "list-type" in query:
            self._list(query.get("prefix", [""])[0], query.get("delimiter", [""])[0])
        elif key in self.objects:
            self._send(self.objects[key])
        else:
            self._answer(404, b"<Error><Code>NoSuchKey</Code></Error>")

    def do_HEAD(self) -> None:
        key, _ = self._asked()
        if key == "" or key in self.objects:
            self._send(self.objects.get(key, b""))
        else:
            self._answer(404)

    def do_PUT(self) -> None:
        key, _ = self._asked()
        body = self._body()
        source = unquote(self.headers.get("x-amz-copy-source", ""))
        if source:
            self.objects[key or ""] = self.objects[source.removeprefix("/").removeprefix(f"{BUCKET}/")]
            copied = f"<LastModified>{_ISO}</LastModified><ETag>1</ETag>"
            self._answer(200, f"<CopyObjectResult>{copied}</CopyObjectResult>".encode())
            return
        if "aws-chunked" in self.headers.get("Content-Encoding", ""):
            body = unframed(body)
        self.objects[key or ""] = body
        self._answer(200, headers={"ETag": '"1"'})

    def do_DELETE(self) -> None:
        key, _ = self._asked()
        self.objects.pop(key or "", None)
        self._answer(204)

    def do_POST(self) -> None:
        key, query = self._asked()
        body = self._body()
        if key is not None and "delete" in query:
            for found in re.findall(rb"<Key>([^<]+)</Key>", body):
                self.objects.pop(found.decode(), None)
            self._answer(200, b"<DeleteResult/>")
        else:
            self._answer(201)  # an event of the agent's

    def _catalog(self) -> None:
        config = urlsplit(self.path).path.endswith("/config")
        found = {"defaults": {}, "overrides": {}} if config else _NO_TABLE
        self._answer(200 if config else 404, json.dumps(found).encode(), {"Content-Type": "application/json"})

    def _list(self, prefix: str, delimiter: str) -> None:
        keys = sorted(key for key in self.objects if key.startswith(prefix))
        below = {key: key[len(prefix) :].partition(delimiter or "\0") for key in keys}
        contents = "".join(
            f"<Contents><Key>{escape(key)}</Key><Size>{len(self.objects[key])}</Size>"
            f"<LastModified>{_ISO}</LastModified><ETag>1</ETag></Contents>"
            for key, (_, found, _) in below.items()
            if not found
        )
        folders = sorted({f"{prefix}{name}{found}" for name, found, _ in below.values() if found})
        common = "".join(f"<CommonPrefixes><Prefix>{escape(name)}</Prefix></CommonPrefixes>" for name in folders)
        counted = f"<KeyCount>{len(keys)}</KeyCount><IsTruncated>false</IsTruncated>"
        text = f"<ListBucketResult><Name>{BUCKET}</Name><Prefix>{escape(prefix)}</Prefix>{counted}{contents}{common}"
        self._answer(200, f"{text}</ListBucketResult>".encode())

    def _send(self, content: bytes) -> None:
        """An object, or the part of it that is asked for."""
        headers = {"Last-Modified": formatdate(0, usegmt=True), "ETag": '"1"', "Accept-Ranges": "bytes"}
        part = re.fullmatch(r"bytes=(\d*)-(\d*)", self.headers.get("Range", ""))
        if not part:
            self._answer(200, content, headers)
            return
        start = int(part[1]) if part[1] else len(content) - int(part[2])
        end = min(int(part[2]) if part[1] and part[2] else len(content) - 1, len(content) - 1)
        headers["Content-Range"] = f"bytes {start}-{end}/{len(content)}"
        self._answer(206, content[start : end + 1], headers)

    def _asked(self) -> tuple[str | None, dict[str, list[str]]]:
        """The object's key, None for what is no object store's; and the query."""
        parts = urlsplit(self.path)
        query = parse_qs(parts.query, keep_blank_values=True)
        path = unquote(parts.path)
        return (path.removeprefix(_PREFIX).lstrip("/") if path.startswith(_PREFIX) else None), query

    def _body(self) -> bytes:
        return self.rfile.read(int(self.headers.get("Content-Length") or 0))

    def _answer(self, status: int, content: bytes = b"", headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:
        """Says nothing."""


_ISO = "1970-01-01T00:00:00.000Z"
