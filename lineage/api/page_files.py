# SPDX-License-Identifier: Apache-2.0
"""Static files of the lineage page, under a content security policy that allows nothing else to run."""

import gzip
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from fastapi import Request, Response
from starlette.routing import Route

POLICY = "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; object-src 'none'"
"""Names in events are untrusted: script injected through them must neither run nor send requests."""

_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
    ".json": "application/json",
    ".txt": "text/plain; charset=utf-8",
}
_INDEX = "index.html"
_NAMED_BY_CONTENT = "assets/"
"""Vite puts a content hash into the names of these files."""

_NOT_BUILT = """\
The lineage service is up; its page is not built.

  In a lab:    bin/lab setup     then    bin/lab up
  By hand:     cd page && npm ci && npm run build
               python -m lineage --page page/build/site ...

Setting up needs Node 20.19 or newer. The API works without the page: docs/reference/lineage-api.md, or /api/v1/graph.
"""


@dataclass(frozen=True, slots=True)
class File:
    """One served file. `packed` is its gzip, empty if that is not smaller."""

    content: bytes
    packed: bytes
    headers: Mapping[str, str]


def read_site(folder: Path) -> dict[str, File]:
    """Read every file of a built page by its path: some hundred kilobytes.

    Raises:
        OSError: the folder has no page, or it cannot be read.
    """
    if not (folder / _INDEX).is_file():
        raise OSError(f"--page {folder}: no {_INDEX} there; build the page with `npm run build` in page/")
    files = (path for path in folder.rglob("*") if path.is_file() and path.suffix in _TYPES)
    return {
        path.relative_to(folder).as_posix(): _read_file(path.relative_to(folder).as_posix(), path) for path in files
    }


def site_routes(folder: Path | None) -> list[Route]:
    """Return the routes of the page; without a folder, one that explains how to build it.

    Raises:
        OSError: there is no page in the folder.
    """
    if folder is None:
        return [Route("/", _not_built, methods=["GET"])]
    files = read_site(folder)

    def file_route(path: str, file: File) -> Route:
        async def send_file(request: Request) -> Response:
            return _file_response(file, request)

        return Route(path, send_file, methods=["GET"])

    return [file_route("/", files[_INDEX]), *(file_route(f"/{name}", file) for name, file in files.items())]


async def _not_built(_: Request) -> Response:
    return Response(_NOT_BUILT, 503, {"Content-Security-Policy": POLICY}, "text/plain; charset=utf-8")


def _file_response(file: File, request: Request) -> Response:
    if request.headers.get("if-none-match") == file.headers["ETag"]:
        return Response(status_code=304, headers=file.headers)
    if file.packed and "gzip" in request.headers.get("accept-encoding", ""):
        return Response(file.packed, headers={**file.headers, "Content-Encoding": "gzip"})
    return Response(file.content, headers=file.headers)


def _read_file(name: str, path: Path) -> File:
    content = path.read_bytes()
    packed = gzip.compress(content, mtime=0)
    lasting = name.startswith(_NAMED_BY_CONTENT)
    headers = {
        "Content-Type": _TYPES[path.suffix],
        "Content-Security-Policy": POLICY,
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "no-referrer",
        "Cache-Control": "public, max-age=31536000, immutable" if lasting else "no-cache",
        "ETag": f'"{hashlib.sha256(content).hexdigest()[:32]}"',
        "Vary": "Accept-Encoding",
    }
    return File(content, packed if len(packed) < len(content) else b"", headers)
