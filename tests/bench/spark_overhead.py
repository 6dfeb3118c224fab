# SPDX-License-Identifier: Apache-2.0
"""CPU overhead of lineage in a streaming query: CPU time of its driver per record, with lineage and without.

A driver reads a filled topic to its end, alternating with and without lineage (`spark_trials`). Trials of one JVM are
compared, because two JVMs differ by more than lineage costs: by JIT compilation, and by seconds of their start. The
lineage service is a real one in a separate process and is not counted.

Lineage costs nothing per record but per run (its plans are read, START and COMPLETE sent) and per micro-batch. Runs of
one and of ten more small micro-batches separate the two. The clocks of lineage's own thread, in Python and in the JVM,
are more precise than the difference of runs, which contains the noise of all their work.
"""

import json
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from infra.model import Service
from infra.namespaces import JOB_ORDERS_ETL, TOPIC_ORDERS
from tests.bench.confidence_intervals import Interval, paired_difference, paired_ratio
from tests.bench.expected_runs import expect_ended_runs
from tests.bench.figures import Figures, Goal, format_number
from tests.bench.measured_process import run_measured
from tests.bench.partial_lab import process_environment, spark_program, with_folder_catalog
from tests.bench.spark_trials import SparkTrial, TrialPlan
from tests.bench.stream_services import StreamServices, stream_services

RATIO = Goal(1.02)
WARM_UP = 3
"""Discarded pairs of trials, in which the JIT compiler compiles most of the code."""

DRIVER_TIMEOUT = 3600

Pair = tuple[SparkTrial, SparkTrial]
"""Trials with lineage and without."""


@dataclass(frozen=True)
class StreamingCase:
    """Query over a number of orders in micro-batches of `batch_size` records; `goal` of its CPU ratio."""

    query: str
    orders: int
    batch_size: int
    goal: Goal | None

    @property
    def name(self) -> str:
        """Return the name of the case in its figures."""
        return f"{self.query}, {self.orders:,} orders in micro-batches of {self.batch_size:,} records"

    @property
    def topic(self) -> str:
        """Return the name of the topic that the query reads."""
        return f"{TOPIC_ORDERS}-{self.orders}"


FULL = StreamingCase(JOB_ORDERS_ETL, 300_000, 50_000, RATIO)
SINGLE = StreamingCase(JOB_ORDERS_ETL, 900, 1_000, None)
SMALL = StreamingCase(JOB_ORDERS_ETL, 10_000, 1_000, None)
CASES = (FULL, StreamingCase("orders_copy", 500_000, 50_000, RATIO), SINGLE, SMALL)


def measure(figures: Figures, folder: Path, rounds: int) -> None:
    """Measure `rounds` pairs of trials of each case, after the discarded ones."""
    measured: dict[StreamingCase, list[Pair]] = {}
    with stream_services(folder, {case.topic: case.orders for case in CASES}) as services:
        for case in CASES:
            trials = run_case(services, case, folder / case.query / str(case.orders), WARM_UP + rounds)
            measured[case] = pair_trials(trials)[WARM_UP:]
            add_case(figures, case, services.records[case.topic], measured[case])
        if rounds > 1:
            records = {case: services.records[case.topic] for case in CASES}
            figures.remark(cost_remark(records, measured))


def run_case(services: StreamServices, case: StreamingCase, folder: Path, pairs: int) -> list[SparkTrial]:
    """Run the driver of a case.

    Raises:
        RuntimeError: the driver failed, or did not report the end of each run with lineage.
    """
    folder.mkdir(parents=True)
    plan = TrialPlan(case.query, case.topic, case.batch_size, pairs, services.lineage_url, str(folder))
    lab = services.partial_lab(f"driver-{folder.parent.name}-{folder.name}")
    etl = lab.part(JOB_ORDERS_ETL)
    if not isinstance(etl, Service):
        raise TypeError(f"{JOB_ORDERS_ETL} is not a service of the lab")
    program = spark_program("tests.bench.spark_trials", json.dumps(asdict(plan)))
    driver = with_folder_catalog(replace(etl, run=program), folder / "warehouse", LINEAGE_URL=None)
    with expect_ended_runs(services.lineage_url, case.query, pairs):
        script = lab.write_script(driver)
        run_measured(["sh", str(script)], process_environment(), folder / "driver.log", DRIVER_TIMEOUT)
    return [SparkTrial(**trial) for trial in json.loads(plan.result_file.read_text(encoding="utf-8"))]


