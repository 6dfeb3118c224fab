# SPDX-License-Identifier: Apache-2.0
"""Iceberg REST catalog: server of this project on top of Iceberg's JDBC catalog in Postgres."""

from pydantic import Field

from infra import credentials
from infra.model import Endpoint, Java, Probe, Resource, Service, Site
from infra.namespaces import WAREHOUSE_NAMESPACE
from infra.services import jvm, object_store, postgres, tls
from infra.services.definition import ServiceDefinition, WebPage
from infra.settings import Settings, SettingsSection

NAME = "iceberg_catalog"
REST = Endpoint("rest", 8181, scheme="http", published_as="iceberg_catalog", tls=True)
ENDPOINTS = (REST,)

COMPONENT = "iceberg-rest-catalog"
GUARD_COMPONENT = "rest-guard"
DATABASE = "catalog"


class CatalogSettings(SettingsSection):
    """Settings of the Iceberg catalog."""

    catalog_heap_mib: int = Field(192, ge=64, description="maximum heap of the Iceberg catalog, MiB")


def iceberg_catalog_service(site: Site, settings: Settings) -> Service:
    """Return the catalog."""
    listen = site.listen(NAME, REST.name)
    hosts = {site.address(NAME, REST.name, seen_from).host for seen_from in ("inside", "outside")}
    return Service(
        name=NAME,
        run=Java(
            COMPONENT,
            "dev.lineagelab.catalog.Main",
            settings.section(CatalogSettings).catalog_heap_mib,
            ("--host", listen.host, "--port", str(listen.port)),
            (*jvm.SERVICE_OPTIONS, *jvm.C1_ONLY, *tls.java_options(site)),
            class_path=f"lib/*:{site.class_path(GUARD_COMPONENT)}",
            components=(GUARD_COMPONENT,),
        ),
        needs=(f"database/{DATABASE}",),
        endpoints=ENDPOINTS,
        ready=Probe(REST.name, "/v1/config"),
        env={
            "CATALOG_JDBC_URI": f"jdbc:postgresql://{site.address(postgres.NAME, postgres.SQL.name)}/{DATABASE}"
            + tls.jdbc_parameters(site),
            "CATALOG_JDBC_USER": postgres.user(site),
            "CATALOG_WAREHOUSE": WAREHOUSE_NAMESPACE,
            "CATALOG_S3_ENDPOINT": site.address(object_store.NAME, object_store.S3.name).url,
            # Jobs of the lab set their own; this one is for clients outside, as PyIceberg and DuckDB.
            "CATALOG_CLIENT_S3_ENDPOINT": site.address(object_store.NAME, object_store.S3.name, "outside").url,
            "CATALOG_HOSTS": ",".join(sorted(hosts)),
            **({"CATALOG_KEY_STORE": tls.key_store(site, NAME)} if site.tls else {}),
            "AWS_REGION": credentials.S3_REGION,
        },
        secrets={
            "AWS_ACCESS_KEY_ID": credentials.S3_ACCESS_KEY,
            "AWS_SECRET_ACCESS_KEY": credentials.S3_SECRET_KEY,
            "CATALOG_JDBC_PASSWORD": credentials.POSTGRES_PASSWORD,
        },
        memory_mib=settings.section(CatalogSettings).catalog_heap_mib + 100,
    )


def _resources(site: Site, settings: Settings) -> tuple[Resource, ...]:
    return (postgres.database(site, DATABASE),)


DEFINITION = ServiceDefinition(
    name=NAME,
    title="Iceberg catalog",
    build=iceberg_catalog_service,
    endpoints=ENDPOINTS,
    components=(COMPONENT, GUARD_COMPONENT),
    settings=CatalogSettings,
    feature="lake",
    resources=_resources,
    web_page=WebPage(REST, "/v1/namespaces"),
    position=60,
)
