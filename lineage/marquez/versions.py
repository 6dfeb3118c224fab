# SPDX-License-Identifier: Apache-2.0
"""Versions of datasets and jobs, and their ids.

Marquez makes a version of a dataset per run and schema. Here a version is a state that an emitter identifies by
its columns or by the table format's own version, so that a run that writes the same content creates no new one.
"""

from collections.abc import Callable, Iterable
from functools import cached_property
from typing import NamedTuple
from uuid import NAMESPACE_URL, uuid5

from lineage.events import DatasetId, JobId, JsonObject, canonical_json
from lineage.events.event import Order
from lineage.graph.dataset_record import DatasetRecord
from lineage.graph.dataset_statements import schema_digest
from lineage.graph.dataset_versions import DatasetVersion, all_versions, is_stated, last_version_with
from lineage.graph.job_lineage import JobLineage
from lineage.graph.job_record import JobRecord
from lineage.graph.memo import Memo
from lineage.graph.mergeable import Facets
from lineage.graph.records import LineageRecords
from lineage.graph.run_history import Direction, RunEntry
from lineage.graph.run_record import RunRecord

_MAX_IDS = 20_000
_ids: Memo[tuple[DatasetId, str | None, bytes | None], str] = Memo(_MAX_IDS)
"""Ids of versions by dataset, stated version and digest of columns: one takes 0.4 kB, and the time of all columns."""


def version_id(content: object) -> str:
    """Return the id of a version: a UUID of its content, as in Marquez."""
    return str(uuid5(NAMESPACE_URL, canonical_json(content).decode()))


class DatasetVersions:
    """Versions of one dataset, as of their first use. They do not keep its record in memory.

    `current_id` is the id of the current version; without any statement, of the current columns.
    """

    def __init__(self, record: DatasetRecord) -> None:
        self._dataset = record.id
        self._statements = record.statements
        current = last_version_with(record.statements, record.columns_digest())
        self.current_id = self.id_of(current) if current else self._content_id(None, record.fields())

    @cached_property
    def all(self) -> list[DatasetVersion]:
        """All versions, newest last: a long history takes milliseconds."""
        return all_versions(self._statements)

    def id_of(self, version: DatasetVersion) -> str:
        """Return the id of one of these versions."""
        digest = version.columns.digest if version.columns else None
        return self._id(version.version, digest, lambda: version.fields)

    def find(self, wanted: str) -> DatasetVersion | None:
        """Return the version with an id, or None."""
        return next((version for version in reversed(self.all) if self.id_of(version) == wanted), None)

    def version_used(self, facets: Facets, until: Order) -> DatasetVersion | None:
        """Return the version that matches a run's facets of the dataset, up to a point in the total order.

        None if no known version matches.
        """
        stated, digest = _stated(facets)
        matching = [v for v in self.all if stated is None or v.version == stated]
        # A reader may see only some columns: matching columns identify a version, missing ones exclude none.
        if digest is not None:
            matching = [v for v in matching if v.has_columns(digest)] or matching
        before = [v for v in matching if v.order <= until]
        return before[-1] if before else matching[0] if matching else None

    def version_id_used(self, facets: Facets, until: Order) -> str:
        """Return the id of the version that matches a run's facets; an id of the facets themselves if none matches."""
        stated, digest = _stated(facets)
        if stated and digest is not None and is_stated(self._statements, digest, stated):
            # Whichever version that is: its id is that of its content.
            return self._id(stated, digest, lambda: _fields(facets))
        version = self.version_used(facets, until)
        return self.id_of(version) if version is not None else self._content_id(stated, _fields(facets))

    def _id(self, version: str | None, columns: bytes | None, fields: Callable[[], list[JsonObject]]) -> str:
        return _ids.get((self._dataset, version, columns), lambda: self._content_id(version, fields()))

    def _content_id(self, version: str | None, fields: list[JsonObject]) -> str:
        return version_id([self._dataset, version, fields])


def _stated(facets: Facets) -> tuple[str | None, bytes | None]:
    """Return the version and the digest of the columns that facets state; None if they omit it."""
    version = (facets.get("version") or {}).get("datasetVersion")
    schema = facets.register("schema")
    return version if isinstance(version, str) else None, schema and schema_digest(schema.stored)


def _fields(facets: Facets) -> list[JsonObject]:
    return (facets.get("schema") or {}).get("fields") or []


class JobVersion(NamedTuple):
    """Inputs and outputs that a job had; `created` (ns) is the first time."""

    inputs: frozenset[DatasetId]
    outputs: frozenset[DatasetId]
    created: int
    latest_run: RunRecord | None


def job_version_id(job: JobId, inputs: Iterable[DatasetId], outputs: Iterable[DatasetId]) -> str:
    """Return the id of a job's version."""
    return version_id([job, sorted(inputs), sorted(outputs)])


def _nodes(lineage: LineageRecords, run: RunEntry, direction: Direction) -> frozenset[DatasetId]:
    return frozenset(lineage.nodes.node(dataset) for side, dataset in run.edges if side is direction)


def job_versions(lineage: LineageRecords, job: JobRecord, view: JobLineage) -> list[JobVersion]:
    """Return every set of datasets that the runs of a job had, and the current one; newest first."""
    found: dict[tuple[frozenset[DatasetId], frozenset[DatasetId]], JobVersion] = {}
    for entry in (run.entry for run in job.full_history()):
        key = (_nodes(lineage, entry, Direction.INPUT), _nodes(lineage, entry, Direction.OUTPUT))
        newest = found[key].latest_run if key in found else job.runs[entry.place.run]
        found[key] = JobVersion(*key, entry.place.order.time, newest)
    current = (view.inputs, view.outputs)
    if current not in found:
        found[current] = JobVersion(*current, (job.declared.order if job.declared else job.span.first).time, None)
    return sorted(
        found.values(), key=lambda version: (-version.created, sorted(version.inputs), sorted(version.outputs))
    )
