# SPDX-License-Identifier: Apache-2.0
"""Marquez' web page, where the stack has the images that the project publishes: its jar brings none."""

from infra.model import Endpoint, Probe, PublicImage, Service, Site
from infra.services.definition import ServiceDefinition, WebPage
from infra.services.marquez import api as marquez
from infra.settings import Settings

NAME = "marquez_web"
WEB = Endpoint("web", 3000, scheme="http", published_as="marquez_web")
"""Its own port."""

ENDPOINTS = (WEB,)

IMAGE = f"marquezproject/marquez-web:{marquez.IMAGE_TAG}"


def _web(site: Site, settings: Settings) -> Service:
    """A small server of files, which passes the page's requests on to the API: the browser needs no way to that.

    It ends without any of the three variables. It takes no interface: it listens on all that its container has.
    """
    api = site.address(marquez.NAME, marquez.API.name)
    return Service(
        name=NAME,
        run=PublicImage(IMAGE, marquez.ENTRYPOINT, remedy=marquez.WITHOUT),
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
    build=_web,
    endpoints=ENDPOINTS,
    enabled=_enabled,
    applies=marquez.published,
    web_page=WebPage(WEB),
    position=90,
)
