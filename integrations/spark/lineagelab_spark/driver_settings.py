# SPDX-License-Identifier: Apache-2.0
"""Settings of the reporters of one driver, and the environment variables of drivers and their launcher.

Imported by the launcher, so it imports no PySpark.
"""

import logging
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lineagelab_common.identifiers import DEFAULT_NAMESPACE, PARENT, ParentRun
from lineagelab_common.open_runs import OpenRuns
from lineagelab_common.spool import Spool
from lineagelab_spark.configuration_error import ConfigurationError

if TYPE_CHECKING:
    from typing import Self  # Python 3.11

    from pyspark.sql import SparkSession

OPEN_RUNS = "LINEAGE_OPEN_RUNS"
"""File of the driver's open runs, which the launcher ends if the driver is killed."""

SPOOL = "LINEAGE_SPOOL"
"""File that keeps undelivered events across restarts of a driver. Each driver needs its own."""

NAMESPACE = "OPENLINEAGE_NAMESPACE"
"""Namespace of the driver's jobs, unless the driver passes one."""

PROFILE_ROWS = "LINEAGE_PROFILE_ROWS"
"""Rows up to which a table that a batch driver has written is profiled; without it, none is."""

log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class DriverSettings:
    """Settings that the runs of one driver share.

    Attributes:
        profile_rows: rows up to which a table that a batch driver has written is profiled; 0: none is.
    """

    namespace: str
    application: str
    spark_version: str
    parent: ParentRun | None
    spool: Spool
    open_runs: OpenRuns
    profile_rows: int = 0

    @classmethod
    def of(
        cls,
        spark: "SparkSession",
        namespace: str | None,
        spool: Spool,
        **more: Any,  # noqa: ANN401 - of subclasses
    ) -> "Self":
        """Return the settings of a driver whose events go into a spool."""
        path = os.environ.get(OPEN_RUNS, "")
        return cls(
            namespace=job_namespace(namespace),
            application=str(spark.conf.get("spark.app.name")),
            spark_version=str(spark.version),
            parent=parent_run(os.environ),
            spool=spool,
            open_runs=OpenRuns(Path(path) if path else None),
            profile_rows=profile_rows(os.environ.get(PROFILE_ROWS, "")),
            **more,
        )


def job_namespace(given: str | None) -> str:
    """Return the job namespace of a driver: the given one, or that of the environment."""
    return given or os.environ.get(NAMESPACE) or DEFAULT_NAMESPACE


def open_spool(url: str | None, config: Mapping[str, Any] | None = None) -> Spool:
    """Return the spool of a driver.

    Args:
        url: root of a lineage service; None: OpenLineage's configuration names the receiver; empty: events are
            discarded.
        config: OpenLineage configuration that the driver passes itself, for `url=None`.

    Raises:
        ConfigurationError: the configuration is invalid, or the file of the spool cannot be written.
    """
    path = _spool_file(os.environ.get(SPOOL, ""))
    if url is not None:
        if config is not None:
            raise ConfigurationError("both a url and an OpenLineage configuration are given: pass one of them")
        return Spool(url, path)
    # Imported here: the launcher, which imports this module, uses the standard library only.
    from lineagelab_spark.openlineage_transport import open_receiver

    receiver = open_receiver(config)
    return Spool("" if receiver.is_disabled else receiver, path)


def _spool_file(name: str) -> Path | None:
    if not name:
        return None
    path = Path(name)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigurationError(f"{SPOOL} names {name}, whose folder cannot be created: {error}") from error
    if path.is_dir() or not os.access(path.parent, os.W_OK):
        raise ConfigurationError(f"{SPOOL} names {name}, where no file can be written: name a file in another folder")
    return path


def profile_rows(text: str) -> int:
    """Return the number in the text of `PROFILE_ROWS`, 0 for none; 0, with a warning, if it is invalid."""
    if text and not text.isdecimal():
        log.warning("%s is ignored: %r is not a number of rows", PROFILE_ROWS, text)
        return 0
    return int(text or 0)


def parent_run(environment: Mapping[str, str]) -> ParentRun | None:
    """Return the parent in the environment; None, with a warning, if it is invalid."""
    try:
        return ParentRun.from_environment(environment)
    except ValueError as error:
        log.warning("%s is ignored: %s", PARENT, error)
        return None
