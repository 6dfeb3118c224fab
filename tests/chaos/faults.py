# SPDX-License-Identifier: Apache-2.0
"""Faults of a chaos run, determined by its seed."""

import random
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from infra.namespaces import (
    JOB_ICEBERG_INGESTION,
    JOB_ORDERS_ARCHIVE,
    JOB_ORDERS_ETL,
    JOB_ORDERS_LAKE,
    JOB_ORDERS_SOURCE,
    JOB_SUPPLIER_WINDOWS,
)
from infra.services import iceberg_catalog, kafka, lineage, object_store, postgres, schema_registry
from infra.services.connect import worker as connect
from infra.services.flink.settings import JOBMANAGER, TASKMANAGER

MAX_PAUSE_SECONDS = 12.0
MAX_FREEZE_SECONDS = 60.0
MAX_OUTAGE_SECONDS = 40.0
DISK_FULL_SECONDS = 20.0
CLOCK_STEP_SECONDS = 20.0

STORES = (kafka.NAME, object_store.NAME, iceberg_catalog.NAME, schema_registry.NAME, postgres.NAME, lineage.NAME)
WORKERS = (connect.NAME, JOBMANAGER, TASKMANAGER)
JOBS = (JOB_ORDERS_ETL, JOB_ICEBERG_INGESTION, JOB_SUPPLIER_WINDOWS)
FLINK_JOBS = (JOB_ICEBERG_INGESTION, JOB_SUPPLIER_WINDOWS)
CONNECTORS = (JOB_ORDERS_SOURCE, JOB_ORDERS_LAKE, JOB_ORDERS_ARCHIVE)

SMALL_DISKS = ((kafka.NAME, kafka.DATA), (object_store.NAME, object_store.DATA), (lineage.NAME, lineage.DATA))
"""Service and volume of the stores that run on small file systems, which a fault can fill."""


class Kind(StrEnum):
    """Kinds of faults."""

    KILL = "kill"
    FREEZE = "freeze"
    RESTART = "restart"
    OUTAGE = "outage"
    DISK_FULL = "disk full"
    CLOCK_STEP = "clock step"
    CANCEL = "cancel"
    RECONFIGURE = "reconfigure"


TARGETS = {
    Kind.KILL: (*STORES, *WORKERS, *JOBS),
    Kind.FREEZE: (*STORES, *WORKERS, *JOBS),
    Kind.RESTART: (*STORES, *WORKERS, *JOBS),
    Kind.OUTAGE: (object_store.NAME, iceberg_catalog.NAME, schema_registry.NAME, lineage.NAME, *JOBS),
    Kind.DISK_FULL: tuple(service for service, _ in SMALL_DISKS),
    Kind.CLOCK_STEP: (lineage.NAME,),
    Kind.CANCEL: FLINK_JOBS,
    Kind.RECONFIGURE: CONNECTORS,
}
"""Services, jobs or connectors that a kind of fault can hit."""

_WEIGHTS = {
    Kind.KILL: 6,
    Kind.FREEZE: 3,
    Kind.RESTART: 2,
    Kind.OUTAGE: 3,
    Kind.DISK_FULL: 1,
    Kind.CLOCK_STEP: 1,
    Kind.CANCEL: 1,
    Kind.RECONFIGURE: 1,
}

_MAX_SECONDS = {Kind.FREEZE: MAX_FREEZE_SECONDS, Kind.OUTAGE: MAX_OUTAGE_SECONDS}
_FIXED_SECONDS = {Kind.DISK_FULL: DISK_FULL_SECONDS, Kind.CLOCK_STEP: CLOCK_STEP_SECONDS}


@dataclass(frozen=True)
class Fault:
    """One fault.

    Attributes:
        pause: seconds between the end of the previous fault and this one.
        kind: what happens.
        target: the service, job or connector that it hits.
        seconds: duration of a fault that lasts, else 0.
    """

    pause: float
    kind: Kind
    target: str
    seconds: float = 0.0

    def __str__(self) -> str:
        lasting = f" for {self.seconds:.0f} s" if self.seconds else ""
        return f"{self.kind} {self.target}{lasting}"


def faults(seed: int, without: frozenset[Kind] = frozenset()) -> Iterator[Fault]:
    """Yield faults without end, determined by the seed.

    Args:
        seed: equal seeds yield equal faults.
        without: kinds that this machine cannot inject. The others stay at their places in the sequence.
    """
    dice = random.Random(f"chaos/{seed}")
    kinds, weights = list(_WEIGHTS), list(_WEIGHTS.values())
    while True:
        kind = dice.choices(kinds, weights)[0]
        pause, share, target = dice.uniform(0, MAX_PAUSE_SECONDS), dice.random(), dice.choice(TARGETS[kind])
        if kind in without:
            continue
        seconds = _FIXED_SECONDS.get(kind, _MAX_SECONDS.get(kind, 0.0) * share)
        yield Fault(pause, kind, target, seconds)
