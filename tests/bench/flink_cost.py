# SPDX-License-Identifier: Apache-2.0
"""What lineage costs Flink: CPU time for a million rows of the SQL job, with the listener and the launcher's lineage
and without.

Two clusters stand side by side and read one topic to its end, one with lineage and one without, both at once, so that
the load of the machine is the same for both. Two JVMs never compile quite alike, and that would be taken for lineage:
in the second half of the rounds the two have changed roles, with a new JobManager and a new gateway about the same
warm TaskManager. A round is one pair of turns of each half, and what the TaskManagers differ by is not in its ratio.

Lineage does nothing for each row: the listener is in JobManager and gateway, the launcher is a process of its own. What
those take for one job, START to COMPLETE, is told apart: it says more than the ratio, which has the noise of all rows.
"""

import json
import math
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from infra.model import Topic
from infra.namespaces import JOB_ICEBERG_INGESTION, TABLE_LIVE_ORDERS, TOPIC_ORDERS, lineage_service_rules
from infra.services import kafka, lineage, schema_registry
from infra.services.flink.settings import GATEWAY, JOBMANAGER, TASKMANAGER
from infra.toolchain import Artifacts
from tests.bench.figures import Figures, Goal, shown
from tests.bench.flink_job import Launch
from tests.bench.flink_place import JVMS, FlinkPlace, prepared_cluster
from tests.bench.flink_registry import running_registry
from tests.bench.service_process import running_service
from tests.bench.spark_events import Heard
from tests.bench.spark_intervals import Interval, paired_difference, paired_ratio
from tests.bench.spark_place import Place, rows
from tests.bench.spark_topic import fill, running_broker
from tests.flink.launched import ReportedLineage, until
from tests.unit.spark.schemas import SCHEMAS

Result = TypeVar("Result")

RATIO = Goal(1.02)
NO_CATALOG = "http://127.0.0.1:1"
"""Nobody is there: tables are where the rules put them when nobody says."""

ORDERS = 200_000
WARM_UP, AGAIN = 2, 1
"""Turns of each cluster that are not told: at first, and when its JobManager is new."""


@dataclass(frozen=True)
class Turn:
    """One bounded job, from its launch to its last event: CPU seconds of each JVM, and of launcher and planner.

    Attributes:
        rows: that it has written.
    """

    lineage: bool
    taskmanager: float
    jobmanager: float
    gateway: float
    launcher: float
    wall: float
    rows: int

    @property
    def cluster(self) -> float:
        """What runs as long as the job does."""
        return self.taskmanager + self.jobmanager


Pair = tuple[Turn, Turn]
"""With lineage, without."""


@dataclass(frozen=True)
class Stream:
    """A full topic, and what its readers need. `ports` are of services that run already."""

    ports: dict[tuple[str, str], int]
    records: int
    service: str
    folder: Path

    def place(self, name: str) -> Place:
        """Where a cluster of its own may run."""
        return Place(self.folder / name, Artifacts.open(), self.ports)


@contextmanager
def full_topic(folder: Path, orders: int) -> Iterator[Stream]:
    """A broker with so many orders, a registry that knows their schema, and a lineage service."""
    rules, place = folder / "rules.json", Place(folder, Artifacts.open(), {})
    with running_registry(SCHEMAS) as registry, running_broker(place) as bootstrap:
        topic = next(topic for topic in place.lab.resources_of(Topic) if topic.name == TOPIC_ORDERS)
        rules.write_text(json.dumps(lineage_service_rules([bootstrap], NO_CATALOG)), encoding="utf-8")
        with running_service(folder / "lineage", "--rules", rules) as service:
            ports = {
                (schema_registry.NAME, schema_registry.API.name): registry,
                (kafka.NAME, kafka.BROKER.name): int(bootstrap.rpartition(":")[2]),
                (lineage.NAME, lineage.API.name): service.port,
            }
            yield Stream(ports, fill(bootstrap, topic, orders), service.url, folder)


def measure(figures: Figures, folder: Path, rounds: int) -> None:
    """So many rounds, after turns that warm the clusters up."""
    with full_topic(folder, ORDERS) as stream, ExitStack() as started:
        one, other = (started.enter_context(prepared_cluster(stream.place(name))) for name in ("one", "other"))
        at_once(lambda: one.start(*JVMS, lineage=True), lambda: other.start(*JVMS, lineage=False))
        first = pairs(figures, stream, one, other, WARM_UP, rounds, "first")
        at_once(lambda: one.switch(lineage=False), lambda: other.switch(lineage=True))
        second = pairs(figures, stream, other, one, AGAIN, rounds, "second")
        tell(figures, stream.records, first, second)


def pairs(
    figures: Figures, stream: Stream, on: FlinkPlace, off: FlinkPlace, warm_up: int, rounds: int, half: str
) -> list[Pair]:
    """Pairs of turns, after those that warm the clusters up. Each is told when it is there: all of them take long."""
    found = []
    for number in range(warm_up + rounds):
        found.append(pair(stream, on, off, stream.folder / half / str(number)))
        if number >= warm_up:
            tell_pair(figures, stream.records, *found[-1])
    return found[warm_up:]


