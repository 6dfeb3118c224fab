# SPDX-License-Identifier: Apache-2.0
"""Dashboard of the sales (Streamlit), on the tables of the dbt project."""

from infra.model import Endpoint, Probe, Python, Service, Site
from infra.project import PROJECT
from infra.services import lake_client, lineage
from infra.services.dashboard.settings import DashboardSettings, included
from infra.services.definition import ServiceDefinition, WebPage
from infra.settings import Settings

NAME = "dashboard"
WEB = Endpoint("web", 8501, scheme="http", published_as="dashboard")
ENDPOINTS = (WEB,)
TILES = "jobs/dashboard/tiles"
MEMORY_MIB = 400


def tile_files() -> tuple[str, ...]:
    """Return the files of the tiles, relative to the checkout."""
    return tuple(sorted(path.relative_to(PROJECT).as_posix() for path in (PROJECT / TILES).glob("*.sql")))


def dashboard_service(site: Site, settings: Settings) -> Service:
    """Return the dashboard."""
    listen = site.listen(NAME, WEB.name)
    return Service(
        name=NAME,
        run=Python(
            "jobs.dashboard",
            ("--host", listen.host, "--port", str(listen.port)),
            reads=tile_files(),
            environment="dashboard",
        ),
        needs=lake_client.NEEDS,
        endpoints=ENDPOINTS,
        ready=Probe(WEB.name, "/_stcore/health"),
        env={
            **lake_client.environment(site),
            "LINEAGE_PAGE": site.address(lineage.NAME, lineage.API.name, "outside").url,
            "LINEAGE_SPOOL": f"{site.scratch(NAME)}/unsent-events.json",
        },
        secrets=lake_client.CLIENT_SECRETS,
        memory_mib=MEMORY_MIB,
    )


DEFINITION = ServiceDefinition(
    name=NAME,
    title="Dashboard",
    build=dashboard_service,
    endpoints=ENDPOINTS,
    settings=DashboardSettings,
    enabled=included,
    feature=NAME,
    web_page=WebPage(WEB),
    position=230,
)
