# SPDX-License-Identifier: Apache-2.0
"""Description of a PySpark driver, from which a service or a task is built."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

PACKAGE = "jobs.spark"
COMPONENT = "spark"
"""Component with the jars of all drivers and executors."""

NON_HEAP_MIB = 400
"""Memory of a driver outside of its heap, MiB: JVM metaspace, code and threads, Python process, launcher."""


@dataclass(frozen=True)
class Driver:
    """PySpark driver: a module of `jobs.spark`.

    Attributes:
        job: name of the module, the Spark application and the lineage job.
        heap_mib: maximum heap of the JVM, MiB.
        streaming: the driver runs continuously and uses one core.
        name: name of the service or task; empty: the job's name.
        arguments: arguments of the module.
        needs: keys of further parts that must exist first, besides catalog, buckets and lineage service.
        env: further environment variables.
        lineage: emitter of lineage events: `own` is `lineagelab_spark`, which observes the writes of a batch job
            without a call in its code, and the queries that a streaming job starts through it; `agent` is
            OpenLineage's agent, for batch jobs; with `both`, the agent reports runs and the driver columns; `off`
            disables lineage.
        packages: files of further Python packages, as paths in the checkout.
        every: seconds between two starts of a periodic service; 0 for a continuous one.
    """

    job: str
    heap_mib: int
    streaming: bool = False
    name: str = ""
    arguments: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    lineage: Literal["agent", "both", "own", "off"] = "own"
    packages: tuple[str, ...] = ()
    every: int = 0

    @property
    def program(self) -> str:
        """Name of the service or task."""
        return self.name or self.job

    @property
    def module(self) -> str:
        """Module to run with `python -m`."""
        return f"{PACKAGE}.{self.job}"

    @property
    def has_agent(self) -> bool:
        """True if OpenLineage's agent is enabled."""
        return self.lineage in {"agent", "both"}

    @property
    def is_observed(self) -> bool:
        """True if each batch write of the driver is reported by `lineagelab_spark`."""
        return self.lineage == "own" and not self.streaming

    @property
    def memory_mib(self) -> int:
        """Memory under load, MiB."""
        return self.heap_mib + NON_HEAP_MIB
