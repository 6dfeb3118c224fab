# SPDX-License-Identifier: Apache-2.0
"""Which services, tasks and parts of the pipeline make the lab, and where each service listens."""

from infra.model import Bucket, Database, Endpoint, Lab, Service, Site, Topic
from infra.namespaces import TOPICS, WAREHOUSE_BUCKET
from infra.services import iceberg_catalog, kafka, lineage, marquez, object_store, postgres, shop, spark
from infra.settings import Settings

ENDPOINTS: dict[str, tuple[Endpoint, ...]] = {
    service.NAME: service.ENDPOINTS for service in (kafka, object_store, iceberg_catalog, lineage, postgres, marquez)
}
"""What each service listens on. A target needs all of them before it can tell one service of another."""

KEEP_EVERYTHING = {"retention.ms": "-1", "retention.bytes": "-1"}
"""The tables are a function of the topics, so that the topics forget nothing."""


def lab(site: Site, settings: Settings) -> Lab:
    """The whole lab as data: a function of the settings and of the place it will run in."""
    return Lab(
        services=(
            lineage.lineage(site, settings),
            kafka.kafka(site, settings),
            object_store.object_store(site, settings),
            iceberg_catalog.iceberg_catalog(site, settings),
            shop.shop(site, settings),
            *_services_of_marquez(site, settings),
        ),
        tasks=spark.jobs(site, settings),
        topics=tuple(Topic(name, settings.topic_partitions, KEEP_EVERYTHING) for name in TOPICS),
        buckets=(Bucket(WAREHOUSE_BUCKET),),
        databases=(Database(marquez.DATABASE),) if marquez.included(site, settings) else (),
    )


def left_out(site: Site, settings: Settings) -> dict[str, str]:
    """What the settings ask for and the lab has to do without: name -> the reason and the remedy, in a line."""
    if not settings.marquez or marquez.included(site, settings):
        return {}
    return {marquez.NAME: f"its jar is not there (`bin/lab setup` looks for it); {marquez.REMEDY}"}


def _services_of_marquez(site: Site, settings: Settings) -> tuple[Service, ...]:
    """Postgres is part of the lab only where something needs it."""
    if not marquez.included(site, settings):
        return ()
    return postgres.postgres(site), marquez.marquez(site, settings)
