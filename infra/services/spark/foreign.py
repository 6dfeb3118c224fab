# SPDX-License-Identifier: Apache-2.0
"""Drivers on a Spark cluster that the lab does not run (`sparkMaster`), and Spark properties of the user."""

from infra.services.spark.settings import Properties, SparkSettings, parse_conf
from infra.settings import Settings
from infra.toolchain import pins

CLASS_PATH = "spark.executor.extraClassPath"
PACKAGES = "spark.jars.packages"


def packages() -> str:
    """Return the Maven coordinates of the jars of drivers and executors, as `--packages` takes them."""
    return ",".join(pins.SPARK.coordinates)


def apply(properties: Properties, settings: Settings) -> Properties:
    """Return the properties of a driver with those for a foreign cluster, then those of `sparkConf`."""
    given = settings.section(SparkSettings)
    found = dict(properties)
    if given.spark_master and given.spark_driver_host:
        found |= {"spark.driver.host": given.spark_driver_host, "spark.driver.bindAddress": "0.0.0.0"}
    if given.spark_master and given.spark_packages:
        found.pop(CLASS_PATH, None)
        found[PACKAGES] = packages()
    return found | parse_conf(given.spark_conf)
