# SPDX-License-Identifier: Apache-2.0
"""Python packages of Spark drivers and executors besides those of the environment `spark`."""

import os

from infra.model import Site
from infra.services.definition import FULL
from infra.services.spark import medallion
from infra.services.spark.job import Driver
from infra.services.spark.settings import SparkSettings
from infra.settings import Settings
from infra.user_files import PACKAGE_FOLDER

PACKAGES = "SPARK_PYTHON_PACKAGES"
"""Environment variable of a driver with the folders of further packages that it and its executors can import, separated
as in `PYTHONPATH`."""

PANDAS = "pandas"
"""Virtual environment of pandas and PyArrow. Spark's own lacks them, because they are half as large as Spark."""


def pandas_included(settings: Settings) -> bool:
    """Return True if Spark jobs can use pandas: one of the medallion jobs does."""
    wanted = settings.section(SparkSettings).spark_pandas
    return settings.profile == FULL and (wanted or medallion.included(settings))


def environments(settings: Settings) -> tuple[str, ...]:
    """Return the virtual environments whose packages drivers and executors see."""
    return (PANDAS,) if pandas_included(settings) else ()


def variables(driver: Driver, site: Site, settings: Settings) -> dict[str, str]:
    """Return the environment variable of a driver; the user's packages precede those of the lab."""
    own = (site.project_file(PACKAGE_FOLDER),) if driver.packages else ()
    folders = (*own, *map(site.python_packages, environments(settings)))
    return {PACKAGES: os.pathsep.join(folders)} if folders else {}
