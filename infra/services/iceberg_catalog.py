# SPDX-License-Identifier: Apache-2.0
"""The Iceberg REST catalog: the kit's own small server over Iceberg's JDBC catalog, on a database of Postgres."""

from infra import credentials
from infra.model import Endpoint, Java, Probe, Service, Site
from infra.namespaces import WAREHOUSE
from infra.services import jvm, object_store, postgres
from infra.settings import Settings

NAME = "iceberg_catalog"
REST = Endpoint("rest", 8181, scheme="http", published_as="iceberg_catalog")
ENDPOINTS = (REST,)

DATABASE = "catalog"


def iceberg_catalog(site: Site, settings: Settings) -> Service:
    """The catalog."""
    listen = site.listen(NAME, REST.name)
    return Service(
        name=NAME,
        run=Java(
            "iceberg-rest-catalog",
            "dev.lineagelab.catalog.Main",
            settings.catalog_heap_mib,
            ("--host", listen.host, "--port", str(listen.port)),
            (*jvm.LEAN_SERVICE, *jvm.QUICK_COMPILER),
        ),
        needs=(f"database/{DATABASE}",),
        endpoints=ENDPOINTS,
        ready=Probe(REST.name, "/v1/config"),
        env={
            "CATALOG_JDBC_URI": f"jdbc:postgresql://{site.address(postgres.NAME, postgres.SQL.name)}/{DATABASE}",
            "CATALOG_JDBC_USER": postgres.USER,
            "CATALOG_WAREHOUSE": WAREHOUSE,
            "CATALOG_S3_ENDPOINT": site.address(object_store.NAME, object_store.S3.name).url,
            "AWS_REGION": credentials.S3_REGION,
        },
        secrets={
            "AWS_ACCESS_KEY_ID": credentials.S3_ACCESS_KEY,
            "AWS_SECRET_ACCESS_KEY": credentials.S3_SECRET_KEY,
            "CATALOG_JDBC_PASSWORD": credentials.POSTGRES_PASSWORD,
        },
        memory_mib=settings.catalog_heap_mib + 100,
    )
