# SPDX-License-Identifier: Apache-2.0
"""PySpark drivers of the lab, and their settings."""

from pydantic import Field

from infra.model import Part, Service, Site, Task
from infra.namespaces import (
    JOB_ENRICHED_ORDERS,
    JOB_LAKE_MAINTENANCE,
    JOB_LINEAGE_EVENTS_LAKE,
    JOB_LINEAGE_HISTORY,
    JOB_ORDERS_ETL,
    JOB_ORDERS_LAKE,
    JOB_SUPPLIER_ACTIVITY,
    JOB_SUPPLIER_FEATURES,
    JOB_SUPPLIER_STATS,
    TABLE_LIVE_ORDERS,
    TABLE_LIVE_SUPPLIER_STATS,
    TOPIC_ORDERS,
    qualified_table_name,
)
from infra.services import schema_registry
from infra.services.definition import FULL, Draft
from infra.services.flink.settings import FlinkSettings
from infra.services.forecast import settings as forecast
from infra.services.lineage_history import settings as lineage_history
from infra.services.spark import medallion
from infra.services.spark.driver import driver_service, driver_task
from infra.services.spark.job import Driver
from infra.services.spark.medallion import MedallionSettings
from infra.services.spark.settings import SparkSettings
from infra.settings import DURATION, Settings, SettingsSection, duration_seconds

LIVE_STATISTICS = f"{JOB_SUPPLIER_STATS}_live"
"""Task that runs `supplier_stats` on the table that Flink writes."""

MAINTENANCE = "maintenance"
"""Service that runs `lake_maintenance` periodically."""


BACKFILL = f"{JOB_ENRICHED_ORDERS}_backfill"
"""Task that runs `enriched_orders` for days that it has computed before."""


class EtlSettings(SettingsSection):
    """Settings of the lab's Spark jobs."""

    etl_trigger: str = Field("5s", pattern=DURATION, description="trigger interval of orders_etl: 2s, 1m")
    etl_max_records: int = Field(50_000, ge=1, description="maximum records per batch of orders_etl")
    etl_late_after: str = Field(
        "1h", pattern=DURATION, description="orders_etl rejects orders that reach Kafka later than this: 10m, 1h"
    )
    maintenance_every: str = Field(
        "1h",
        pattern=rf"{DURATION}|^$",
        description="interval of scheduled lake_maintenance runs: 30m, 1h; empty: never",
    )


def services(site: Site, settings: Settings) -> tuple[Service, ...]:
    """Return the continuous and periodic drivers."""
    drivers = (
        _orders_etl(settings),
        *((_periodic_maintenance(settings),) if settings.section(EtlSettings).maintenance_every else ()),
        *((_supplier_activity(settings),) if medallion.included(settings) else ()),
    )
    return tuple(driver_service(driver, site, settings) for driver in drivers)


def tasks(site: Site, settings: Settings) -> tuple[Task, ...]:
    """Return the batch drivers, in the order of the data flow."""
    statistics = Driver(JOB_SUPPLIER_STATS, settings.section(SparkSettings).spark_heap_mib)
    live = (_live_statistics(settings),) if settings.section(FlinkSettings).flink else ()
    enriched = _enriched_orders(settings) if medallion.included(settings) else ()
    features = (_supplier_features(settings),) if forecast.included(settings) else ()
    history = (_lineage_history(settings),) if lineage_history.included(settings) else ()
    drivers = (statistics, *live, *enriched, *features, *history, _maintenance(settings))
    return tuple(driver_task(driver, site, settings) for driver in drivers)


def _orders_etl(settings: Settings) -> Driver:
    return Driver(
        JOB_ORDERS_ETL,
        settings.section(SparkSettings).spark_heap_mib,
        streaming=True,
        needs=(f"topic/{TOPIC_ORDERS}", schema_registry.NAME),
        env={
            "ORDERS_ETL_TRIGGER": f"{duration_seconds(settings.section(EtlSettings).etl_trigger)} seconds",
            "ORDERS_ETL_MAX_RECORDS": str(settings.section(EtlSettings).etl_max_records),
            "ORDERS_ETL_LATE_AFTER": str(duration_seconds(settings.section(EtlSettings).etl_late_after)),
        },
        lineage="own",
    )


def _live_statistics(settings: Settings) -> Driver:
    """Return the statistics job on the table that Flink writes."""
    return Driver(
        JOB_SUPPLIER_STATS,
        settings.section(SparkSettings).spark_heap_mib,
        name=LIVE_STATISTICS,
        arguments=(
            *("--source", qualified_table_name(TABLE_LIVE_ORDERS)),
            *("--target", qualified_table_name(TABLE_LIVE_SUPPLIER_STATS)),
        ),
    )


def _enriched_orders(settings: Settings) -> tuple[Driver, Driver]:
    """Return the job that enriches new orders, and that for days that were computed before."""
    heap = settings.section(SparkSettings).spark_heap_mib
    needs = (f"connector/{JOB_ORDERS_LAKE}",)
    days = [day for day in settings.section(MedallionSettings).backfill_days.split(",") if day]
    arguments = tuple(word for day in days for word in ("--day", day)) or ("--all",)
    return (
        Driver(JOB_ENRICHED_ORDERS, heap, needs=needs),
        Driver(JOB_ENRICHED_ORDERS, heap, name=BACKFILL, arguments=arguments, needs=needs),
    )


def _supplier_features(settings: Settings) -> Driver:
    return Driver(JOB_SUPPLIER_FEATURES, settings.section(SparkSettings).spark_heap_mib)


def _lineage_history(settings: Settings) -> Driver:
    """Return the job that reads the lineage history, apart from the pipeline; it reports lineage as every driver."""
    heap = settings.section(SparkSettings).spark_heap_mib
    return Driver(JOB_LINEAGE_HISTORY, heap, needs=(f"connector/{JOB_LINEAGE_EVENTS_LAKE}",))


def _supplier_activity(settings: Settings) -> Driver:
    return Driver(JOB_SUPPLIER_ACTIVITY, settings.section(SparkSettings).spark_heap_mib, streaming=True, lineage="own")


def _maintenance(settings: Settings) -> Driver:
    """Return the maintenance job; it rewrites files and no data, so it has no lineage."""
    return Driver(JOB_LAKE_MAINTENANCE, settings.section(SparkSettings).spark_heap_mib, lineage="off")


def _periodic_maintenance(settings: Settings) -> Driver:
    return Driver(
        JOB_LAKE_MAINTENANCE,
        settings.section(SparkSettings).spark_heap_mib,
        name=MAINTENANCE,
        lineage="off",
        every=duration_seconds(settings.section(EtlSettings).maintenance_every),
    )


def pipeline(draft: Draft) -> tuple[Part, ...]:
    """Return the lab's PySpark drivers: services, then tasks in the order of the data flow."""
    if draft.settings.profile != FULL:
        return ()
    return (*services(draft.site, draft.settings), *tasks(draft.site, draft.settings))
