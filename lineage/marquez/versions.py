# SPDX-License-Identifier: Apache-2.0
"""Versions of datasets and jobs, and their ids.

Marquez makes a version of a dataset per run and schema. Here a version is a state that an emitter identifies by
its columns or by the table format's own version, so that a run that writes the same again makes no new one.
"""

from collections.abc import Iterable
from typing import NamedTuple
from uuid import NAMESPACE_URL, uuid5

from lineage.events import DatasetId, JobId, JsonObject, canonical_json
from lineage.events.event import Order
from lineage.graph.job_lineage import JobLineage
from lineage.graph.record_types import DatasetRecord, DatasetVersion, Facets, JobRecord, RunRecord


def version_id(content: object) -> str:
    """Return the id of a version: a UUID of its content, as in Marquez."""
    return str(uuid5(NAMESPACE_URL, canonical_json(content).decode()))


class DatasetVersions:
    """The versions of one dataset, newest last."""

    def __init__(self, record: DatasetRecord) -> None:
        self._record = record
        self.all = record.versions()
        self._ids: dict[int, str] = {}

    def id_of(self, version: DatasetVersion) -> str:
        """The id of one of these versions, which many runs may name: it is made once."""
        found = self._ids.get(id(version))
        if found is None:
            found = self._ids[id(version)] = self._id(version.version, version.fields)
        return found

    def current_id(self) -> str:
        """Return the id of the current version; without any statement, of the current columns."""
        fields = self._record.fields()
        same = [version for version in self.all if version.fields == fields] or self.all
        return self.id_of(same[-1]) if same else self._id(None, fields)

    def find(self, wanted: str) -> DatasetVersion | None:
        """The version with an id."""
        return next((version for version in reversed(self.all) if self.id_of(version) == wanted), None)

    def used(self, facets: Facets, until: Order) -> DatasetVersion | None:
        """The version that a run means by what it says of the dataset up to a point in the total order.

        None where no known version agrees with it.
        """
        said = (facets.get("version") or {}).get("datasetVersion")
        fields = (facets.get("schema") or {}).get("fields")
        agreeing = [v for v in self.all if not isinstance(said, str) or v.version == said]
        # A reader may see only some columns: matching columns identify a version, missing ones exclude none.
        agreeing = [v for v in agreeing if fields is None or v.fields == fields] or agreeing
        before = [v for v in agreeing if v.order <= until]
        return before[-1] if before else agreeing[0] if agreeing else None

    def used_id(self, facets: Facets, until: Order) -> str:
        """The id of the version that a run means; made of its own words where no known version agrees."""
        version = self.used(facets, until)
        if version is not None:
            return self.id_of(version)
        said = (facets.get("version") or {}).get("datasetVersion")
        return self._id(said if isinstance(said, str) else None, (facets.get("schema") or {}).get("fields") or [])

    def _id(self, version: str | None, fields: list[JsonObject]) -> str:
        return version_id([self._record.id, version, fields])


class JobVersion(NamedTuple):
    """Inputs and outputs that a job had; `created` (ns) is the first time."""

    inputs: frozenset[DatasetId]
    outputs: frozenset[DatasetId]
    created: int
    latest_run: RunRecord | None


def job_version_id(job: JobId, inputs: Iterable[DatasetId], outputs: Iterable[DatasetId]) -> str:
    """The id of a job's version."""
    return version_id([job, sorted(inputs), sorted(outputs)])


def job_versions(job: JobRecord, view: JobLineage) -> list[JobVersion]:
    """All sets of datasets that the runs of a job had, and the one that stands; newest first."""
    found: dict[tuple[frozenset[DatasetId], frozenset[DatasetId]], JobVersion] = {}
    for place in job.history.runs.latest_first(0, len(job.history.runs)):
        run = job.runs[place.run]
        key = (frozenset(run.inputs), frozenset(run.outputs))
        newest = found[key].latest_run if key in found else run
        found[key] = JobVersion(*key, place.order.time, newest)
    current = (view.inputs, view.outputs)
    if current not in found:
        found[current] = JobVersion(*current, (job.declared.order if job.declared else job.span.first).time, None)
    return sorted(
        found.values(), key=lambda version: (-version.created, sorted(version.inputs), sorted(version.outputs))
    )
