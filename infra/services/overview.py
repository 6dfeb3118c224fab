# SPDX-License-Identifier: Apache-2.0
"""The lab as its lineage page shows it: each service, how to tell that it is there, and its own page."""

from infra.model import Endpoint, Site
from infra.services import iceberg_catalog, kafka, object_store, postgres, schema_registry
from infra.services.connect import worker as connect
from infra.services.flink import settings as flink_settings
from infra.services.marquez import api as marquez
from infra.services.marquez import web as marquez_web
from infra.services.spark import cluster as spark_cluster
from infra.services.spark import history as spark_history
from infra.settings import Settings


def overview(site: Site, settings: Settings, contract: str) -> dict[str, object]:
    """Content of the lineage service's `--lab` file (see `lineage.api.lab`); `contract` is the path of the contract."""
    seen = _Seen(site)
    services = [
        seen.tcp(kafka.NAME, "Kafka", kafka.BROKER),
        seen.web(schema_registry.NAME, "Schema registry", schema_registry.MANAGEMENT, "/health/ready"),
        seen.web(connect.NAME, "Kafka Connect", connect.REST, "/health", ui="/connectors?expand=status"),
        seen.tcp(postgres.NAME, "Postgres", postgres.SQL),
        seen.web(object_store.NAME, "Object store", object_store.S3, "/minio/health/live", page=object_store.CONSOLE),
        seen.web(iceberg_catalog.NAME, "Iceberg catalog", iceberg_catalog.REST, "/v1/config", ui="/v1/namespaces"),
    ]
    if marquez.included(site, settings):
        services.append(seen.web(marquez.NAME, "Marquez", marquez.API, "/api/v1/namespaces", ui="/api/v1/namespaces"))
    if marquez.published(site, settings):
        services.append(seen.web(marquez_web.NAME, "Marquez web", marquez_web.WEB, "/", ui="/"))
    if spark_cluster.included(settings):
        services.append(seen.web(spark_cluster.MASTER, "Spark master", spark_cluster.MASTER_WEB, "/json/", ui="/"))
        services.append(seen.web(spark_cluster.WORKER, "Spark worker", spark_cluster.WORKER_WEB, "/json/", ui="/"))
    if settings.flink:
        rest = flink_settings.JOBMANAGER_REST
        services.append(seen.web(flink_settings.JOBMANAGER, "Flink", rest, "/overview", ui="/"))
        gateway = flink_settings.GATEWAY_REST
        services.append(seen.web(flink_settings.GATEWAY, "Flink SQL gateway", gateway, "/v1/info", ui="/v1/info"))
    if settings.spark_history:
        web = spark_history.WEB
        services.append(seen.web(spark_history.NAME, "Spark history", web, "/api/v1/applications", ui="/"))
    features = sorted(settings.features)
    return {"name": site.stack, "services": services, "contract": contract, "features": features}


class _Seen:
    """Services as the lineage service reaches them (`check`) and as the user's browser does (`ui`)."""

    def __init__(self, site: Site) -> None:
        self._site = site

    def tcp(self, name: str, title: str, endpoint: Endpoint) -> dict[str, str]:
        return {"name": name, "title": title, "check": str(self._site.address(name, endpoint.name))}

    def web(
        self, name: str, title: str, endpoint: Endpoint, path: str, ui: str = "", page: Endpoint | None = None
    ) -> dict[str, str]:
        row = {"name": name, "title": title, "check": self._site.address(name, endpoint.name).url + path}
        if ui or page:
            row["ui"] = self._site.address(name, (page or endpoint).name, "outside").url + ui
        return row