def pair_trials(trials: Sequence[SparkTrial]) -> list[Pair]:
    """Pair the trials with lineage with those without, in their order.

    Raises:
        RuntimeError: the trials wrote different numbers of rows.
    """
    if len(written := {trial.rows for trial in trials}) != 1:
        raise RuntimeError(f"trials over one topic wrote different numbers of rows: {sorted(written)}")
    with_lineage, without = ([trial for trial in trials if trial.lineage is on] for on in (True, False))
    return list(zip(with_lineage, without, strict=True))


def add_case(figures: Figures, case: StreamingCase, records: int, pairs: Sequence[Pair]) -> None:
    """Add the figures of a case."""
    for on, off in pairs:
        for way, trial in (("lineage on", on), ("lineage off", off)):
            figures.add(f"{case.name}, {way}: CPU per 1,000,000 records", "s", trial.cpu / records * 1e6)
            figures.add(f"{case.name}, {way}: records per second", "1/s", records / trial.wall)
        figures.add(f"{case.name}, on / off: CPU", "ratio", on.cpu / off.cpu, case.goal)
    batches = count_micro_batches(case, records)
    figures.remark(f"{case.name}: {records:,} records in {batches} micro-batches per trial")
    if len(pairs) > 1:
        ratio = paired_ratio([(on.cpu, off.cpu) for on, off in pairs])
        figures.remark(f"{case.name}, on / off: {ratio}")


def count_micro_batches(case: StreamingCase, records: int) -> int:
    """Return the number of micro-batches that read the records."""
    return -(-records // case.batch_size)


def cost_remark(records: Mapping[StreamingCase, int], measured: Mapping[StreamingCase, Sequence[Pair]]) -> str:
    """Return the CPU time that lineage adds to a run and to a micro-batch, and the ratio of a query that runs on.

    A micro-batch is related to a full one, of which a run of any length consists.
    """
    batches = {case: count_micro_batches(case, records[case]) for case in (SINGLE, SMALL, FULL)}
    added = {case: [on.cpu - off.cpu for on, off in measured[case]] for case in (SINGLE, SMALL)}
    more = batches[SMALL] - batches[SINGLE]
    run = paired_difference([(seconds, 0.0) for seconds in added[SINGLE]])
    batch = _per_batch(added, more)
    full = statistics.median(off.cpu for _, off in measured[FULL]) / batches[FULL]
    observers = {case: [on.observer for on, _ in measured[case]] for case in (SINGLE, SMALL)}
    observer = _per_batch(observers, more)
    threads = format_number(statistics.median(observers[SINGLE]))
    return (
        f"{SMALL.query}: CPU seconds that lineage adds to a run of one micro-batch: {run}; milliseconds that it adds to"
        f" each of {more} more: {_milliseconds(batch)}; relative to a micro-batch of {FULL.batch_size:,} records"
        f" ({format_number(full)} s): ratio {_ratio(batch, full)}; of lineage's own thread in Python and JVM:"
        f" {threads} s, then {_milliseconds(observer)}: ratio {_ratio(observer, full)}"
    )


def _per_batch(seconds: Mapping[StreamingCase, Sequence[float]], more: int) -> Interval:
    """Return the seconds of each micro-batch of `SMALL` after the first, of which it has `more` than `SINGLE`."""
    return paired_difference([(a / more, b / more) for a, b in zip(seconds[SMALL], seconds[SINGLE], strict=True)])


def _milliseconds(seconds: Interval) -> Interval:
    return seconds.transformed(lambda value: value * 1e3)


def _ratio(added: Interval, seconds: float) -> Interval:
    return added.transformed(lambda value: 1 + value / seconds)
