# SPDX-License-Identifier: Apache-2.0
"""OpenLineage's agent in a driver, for jobs that ask for it: properties, environment and jars.

The agent (1.53) sends an event once, and waits for the answer. Its transport is therefore
`integrations/spool-transport`, which keeps events on disk until the lineage service has accepted them.
"""

from collections.abc import Mapping

from infra import credentials
from infra.model import Site
from infra.namespaces import SPOOL_TRANSPORT, spark_lineage_settings
from infra.services import lineage
from infra.services.spark.job import Driver

JARS = "spark.jars"
"""Property with jars of the driver. Not its class path, which the class data archive has to match."""

_TRANSPORT = "spark.openlineage.transport."
_VARIABLE = "OPENLINEAGE__TRANSPORT__"
_NESTED_VARIABLE = f"{_VARIABLE}TRANSPORT__"


def components(driver: Driver) -> tuple[str, ...]:
    """Return the components that the agent requires besides Spark's."""
    return (lineage.SPOOL_COMPONENT,) if driver.has_agent else ()


def properties(driver: Driver, site: Site) -> dict[str, str]:
    """Return the Spark properties of the agent; none for a driver without it."""
    if not driver.has_agent:
        return {}
    service = site.address(lineage.NAME, lineage.API.name).url
    return {
        JARS: site.built_jar(lineage.SPOOL_COMPONENT),
        **spark_lineage_settings(
            service, columns=driver.lineage == "agent", spool=lineage.unsent_events(site, driver.program)
        ),
    }


def environment(driver: Driver) -> dict[str, str]:
    """Return variables by which the agent (1.53) adds the key of `secrets` to the transport of its properties."""
    if not driver.has_agent:
        return {}
    http = {f"{_NESTED_VARIABLE}TYPE": "http", f"{_NESTED_VARIABLE}AUTH__TYPE": "api_key"}
    return {f"{_VARIABLE}TYPE": SPOOL_TRANSPORT, **http}


def secrets(driver: Driver) -> dict[str, str]:
    """Return the environment variable of the agent with the lineage service's key."""
    return {f"{_NESTED_VARIABLE}AUTH__API_KEY": credentials.LINEAGE_INGEST_KEY} if driver.has_agent else {}


def without_spool(given: Mapping[str, str]) -> dict[str, str]:
    """Return properties or variables of a driver whose agent sends each event once: on a machine without the jar."""
    if SPOOL_TRANSPORT not in {given.get(f"{_TRANSPORT}type"), given.get(f"{_VARIABLE}TYPE")}:
        return dict(given)
    spool = {f"{_TRANSPORT}type", f"{_TRANSPORT}directory", f"{_VARIABLE}TYPE", JARS}
    jars = [jar for jar in given.get(JARS, "").split(",") if jar and lineage.SPOOL_COMPONENT not in jar]
    found = {
        key.replace(f"{_TRANSPORT}transport.", _TRANSPORT).replace(_NESTED_VARIABLE, _VARIABLE): value
        for key, value in given.items()
        if key not in spool
    }
    return found | ({JARS: ",".join(jars)} if jars else {})
