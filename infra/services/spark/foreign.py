# SPDX-License-Identifier: Apache-2.0
"""Drivers on a Spark cluster that the lab does not run (`sparkMaster`), and Spark properties of the user."""

from infra.services.spark.agent import JARS
from infra.services.spark.settings import Properties, SparkSettings, parse_conf
from infra.settings import Settings


def apply(properties: Properties, settings: Settings) -> Properties:
    """Return the properties of a driver with those for a foreign cluster, then those of `sparkConf`.

    Jars of both are kept.
    """
    given = settings.section(SparkSettings)
    found = dict(properties)
    if given.spark_master and given.spark_driver_host:
        found |= {"spark.driver.host": given.spark_driver_host, "spark.driver.bindAddress": "0.0.0.0"}
    configured = parse_conf(given.spark_conf)
    jars = [each[JARS] for each in (configured, found) if JARS in each]
    return found | configured | ({JARS: ",".join(map(str, jars))} if jars else {})
