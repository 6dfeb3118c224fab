# SPDX-License-Identifier: Apache-2.0
"""Description of the lab around the service, read from a file: services, addresses, lineage contract."""

import asyncio
import json
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from lineage.events import JsonObject

_PROBE_TIMEOUT = 2.0
"""Seconds after which a service without an answer counts as down."""


class LabError(ValueError):
    """The file cannot be used; the message gives the cause."""


@dataclass(frozen=True, slots=True)
class LabService:
    """One service. `ui` is the URL of its web page, empty if it has none.

    `check` is its probe: an HTTP URL whose status must be below 500, or a `host:port` that must accept connections.
    """

    name: str
    title: str
    check: str
    ui: str = ""


@dataclass(frozen=True, slots=True)
class Lab:
    """Name of a lab, its services, the file of its lineage contract, and its enabled features."""

    name: str
    services: tuple[LabService, ...]
    contract: Path | None
    features: frozenset[str] = frozenset()


def read_lab(path: Path) -> Lab:
    """Read `{"name", "services": [{"name", "title", "check", "ui"?}], "contract"?: path, "features"?: [...]}`.

    Raises:
        LabError: the file has another shape, or cannot be read.
    """
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        services = tuple(LabService(**row) for row in content["services"])
        contract = content.get("contract")
        features = frozenset(map(str, content.get("features", ())))
        return Lab(str(content["name"]), services, None if contract is None else Path(contract), features)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise LabError(f"--lab {path}: {error}; `lab up` writes this file") from error


async def states(lab: Lab) -> list[JsonObject]:
    """Probe each service; return its `state` (up, down), response text, and milliseconds taken."""
    return list(await asyncio.gather(*map(_service_state, lab.services)))


async def _service_state(service: LabService) -> JsonObject:
    began = time.monotonic()
    try:
        async with asyncio.timeout(_PROBE_TIMEOUT):
            answer = await _probe(service.check)
        up = not answer.startswith("HTTP 5")
    except TimeoutError:
        up, answer = False, f"no answer within {_PROBE_TIMEOUT:g} s"
    except OSError as error:
        up, answer = False, error.strerror or str(error)
    took = round((time.monotonic() - began) * 1000, 1)
    described = {"name": service.name, "title": service.title, "ui": service.ui or None, "address": service.check}
    return {**described, "state": "up" if up else "down", "answer": answer, "milliseconds": took}


async def _probe(check: str) -> str:
    """Connect, and for HTTP read the status line: a client library is not needed for that."""
    parts = urlsplit(check if "://" in check else f"tcp://{check}")
    reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
    try:
        if parts.scheme != "http":
            return "accepts connections"
        head = f"GET {parts.path or '/'} HTTP/1.1\r\nHost: {parts.netloc}\r\nConnection: close\r\n\r\n"
        writer.write(head.encode("ascii"))
        words = (await reader.readline()).decode("latin-1").split()
        if len(words) < 2 or not words[0].startswith("HTTP/"):
            raise OSError("the response is not HTTP")
        return f"HTTP {words[1]}"
    finally:
        writer.close()
        with suppress(OSError):
            await writer.wait_closed()
