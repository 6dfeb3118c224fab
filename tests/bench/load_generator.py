# SPDX-License-Identifier: Apache-2.0
"""Load generator in a separate process: `python -m tests.bench.load_generator '{...}'`.

It prepares all requests, prints `ready`, waits for a line on standard input, sends the requests, and prints the
`LoadResult` as one line of JSON.
"""

import json
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from itertools import count
from threading import Thread
from typing import Any

from tests.bench.http_connection import HttpConnection, request_bytes
from tests.bench.service_process import REPOSITORY
from tests.bench.warehouse import Warehouse, encode, run_id

EVENT_PATH = "/api/v1/lineage"
BATCH_PATH = "/api/v1/lineage/batch"


@dataclass(frozen=True)
class Load:
    """Events to send: `first` to `first + events` of the warehouse's stream, `batch` per request.

    `per_second` is the rate of single events, each of which is then read back (0: as fast as possible).
    """

    host: str
    port: int
    clients: int
    events: int
    first: int = 0
    batch: int = 1
    domains: int = 100
    per_second: int = 0


@dataclass(frozen=True)
class LoadResult:
    """Measurements of a load, in seconds; the lists have one value per request.

    `latencies` are times from sending to the acknowledgement. With `per_second` they begin when the request was due,
    which avoids coordinated omission. `visible` begins at that time too, and `visible_after` at the acknowledgement;
    both end with the read that returns the event.
    """

    seconds: float
    cpu_seconds: float
    events: int
    bytes: int
    latencies: list[float]
    visible: list[float]
    visible_after: list[float]


@contextmanager
def prepared_generator(load: Load) -> Iterator[Callable[[], LoadResult]]:
    """Start a generator and yield, once its requests are ready, a function that sends them and returns the result.

    Raises:
        RuntimeError: the generator failed, or an event was not accepted; the message has the cause.
    """
    words = [sys.executable, "-m", "tests.bench.load_generator", json.dumps(asdict(load))]
    process = subprocess.Popen(
        words, cwd=REPOSITORY, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )

    def send() -> LoadResult:
        output, errors = process.communicate("go\n")
        if process.returncode != 0:
            raise RuntimeError(f"the load generator failed:\n{errors}")
        return LoadResult(**json.loads(output))

    try:
        assert process.stdout is not None
        if process.stdout.readline() != "ready\n":
            raise RuntimeError(f"the load generator failed:\n{process.communicate()[1]}")
        yield send
    finally:
        if process.poll() is None:
            process.kill()
            process.communicate()


def requests(load: Load) -> list[bytes]:
    """Return the encoded requests of a load."""
    warehouse = Warehouse(load.domains)
    bodies = [encode(warehouse.event(number)) for number in range(load.first, load.first + load.events)]
    if load.batch == 1:
        return [request_bytes("POST", EVENT_PATH, body) for body in bodies]
    batches = (bodies[at : at + load.batch] for at in range(0, len(bodies), load.batch))
    return [request_bytes("POST", BATCH_PATH, b"[" + b",".join(batch) + b"]") for batch in batches]


class _Client(Thread):
    """Connection that sends the next unsent request, repeatedly."""

    def __init__(self, load: Load, wire: list[bytes], numbers: Iterator[int]) -> None:
        super().__init__()
        self._load = load
        self._wire = wire
        self._numbers = numbers
        self._connection = HttpConnection(load.host, load.port)
        self.began = 0.0
        self.latencies: list[float] = []
        self.visible: list[float] = []
        self.visible_after: list[float] = []
        self.statuses: Counter[int] = Counter()
        self.failure: Exception | None = None

    def run(self) -> None:
        try:
            while (number := next(self._numbers)) < len(self._wire):
                self._send(number)
        except Exception as error:  # raised by the main thread after joining this one
            self.failure = error
        finally:
            self._connection.close()

    def _send(self, number: int) -> None:
        due = time.monotonic()
        if self._load.per_second:
            due = self.began + number / self._load.per_second
            time.sleep(max(0.0, due - time.monotonic()))
        self.statuses[self._connection.exchange(self._wire[number]).status] += 1
        acknowledged = time.monotonic()
        self.latencies.append(acknowledged - due)
        if self._load.per_second:
            self._read_back(self._load.first + number)
            visible = time.monotonic()
            self.visible.append(visible - due)
            self.visible_after.append(visible - acknowledged)

    def _read_back(self, number: int) -> None:
        """Poll the run until it has the state of the event: RUNNING after START and RUNNING, then COMPLETED."""
        run, step = divmod(number, 3)
        request = request_bytes("GET", f"/api/v1/jobs/runs/{run_id(run)}")
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            response = self._connection.exchange(request)
            if response.status == 200 and (step < 2 or json.loads(response.body)["state"] == "COMPLETED"):
                return
        raise TimeoutError(f"event {number} was acknowledged but not visible within 30 s")


def _measure(load: Load, wire: list[bytes], started: Callable[[], Any]) -> LoadResult:
    numbers = count()
    clients = [_Client(load, wire, numbers) for _ in range(load.clients)]
    started()
    cpu, began = time.process_time(), time.monotonic()
    for client in clients:
        client.began = began
        client.start()
    for client in clients:
        client.join()
    seconds, cpu_seconds = time.monotonic() - began, time.process_time() - cpu
    for client in clients:
        if client.failure is not None:
            raise client.failure
    statuses = sum((client.statuses for client in clients), Counter())
    if any(status not in (200, 201) for status in statuses):
        raise RuntimeError(f"not all events were accepted, responses by status: {dict(statuses)}")
    latencies, visible, visible_after = (
        [value for client in clients for value in getattr(client, name)]
        for name in ("latencies", "visible", "visible_after")
    )
    return LoadResult(seconds, cpu_seconds, load.events, sum(map(len, wire)), latencies, visible, visible_after)


def main() -> None:
    """Prepare the requests, wait for the start line, send, and print the result."""
    load = Load(**json.loads(sys.argv[1]))
    wire = requests(load)

    def wait_for_start() -> None:
        print("ready", flush=True)
        sys.stdin.readline()

    print(json.dumps(asdict(_measure(load, wire, wait_for_start))))


if __name__ == "__main__":
    main()
