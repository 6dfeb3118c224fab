# SPDX-License-Identifier: Apache-2.0
"""The load generator, a process of its own: `python -m tests.bench.load '{...}'`.

It prepares every request, says `ready`, waits for a line on its standard input, sends, and prints one JSON line: what
it saw and the CPU seconds that it took itself.
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

SINGLE = "/api/v1/lineage"
BATCH = "/api/v1/lineage/batch"


@dataclass(frozen=True)
class Load:
    """What to send: events `first` to `first + events` of the warehouse's stream, `batch` in one request.

    `per_second` paces single events that are then read back (0: as fast as `clients` connections go).
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
class Seen:
    """What a load saw. All times in seconds; one value per request in each list.

    `latencies` run from sending to the acknowledgement. Of paced loads they run from the moment at which the request
    was due, because a service that stalls must not stop the clock; `visible` from there, and `visible_after` from the
    acknowledgement, to the read that shows the event.
    """

    seconds: float
    cpu_seconds: float
    events: int
    bytes: int
    latencies: list[float]
    visible: list[float]
    visible_after: list[float]


@contextmanager
def prepared(load: Load) -> Iterator[Callable[[], Seen]]:
    """A generator that has everything ready; calling what is yielded lets it go and returns what it saw.

    Raises:
        RuntimeError: it failed, or an event was not accepted; the text says why.
    """
    words = [sys.executable, "-m", "tests.bench.load", json.dumps(asdict(load))]
    process = subprocess.Popen(
        words, cwd=REPOSITORY, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )

    def go() -> Seen:
        output, errors = process.communicate("go\n")
        if process.returncode != 0:
            raise RuntimeError(f"the load generator failed:\n{errors}")
        return Seen(**json.loads(output))

    try:
        assert process.stdout is not None
        if process.stdout.readline() != "ready\n":
            raise RuntimeError(f"the load generator failed:\n{process.communicate()[1]}")
        yield go
    finally:
        if process.poll() is None:
            process.kill()
            process.communicate()


def requests(load: Load) -> list[bytes]:
    """All requests of a load, ready for the wire."""
    warehouse = Warehouse(load.domains)
    bodies = [encode(warehouse.event(number)) for number in range(load.first, load.first + load.events)]
    if load.batch == 1:
        return [request_bytes("POST", SINGLE, body) for body in bodies]
    batches = (bodies[at : at + load.batch] for at in range(0, len(bodies), load.batch))
    return [request_bytes("POST", BATCH, b"[" + b",".join(batch) + b"]") for batch in batches]


class _Client(Thread):
    """One connection, which takes the next request that nobody has taken."""

    def __init__(self, load: Load, wire: list[bytes], turns: Iterator[int]) -> None:
        super().__init__()
        self._load = load
        self._wire = wire
        self._turns = turns
        self._connection = HttpConnection(load.host, load.port)
        self.began = 0.0
        self.latencies: list[float] = []
        self.visible: list[float] = []
        self.visible_after: list[float] = []
        self.statuses: Counter[int] = Counter()
        self.failure: Exception | None = None

    def run(self) -> None:
        try:
            while (turn := next(self._turns)) < len(self._wire):
                self._send(turn)
        except Exception as error:  # told by the main thread, which joins this one
            self.failure = error
        finally:
            self._connection.close()

    def _send(self, turn: int) -> None:
        due = time.monotonic()
        if self._load.per_second:
            due = self.began + turn / self._load.per_second
            time.sleep(max(0.0, due - time.monotonic()))
        self.statuses[self._connection.exchange(self._wire[turn]).status] += 1
        acknowledged = time.monotonic()
        self.latencies.append(acknowledged - due)
        if self._load.per_second:
            self._read_back(self._load.first + turn)
            shown = time.monotonic()
            self.visible.append(shown - due)
            self.visible_after.append(shown - acknowledged)

    def _read_back(self, number: int) -> None:
        """Read the run until its state is that of the event: START and RUNNING show as RUNNING, then COMPLETED."""
        run, step = divmod(number, 3)
        request = request_bytes("GET", f"/api/v1/jobs/runs/{run_id(run)}")
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            answer = self._connection.exchange(request)
            if answer.status == 200 and (step < 2 or json.loads(answer.body)["state"] == "COMPLETED"):
                return
        raise TimeoutError(f"event {number} was acknowledged and did not show within 30 s")


def _measure(load: Load, wire: list[bytes], started: Callable[[], Any]) -> Seen:
    turns = count()
    clients = [_Client(load, wire, turns) for _ in range(load.clients)]
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
        raise RuntimeError(f"not everything was accepted, answers by status: {dict(statuses)}")
    latencies, visible, visible_after = (
        [value for client in clients for value in getattr(client, name)]
        for name in ("latencies", "visible", "visible_after")
    )
    return Seen(seconds, cpu_seconds, load.events, sum(map(len, wire)), latencies, visible, visible_after)


def main() -> None:
    """Prepare, wait for the word, measure, tell."""
    load = Load(**json.loads(sys.argv[1]))
    wire = requests(load)

    def wait_for_the_word() -> None:
        print("ready", flush=True)
        sys.stdin.readline()

    print(json.dumps(asdict(_measure(load, wire, wait_for_the_word))))


if __name__ == "__main__":
    main()
