# SPDX-License-Identifier: Apache-2.0
"""Which services, tasks and parts of the pipeline make the lab, and where each service listens."""

from collections.abc import Mapping
from dataclasses import replace

from infra.model import Bucket, Database, Endpoint, Lab, Site, Topic
from infra.namespaces import (
    ARCHIVE_BUCKET,
    CHECKPOINT_BUCKET,
    EVENT_LOG_BUCKET,
    TOPIC_SUPPLIER_WINDOWS,
    TOPICS,
    WAREHOUSE_BUCKET,
)
from infra.services import iceberg_catalog, kafka, lineage, object_store, postgres, schema_registry
from infra.services.connect import connectors
from infra.services.connect import user_connectors as own_connectors
from infra.services.connect import worker as connect
from infra.services.flink import cluster as flink
from infra.services.flink import jobs as flink_jobs
from infra.services.flink.user_jobs import sql_jobs
from infra.services.marquez import api as marquez
from infra.services.marquez import web as marquez_web
from infra.services.shop import tables as shop_tables
from infra.services.shop import writer as shop
from infra.services.spark import cluster as spark_cluster
from infra.services.spark import history as spark_history
from infra.services.spark import jobs as spark
from infra.services.spark.driver import as_service, as_task
from infra.services.spark.user_jobs import own_jobs
from infra.settings import Settings
from infra.user_files import NO_USER_FILES, UserFiles

ENDPOINTS: dict[str, tuple[Endpoint, ...]] = {
    **spark_cluster.ENDPOINTS,
    **flink.ENDPOINTS,
} | {
    service.NAME: service.ENDPOINTS
    for service in (
        *(kafka, schema_registry, connect, object_store, iceberg_catalog, lineage, postgres, marquez),
        *(marquez_web, spark_history),
    )
}
"""What each service listens on. A target needs all of them before it can tell one service of another."""

KEEP_EVERYTHING = {"retention.ms": "-1", "retention.bytes": "-1"}
"""The tables are a function of the topics, so that the topics forget nothing."""


def lab(
    site: Site,
    settings: Settings,
    files: UserFiles = NO_USER_FILES,
) -> Lab:
    """The whole lab as data: a function of the settings, of the place it will run in, and of the user's own files.

    Args:
        site: the place.
        settings: the stack's.
        files: the user's own connectors, Spark jobs and Flink SQL.

    Raises:
        UserFileError: one of the files cannot be used.
    """
    kits = _kits_lab(site, settings, files.connectors)
    with_sql = _with_sql_jobs(kits, site, files.flink) if settings.flink else kits
    return _with_own_jobs(with_sql, site, settings, files.spark)


def _kits_lab(site: Site, settings: Settings, connector_files: Mapping[str, str]) -> Lab:
    launchers = flink_jobs.services(site, settings)
    return Lab(
        services=(
            lineage.lineage(site, settings),
            kafka.kafka(site, settings),
            schema_registry.schema_registry(site, settings),
            connect.connect(site, settings),
            postgres.postgres(site),
            object_store.object_store(site, settings),
            iceberg_catalog.iceberg_catalog(site, settings),
            shop.shop(site, settings),
            *((marquez.marquez(site, settings),) if marquez.included(site, settings) else ()),
            *marquez_web.services(site, settings),
            *spark_cluster.services(site, settings),
            *spark_history.services(site, settings),
            *spark.services(site, settings),
            *flink.services(site, settings),
            *launchers,
        ),
        tasks=spark.tasks(site, settings),
        topics=(
            *(Topic(name, settings.topic_partitions, KEEP_EVERYTHING) for name in _topics(settings)),
            *connectors.topics(),
        ),
        buckets=tuple(Bucket(name) for name in _buckets(settings)),
        databases=tuple(Database(name) for name in _databases(site, settings)),
        tables=shop_tables.tables(),
        subjects=shop_tables.subjects(),
        connectors=(*connectors.connectors(site), *own_connectors.own_connectors(connector_files, site)),
        flink_jobs=flink_jobs.jobs(launchers),
    )


def _with_sql_jobs(lab: Lab, site: Site, files: Mapping[str, str]) -> Lab:
    """The lab and the jobs in Flink SQL, which may need any part of it but what runs to its end."""
    found, prelude = sql_jobs(files, _taken(lab), _possible_needs(lab))
    launchers = tuple(flink_jobs.sql_service(job, site, prelude) for job in found if job.stays)
    return replace(
        lab,
        services=(*lab.services, *launchers),
        tasks=(*lab.tasks, *(flink_jobs.sql_task(job, site, prelude) for job in found if not job.stays)),
        flink_jobs=(*lab.flink_jobs, *flink_jobs.jobs(launchers)),
    )


def _with_own_jobs(lab: Lab, site: Site, settings: Settings, files: Mapping[str, str]) -> Lab:
    """The lab and the user's own Spark jobs, which may need any part of it but what runs to its end."""
    found = own_jobs(files, settings, _taken(lab), _possible_needs(lab))
    return replace(
        lab,
        services=(*lab.services, *(as_service(job.driver, site, settings) for job in found if job.stays)),
        tasks=(*lab.tasks, *(as_task(job.driver, site, settings) for job in found if not job.stays)),
    )


def _taken(lab: Lab) -> set[str]:
    """Names that no job of the user's can have."""
    return {*ENDPOINTS, *(service.name for service in lab.services), *(task.name for task in lab.tasks)}


def _possible_needs(lab: Lab) -> set[str]:
    return {part.key for part in lab.parts} - {task.key for task in lab.tasks}


def left_out(site: Site, settings: Settings) -> dict[str, str]:
    """What the settings ask for and the lab has to do without: name -> the reason and the remedy, in a line."""
    if not settings.marquez or marquez.included(site, settings):
        return {}
    return {marquez.NAME: f"its jar is not there (`bin/lab setup` looks for it); {marquez.REMEDY}"}


def _topics(settings: Settings) -> tuple[str, ...]:
    of_flink = (TOPIC_SUPPLIER_WINDOWS,) if settings.flink else ()
    return (*TOPICS, *of_flink)


def _buckets(settings: Settings) -> tuple[str, ...]:
    of_history = (EVENT_LOG_BUCKET,) if settings.spark_history else ()
    return (WAREHOUSE_BUCKET, ARCHIVE_BUCKET, CHECKPOINT_BUCKET, *of_history)


def _databases(site: Site, settings: Settings) -> tuple[str, ...]:
    of_marquez = (marquez.DATABASE,) if marquez.included(site, settings) else ()
    return (postgres.SHOP, iceberg_catalog.DATABASE, *of_marquez)
