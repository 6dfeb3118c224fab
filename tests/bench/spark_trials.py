# SPDX-License-Identifier: Apache-2.0
"""Driver that runs one streaming query repeatedly, alternating with and without lineage, and measures its CPU time.

    python -m tests.bench.spark_trials '{"query": "orders_etl", ...}'

Each trial begins with empty tables and no checkpoint, reads the whole topic and ends. The driver is started like the
lab's own driver of the query; all trials run in one JVM, so that they differ in their lineage only.
"""

import gc
import json
import os
import resource
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from unittest import mock

from pyspark.sql import SparkSession

from infra.namespaces import JOB_NAMESPACE
from jobs.spark import kafka, runtime
from lineagelab_spark import Lineage, NoQueryLineage, QueryLineage
from lineagelab_spark.observer_thread import ObserverThread
from tests.bench.spark_queries import QUERIES, StreamSource


@dataclass(frozen=True)
class TrialPlan:
    """Trials of one query.

    Attributes:
        query: name of the query.
        topic: topic that it reads to the end.
        batch_size: records per micro-batch.
        pairs: number of trials with lineage, and of those without.
        lineage_url: root of the lineage service.
        folder: folder of the checkpoints and of the result file.
    """

    query: str
    topic: str
    batch_size: int
    pairs: int
    lineage_url: str
    folder: str

    @property
    def result_file(self) -> Path:
        """Return the file of the results: a JSON array of `SparkTrial`, in order."""
        return Path(self.folder) / "trials.json"


@dataclass(frozen=True)
class SparkTrial:
    """Seconds of one trial: CPU time of JVM and Python from before the query's planning to its last event.

    Attributes:
        rows: number of rows that the query has written.
        observer: CPU time of lineage's thread, in Python and in the JVM, which is part of the others.
    """

    lineage: bool
    jvm: float
    python: float
    wall: float
    rows: int
    observer: float = 0.0

    @property
    def cpu(self) -> float:
        """Return the CPU seconds of JVM and Python."""
        return self.jvm + self.python


def lineage_order(pair: int) -> tuple[bool, bool]:
    """Return which trials of a pair have lineage; the order alternates, so that drift affects both alike."""
    return (False, True) if pair % 2 == 0 else (True, False)


def run_trials(plan: TrialPlan, spark: SparkSession, _: Lineage) -> None:
    """Run all trials and write the result file."""
    trials = [
        _run_trial(plan, spark, lineage, f"{plan.folder}/checkpoint-{pair}-{lineage}")
        for pair in range(plan.pairs)
        for lineage in lineage_order(pair)
    ]
    plan.result_file.write_text(json.dumps([asdict(trial) for trial in trials]), encoding="utf-8")


def _run_trial(plan: TrialPlan, spark: SparkSession, lineage_on: bool, checkpoint: str) -> SparkTrial:
    query = QUERIES[plan.query]
    for table in query.tables:
        spark.sql(f"DROP TABLE IF EXISTS {table.name} PURGE")
        table.create(spark)
    bootstrap = runtime.setting("KAFKA_BOOTSTRAP", "host:port of a Kafka broker")
    registry = runtime.setting("SCHEMA_REGISTRY_URL", "root of Confluent's API of a schema registry")
    # Garbage of the previous trial must not be collected during this one.
    gc.collect()
    spark._jvm.java.lang.System.gc()
    before = _jvm_cpu_seconds(spark), _python_cpu_seconds(), time.monotonic()
    lineage = QueryLineage(spark, JOB_NAMESPACE, plan.lineage_url) if lineage_on else NoQueryLineage()
    source = StreamSource(kafka.stream(spark, bootstrap, plan.topic, plan.batch_size), registry)
    with _observer_cpu(spark) as observer:
        query.start(source, lineage, checkpoint).awaitTermination()
        lineage.close()
    after = _jvm_cpu_seconds(spark), _python_cpu_seconds(), time.monotonic()
    jvm, python, wall = (end - start for start, end in zip(before, after, strict=True))
    rows = sum(_count_rows(spark, table.name) for table in query.tables)
    return SparkTrial(lineage_on, jvm, python, wall, rows, sum(observer))


@contextmanager
def _observer_cpu(spark: SparkSession) -> Iterator[list[float]]:
    """Collect the CPU seconds of lineage's threads that start and end in the block.

    Each thread of Python has one of its own in the JVM, which runs its calls.
    """
    threads = spark._jvm.java.lang.management.ManagementFactory.getThreadMXBean()
    seconds: list[float] = []
    run = ObserverThread._run

    def measured(thread: ObserverThread) -> None:
        before = time.thread_time() + threads.getCurrentThreadCpuTime() / 1e9
        try:
            run(thread)
        finally:
            seconds.append(time.thread_time() + threads.getCurrentThreadCpuTime() / 1e9 - before)

    with mock.patch.object(ObserverThread, "_run", measured):
        yield seconds


def _count_rows(spark: SparkSession, table: str) -> int:
    # A query writes in its own session; this session has cached the empty table.
    spark.sql(f"REFRESH TABLE {table}")
    return spark.table(table).count()


def _jvm_cpu_seconds(spark: SparkSession) -> float:
    """Return user and system time of the whole JVM, with a resolution of 10 ms (proc(5))."""
    stat = Path(f"/proc/{spark.sparkContext._gateway.proc.pid}/stat").read_text(encoding="ascii")
    user, system = stat.rpartition(") ")[2].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def _python_cpu_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    plan = TrialPlan(**json.loads(sys.argv[1]))
    raise SystemExit(runtime.run(plan.query, lambda: partial(run_trials, plan), runtime.WITHOUT_AGENT))
