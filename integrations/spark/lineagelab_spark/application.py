# SPDX-License-Identifier: Apache-2.0
"""Lineage run of a Spark application: created by the launcher, passed to OpenLineage's agent."""

from dataclasses import dataclass

from lineagelab_common.events import Json
from lineagelab_common.identifiers import ParentRun, new_run_id, now
from lineagelab_spark.producer import WRITER


@dataclass(frozen=True)
class ApplicationRun:
    """Run of an application; `began` is the event time of its start, `parent` the run that has started it."""

    namespace: str
    job: str
    run_id: str
    began: str
    parent: ParentRun | None = None

    @classmethod
    def begin(cls, namespace: str, job: str, parent: ParentRun | None = None) -> "ApplicationRun":
        """Return a run that begins now."""
        return cls(namespace, job, new_run_id(), now(), parent)

    @property
    def as_parent(self) -> ParentRun:
        return ParentRun(self.namespace, self.job, self.run_id, self.parent.root if self.parent else None)

    @property
    def event(self) -> Json:
        """Event without type and time."""
        job_type = WRITER.facet("jobType", processingType="NONE", integration="SPARK", jobType="APPLICATION")
        job = {"namespace": self.namespace, "name": self.job, "facets": {"jobType": job_type}}
        facets = {"parent": WRITER.parent(self.parent)} if self.parent else {}
        return WRITER.open_run({"runId": self.run_id, "facets": facets}, job, [], [])
