# SPDX-License-Identifier: Apache-2.0
"""Settings of the reporters of one driver, and the environment variables of drivers and their launcher.

Imported by the launcher, so it imports no PySpark.
"""

import logging
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from lineagelab_common.identifiers import ParentRun
from lineagelab_common.spool import Spool
from lineagelab_spark.open_runs import OpenRuns

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PARENT = "OPENLINEAGE_PARENT_ID"
"""Parent of the driver's runs: `namespace/name/runId`."""

OPEN_RUNS = "LINEAGE_OPEN_RUNS"
"""File of the driver's open runs, which the launcher ends if the driver is killed."""

log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class DriverSettings:
    """Settings that the runs of one driver share."""

    namespace: str
    application: str
    spark_version: str
    parent: ParentRun | None
    spool: Spool
    open_runs: OpenRuns

    @classmethod
    def of(cls, spark: "SparkSession", namespace: str, url: str, **more: Any) -> Self:  # noqa: ANN401 - of subclasses
        """Return the settings of a driver for the lineage service at `url`."""
        path = os.environ.get(OPEN_RUNS, "")
        return cls(
            namespace=namespace,
            application=str(spark.conf.get("spark.app.name")),
            spark_version=str(spark.version),
            parent=parent_run(os.environ.get(PARENT, "")),
            spool=Spool(url),
            open_runs=OpenRuns(Path(path) if path else None),
            **more,
        )


def parent_run(text: str) -> ParentRun | None:
    """Return the run in the text of `PARENT`; None, with a warning, if it is invalid."""
    try:
        return ParentRun.parse(text) if text else None
    except ValueError as error:
        log.warning("%s is ignored: %s", PARENT, error)
        return None
