# SPDX-License-Identifier: Apache-2.0
"""Marquez, where the stack has one: it is fed by the lineage service and keeps its graph in Postgres."""

from infra import credentials
from infra.model import Endpoint, Java, Probe, Service, Site
from infra.services import postgres
from infra.settings import Settings

NAME = "marquez"
COMPONENT = "marquez"
MAIN = "marquez.MarquezApp"
API = Endpoint("api", 5002, scheme="http", published_as="marquez")
ADMIN = Endpoint("admin", 5003, scheme="http")
ENDPOINTS = (API, ADMIN)
"""Marquez' own ports are 5000 and 5001; the first is the lineage service's."""

REMEDY = "set lineage-lab:marquezJar to the path of its jar"
"""Where no registry has it."""

DATABASE = "marquez"
CONFIG = "marquez.yml"
HEAP_MIB = 256
PASSWORD_VARIABLE = "POSTGRES_PASSWORD"


def included(site: Site, settings: Settings) -> bool:
    """Whether the lab has a Marquez: it was asked for, and its jar is there."""
    return settings.marquez and (settings.marquez_jar != "" or site.has(COMPONENT))


def marquez(site: Site, settings: Settings) -> Service:
    """The API. With the quick compiler alone it starts in a quarter of the time (3.4 s instead of 14.4, measured)."""
    return Service(
        name=NAME,
        run=Java(
            COMPONENT,
            MAIN,
            HEAP_MIB,
            ("server", site.file(NAME, CONFIG)),
            ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData", "-Xss512k"),
            jar=settings.marquez_jar,
        ),
        needs=(f"database/{DATABASE}",),
        endpoints=ENDPOINTS,
        ready=Probe(API.name, "/api/v1/namespaces"),
        files={CONFIG: _config(site)},
        secrets={PASSWORD_VARIABLE: credentials.POSTGRES_PASSWORD},
        memory_mib=HEAP_MIB + 120,
    )


def _config(site: Site) -> str:
    """Marquez puts environment variables into its configuration itself, so that no password is written here.

    The search would look for an OpenSearch server; the level WARN spares one line per request.
    """
    api, admin = site.listen(NAME, API.name), site.listen(NAME, ADMIN.name)
    database = site.address(postgres.NAME, postgres.SQL.name)
    return f"""server:
  applicationConnectors:
    - type: http
      bindHost: {api.host}
      port: {api.port}
      httpCompliance: RFC7230_LEGACY
  adminConnectors:
    - type: http
      bindHost: {admin.host}
      port: {admin.port}
  requestLog:
    appenders: []
db:
  driverClass: org.postgresql.Driver
  url: jdbc:postgresql://{database}/{DATABASE}
  user: {postgres.USER}
  password: "${{{PASSWORD_VARIABLE}}}"
migrateOnStartup: true
search:
  enabled: false
logging:
  level: WARN
"""
