# SPDX-License-Identifier: Apache-2.0
"""OpenLineage run events of single writes of a batch application. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from lineagelab_common.events import Json
from lineagelab_common.identifiers import timestamp
from lineagelab_spark import events
from lineagelab_spark.datasets import Dataset
from lineagelab_spark.description import Description
from lineagelab_spark.lifecycle import EventType
from lineagelab_spark.producer import WRITER
from lineagelab_spark.runs import Failure, SparkRun, run_facets


@dataclass(frozen=True, kw_only=True)
class WriteRun(SparkRun):
    """Run of one write.

    Attributes:
        began: milliseconds since 1970.
    """

    began: int


@dataclass(frozen=True)
class Written:
    """Rows, bytes, and nulls by column that a write has added to its sink; None, or no column, where unknown."""

    rows: int | None = None
    size: int | None = None
    nulls: Mapping[str, int] = field(default_factory=dict)


def event(
    run: WriteRun,
    event_type: EventType,
    milliseconds: int,
    description: Description,
    *,
    written: Mapping[Dataset, Written] | None = None,
    failure: Failure | None = None,
) -> Json:
    """Return a run event with complete inputs and outputs.

    Args:
        run: run of the event.
        event_type: type of the event.
        milliseconds: event time, since 1970.
        description: inputs and outputs of the job.
        written: statistics by output, for COMPLETE.
        failure: cause, for FAIL.
    """
    described = events.datasets(description)
    return WRITER.run_event(
        event_type.value,
        timestamp(milliseconds),
        {"runId": run.run_id, "facets": run_facets(run, failure)},
        {"namespace": run.namespace, "name": run.job, "facets": {"jobType": events.job_type("BATCH")}},
        described.inputs,
        [_with_statistics(output, written or {}) for output in described.outputs],
    )


def _with_statistics(output: Json, written: Mapping[Dataset, Written]) -> Json:
    found = written.get(Dataset(output["namespace"], output["name"]), Written())
    return events.with_output_statistics(output, found.rows, found.size, found.nulls)
