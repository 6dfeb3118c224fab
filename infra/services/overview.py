# SPDX-License-Identifier: Apache-2.0
"""Overview of the lab for the lineage page: services, readiness checks and links to their web pages."""

from infra.model import Site
from infra.services.definition import ServiceDefinition
from infra.services.discovery import definitions
from infra.settings import Settings


def features(settings: Settings) -> frozenset[str]:
    """Return the optional features that the settings enable, as the lineage contract names them (`requires`)."""
    return frozenset(known.feature for known in definitions() if known.feature and known.wanted(settings))


def overview(site: Site, settings: Settings, contract: str) -> dict[str, object]:
    """Return the content of the lineage service's `--lab` file; `contract` is the path of the lineage contract."""
    shown = [known for known in definitions() if known.title and known.included(site, settings)]
    return {
        "name": site.stack,
        "services": [_row(known, site, settings) for known in shown],
        "contract": contract,
        "features": sorted(features(settings)),
    }


def _row(definition: ServiceDefinition, site: Site, settings: Settings) -> dict[str, str]:
    """Return the entry of a service: `check` is its address for the lineage service, `ui` its URL for a browser."""
    row = {"name": definition.name, "title": definition.title}
    probe = definition.build(site, settings).ready
    if probe:
        address = site.address(definition.name, probe.endpoint)
        row["check"] = address.url + probe.path if probe.path else str(address)
    if page := definition.web_page:
        row["ui"] = site.address(definition.name, page.endpoint.name, "outside").url + page.path
    return row
