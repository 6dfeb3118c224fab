# SPDX-License-Identifier: Apache-2.0
"""The lab's own PySpark drivers: what they need, and what the settings tell them."""

from infra.model import Service, Site, Task
from infra.namespaces import (
    JOB_LAKE_MAINTENANCE,
    JOB_ORDERS_ETL,
    JOB_SUPPLIER_STATS,
    TABLE_LIVE_ORDERS,
    TABLE_LIVE_SUPPLIER_STATS,
    TOPIC_ORDERS,
    catalog_name,
)
from infra.services import schema_registry
from infra.services.spark.driver import as_service, as_task
from infra.services.spark.job import Driver
from infra.settings import Settings, seconds

LIVE_STATISTICS = f"{JOB_SUPPLIER_STATS}_live"
"""The task that runs `supplier_stats` on the table that Flink writes."""

MAINTENANCE = "maintenance"
"""The service that runs `lake_maintenance` from time to time."""


def services(site: Site, settings: Settings) -> tuple[Service, ...]:
    """The drivers that run on."""
    drivers = (_orders_etl(settings), *((_timer(settings),) if settings.maintenance_every else ()))
    return tuple(as_service(driver, site, settings) for driver in drivers)


def tasks(site: Site, settings: Settings) -> tuple[Task, ...]:
    """The drivers that run to their end, in the order in which the data flows."""
    statistics = Driver(JOB_SUPPLIER_STATS, settings.spark_heap_mib, lineage="both")
    live = (_live_statistics(settings),) if settings.flink else ()
    drivers = (statistics, *live, _maintenance(settings))
    return tuple(as_task(driver, site, settings) for driver in drivers)


def _orders_etl(settings: Settings) -> Driver:
    return Driver(
        JOB_ORDERS_ETL,
        settings.spark_heap_mib,
        streaming=True,
        needs=(f"topic/{TOPIC_ORDERS}", schema_registry.NAME),
        env={
            "ORDERS_ETL_TRIGGER": f"{seconds(settings.etl_trigger)} seconds",
            "ORDERS_ETL_MAX_RECORDS": str(settings.etl_max_records),
            "ORDERS_ETL_LATE_AFTER": str(seconds(settings.etl_late_after)),
        },
        lineage="own",
    )


def _live_statistics(settings: Settings) -> Driver:
    """The same job on what Flink has brought to the lake."""
    return Driver(
        JOB_SUPPLIER_STATS,
        settings.spark_heap_mib,
        name=LIVE_STATISTICS,
        arguments=(
            *("--source", catalog_name(TABLE_LIVE_ORDERS)),
            *("--target", catalog_name(TABLE_LIVE_SUPPLIER_STATS)),
        ),
        lineage="both",
    )


def _maintenance(settings: Settings) -> Driver:
    """It changes files and no data, so that there is no lineage to speak of."""
    return Driver(JOB_LAKE_MAINTENANCE, settings.spark_heap_mib, lineage="off")


def _timer(settings: Settings) -> Driver:
    return Driver(
        JOB_LAKE_MAINTENANCE,
        settings.spark_heap_mib,
        name=MAINTENANCE,
        lineage="off",
        every=seconds(settings.maintenance_every),
    )
