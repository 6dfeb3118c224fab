# SPDX-License-Identifier: Apache-2.0
"""Benchmark of the jobs over the lineage events in the lake, on one core, two cores and two workers of one core.

`graph`: the lineage graph of events. `reach`: all columns that a column depends on. `chains`: the longest chain to each
dataset. Run by `make bench`; alone by `bin/lab bench --only lake-history`. The graph of 10,000,000 events, an hour and
5 GB on the disk: `python -m tests.bench.lake_history --only large-graph`.
"""

import functools
import json
import os
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path

import pyarrow as pa
from pyarrow import parquet

from infra.toolchain import Artifacts
from lineage.egress.event_record import record_value
from lineage.events import JsonObject
from lineage.rules import Rules
from lineage.rules.event_reader import read_event
from tests.bench.figures import Figures
from tests.bench.measured_process import run_measured
from tests.bench.parts import Part, run_parts
from tests.bench.warehouse import EVENT_TYPES, Warehouse, encode, event_time, run_id

MASTERS = {"1 core": ("local[1]", 1), "2 cores": ("local[2]", 2), "2 workers": ("local-cluster[2,1,3072]", 2)}
"""Master and number of cores. The processes are bound to them: one task keeps a JVM and a Python worker busy.

CPU time is not measured: that of the Python workers is lost with the process that starts them.
"""

EVENTS = 100_000
MANY_EVENTS = 10_000_000
EVENTS_PER_FILE = 50_000
DOMAINS = 500
EDGES = 1_000_000
SECONDS = 3.0 * 3_600
"""Limit of one job."""

ACCEPTED = 1_800_000_000 * 10**9


def measure(kind: str, size: int, figures: Figures, folder: Path, rounds: int) -> None:
    """Run one job on each master in turn; the order changes with each round."""
    artifacts = Artifacts.open()
    events = folder / "events"
    if kind == "graph":
        write_events(events, size)
    environment = {
        **os.environ,
        "JAVA_HOME": str(artifacts.java().parent.parent),
        "PYSPARK_PYTHON": str(artifacts.python("spark")),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_LOCAL_DIRS": str(folder),
        "PYSPARK_SUBMIT_ARGS": "--driver-memory 4g --conf spark.ui.enabled=false"
        f" --conf spark.executor.memory=2g --conf spark.sql.warehouse.dir={folder}/warehouse pyspark-shell",
    }
    for number in range(rounds):
        for name, (master, cores) in list(MASTERS.items())[:: -1 if number % 2 else 1]:
            log = folder / "job.log"
            words = [str(artifacts.python("spark")), "-m", "tests.bench.lake_history_job", master, str(cores), kind]
            run_measured([*words, str(events), str(size)], environment, log, SECONDS)
            figures.add(f"{kind} of {size:,}, {name}: wall", "s", _printed_seconds(log))


def _printed_seconds(log: Path) -> float:
    lines = [line for line in log.read_text().splitlines() if line.startswith('{"seconds"')]
    return float(json.loads(lines[-1])["seconds"])


def write_events(folder: Path, size: int) -> None:
    """Write events of a warehouse as the Iceberg sink stores them."""
    folder.mkdir()
    warehouse = Warehouse(DOMAINS)
    kinds = warehouse.jobs * len(EVENT_TYPES)
    templates = [_stored(warehouse.event(number), number) for number in range(min(kinds, size))]
    for start in range(0, size, EVENTS_PER_FILE):
        rows = [
            _repeated(templates[number % kinds], number) for number in range(start, min(start + EVENTS_PER_FILE, size))
        ]
        parquet.write_table(pa.Table.from_pylist(rows), folder / f"{start:09d}.parquet", compression="zstd")


def _stored(event: JsonObject, position: int) -> JsonObject:
    """Return the payload of an event's record."""
    record = record_value(read_event(encode(event), Rules()), position, ACCEPTED)
    payload: JsonObject = json.loads(record)["payload"]
    return payload


def _repeated(payload: JsonObject, number: int) -> JsonObject:
    """Return the payload of an event of a later run of the same job: much faster than to read the event."""
    first, run = payload["position"], run_id(number // len(EVENT_TYPES))
    text = payload["event"].replace(event_time(first), event_time(number)).replace(payload["run_id"], run)
    passed = number - first
    return payload | {
        "event_hash": sha256(text.encode()).hexdigest(),
        "position": number,
        "event_time": payload["event_time"] + passed,
        "effective_ns": payload["effective_ns"] + passed * 10**6,
        "run_id": run,
        "event": text,
    }


PARTS: Mapping[str, Part] = {
    "graph": Part(functools.partial(measure, "graph", EVENTS), 3),
    "large-graph": Part(functools.partial(measure, "graph", MANY_EVENTS), 1, only_if_named=True),
    "reach": Part(functools.partial(measure, "reach", EDGES), 3),
    "chains": Part(functools.partial(measure, "chains", EDGES), 3),
}

if __name__ == "__main__":
    run_parts(__doc__, PARTS)
