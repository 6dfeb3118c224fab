# SPDX-License-Identifier: Apache-2.0
"""Overview of the lab for the lineage page: services, readiness checks and links to their web pages."""

from collections.abc import Mapping

from infra.model import Service, Site
from infra.services.dbt import settings as dbt
from infra.services.definition import ServiceDefinition
from infra.services.discovery import definitions
from infra.services.forecast import settings as forecast
from infra.services.spark import medallion
from infra.settings import Settings


def enabled_features(settings: Settings) -> frozenset[str]:
    """Return the optional features that the settings enable, as the lineage contract names them (`requires`)."""
    services = frozenset(
        definition.feature for definition in definitions() if definition.feature and definition.requested(settings)
    )
    return services | medallion.features(settings) | dbt.features(settings) | forecast.features(settings)


def known_features() -> frozenset[str]:
    """Return all features that settings can enable."""
    services = frozenset(definition.feature for definition in definitions() if definition.feature)
    return services | {medallion.FEATURE, dbt.FEATURE, forecast.FEATURE}


def overview(site: Site, settings: Settings, services: Mapping[str, Service], contract: str) -> dict[str, object]:
    """Return the content of the lineage service's `--lab` file.

    Args:
        site: site of the lab.
        settings: settings of the stack.
        services: services of the lab by name.
        contract: path of the lineage contract.
    """
    shown = [definition for definition in definitions() if definition.title and definition.name in services]
    return {
        "name": site.stack,
        "services": [_service_entry(definition, services[definition.name], site) for definition in shown],
        "contract": contract,
        "features": sorted(enabled_features(settings)),
    }


def _service_entry(definition: ServiceDefinition, service: Service, site: Site) -> dict[str, str]:
    """Return the entry of a service: `check` is its address for the lineage service, `ui` its URL for a browser."""
    row = {"name": definition.name, "title": definition.title}
    if probe := service.ready:
        address = site.address(definition.name, probe.endpoint)
        row["check"] = address.url + probe.path if probe.path else str(address)
    if page := definition.web_page:
        row["ui"] = site.address(definition.name, page.endpoint.name, "outside").url + page.path
    return row
