# SPDX-License-Identifier: Apache-2.0
"""Settings of programs that read the lake with DuckDB (`lineagelab_sql`), and report to the lineage service."""

from infra import credentials
from infra.model import Site
from infra.namespaces import CATALOG_NAME, JOB_NAMESPACE, TABLE_ORDERS, WAREHOUSE_BUCKET, WAREHOUSE_NAMESPACE
from infra.services import iceberg_catalog, lineage, object_store, tls
from infra.services.spark.settings import SECRETS
from lineage.checks.authorities import AUTHORITY_VARIABLE

NEEDS = (iceberg_catalog.NAME, lineage.NAME, f"bucket/{WAREHOUSE_BUCKET}")
"""Keys of the parts that such a program needs."""

NAMES = {
    "LAKE_CATALOG": CATALOG_NAME,
    "LAKE_SCHEMA": TABLE_ORDERS.partition(".")[0],
    "LAKE_WAREHOUSE": WAREHOUSE_NAMESPACE,
    "OPENLINEAGE_NAMESPACE": JOB_NAMESPACE,
}
"""Environment variables with the names of catalog, default schema, warehouse and jobs."""

CLIENT_SECRETS = {**SECRETS, **lineage.EMITTER_SECRETS}


def environment(site: Site) -> dict[str, str]:
    """Return the environment variables of a program of the lab."""
    authority = tls.authority(site)
    return {
        **NAMES,
        "LAB_ICEBERG_CATALOG": site.address(iceberg_catalog.NAME, iceberg_catalog.REST.name).url,
        "AWS_ENDPOINT_URL_S3": site.address(object_store.NAME, object_store.S3.name).url,
        "AWS_REGION": credentials.S3_REGION,
        "OPENLINEAGE_URL": site.address(lineage.NAME, lineage.API.name).url,
        **({AUTHORITY_VARIABLE: authority} if authority else {}),
        **tls.python_environment(site),
    }
