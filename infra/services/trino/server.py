# SPDX-License-Identifier: Apache-2.0
"""Trino, optional: one node, coordinator and worker, with the Iceberg catalog of the lab.

Its HTTP event listener sends each query to the receiver of `lineage_receiver`. Trino's own OpenLineage listener is not
used: in this release it names a job by the query's id, omits the client's name and all INDIRECT edges, and drops an
event that is not accepted at once.
"""

from infra import credentials
from infra.model import Endpoint, Java, Probe, Service, Site
from infra.namespaces import CATALOG_NAME, WAREHOUSE_BUCKET, WAREHOUSE_NAMESPACE
from infra.services import iceberg_catalog, jvm, object_store
from infra.services.definition import ServiceDefinition, WebPage
from infra.services.properties import render_properties
from infra.services.spark.settings import SECRETS as S3_SECRETS
from infra.services.trino.settings import TrinoSettings, included
from infra.settings import Settings

NAME = "trino"
WEB = Endpoint("web", 8090, scheme="http", published_as="trino")
ENDPOINTS = (WEB,)
COMPONENT = "trino"
JAVA_RELEASE = 25
"""Trino requires Java 24 or newer."""

RECEIVER = "trino_lineage"
EVENTS = Endpoint("events", 8091, scheme="http")
"""Name and endpoint of the receiver of the events; it needs Trino, which repeats its requests until it runs."""

CONFIG = "config.properties"
CATALOGS, LISTENERS = "catalogs", "listeners"
"""Volumes of the files that hold credentials: Trino takes every `.properties` file in that of the catalogs for one."""

LISTENER = "event-listener.properties"

LISTENER_KEY = credentials.LINEAGE_INGEST_KEY
"""Key that the listener sends to the receiver."""

REPEATED_REQUESTS, MAX_DELAY = 1000, "10s"
"""Attempts of the listener to deliver an event, and the longest pause between two: hours in all."""

OVERHEAD_MIB = 350
"""Memory beyond the heap: code cache, metaspace, buffers."""


def trino_service(site: Site, settings: Settings) -> Service:
    """Return Trino."""
    heap = settings.section(TrinoSettings).trino_heap_mib
    return Service(
        name=NAME,
        run=Java(
            COMPONENT,
            "io.trino.server.TrinoServer",
            heap,
            options=(
                *jvm.BASE_OPTIONS,
                *jvm.DELAYED_C2,
                "-Djdk.attach.allowAttachSelf=true",
                "--enable-native-access=ALL-UNNAMED",
                "--sun-misc-unsafe-memory-access=allow",
                f"-Dconfig={site.file(NAME, CONFIG)}",
            ),
            runtime=JAVA_RELEASE,
        ),
        needs=(iceberg_catalog.NAME, f"bucket/{WAREHOUSE_BUCKET}"),
        endpoints=ENDPOINTS,
        ready=Probe(WEB.name, "/v1/info", seconds=300),
        files={CONFIG: render_properties(_config(site))},
        volumes=(CATALOGS, LISTENERS),
        secrets={**S3_SECRETS, "TRINO_LINEAGE_KEY": LISTENER_KEY},
        secret_files={
            f"{site.volume(NAME, CATALOGS)}/{CATALOG_NAME}.properties": render_properties(_lake(site)),
            f"{site.volume(NAME, LISTENERS)}/{LISTENER}": render_properties(_listener(site)),
        },
        memory_mib=heap + OVERHEAD_MIB,
    )


def _config(site: Site) -> dict[str, str | int | bool]:
    listen = site.listen(NAME, WEB.name)
    return {
        "coordinator": True,
        "node-scheduler.include-coordinator": True,
        "node.environment": "lab",
        "node.bind-ip": listen.host,
        "node.internal-address": "127.0.0.1",
        "http-server.http.port": listen.port,
        "discovery.uri": f"http://127.0.0.1:{listen.port}",
        "catalog.management": "static",
        "catalog.config-dir": site.volume(NAME, CATALOGS),
        "plugin.dir": f"{site.component(COMPONENT)}/plugin",
        "event-listener.config-files": f"{site.volume(NAME, LISTENERS)}/{LISTENER}",
    }


def _lake(site: Site) -> dict[str, str | int | bool]:
    return {
        "connector.name": "iceberg",
        "iceberg.catalog.type": "rest",
        "iceberg.rest-catalog.uri": site.address(iceberg_catalog.NAME, iceberg_catalog.REST.name).url,
        "iceberg.rest-catalog.warehouse": WAREHOUSE_NAMESPACE,
        # A table is named by its location, which has no random part in the other engines either.
        "iceberg.unique-table-location": False,
        "fs.native-s3.enabled": True,
        "s3.endpoint": site.address(object_store.NAME, object_store.S3.name).url,
        "s3.region": credentials.S3_REGION,
        "s3.path-style-access": True,
        "s3.aws-access-key": "$AWS_ACCESS_KEY_ID",
        "s3.aws-secret-key": "$AWS_SECRET_ACCESS_KEY",
    }


def _listener(site: Site) -> dict[str, str | int | bool]:
    return {
        "event-listener.name": "http",
        "http-event-listener.log-created": True,
        "http-event-listener.log-completed": True,
        "http-event-listener.connect-ingest-uri": site.address(RECEIVER, EVENTS.name).url + "/events",
        "http-event-listener.connect-http-headers": "Authorization:Bearer $TRINO_LINEAGE_KEY",
        "http-event-listener.connect-retry-count": REPEATED_REQUESTS,
        "http-event-listener.connect-max-delay": MAX_DELAY,
    }


DEFINITION = ServiceDefinition(
    name=NAME,
    title="Trino",
    build=trino_service,
    endpoints=ENDPOINTS,
    components=(COMPONENT,),
    settings=TrinoSettings,
    enabled=included,
    feature=NAME,
    web_page=WebPage(WEB, "/ui/"),
    position=250,
)
