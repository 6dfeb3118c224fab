# SPDX-License-Identifier: Apache-2.0
"""Marquez API, optional: receives events from the lineage service and stores its graph in Postgres.

It runs from a jar, or, on targets that run images, as the project's public image; the web UI
(`infra.services.marquez.web`) requires the latter.
"""

from pydantic import Field

from infra import credentials
from infra.model import Endpoint, Java, Probe, PublicImage, Resource, Service, Site
from infra.services import jvm, postgres
from infra.services.definition import ServiceDefinition, WebPage
from infra.services.marquez.user_jar import user_jar
from infra.settings import BooleanSetting, Settings, SettingsSection

NAME = "marquez"
COMPONENT = "marquez"
MAIN = "marquez.MarquezApp"
API = Endpoint("api", 5002, scheme="http", published_as="marquez")
ADMIN = Endpoint("admin", 5003, scheme="http")
ENDPOINTS = (API, ADMIN)
"""Marquez' default ports are 5000 and 5001, but the lineage service uses 5000."""

IMAGE_TAG = "0.51.1"
"""Tag of the public images of API and web UI: the latest release. Not pinned by digest and not covered by tests,
because no image registry was reachable during development."""

IMAGE = f"marquezproject/marquez:{IMAGE_TAG}"
ENTRYPOINT = "/usr/src/app/entrypoint.sh"
"""Entry point of both images. According to their Dockerfiles it is world-readable and writes to /tmp only, so the
images run like those of the lab: as the same user, with a read-only root file system and without capabilities."""

IMAGE_REMEDY = "set lineage-lab:marquez to false"
"""Remedy if the images cannot be pulled."""

JAR_REMEDY = "set lineage-lab:marquezJar to the path of its jar"
"""Remedy if no Maven repository provides the jar."""

DATABASE = "marquez"
CONFIG = "marquez.yml"
HEAP_MIB = 256
PASSWORD_VARIABLE = "POSTGRES_PASSWORD"

JVM_OPTIONS = (*jvm.SERVICE_OPTIONS, *jvm.C1_ONLY)
"""Without C2, Marquez starts in 3.4 s instead of 14.4 s (measured)."""


class MarquezSettings(SettingsSection):
    """Settings of Marquez."""

    marquez_jar: str = Field(
        "",
        description="path of Marquez' API jar (with dependencies); empty: target local resolves it with Maven, target "
        "docker runs the project's public images",
    )

    marquez: BooleanSetting = Field(
        False,
        description="true: adds Marquez, which receives all events from the lineage service; with target docker also "
        "its web UI",
    )


def included(site: Site, settings: Settings) -> bool:
    """Return True if Marquez is enabled and its image or jar is available."""
    section = settings.section(MarquezSettings)
    return uses_public_image(site, settings) or (section.marquez and (section.marquez_jar != "" or site.has(COMPONENT)))


def uses_public_image(site: Site, settings: Settings) -> bool:
    """Return True if Marquez runs as public image: the target runs images, and no jar is configured."""
    section = settings.section(MarquezSettings)
    return section.marquez and section.marquez_jar == "" and site.runs_images


def marquez_service(site: Site, settings: Settings) -> Service:
    """Return the API of Marquez."""
    public = uses_public_image(site, settings)
    return Service(
        name=NAME,
        run=_image_program() if public else _jar_program(site, settings),
        needs=(f"database/{DATABASE}",),
        endpoints=ENDPOINTS,
        ready=Probe(API.name, "/api/v1/namespaces"),
        files={CONFIG: _render_config(site)},
        env=_image_variables(site) if public else {},
        secrets={PASSWORD_VARIABLE: credentials.POSTGRES_PASSWORD},
        memory_mib=HEAP_MIB + 120,
    )


def _jar_program(site: Site, settings: Settings) -> Java:
    return Java(
        COMPONENT,
        MAIN,
        HEAP_MIB,
        ("server", site.file(NAME, CONFIG)),
        JVM_OPTIONS,
        jar=settings.section(MarquezSettings).marquez_jar,
    )


def _image_program() -> PublicImage:
    """Return the image; its entry point forwards no signals, so it stops at once; unacknowledged events are resent."""
    return PublicImage(IMAGE, ENTRYPOINT, remedy=IMAGE_REMEDY)


def _image_variables(site: Site) -> dict[str, str]:
    """Return the variables from which the image's entry point builds the command."""
    return {
        "MARQUEZ_CONFIG": site.file(NAME, CONFIG),
        "JAVA_OPTS": " ".join((f"-Xmx{HEAP_MIB}m", *JVM_OPTIONS, f"-Djava.io.tmpdir={site.scratch(NAME)}")),
    }


def _render_config(site: Site) -> str:
    """Render the configuration; Marquez substitutes environment variables, so it contains no password.

    Search is off, since it requires an OpenSearch server. Log level WARN avoids one line per request.
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
  user: {postgres.user(site)}
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
    return f"its jar is not in the cache (`bin/lab setup` downloads it); {JAR_REMEDY}"


def _check(settings: Settings) -> None:
    jar = settings.section(MarquezSettings).marquez_jar
    if jar:
        user_jar("marquezJar", jar, MAIN)


def _enabled(settings: Settings) -> bool:
    return settings.section(MarquezSettings).marquez


def _optional_components(settings: Settings) -> dict[str, str]:
    """Return the jar for the local target; containers run the public images."""
    needed = settings.target == "local" and not settings.section(MarquezSettings).marquez_jar
    return {COMPONENT: JAR_REMEDY} if needed else {}


def _resources(site: Site, settings: Settings) -> tuple[Resource, ...]:
    return (postgres.database(site, DATABASE),)


DEFINITION = ServiceDefinition(
    name=NAME,
    title="Marquez",
    build=marquez_service,
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
