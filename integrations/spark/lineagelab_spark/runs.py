# SPDX-License-Identifier: Apache-2.0
"""Identity, failure and facets of the runs of streaming queries and of batch writes. Pure."""

from dataclasses import dataclass

from lineagelab_common.events import Json
from lineagelab_common.identifiers import ParentRun
from lineagelab_spark.producer import WRITER


@dataclass(frozen=True, kw_only=True)
class SparkRun:
    """Run of a job of a Spark application."""

    namespace: str
    job: str
    run_id: str
    spark_version: str
    parent: ParentRun | None = None


@dataclass(frozen=True)
class Failure:
    """Cause of a failure. `language` is that of the stack trace."""

    message: str
    language: str
    stack_trace: str


def run_facets(run: SparkRun, failure: Failure | None) -> Json:
    """Return the facets of a run: engine, parent, and the cause of its failure."""
    facets = {"processing_engine": WRITER.facet("processing_engine", version=run.spark_version, name="spark")}
    if run.parent is not None:
        facets["parent"] = WRITER.parent(run.parent)
    if failure is not None:
        facets["errorMessage"] = WRITER.error(failure.message, failure.language, failure.stack_trace)
    return facets
