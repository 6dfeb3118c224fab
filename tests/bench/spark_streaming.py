# SPDX-License-Identifier: Apache-2.0
"""What lineage costs a streaming query: CPU time of its driver for each record, with lineage and without.

A driver reads a topic that was filled before, to its end, with lineage and without by turns (`spark_turns`). Turns of
one JVM are compared because two JVMs differ by more than lineage could take: in what they have compiled when, and in
seconds of starting. The service that is told, a real one, is a process of its own and not counted.

Nothing of lineage is done for each record, so that what it takes can also be seen where records are few and it is more
of the whole: in micro-batches of a thousand records. That figure, set against a full micro-batch, says more of the
ratio than the ratio itself, which has the noise of millions of records in it.
"""

import json
import statistics
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from urllib.parse import urlsplit

from infra.model import Python, Service, Topic
from infra.namespaces import JOB_ORDERS_ETL, TOPIC_ORDERS
from infra.services import lineage, schema_registry
from infra.toolchain import Artifacts
from tests.bench.figures import Figures, Goal, shown
from tests.bench.service_process import running_service
from tests.bench.spark_events import Heard
from tests.bench.spark_intervals import paired_difference, paired_ratio
from tests.bench.spark_place import Place, inherited, on_folder
from tests.bench.spark_process import run
from tests.bench.spark_topic import fill, running_broker
from tests.bench.spark_turns import Turn, Turns
from tests.unit.spark.fake_registry import FakeRegistry
from tests.unit.spark.schemas import SCHEMAS

RATIO = Goal(1.02)
WARM_UP = 3
"""Pairs in which the JVM compiles most of what it will; they are not told."""

DRIVER_SECONDS = 3600


@dataclass(frozen=True)
class Case:
    """A query over so many orders, in micro-batches of `at_once` records. `goal` is for the ratio."""

    query: str
    orders: int
    at_once: int
    goal: Goal | None

    @property
    def name(self) -> str:
        """What its figures are called."""
        return f"{self.query}, {self.at_once:,} records at once"

    @property
    def topic(self) -> str:
        """What it reads."""
        return f"{TOPIC_ORDERS}-{self.orders}"


FULL = Case(JOB_ORDERS_ETL, 300_000, 50_000, RATIO)
SMALL = Case(JOB_ORDERS_ETL, 10_000, 1_000, None)
CASES = (FULL, Case("orders_copy", 500_000, 50_000, RATIO), SMALL)


@dataclass(frozen=True)
class Stream:
    """Full topics, with what their readers need: where they run, the broker, and the URL of the lineage service."""

    place: Place
    records: dict[str, int]
    service: str


def measure(figures: Figures, folder: Path, rounds: int) -> None:
    """So many pairs of turns of each case, after those that warm it up."""
    told: dict[Case, Sequence[tuple[Turn, Turn]]] = {}
    with _full_topics(folder) as stream:
        for case in CASES:
            turns = run_case(stream, case, folder / case.query / str(case.at_once), WARM_UP + rounds)
            told[case] = pairs_of(turns)[WARM_UP:]
            tell(figures, case, stream.records[case.topic], told[case])
        if rounds > 1:
            records = {case: stream.records[case.topic] for case in CASES}
            figures.remark(cost_of_micro_batches(records, told))


def run_case(stream: Stream, case: Case, folder: Path, pairs: int) -> list[Turn]:
    """Runs the driver of a case.

    Raises:
        RuntimeError: it failed, or did not say the end of each run that has lineage.
    """
    folder.mkdir(parents=True)
    asked = Turns(case.query, case.topic, case.at_once, pairs, stream.service, str(folder))
    own = stream.place.part(JOB_ORDERS_ETL)
    if not isinstance(own, Service):
        raise TypeError(f"{JOB_ORDERS_ETL} is no service of the lab")
    module = Python("tests.bench.spark_turns", (json.dumps(asdict(asked)),), (), "spark")
    driver = on_folder(replace(own, run=module), folder / "warehouse", LINEAGE_URL=None)
    with Heard(stream.service).expect(case.query, ends=pairs):
        run(["sh", str(stream.place.script(driver))], inherited(), folder / "driver.log", DRIVER_SECONDS)
    return [Turn(**turn) for turn in json.loads(asked.answer.read_text(encoding="utf-8"))]


def pairs_of(turns: Sequence[Turn]) -> list[tuple[Turn, Turn]]:
    """Turns two by two: with lineage, without.

    Raises:
        RuntimeError: they have not written the same number of rows.
    """
    if len({turn.rows for turn in turns}) != 1:
        raise RuntimeError(f"turns over one topic have written {sorted({turn.rows for turn in turns})} rows")
    with_lineage, without = ([turn for turn in turns if turn.lineage is on] for on in (True, False))
    return list(zip(with_lineage, without, strict=True))


def tell(figures: Figures, case: Case, records: int, pairs: Sequence[tuple[Turn, Turn]]) -> None:
    """Adds the figures of a case."""
    for on, off in pairs:
        for way, turn in (("lineage on", on), ("lineage off", off)):
            figures.add(f"{case.name}, {way}: CPU per 1,000,000 records", "s", turn.cpu / records * 1e6)
            figures.add(f"{case.name}, {way}: records per second", "1/s", records / turn.wall)
        figures.add(f"{case.name}, on / off: CPU", "ratio", on.cpu / off.cpu, case.goal)
    figures.remark(f"{case.name}: {records:,} records in {batches(case, records)} micro-batches a turn")
    if len(pairs) > 1:
        ratio = paired_ratio([(on.cpu, off.cpu) for on, off in pairs])
        figures.remark(f"{case.name}, on / off: {ratio}")


def batches(case: Case, records: int) -> int:
    """How many micro-batches read the records."""
    return -(-records // case.at_once)


def cost_of_micro_batches(records: Mapping[Case, int], told: Mapping[Case, Sequence[tuple[Turn, Turn]]]) -> str:
    """What lineage takes in a small micro-batch, START and COMPLETE included, and what ratio that is of a full one."""
    small = batches(SMALL, records[SMALL])
    cost = paired_difference([(on.cpu / small, off.cpu / small) for on, off in told[SMALL]])
    full = statistics.median(off.cpu for _, off in told[FULL]) / batches(FULL, records[FULL])
    return (
        f"{SMALL.query}: lineage takes {cost.each(lambda seconds: seconds * 1e3)} ms of CPU time in a micro-batch of "
        f"{SMALL.at_once:,} records; of one of {FULL.at_once:,}, which takes {shown(full)} s, that is a ratio of "
        f"{cost.each(lambda seconds: 1 + seconds / full)}"
    )


@contextmanager
def _full_topics(folder: Path) -> Iterator[Stream]:
    with FakeRegistry(SCHEMAS) as registry, running_service(folder / "lineage") as service:
        ports = {
            (lineage.NAME, lineage.API.name): service.port,
            (schema_registry.NAME, schema_registry.API.name): urlsplit(registry.url).port or 0,
        }
        place = Place(folder, Artifacts.open(), ports)
        topic = next(topic for topic in place.lab.resources_of(Topic) if topic.name == TOPIC_ORDERS)
        with running_broker(place) as bootstrap:
            sizes = {case.topic: case.orders for case in CASES}
            records = {name: fill(bootstrap, replace(topic, name=name), orders) for name, orders in sizes.items()}
            yield Stream(place, records, service.url)
