# SPDX-License-Identifier: Apache-2.0
"""OpenLineage events of dbt commands, models and tests. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from lineagelab_common.events import Dataset, EventWriter, Json, dataset_json
from lineagelab_common.identifiers import ParentRun

WRITER = EventWriter("urn:lineage-lab:jobs:dbt")


@dataclass(frozen=True)
class Job:
    """Job of a dbt command, model, or of the tests of a table.

    Attributes:
        kind: COMMAND, MODEL, SEED, SNAPSHOT or TEST.
        text: SQL of a model.
        dialect: of the SQL.
    """

    namespace: str
    name: str
    kind: str
    text: str = ""
    dialect: str = ""

    @property
    def json(self) -> Json:
        """The job of an event."""
        facets = {"jobType": WRITER.facet("jobType", processingType="BATCH", integration="DBT", jobType=self.kind)}
        if self.text:
            facets["sql"] = WRITER.facet("sql", query=self.text, dialect=self.dialect)
        return {"namespace": self.namespace, "name": self.name, "facets": facets}


@dataclass(frozen=True)
class Run:
    """Run of a dbt job."""

    run_id: str
    dbt_version: str
    parent: ParentRun | None

    def event(
        self,
        event_type: str,
        time: str,
        job: Job,
        inputs: Sequence[Json] = (),
        outputs: Sequence[Json] = (),
        error: str = "",
    ) -> Json:
        """Return a run event; `error` is the message of a failed run."""
        facets: Json = {"processing_engine": WRITER.facet("processing_engine", name="dbt", version=self.dbt_version)}
        if self.parent is not None:
            facets["parent"] = WRITER.parent(self.parent)
        if error:
            facets["errorMessage"] = WRITER.error(error, "SQL")
        run = {"runId": self.run_id, "facets": facets}
        return WRITER.run_event(event_type, time, run, job.json, list(inputs), list(outputs))


@dataclass(frozen=True)
class Assertion:
    """Result of a test.

    Attributes:
        kind: not_null, unique, relationships and the like; `custom_sql` for a test of its own.
        column: empty for a test of the whole table.
        severity: error or warn.
        success: whether no row violates it; None if it could not be executed.
        message: of dbt, for a test that did not pass.
    """

    name: str
    kind: str
    column: str
    severity: str
    success: bool | None
    message: str = ""

    @property
    def json(self) -> Json:
        values: Json = {"assertion": self.kind, "success": self.success, "severity": self.severity, "name": self.name}
        return values | ({"column": self.column} if self.column else {})

    @property
    def breaks(self) -> bool:
        """True if the run of the tests fails because of it."""
        return self.success is None or (not self.success and self.severity == "error")


def tested_input(dataset: Dataset, assertions: Sequence[Assertion]) -> Json:
    """Return a tested table as input, with the results of the tests that were executed."""
    results = [each.json for each in assertions if each.success is not None]
    facet = WRITER.facet("dataQualityAssertions", assertions=results)
    return dataset_json(dataset, {}) | ({"inputFacets": {"dataQualityAssertions": facet}} if results else {})
