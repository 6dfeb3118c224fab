# SPDX-License-Identifier: Apache-2.0
"""Which services, tasks and parts of the pipeline make the lab, and where each service listens."""

from collections.abc import Mapping

from infra.model import Bucket, Database, Endpoint, Lab, Site, Topic
from infra.namespaces import ARCHIVE_BUCKET, TOPICS, WAREHOUSE_BUCKET
from infra.services import (
    connect,
    connectors,
    iceberg_catalog,
    kafka,
    lineage,
    marquez,
    object_store,
    own_connectors,
    postgres,
    schema_registry,
    shop,
    shop_tables,
    spark,
)
from infra.settings import Settings

ENDPOINTS: dict[str, tuple[Endpoint, ...]] = {
    service.NAME: service.ENDPOINTS
    for service in (kafka, schema_registry, connect, object_store, iceberg_catalog, lineage, postgres, marquez)
}
"""What each service listens on. A target needs all of them before it can tell one service of another."""

KEEP_EVERYTHING = {"retention.ms": "-1", "retention.bytes": "-1"}
"""The tables are a function of the topics, so that the topics forget nothing."""


def lab(site: Site, settings: Settings, connector_files: Mapping[str, str] | None = None) -> Lab:
    """The whole lab as data: a function of the settings, of the place it will run in, and of the user's connectors.

    Args:
        site: the place.
        settings: the stack's.
        connector_files: files of connectors of the user's own, by name (`infra.services.own_connectors`).

    Raises:
        ConnectorFileError: one of those files cannot be used.
    """
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
        ),
        tasks=spark.jobs(site, settings),
        topics=(
            *(Topic(name, settings.topic_partitions, KEEP_EVERYTHING) for name in TOPICS),
            *connectors.topics(),
        ),
        buckets=(Bucket(WAREHOUSE_BUCKET), Bucket(ARCHIVE_BUCKET)),
        databases=tuple(Database(name) for name in _databases(site, settings)),
        tables=shop_tables.tables(),
        subjects=shop_tables.subjects(),
        connectors=(*connectors.connectors(site), *own_connectors.own_connectors(connector_files or {}, site)),
    )


def left_out(site: Site, settings: Settings) -> dict[str, str]:
    """What the settings ask for and the lab has to do without: name -> the reason and the remedy, in a line."""
    if not settings.marquez or marquez.included(site, settings):
        return {}
    return {marquez.NAME: f"its jar is not there (`bin/lab setup` looks for it); {marquez.REMEDY}"}


def _databases(site: Site, settings: Settings) -> tuple[str, ...]:
    of_marquez = (marquez.DATABASE,) if marquez.included(site, settings) else ()
    return (postgres.SHOP, iceberg_catalog.DATABASE, *of_marquez)
