# SPDX-License-Identifier: Apache-2.0
"""What the lab knows of a PySpark driver, before it becomes a service or a task."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

PACKAGE = "jobs.spark"
COMPONENT = "spark"
"""The jars that every driver and executor has."""

BESIDE_HEAP_MIB = 400
"""What a driver takes beside its heap: classes, code and threads of the JVM, the driver's Python, the launcher."""


@dataclass(frozen=True)
class Driver:
    """A module of `jobs.spark` that is a PySpark driver.

    Attributes:
        job: the module's name, which is the Spark application's and the lineage job's too.
        heap_mib: the JVM's largest heap, in MiB.
        streaming: it runs on, with one core.
        name: of the service or task; empty for the job's own.
        arguments: for the module.
        needs: keys of the parts that must be there first, beside catalog, buckets and lineage service.
        env: further environment variables.
        lineage: who speaks of what it does: `agent` is OpenLineage's, which knows batch jobs; `own` is the driver
            itself (`lineagelab_spark`), as streaming drivers do; with `both`, the agent speaks of runs and the
            driver of columns; `off` is nobody.
        every: seconds between two starts of a service that runs to its end each time; 0 for one that runs on.
    """

    job: str
    heap_mib: int
    streaming: bool = False
    name: str = ""
    arguments: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    lineage: Literal["agent", "both", "own", "off"] = "agent"
    every: int = 0

    @property
    def program(self) -> str:
        """The name of its service or task."""
        return self.name or self.job

    @property
    def module(self) -> str:
        """What `python -m` runs."""
        return f"{PACKAGE}.{self.job}"

    @property
    def has_agent(self) -> bool:
        """Whether OpenLineage's agent listens to it."""
        return self.lineage in {"agent", "both"}

    @property
    def memory_mib(self) -> int:
        """What it takes when it is busy, in MiB."""
        return self.heap_mib + BESIDE_HEAP_MIB
