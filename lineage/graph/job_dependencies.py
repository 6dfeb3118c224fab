# SPDX-License-Identifier: Apache-2.0
"""Dependencies between jobs that facets state: control flow (jobDependencies) and data between jobs (lineage)."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from lineage.events.ids import JobId, JsonObject


class JobDependency(NamedTuple):
    """`downstream` runs after `upstream`, or uses its data without a dataset in between."""

    upstream: JobId
    downstream: JobId


def job_dependencies(
    job: JobId, control_flow: JsonObject | None, lineage: JsonObject | None
) -> frozenset[JobDependency]:
    """Return the dependencies in the jobDependencies facet of a job's runs and in its lineage facet.

    Rows that name no job are left out; a job that depends on itself is none.
    """
    found = {*_from_control_flow(job, control_flow or {}), *_from_lineage(job, lineage or {})}
    return frozenset(dependency for dependency in found if dependency.upstream != dependency.downstream)


def _from_control_flow(job: JobId, facet: JsonObject) -> Iterator[JobDependency]:
    for row in _objects(facet.get("upstream")):
        if (upstream := _job_of(row.get("job"), None)) is not None:
            yield JobDependency(upstream, job)
    for row in _objects(facet.get("downstream")):
        if (downstream := _job_of(row.get("job"), None)) is not None:
            yield JobDependency(job, downstream)


def _from_lineage(job: JobId, facet: JsonObject) -> Iterator[JobDependency]:
    for entry in _objects(facet.get("entries")):
        target = _job_of(entry, job) if entry.get("type") == "JOB" else None
        for source in _objects(entry.get("inputs")) if target is not None else ():
            upstream = _job_of(source, job) if source.get("type") == "JOB" else None
            if upstream is not None and target is not None:
                yield JobDependency(upstream, target)


def _job_of(named: object, own: JobId | None) -> JobId | None:
    """Return the named job; `own` where both namespace and name are left out."""
    if not isinstance(named, dict):
        return None
    namespace, name = named.get("namespace"), named.get("name")
    if namespace is None and name is None:
        return own
    if not (isinstance(namespace, str) and isinstance(name, str) and namespace and name):
        return None
    return JobId(namespace, name)


def _objects(value: object) -> Iterable[JsonObject]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []
