# SPDX-License-Identifier: Apache-2.0
"""A driver that runs one query again and again, with lineage and without by turns, and counts its own CPU time.

    python -m tests.bench.spark_turns '{"query": "orders_etl", ...}'

Each turn begins with empty tables and no checkpoint, reads the whole topic and ends. It is started as the lab starts
the query's own driver; only the turns are in one JVM, so that they differ by their lineage and by little else.
"""

import gc
import json
import os
import resource
import sys
import time
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

from pyspark.sql import SparkSession

from infra.namespaces import JOB_NAMESPACE
from jobs.spark import kafka, runtime
from lineagelab_spark import Lineage, NoQueryLineage, QueryLineage
from tests.bench.spark_queries import QUERIES, Source


@dataclass(frozen=True)
class Turns:
    """What to do.

    Attributes:
        query: its name.
        topic: what it reads, to the end.
        at_once: records of a micro-batch.
        pairs: turns with lineage, and turns without.
        lineage: URL of the lineage service.
        folder: for checkpoints, and for the answer, `turns.json`.
    """

    query: str
    topic: str
    at_once: int
    pairs: int
    lineage: str
    folder: str

    @property
    def answer(self) -> Path:
        """The file of what the turns have taken: a list of `Turn`s, in their order."""
        return Path(self.folder) / "turns.json"


@dataclass(frozen=True)
class Turn:
    """What one turn has taken, in seconds: CPU time of JVM and Python, from before the query's plan to its last event.

    Attributes:
        rows: that it has written.
    """

    lineage: bool
    jvm: float
    python: float
    wall: float
    rows: int

    @property
    def cpu(self) -> float:
        """Of both."""
        return self.jvm + self.python


def order_of(pair: int) -> tuple[bool, bool]:
    """Which turn of a pair has lineage: the second, then the first, so that what drifts is in both alike."""
    return (False, True) if pair % 2 == 0 else (True, False)


def run(turns: Turns, spark: SparkSession, _: Lineage) -> None:
    """Takes the turns and writes the answer."""
    taken = [
        _turn(turns, spark, lineage, f"{turns.folder}/checkpoint-{pair}-{lineage}")
        for pair in range(turns.pairs)
        for lineage in order_of(pair)
    ]
    turns.answer.write_text(json.dumps([asdict(turn) for turn in taken]), encoding="utf-8")


def _turn(turns: Turns, spark: SparkSession, lineage_on: bool, checkpoint: str) -> Turn:
    query = QUERIES[turns.query]
    for table in query.tables:
        spark.sql(f"DROP TABLE IF EXISTS {table.name} PURGE")
        table.create(spark)
    bootstrap = runtime.setting("KAFKA_BOOTSTRAP", "host:port of a Kafka broker")
    registry = runtime.setting("SCHEMA_REGISTRY_URL", "root of Confluent's API of a schema registry")
    # What the turn before has left is not this one's to clear away.
    gc.collect()
    spark._jvm.java.lang.System.gc()
    before = _jvm_seconds(spark), _python_seconds(), time.monotonic()
    lineage = QueryLineage(spark, JOB_NAMESPACE, turns.lineage) if lineage_on else NoQueryLineage()
    source = Source(kafka.stream(spark, bootstrap, turns.topic, turns.at_once), registry)
    query.start(source, lineage, checkpoint).awaitTermination()
    lineage.close()
    after = _jvm_seconds(spark), _python_seconds(), time.monotonic()
    jvm, python, wall = (then - now for now, then in zip(before, after, strict=True))
    return Turn(lineage_on, jvm, python, wall, sum(_rows(spark, table.name) for table in query.tables))


def _rows(spark: SparkSession, table: str) -> int:
    # A query writes in a session of its own: this one still has the empty table in its cache.
    spark.sql(f"REFRESH TABLE {table}")
    return spark.table(table).count()


def _jvm_seconds(spark: SparkSession) -> float:
    """User and system time of the JVM, compilers and collectors included, in ticks of 10 ms (proc(5))."""
    stat = Path(f"/proc/{spark.sparkContext._gateway.proc.pid}/stat").read_text(encoding="ascii")
    user, system = stat.rpartition(") ")[2].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def _python_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    asked = Turns(**json.loads(sys.argv[1]))
    raise SystemExit(runtime.run(asked.query, lambda: partial(run, asked), runtime.WITHOUT_AGENT))
