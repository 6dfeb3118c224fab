# SPDX-License-Identifier: Apache-2.0
"""Receiver of Trino's events, which reports its queries to the lineage service."""

from infra.model import Probe, Python, Service, Site
from infra.namespaces import CATALOG_NAME, JOB_NAMESPACE, TRINO_NAMESPACE
from infra.services import lineage
from infra.services.definition import ServiceDefinition
from infra.services.trino import server
from infra.services.trino.settings import included
from infra.settings import Settings

NAME = server.RECEIVER
ENDPOINTS = (server.EVENTS,)
DATA = "data"
MEMORY_MIB = 80


def receiver_service(site: Site, settings: Settings) -> Service:
    """Return the receiver, which is ready when Trino accepts statements."""
    listen = site.listen(NAME, server.EVENTS.name)
    return Service(
        name=NAME,
        run=Python(
            "lineagelab_trino",
            ("--host", listen.host, "--port", str(listen.port), "--data", site.volume(NAME, DATA)),
            environment="trino",
        ),
        needs=(server.NAME, lineage.NAME),
        endpoints=ENDPOINTS,
        ready=Probe(server.EVENTS.name, "/health", seconds=300),
        volumes=(DATA,),
        env={
            "LAKE_CATALOG": CATALOG_NAME,
            "OPENLINEAGE_NAMESPACE": JOB_NAMESPACE,
            "OPENLINEAGE_URL": site.address(lineage.NAME, lineage.API.name).url,
            "TRINO_NAMESPACE": TRINO_NAMESPACE,
            "TRINO_URL": site.address(server.NAME, server.WEB.name).url,
        },
        secrets={**lineage.EMITTER_SECRETS, "TRINO_LINEAGE_KEY": server.LISTENER_KEY},
        memory_mib=MEMORY_MIB,
    )


DEFINITION = ServiceDefinition(name=NAME, build=receiver_service, endpoints=ENDPOINTS, enabled=included, position=251)
