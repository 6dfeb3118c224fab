# SPDX-License-Identifier: Apache-2.0
"""Marquez beside the lineage service: the same events, from the same generator, in turns with ours.

`LINEAGE_LAB_MARQUEZ_JAR` names its jar, and `LINEAGE_LAB_MARQUEZ_DATABASE` an empty database for it, as
`postgresql://user:password@host:port/name`.
"""

import json
import os
import re
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.error import URLError
from urllib.parse import quote, unquote, urlsplit
from urllib.request import urlopen

import psutil

from tests.bench.figures import Figures, quantile
from tests.bench.http_connection import HttpConnection, request_bytes
from tests.bench.load import Load, prepared
from tests.bench.warehouse import Warehouse

JAR = "LINEAGE_LAB_MARQUEZ_JAR"
DATABASE = "LINEAGE_LAB_MARQUEZ_DATABASE"
EVENTS = 300
CLIENTS = 16
START_SECONDS = 180
JVM = ("-Xmx384m", "-XX:+UseSerialGC", "-Xss512k")
ON_FILE = (
    "measured before on a machine of this kind with Marquez 0.50.0, events of 1 kB with columnLineage, 16 clients:"
    " 68 events/s, p50 224 ms, p99 404 ms; /lineage 10 to 20 ms; 214 MB after its start"
)


@contextmanager
def beside(figures: Figures, folder: Path) -> Iterator[Callable[[int], None]]:
    """What measures Marquez for one more round; it does nothing, and says so once, where there is no Marquez.

    Raises:
        RuntimeError: a jar is named, and Marquez does not start or does not accept an event.
    """
    jar, database = os.environ.get(JAR), os.environ.get(DATABASE)
    if not jar or not database:
        missing = JAR if not jar else DATABASE
        figures.remark(f"Marquez left out: {missing} is not set. Not measured here, {ON_FILE}.")
        yield lambda _: None
        return
    with _running(Path(jar), database, folder) as (process, port):
        yield lambda number: _one_round(figures, process, port, number)


def _one_round(figures: Figures, process: psutil.Process, port: int, number: int) -> None:
    with prepared(Load("127.0.0.1", port, CLIENTS, EVENTS, number * EVENTS)) as go:
        before = _cpu(process)
        seen = go()
        cpu = _cpu(process) - before
    name = f"Marquez, accept, one by one, {CLIENTS} clients"
    figures.add(name, "events/s", seen.events / seen.seconds)
    figures.add(f"{name}: p50", "ms", quantile(seen.latencies, 0.5) * 1e3)
    figures.add(f"{name}: p99", "ms", quantile(seen.latencies, 0.99) * 1e3)
    figures.add(f"{name}: its CPU per 1,000, without Postgres", "s", cpu / seen.events * 1e3)
    figures.add("Marquez, memory (PSS), without Postgres", "MB", process.memory_full_info().pss / 1e6)
    connection = HttpConnection("127.0.0.1", port)
    namespace, name = Warehouse(100).dataset(number, "core")
    began = time.monotonic()
    node = quote(f"dataset:{namespace}:{name}", safe="")
    connection.exchange(request_bytes("GET", f"/api/v1/lineage?nodeId={node}&depth=5"))
    figures.add("Marquez, lineage of a dataset, depth 5, small graph", "ms", (time.monotonic() - began) * 1e3)
    connection.close()


def _cpu(process: psutil.Process) -> float:
    times = process.cpu_times()
    return times.user + times.system


@contextmanager
def _running(jar: Path, database: str, folder: Path) -> Iterator[tuple[psutil.Process, int]]:
    port, admin = _free_ports(2)
    config = folder / "marquez.yml"
    config.touch(mode=0o600)
    # JSON is YAML; Marquez reads the file by its name's ending.
    config.write_text(json.dumps(_config(database, port, admin), indent=2))
    log = folder / "marquez.log"
    with log.open("wb") as output:
        words = ["java", *JVM, "-jar", str(jar), "server", str(config)]
        process = subprocess.Popen(words, stdout=output, stderr=subprocess.STDOUT)
    try:
        _wait(process, port, log)
        yield psutil.Process(process.pid), port
    finally:
        process.terminate()
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _config(database: str, port: int, admin: int) -> dict[str, object]:
    found = urlsplit(database)
    if found.scheme != "postgresql" or not found.hostname or not re.fullmatch(r"/\w+", found.path):
        raise RuntimeError(f"{DATABASE} cannot be used: write it as postgresql://user:password@host:port/name")

    def connector(number: int) -> list[dict[str, object]]:
        return [{"type": "http", "bindHost": "127.0.0.1", "port": number, "httpCompliance": "RFC7230_LEGACY"}]

    return {
        "server": {
            "applicationConnectors": connector(port),
            "adminConnectors": connector(admin),
            "requestLog": {"appenders": []},
        },
        "db": {
            "driverClass": "org.postgresql.Driver",
            "url": f"jdbc:postgresql://{found.hostname}:{found.port or 5432}{found.path}",
            "user": unquote(found.username or ""),
            "password": unquote(found.password or ""),
        },
        "migrateOnStartup": True,
        "search": {"enabled": False},
        "logging": {"level": "WARN"},
    }


def _wait(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while process.poll() is None and time.monotonic() < deadline:
        try:
            with urlopen(f"http://127.0.0.1:{port}/api/v1/namespaces", timeout=5):
                return
        except (URLError, ConnectionError, TimeoutError):
            time.sleep(0.1)
    raise RuntimeError(f"Marquez did not start; the end of its log:\n{log.read_text(errors='replace')[-2000:]}")


def _free_ports(number: int) -> list[int]:
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(number)]
    ports = [opened.getsockname()[1] for opened in sockets]
    for opened in sockets:
        opened.close()
    return ports
