# SPDX-License-Identifier: Apache-2.0
"""Marquez web UI; only available as a public image, not from the jar."""

from infra.model import Endpoint, Probe, PublicImage, Service, Site
from infra.services.definition import ServiceDefinition, WebPage
from infra.services.marquez import api as marquez
from infra.settings import Settings

NAME = "marquez_web"
WEB = Endpoint("web", 3000, scheme="http", published_as="marquez_web")
"""Marquez' default port."""

ENDPOINTS = (WEB,)

IMAGE = f"marquezproject/marquez-web:{marquez.IMAGE_TAG}"


def _web_service(site: Site, settings: Settings) -> Service:
    """Return the web UI, a file server that also proxies requests to the API.

    It exits if one of the three variables is missing. It listens on all interfaces of its container; this is not
    configurable.
    """
    api = site.address(marquez.NAME, marquez.API.name)
    return Service(
        name=NAME,
        run=PublicImage(IMAGE, marquez.ENTRYPOINT, remedy=marquez.IMAGE_REMEDY),
        needs=(marquez.NAME,),
        endpoints=ENDPOINTS,
        ready=Probe(WEB.name, "/"),
        env={
            "MARQUEZ_HOST": api.host,
            "MARQUEZ_PORT": str(api.port),
            "WEB_PORT": str(site.listen(NAME, WEB.name).port),
        },
        memory_mib=128,
    )


def _enabled(settings: Settings) -> bool:
    return settings.section(marquez.MarquezSettings).marquez


DEFINITION = ServiceDefinition(
    name=NAME,
    title="Marquez web",
    build=_web_service,
    endpoints=ENDPOINTS,
    enabled=_enabled,
    applies=marquez.uses_public_image,
    web_page=WebPage(WEB),
    position=90,
)