def pair(stream: Stream, on: FlinkPlace, off: FlinkPlace, folder: Path) -> Pair:
    """Two bounded jobs at once, so that whatever else the machine does is in both alike.

    Raises:
        RuntimeError: one failed, or not exactly the one with lineage was told of.
    """
    told = ReportedLineage(stream.service, JOB_ICEBERG_INGESTION)
    ends = ends_of_listener(told)

    def heard() -> None:
        until(lambda: ends_of_listener(told) > ends, "the listener to say that the job has ended")

    with Heard(stream.service).expect(JOB_ICEBERG_INGESTION, ends=1):
        with_lineage, without = at_once(
            lambda: turn(Launch(on, folder / "on", bounded=True, lineage=True), heard),
            lambda: turn(Launch(off, folder / "off", bounded=True, lineage=False), lambda: None),
        )
    if ends_of_listener(told) != ends + 1:
        raise RuntimeError(f"the listener of the cluster in {off.place.folder} was to be silent")
    return with_lineage, without


def turn(launch: Launch, heard: Callable[[], None]) -> Turn:
    """One bounded job; `heard` waits until all is told of it. Raises RuntimeError: the job failed."""
    before, began = launch.cluster.cpu_seconds(), time.monotonic()
    usage = launch.run()
    wall = time.monotonic() - began
    heard()
    after = launch.cluster.cpu_seconds()
    taken = {name: after[name] - before[name] for name in after}
    return Turn(
        *(launch.lineage, taken[TASKMANAGER], taken[JOBMANAGER], taken[GATEWAY]),
        *(usage.cpu_seconds, wall, rows(launch.warehouse, TABLE_LIVE_ORDERS)),
    )


def at_once(*tasks: Callable[[], Result]) -> list[Result]:
    """Runs tasks side by side; raises what the first of them raises, once all have ended."""
    with ThreadPoolExecutor(len(tasks)) as pool:
        return [done.result() for done in [pool.submit(task) for task in tasks]]


def ends_of_listener(told: ReportedLineage) -> int:
    """How often the cluster itself, not the launcher, has said that a run is complete."""
    own = [event for event in told.events() if not event["producer"].startswith("urn:lineage-lab:")]
    return sum(event["eventType"] == "COMPLETE" for event in own)


def tell_pair(figures: Figures, records: int, on: Turn, off: Turn) -> None:
    """Adds what each of a pair has taken."""
    for way, turn in (("lineage on", on), ("lineage off", off)):
        name = f"{JOB_ICEBERG_INGESTION}, {way}"
        figures.add(
            f"{name}: CPU of TaskManager and JobManager per 1,000,000 records", "s", turn.cluster * 1e6 / records
        )
        figures.add(f"{name}: CPU of TaskManager in a job's life", "s", turn.taskmanager)
        figures.add(f"{name}: CPU of JobManager in a job's life", "s", turn.jobmanager)
        figures.add(f"{name}: CPU of gateway in a job's life", "s", turn.gateway)
        figures.add(f"{name}: CPU of launcher and planner in a job's life", "s", turn.launcher)
        figures.add(f"{name}: wall time of a job's life", "s", turn.wall)


def tell(figures: Figures, records: int, first: Sequence[Pair], second: Sequence[Pair]) -> None:
    """Adds the ratio, and what lineage takes.

    Raises:
        RuntimeError: not every turn has written the same number of rows.
    """
    if len(written := {turn.rows for pair in (*first, *second) for turn in pair}) != 1:
        raise RuntimeError(f"turns over one topic have written {sorted(written)} rows")
    for on, off in zip(*crossed(first, second), strict=True):
        figures.add(f"{JOB_ICEBERG_INGESTION}, on / off: CPU of TaskManager and JobManager", "ratio", on / off, RATIO)
    figures.remark(f"{JOB_ICEBERG_INGESTION}: {records:,} records, {written.pop():,} rows a turn")
    if len(first) > 1:
        for text in costs(records, first, second):
            figures.remark(text)


def crossed(first: Sequence[Pair], second: Sequence[Pair]) -> tuple[list[float], list[float]]:
    """What clusters take with lineage, and without, round by round: the geometric mean of both in each role."""
    rounds = list(zip(first, second, strict=True))
    sides = ([math.sqrt(one[side].cluster * two[side].cluster) for one, two in rounds] for side in (0, 1))
    with_lineage, without = sides
    return with_lineage, without


def costs(records: int, first: Sequence[Pair], second: Sequence[Pair]) -> list[str]:
    """The ratio, and what lineage takes of each process in a job's life, with their intervals."""
    ratio = paired_ratio(list(zip(*crossed(first, second), strict=True)))
    every = [*first, *second]
    million = statistics.median(off.cluster for _, off in every) / records * 1e6

    def more(part: str) -> Interval:
        return paired_difference([(getattr(on, part), getattr(off, part)) for on, off in every])

    parts = {"jobmanager": "JobManager", "gateway": "gateway", "launcher": "launcher and planner"}
    return [
        f"{JOB_ICEBERG_INGESTION}, on / off, CPU of TaskManager and JobManager: {ratio}",
        *(f"lineage in a job's life, CPU seconds more of {name}: {more(part)}" for part, name in parts.items()),
        f"what lineage takes of the JobManager, of the {shown(million)} s of a job of 1,000,000 records, is a ratio of "
        f"{more('jobmanager').each(lambda seconds: 1 + seconds / million)}",
    ]
