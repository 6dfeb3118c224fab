# SPDX-License-Identifier: Apache-2.0
"""Marquez, where the stack has one: it is fed by the lineage service and keeps its graph in Postgres.

It is a jar, or, where the place runs images, what the project publishes: then its web page is there, too
(`infra.services.marquez.web`).
"""

from pydantic import Field

from infra import credentials
from infra.model import Endpoint, Java, Probe, PublicImage, Resource, Service, Site
from infra.services import jvm, postgres
from infra.services.definition import ServiceDefinition, WebPage
from infra.services.marquez.user_jar import user_jar
from infra.settings import Settings, SettingsSection, Switch

NAME = "marquez"
COMPONENT = "marquez"
MAIN = "marquez.MarquezApp"
API = Endpoint("api", 5002, scheme="http", published_as="marquez")
ADMIN = Endpoint("admin", 5003, scheme="http")
ENDPOINTS = (API, ADMIN)
"""Marquez' own ports are 5000 and 5001; the first is the lineage service's."""

IMAGE_TAG = "0.51.1"
"""Of the images that the project publishes, API and page: its last release. It is a tag alone, and in this place alone:
the lab was made where no registry can be reached, so that no digest of them could be read, and no test has run them."""

IMAGE = f"marquezproject/marquez:{IMAGE_TAG}"
ENTRYPOINT = "/usr/src/app/entrypoint.sh"
"""Of both images. As far as their Dockerfiles tell, everybody can read what it starts, and that writes to /tmp alone:
so they run as the lab's own do, as its user, with a read-only root and without capabilities."""

WITHOUT = "set lineage-lab:marquez to false"
"""What remains where the images cannot be had."""

REMEDY = "set lineage-lab:marquezJar to the path of its jar"
"""Where no registry has it."""

DATABASE = "marquez"
CONFIG = "marquez.yml"
HEAP_MIB = 256
PASSWORD_VARIABLE = "POSTGRES_PASSWORD"

OPTIONS = (*jvm.LEAN_SERVICE, *jvm.QUICK_COMPILER)
"""With the quick compiler alone it starts in a quarter of the time (3.4 s instead of 14.4, measured)."""


class MarquezSettings(SettingsSection):
    """Settings of Marquez."""

    marquez_jar: str = Field(
        "",
        description="path of Marquez' API jar (with its dependencies); empty: with target local it is looked for with "
        "Maven, with docker the project's public images are run",
    )

    marquez: Switch = Field(
        False,
        description="true: a Marquez beside the lineage service, fed by it, with a database of its own; with target "
        "docker its web page, too",
    )


def included(site: Site, settings: Settings) -> bool:
    """Whether the lab has a Marquez: it was asked for, and its image can be run, or its jar is there."""
    section = settings.section(MarquezSettings)
    return published(site, settings) or (section.marquez and (section.marquez_jar != "" or site.has(COMPONENT)))


def published(site: Site, settings: Settings) -> bool:
    """Whether it is what the project publishes, with its page: where images run, unless the user has named a jar."""
    section = settings.section(MarquezSettings)
    return section.marquez and section.marquez_jar == "" and site.runs_images


def marquez(site: Site, settings: Settings) -> Service:
    """The API."""
    public = published(site, settings)
    return Service(
        name=NAME,
        run=_image() if public else _jar(site, settings),
        needs=(f"database/{DATABASE}",),
        endpoints=ENDPOINTS,
        ready=Probe(API.name, "/api/v1/namespaces"),
        files={CONFIG: _config(site)},
        env=_image_variables(site) if public else {},
        secrets={PASSWORD_VARIABLE: credentials.POSTGRES_PASSWORD},
        memory_mib=HEAP_MIB + 120,
    )


def _jar(site: Site, settings: Settings) -> Java:
    return Java(
        COMPONENT,
        MAIN,
        HEAP_MIB,
        ("server", site.file(NAME, CONFIG)),
        OPTIONS,
        jar=settings.section(MarquezSettings).marquez_jar,
    )


def _image() -> PublicImage:
    """Its script hands no signal on, so that it ends at once: what it had not answered yet is sent to it again."""
    return PublicImage(IMAGE, ENTRYPOINT, remedy=WITHOUT)


def _image_variables(site: Site) -> dict[str, str]:
    """What the image's script makes the command of."""
    return {
        "MARQUEZ_CONFIG": site.file(NAME, CONFIG),
        "JAVA_OPTS": " ".join((f"-Xmx{HEAP_MIB}m", *OPTIONS, f"-Djava.io.tmpdir={site.scratch(NAME)}")),
    }


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


def _unavailable(site: Site, settings: Settings) -> str:
    if included(site, settings):
        return ""
    return f"its jar is not in the cache (`bin/lab setup` looks for it); {REMEDY}"


def _check(settings: Settings) -> None:
    jar = settings.section(MarquezSettings).marquez_jar
    if jar:
        user_jar("marquezJar", jar, MAIN)


def _enabled(settings: Settings) -> bool:
    return settings.section(MarquezSettings).marquez


def _optional_components(settings: Settings) -> dict[str, str]:
    """The jar, for processes of this machine; containers run the project's images."""
    needed = settings.target == "local" and not settings.section(MarquezSettings).marquez_jar
    return {COMPONENT: REMEDY} if needed else {}


def _resources(site: Site, settings: Settings) -> tuple[Resource, ...]:
    return (postgres.database(site, DATABASE),)


DEFINITION = ServiceDefinition(
    name=NAME,
    title="Marquez",
    build=marquez,
    endpoints=ENDPOINTS,
    optional_components=_optional_components,
    settings=MarquezSettings,
    enabled=_enabled,
    check=_check,
    unavailable=_unavailable,
    resources=_resources,
    web_page=WebPage(API, "/api/v1/namespaces"),
    position=80,
)
