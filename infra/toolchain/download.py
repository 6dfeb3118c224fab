# SPDX-License-Identifier: Apache-2.0
"""Downloads of vendors' files, verified against their pinned hash before use."""

import hashlib
import http.client
import ssl
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path

from infra.toolchain.process import is_disk_full

_CONNECT_TIMEOUT = 2.0
"""Connect timeout in seconds; short, so that an offline machine starts the build from source at once."""

_READ_TIMEOUT = 30.0
_CHUNK_BYTES = 1 << 18


class DownloadFailed(Exception):
    """A file could not be downloaded, or has another hash than the pinned one."""

    def __init__(self, url: str, reason: str) -> None:
        super().__init__(f"{url} {reason}")
        self.url = url
        self.reason = reason


def fetch(
    url: str,
    destination: Path,
    sha256: str,
    on_bytes: Callable[[int, int | None], None] = lambda done, total: None,
) -> None:
    """Download `url` to `destination`, which is created only if its hash is `sha256`.

    `on_bytes` receives the bytes read so far and, if the server sent Content-Length, the total; an exception that it
    raises ends the download. Raises DownloadFailed.
    """
    partial = destination.with_name(f"{destination.name}.part")
    try:
        actual = _download(url, partial, on_bytes)
        if actual != sha256:
            raise DownloadFailed(url, f"has sha256 {actual} instead of {sha256}; file removed")
        partial.rename(destination)
    except (http.client.HTTPException, OSError) as error:
        if isinstance(error, OSError) and is_disk_full(error):
            raise
        reason = error.reason if isinstance(error, urllib.error.URLError) else error
        raise DownloadFailed(url, f"download failed: {reason or type(error).__name__}") from error
    finally:
        partial.unlink(missing_ok=True)


def _download(url: str, partial: Path, on_bytes: Callable[[int, int | None], None]) -> str:
    digest = hashlib.sha256()
    done = 0
    opener = urllib.request.build_opener(_HttpHandler(), _HttpsHandler())
    with opener.open(url, timeout=_CONNECT_TIMEOUT) as response, partial.open("wb") as file:
        length = response.headers.get("Content-Length")
        total = int(length) if length else None
        while chunk := response.read(_CHUNK_BYTES):
            file.write(chunk)
            digest.update(chunk)
            done += len(chunk)
            on_bytes(done, total)
    if total is not None and done < total:
        raise DownloadFailed(url, f"ended after {done} of {total} bytes; file removed")
    return digest.hexdigest()


class _HttpConnection(http.client.HTTPConnection):
    def connect(self) -> None:
        super().connect()
        self.sock.settimeout(_READ_TIMEOUT)


class _HttpsConnection(http.client.HTTPSConnection):
    def connect(self) -> None:
        super().connect()
        self.sock.settimeout(_READ_TIMEOUT)


class _HttpHandler(urllib.request.HTTPHandler):
    def http_open(self, request: urllib.request.Request) -> http.client.HTTPResponse:
        return self.do_open(_HttpConnection, request)


class _HttpsHandler(urllib.request.HTTPSHandler):
    def https_open(self, request: urllib.request.Request) -> http.client.HTTPResponse:
        return self.do_open(_HttpsConnection, request, context=ssl.create_default_context())
